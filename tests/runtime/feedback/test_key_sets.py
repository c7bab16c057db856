"""Keys of the rows of an input: an index and a Bloom filter say which have a row that is alive."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline.runtime.feedback.key_index import KeySet
from eddyline.runtime.join_inputs.buffer import InputBuffer
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.stores.intermediates import ResultRows
from eddyline.runtime.stores.keys import join_keys
from operator_cases import Run, column

NONE: Any = np.zeros(0, np.int64)


def buffered(source: Operator) -> InputBuffer:
    return InputBuffer(source, ResultRows(1))


def keys_of(run: Run, kind: str) -> KeySet:
    buffer = run.operator
    assert isinstance(buffer, InputBuffer)
    keys = (
        buffer.keys.index("k", [column(0)])
        if kind == "index"
        else buffer.keys.filter("k", [column(0)])
    )
    keys.acquire()
    return keys


def exist(keys: KeySet, values: list[int], at: int) -> list[bool]:
    hashed, _ = join_keys([pa.array(values)], len(values))
    return [bool(there) for there in keys.exist(hashed, np.full(len(values), at))]


@pytest.mark.parametrize("kind", ["index", "bloom"])
def test_keys_of_rows_exist_until_the_rows_expire(kind: str) -> None:
    run = Run(buffered, 1)
    keys = keys_of(run, kind)
    assert exist(keys, [1, 2], 0) == [False, False]
    run.chunk("1s", "_op|_ts|_exp|k\n+|1s|3s|1\n+|1s|9s|2")
    assert exist(keys, [1, 2, 3], 1_000_000) == [True, True, False]
    run.chunk("4s")
    run.chunk("10s")
    run.chunk("11s", "_op|_ts|_exp|k\n+|11s|20s|3")
    run.chunk("12s")
    assert exist(keys, [1, 2, 3], 12_000_000) == [False, False, True]


@pytest.mark.parametrize("kind", ["index", "bloom"])
def test_a_set_that_is_acquired_later_has_the_rows_that_are_alive(kind: str) -> None:
    run = Run(buffered, 1)
    keys = keys_of(run, kind)
    run.chunk("1s", "_op|_ts|_exp|k\n+|1s|9s|1")
    keys.release()
    run.chunk("2s", "_op|_ts|_exp|k\n+|2s|9s|2")
    keys.acquire()
    assert exist(keys, [1, 2, 3], 2_000_000) == [True, True, False]


@pytest.mark.parametrize("kind", ["index", "bloom"])
@pytest.mark.parametrize("seed", range(3))
def test_no_key_of_a_row_that_is_alive_is_missed(kind: str, seed: int) -> None:
    luck = random.Random(seed)
    run = Run(buffered, 1)
    keys = keys_of(run, kind)
    alive: list[tuple[int, int]] = []  # expiry, key
    wrong = tried = 0
    for second in range(1, 40):
        at = second * 1_000_000
        rows = [(1, at, at + luck.randrange(1, 8) * 1_000_000, (luck.randrange(1_000),))
                for _ in range(luck.randrange(40))]  # fmt: skip
        run.chunk(at, rows)
        alive = [(e, k) for e, k in alive + [(r[2], r[3][0]) for r in rows] if e > at]
        expected = {k for _, k in alive}
        there = exist(keys, list(range(1_000)), at)
        assert all(there[k] for k in expected)
        wrong += sum(there) - len(expected)
        tried += 1_000
    assert wrong == 0 if kind == "index" else wrong < 0.2 * tried


def test_an_index_finds_the_rows_that_satisfy_a_condition() -> None:
    run = Run(buffered, 1)
    keys: Any = keys_of(run, "index")
    run.chunk("1s", "_op|_ts|_exp|k\n+|1s|3s|1\n+|1s|9s|1\n+|1s|9s|2")
    hashed, _ = join_keys([pa.array([1, 2, 3])], 3)
    by, positions = keys.find(hashed, np.full(3, 4_000_000))
    assert sorted(zip(by.tolist(), positions.tolist(), strict=True)) == [(0, 1), (1, 2)]
    met = keys.meet(hashed, np.full(3, 0), lambda probe, row: row == 0)
    assert met.tolist() == [True, False, False]
