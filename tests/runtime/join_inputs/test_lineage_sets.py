"""Lineages by number."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from eddyline.runtime.join_inputs import lineage_sets
from eddyline.runtime.join_inputs.lineage_sets import EMPTY, LineageSets
from eddyline.runtime.stores.columns import Array


def lineage(rows: list[set[int]], words: int) -> Array:
    """uint64[n, words] with these bits."""
    out = np.zeros((len(rows), words), np.uint64)
    for i, bits in enumerate(rows):
        for b in bits:
            out[i, b >> 6] |= np.uint64(1 << (b & 63))
    return out


def bits_of(found: Array) -> list[set[int]]:
    flags = np.unpackbits(np.ascontiguousarray(found).view(np.uint8), axis=1, bitorder="little")
    return [set(np.flatnonzero(row).tolist()) for row in flags]


def some_rows(random: Random, words: int) -> list[set[int]]:
    ends = [0, 1, 63, 64 * words - 1, 32 * words]
    return [set(random.sample(ends, random.randint(0, 3))) for _ in range(random.randint(0, 30))]


@pytest.mark.parametrize("collide", [False, True])
@pytest.mark.parametrize("words", [1, 2, 16])
def test_rows_have_their_lineages(
    words: int, collide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if collide:
        monkeypatch.setattr(lineage_sets, "hash_lineages", lambda rows: np.zeros(len(rows), int))
    random = Random(words)
    sets = LineageSets()
    sets.widen(words)
    known: list[set[int]] = []
    numbers = np.zeros(0, np.int64)
    for _ in range(30):
        more = some_rows(random, words)
        known += more
        numbers = np.concatenate((numbers, sets.numbers(lineage(more, words))))
        assert bits_of(sets.array[numbers]) == known
        bit, required = (
            random.choice([0, 5, 64 * words - 1]),
            [random.random() < 0.5 for _ in known],
        )
        numbers = sets.with_bit(numbers, bit, np.array(required, np.bool_))
        known = [k | {bit} if r else k - {bit} for k, r in zip(known, required, strict=True)]
        mask = set(random.sample(range(64 * words), 3)) | {0}
        rows, found = sets.required_by(numbers, lineage([mask], words)[0])
        assert rows.tolist() == [i for i, bits in enumerate(known) if bits & mask]
        assert bits_of(found) == [bits & mask for bits in known if bits & mask]
        start = random.randint(0, len(known))
        known, numbers = known[start:], numbers[start:]
        sets.forget(numbers)
    assert sets.numbers(lineage([set()], words)).tolist() == [EMPTY]


def test_equal_lineages_are_kept_once() -> None:
    sets = LineageSets()
    sets.widen(2)
    rows = [{i % 7, 70 + i % 3} for i in range(1000)]
    numbers = sets.numbers(lineage(rows, 2))
    assert np.unique(numbers).size == len(sets) - 1 == 21


def test_lineages_that_no_row_has_are_forgotten() -> None:
    sets = LineageSets()
    sets.widen(16)
    for first in range(0, 1000, 10):
        numbers = sets.numbers(lineage([{first + i} for i in range(10)], 16))
        sets.forget(numbers)
        assert len(sets) < 200


def test_more_words_keep_the_numbers() -> None:
    sets = LineageSets()
    rows = [{1}, {5, 63}, set()]
    before = sets.numbers(lineage(rows, 1))
    sets.widen(4)
    assert sets.numbers(lineage(rows, 4)).tolist() == before.tolist()
    assert bits_of(sets.array[before]) == rows
