"""Windows of a SteM: who leaves them, and what the SteM still keeps."""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.runtime.stores.columns import TextColumn
from eddyline.runtime.stores.index import HashIndex, Probes
from eddyline.runtime.stores.keys import join_keys
from eddyline.runtime.stores.stem import (
    CountWindow,
    EndlessWindow,
    PartitionWindow,
    Stem,
    StemWindow,
    TimeWindow,
)
from eddyline.types import FOREVER, Field

SCHEMA = (Field("k", pa.int64()),)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def add(stem: Stem, ts: list[int], keys: list[int]) -> None:
    start = stem.next_id
    seq = 2 * np.arange(start, start + len(ts)) + 1
    stem.add(ints(*ts), seq, [pa.array(keys, pa.int64())])


def ids(stem: Stem) -> list[int]:
    return stem.ids(np.arange(stem.first, stem.end)).tolist()


def pushed(stem: Stem, window: StemWindow) -> list[tuple[int, int]]:
    """(id that left, id that pushed it out) in the current chunk."""
    out = stem.evicted[window]
    return list(zip(out.ids.tolist(), stem.fresh[out.by].tolist(), strict=True))


def test_a_time_window_needs_rows_until_the_instant_they_expire() -> None:
    stem = Stem("s", SCHEMA)
    stem.open_window("w", lambda: TimeWindow(10))
    add(stem, [0, 5, 9], [1, 1, 1])
    stem.purge(9)
    assert ids(stem) == [0, 1, 2]
    stem.purge(10)
    assert ids(stem) == [1, 2]


def test_a_count_window_reports_displaced_rows_and_their_times() -> None:
    stem = Stem("s", SCHEMA)
    window = stem.open_window("w", lambda: CountWindow(stem, "w", 2))
    add(stem, [0, 5, 9, 9], [1, 1, 1, 1])
    assert pushed(stem, window) == [(0, 2), (1, 3)]
    assert window.liveness.death is not None
    death_ts, death_seq = window.liveness.death
    assert stem.held(death_ts).tolist() == [9, 9, FOREVER, FOREVER]
    assert stem.held(death_seq).tolist() == [4, 6, FOREVER, FOREVER]
    stem.purge(9)
    assert ids(stem) == [2, 3]
    assert stem.fresh.size == 0
    assert not stem.evicted


def test_a_partition_window_counts_by_value_and_null_is_a_value() -> None:
    stem = Stem("s", SCHEMA)
    window = stem.open_window("w", lambda: PartitionWindow(stem, "w", [0], 1))
    stem.add(ints(0, 1, 2), ints(1, 3, 5), [pa.array([7, None, 7])])
    assert pushed(stem, window) == [(0, 2)]
    stem.purge(2)
    stem.add(ints(3), ints(7), [pa.array([None], pa.int64())])
    assert pushed(stem, window) == [(1, 3)]


def test_fresh_columns_are_at_hand_and_not_the_users_memory() -> None:
    stem = Stem("s", SCHEMA)
    stem.open_window("w", lambda: EndlessWindow(keep=True))
    add(stem, [0], [6])
    keys = ints(7, 8)
    stem.add(ints(1, 2), ints(3, 5), [pa.array(keys)])
    fresh = stem.gather(0, stem.fresh)
    stem.purge(2)
    keys[:] = 0
    assert fresh.to_pylist() == [7, 8]
    assert stem.gather(0, ints(0, 2)).to_pylist() == [6, 8]
    stem.open_window("v", lambda: EndlessWindow(keep=True))
    assert stem.gather(0, stem.fresh).to_pylist() == []


WIDE = (Field("k", pa.int64()), Field("t", pa.string()), Field("l", pa.list_(pa.int64())))


def wide(rows: range) -> list[pa.Array]:
    texts, lists = [f"text {i}" for i in rows], [[i] * (i % 3) for i in rows]
    return [pa.array(rows), pa.array(texts), pa.array(lists, pa.list_(pa.int64()))]


def add_wide(stem: Stem, rows: range, kept: list[int] | None = None) -> None:
    places = None if kept is None else ints(*kept)
    ts = ints(*(rows if kept is None else [rows[i] for i in kept]))
    start = stem.next_id
    stem.add(ts, 2 * np.arange(start, start + ts.size) + 1, wide(rows), places)


@pytest.mark.parametrize("kept", [None, [1, 2, 5, 9]])
@pytest.mark.parametrize("keep", [False, True])
def test_columns_of_fresh_rows_are_read_as_those_of_stored_ones(
    kept: list[int] | None, keep: bool
) -> None:
    stem = Stem("s", WIDE)
    stem.open_window("w", lambda: EndlessWindow(keep=keep))
    for chunk in range(5):
        rows = range(10 * chunk, 10 * chunk + 10)
        add_wide(stem, rows, kept)
        expected = wide(rows)
        if kept is not None:
            expected = [c.take(pa.array(kept)) for c in expected]
        n = len(expected[0])
        some = stem.fresh[[1, n - 1]]
        for column in range(3):
            assert stem.gather(column, stem.fresh).equals(expected[column])
            assert stem.gather(column, some).equals(expected[column].take(pa.array([1, n - 1])))
            assert len(stem.gather(column, ints())) == 0
        places = stem.places(some)
        for column in range(3):
            found = stem.column(column).gather(places)
            assert found.equals(expected[column].take(pa.array([1, n - 1])))
            assert stem.gather(column, some).equals(found)
        stem.purge(10 * chunk + 9)
        assert len(stem) == (n * (chunk + 1) if keep else 0)
    if keep:
        every = stem.ids(np.arange(stem.first, stem.end))
        numbers = [i for i in range(50) if kept is None or i % 10 in kept]
        assert stem.gather(0, every).to_pylist() == numbers
        assert stem.gather(1, every).to_pylist() == [f"text {i}" for i in numbers]


