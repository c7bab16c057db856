"""Columns of rows that are kept for different times, and numbers of texts."""

from __future__ import annotations

from random import Random

import numpy as np
import pyarrow as pa

from eddyline.kernels.frames import NONE
from eddyline.runtime.stores.payload import Payload, TextNumbers, gathered, reference


def test_rows_are_found_until_they_are_released() -> None:
    random, payload = Random(1), Payload([pa.int64(), pa.string()])
    kept: dict[int, int] = {}
    for step in range(200):
        values = [random.randrange(1000) for _ in range(random.randrange(5))]
        columns = [pa.array(values, pa.int64()), pa.array(map(str, values), pa.string())]
        added = payload.add(columns, len(values)).tolist()
        kept |= dict(zip(added, values, strict=True))
        gone = [n for n in list(kept) if random.random() < 0.2]
        payload.release(np.array(gone, np.int64))
        kept = {n: v for n, v in kept.items() if n not in gone}
        if step % 20 == 0:
            saved, payload = payload.state(), Payload([pa.int64(), pa.string()])
            payload.restore(saved)
        numbers = np.array([*kept], np.int64)
        assert payload.column(0, numbers).to_pylist() == [*kept.values()]
        assert payload.column(1, numbers).to_pylist() == [*map(str, kept.values())]
        assert len(payload) == len(kept)


def test_values_of_a_chunk_of_kept_rows_and_of_no_row() -> None:
    payload = Payload([pa.string()])
    kept = payload.add([pa.array(["x", "y"])], 2)
    references = np.array([1, NONE, *reference(kept), 0])
    found = gathered(references, pa.array(["a", "b"]), payload, 0)
    assert found.to_pylist() == ["b", None, "x", "y", "a"]


def test_equal_texts_have_equal_numbers_while_they_are_in_use() -> None:
    texts = TextNumbers()
    first = texts.take(pa.array(["a", "b", "a", None]))
    assert first[0] == first[2] != first[1]
    texts.release(first[:1])
    assert texts.take(pa.array(["a"]))[0] == first[0]
    saved, texts = texts.state(), TextNumbers()
    texts.restore(saved)
    assert texts.take(pa.array(["b"]))[0] == first[1]
