"""Rows that wait for the watermark, against a sorted list."""

from __future__ import annotations

from math import log2

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eddyline
from eddyline.engine.ingest.ordered_rows import HeldRows, OrderedRows, joined
from eddyline.runtime.stores.columns import Array
from eddyline.types import FOREVER

Steps = list[tuple[list[int], int]]


def _held() -> HeldRows:
    return HeldRows(_rows([], 0))


def _rows(ts: list[int], arrival: int, places: Array | None = None) -> OrderedRows:
    numbers = np.arange(arrival, arrival + len(ts))
    columns = [pa.array(numbers), pa.array([f"row {i}" for i in numbers], pa.string())]
    return OrderedRows(np.array(ts, np.int64), numbers, columns, places)


def _listed(rows: OrderedRows) -> list[tuple[int, int]]:
    whole = rows.whole()
    assert whole.columns[0].to_pylist() == whole.arrival.tolist()
    assert whole.columns[1].to_pylist() == [f"row {i}" for i in whole.arrival.tolist()]
    return list(zip(whole.ts.tolist(), whole.arrival.tolist(), strict=True))


_TIMES = st.lists(st.integers(0, 40), max_size=6)


@given(st.lists(st.tuples(_TIMES, st.integers(-1, 41)), max_size=30))
def test_what_is_released(steps: Steps) -> None:
    held, waiting, arrival = _held(), list[tuple[int, int]](), 0
    for ts, watermark in steps:
        held.add(_rows(ts, arrival))
        waiting += [(t, arrival + i) for i, t in enumerate(ts)]
        arrival += len(ts)
        waiting.sort()
        assert len(held) == len(waiting)
        assert held.first == (waiting[0][0] if waiting else FOREVER)
        assert held.last(20) == max(20, waiting[-1][0] if waiting else 20)
        assert _listed(held.whole()) == waiting
        parts = [list(zip(*map(np.ndarray.tolist, part), strict=True)) for part in held.times()]
        assert all(part and part == sorted(part) for part in parts)
        assert sorted(row for part in parts for row in part) == waiting
        due = [row for row in waiting if row[0] <= watermark]
        assert _listed(held.release(watermark)) == due
        waiting = waiting[len(due) :]
    assert (held.nbytes > 0) == bool(waiting)


@pytest.mark.parametrize("jitter", [0, 500])
def test_a_row_is_copied_a_few_times(jitter: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many rows wait: those of 2,000 calls do here, and the oldest leave with each call."""
    moved = 0

    def counting(parts: list[OrderedRows]) -> OrderedRows:
        nonlocal moved
        moved += sum(part.ts.size for part in parts)
        return joined(parts)

    monkeypatch.setattr("eddyline.engine.ingest.ordered_rows.joined", counting)
    held, calls, rows = _held(), 6_000, 3
    random = np.random.default_rng(1)
    for call in range(calls):
        ts = 10 * (call * rows + np.arange(rows)) - random.integers(0, jitter + 1, rows)
        held.add(_rows(ts.tolist(), call * rows))
        held.release(10 * rows * (call - 2_000))
        assert held.runs <= 2 * log2(2_100 * rows)
    assert moved < 16 * calls * rows


def test_restored_rows_replace_those_held() -> None:
    held = _held()
    held.add(_rows([3, 1], 0))
    held.restore(_rows([5, 4], 7))
    assert _listed(held.whole()) == [(4, 8), (5, 7)]


def test_dropped_rows_are_not_held() -> None:
    held = _held()
    held.add(
        OrderedRows(np.array([1, 5]), np.array([0, 3]), _rows([0] * 4, 0).columns, np.array([0, 3]))
    )
    assert _listed(held.release(1)) == [(1, 0)]
    assert _listed(held.release(9)) == [(5, 3)]


def test_rows_that_wait_are_in_no_memory_of_the_caller() -> None:
    engine = eddyline.Engine()
    engine.sql("CREATE STREAM s (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts LATENESS '5 seconds'")
    query = engine.query("SELECT x FROM s")
    times, values = np.array([0, 1_000_000]), np.array([7, 8])
    columns = [
        pa.Array.from_buffers(pa.int64(), 2, [None, pa.py_buffer(v)]) for v in (times, values)
    ]
    engine.process({"s": pa.table(columns, names=["ts", "x"])})
    times[:], values[:] = 9, 9
    changes = engine.process({"s": {"ts": 60_000_000, "x": 1}})
    assert changes[query.name]["x"].to_pylist() == [7, 8]
    assert changes[query.name]["_ts"].cast(pa.int64()).to_pylist() == [0, 1_000_000]