def test_rows_that_only_pass_are_not_stored() -> None:
    stem = Stem("s", WIDE)
    stem.open_window("w", lambda: EndlessWindow(keep=False))
    for chunk in range(100):
        add_wide(stem, range(100 * chunk, 100 * chunk + 100))
        assert stem.gather(1, stem.fresh[[3]]).to_pylist() == [f"text {100 * chunk + 3}"]
        stem.purge(100 * chunk + 99)
    texts = stem.column(1)
    assert isinstance(texts, TextColumn)
    assert not texts.texts().data.any(), "no byte has been written"
    assert texts.texts().offsets.size < 1_000, "and there is room for a few chunks"
    assert stem.next_id == 10_000


def test_a_window_that_is_opened_keeps_rows_from_then_on() -> None:
    stem = Stem("s", WIDE)
    stem.open_window("w", lambda: EndlessWindow(keep=False))
    add_wide(stem, range(10))
    stem.purge(9)
    stem.open_window("v", lambda: TimeWindow(15))
    for chunk in range(1, 4):
        add_wide(stem, range(10 * chunk, 10 * chunk + 10), [0, 4])
        if chunk == 2:
            older = stem.ids(np.arange(stem.first, stem.end))
            assert stem.gather(1, older).to_pylist() == ["text 10", "text 14", "text 20", "text 24"]
        stem.purge(10 * chunk + 9)
    assert stem.gather(0, stem.ids(np.arange(stem.first, stem.end))).to_pylist() == [30, 34]
    saved = stem.state()
    restored = Stem("s", WIDE)
    restored.open_window("v", lambda: TimeWindow(15))
    restored.restore({**saved, "windows": {"v": {}}})
    every = restored.ids(np.arange(restored.first, restored.end))
    assert restored.gather(2, every).equals(stem.gather(2, every))


def test_the_longest_window_decides_and_a_closed_one_no_more() -> None:
    stem = Stem("s", SCHEMA)
    stem.open_window("short", lambda: TimeWindow(1))
    stem.open_window("long", lambda: CountWindow(stem, "long", 3))
    add(stem, [0, 1, 2, 3], [1, 1, 1, 1])
    stem.purge(3)
    assert ids(stem) == [1, 2, 3]
    stem.close_window("long")
    stem.purge(3)
    assert ids(stem) == [3]
    stem.close_window("short")
    stem.purge(3)
    assert ids(stem) == []


def test_an_unbounded_window_keeps_rows_only_on_request() -> None:
    for keep, left in ((True, [0, 1]), (False, [])):
        stem = Stem("s", SCHEMA)
        stem.open_window("w", partial(EndlessWindow, keep=keep))
        add(stem, [0, 1], [1, 1])
        stem.purge(1 << 60)
        assert ids(stem) == left


def test_a_window_opened_late_takes_in_the_rows_that_are_there() -> None:
    stem = Stem("s", SCHEMA)
    stem.open_window("all", partial(EndlessWindow, keep=True))
    add(stem, [0, 1, 2], [7, 8, 7])
    late = stem.open_window("late", lambda: CountWindow(stem, "late", 2))
    assert stem.fresh.size == 0
    assert late.liveness.death is not None
    assert (stem.held(late.liveness.death[0]) == FOREVER).tolist() == [False, True, True]
    by_key = stem.open_window("by key", lambda: PartitionWindow(stem, "by key", [0], 1))
    assert by_key.liveness.death is not None
    assert (stem.held(by_key.liveness.death[0]) == FOREVER).tolist() == [False, True, True]


@settings(max_examples=25, derandomize=True)
@given(
    chunks=st.lists(
        st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=9), max_size=8
    ),
    sizes=st.tuples(st.integers(1, 6), st.integers(1, 4), st.integers(1, 3)),
)
def test_windows_and_an_index_against_lists_with_compaction_at_every_chunk(
    chunks: list[list[tuple[int, int]]], sizes: tuple[int, int, int]
) -> None:
    """RANGE, ROWS and PARTITION BY ROWS over one SteM, probed at the end of every chunk."""
    span, last, each = sizes
    stem = Stem("s", SCHEMA)
    windows = {
        "range": stem.open_window("range", lambda: TimeWindow(span)),
        "rows": stem.open_window("rows", lambda: CountWindow(stem, "rows", last)),
        "each": stem.open_window("each", lambda: PartitionWindow(stem, "each", [0], each)),
    }
    index = HashIndex(stem)
    came: list[tuple[int, int]] = []  # (ts, key) by id
    for chunk in chunks:
        clock = came[-1][0] if came else 0
        ts = (clock + np.cumsum([step for step, _ in chunk])).astype(np.int64).tolist()
        keys = [key for _, key in chunk]
        came += zip(ts, keys, strict=True)
        clock = came[-1][0] if came else 0
        add(stem, ts, keys)
        index.insert(
            stem.positions(stem.fresh), join_keys([pa.array(keys, pa.int64())], len(keys))[0]
        )
        probe = Probes(ints(0, 1, 2), np.full(3, clock), np.full(3, 1 << 40))
        for name, window in windows.items():
            _, found = index.probe(probe, window.liveness, inclusive=True)
            of_key = [[i for i, (_, k) in enumerate(came) if k == key] for key in range(3)]
            inside = {
                "range": [i for i, (t, _) in enumerate(came) if t + span > clock],
                "rows": list(range(len(came)))[-last:],
                "each": sorted(i for key in range(3) for i in of_key[key][-each:]),
            }[name]
            assert sorted(stem.ids(found).tolist()) == inside, name
        stem.compact_at = 0
        stem.purge(clock)
        assert len(stem) <= max(len(came), 1)
