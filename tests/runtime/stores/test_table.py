"""Tables that change: which row a deletion takes, and for how long dead rows are remembered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.runtime.state import flatten, unflatten
from eddyline.runtime.stores.table import DEATH, TableStem
from eddyline.types import BEGINNING, FOREVER, Field

SCHEMA = (Field("k", pa.int64()), Field("name", pa.string()))
Change = tuple[int, str, int | None, str | None]  # ts, sign, k, name


def table(*contents: tuple[int | None, str | None]) -> TableStem:
    stem = TableStem("t", SCHEMA)
    stem.load(pa.table(_columns([(0, "+", *row) for row in contents]), ["k", "name"]))
    return stem


def change(stem: TableStem, *changes: Change, first: int = 0) -> list[int]:
    """Hand one chunk over; ``first`` counts the changes before it."""
    ts = np.array([c[0] for c in changes], np.int64)
    seq = 2 * np.arange(first, first + ts.size) + 1
    sign = np.array([1 if c[1] == "+" else -1 for c in changes], np.int8)
    orphans: list[int] = stem.change(ts, seq, sign, _columns(changes)).tolist()
    return orphans


def _columns(changes: Any) -> list[pa.Array]:
    types = (pa.int64(), pa.string())
    return [pa.array([c[i + 2] for c in changes], type_) for i, type_ in enumerate(types)]


def lives(stem: TableStem) -> list[tuple[Any, ...]]:
    """(k, name, born, died) of all rows in the SteM; the instants are timestamps."""
    ids = stem.ids(np.arange(stem.first, stem.end))
    columns = [stem.gather(i, ids).to_pylist() for i in range(2)]
    return list(zip(*columns, stem.held("ts").tolist(), stem.held(DEATH[0]).tolist(), strict=True))


def test_first_rows_are_there_before_everything() -> None:
    stem = table((1, "one"))
    assert lives(stem) == [(1, "one", BEGINNING, FOREVER)]
    assert stem.changed.ids.size == 0
    assert change(stem, (5, "-", 1, "one")) == []
    assert lives(stem) == [(1, "one", BEGINNING, 5)]


def test_a_deletion_takes_the_newest_of_equal_rows_that_came_before_it() -> None:
    stem = table((1, "a"), (1, "a"))
    assert (
        change(stem, (5, "+", 1, "a"), (6, "-", 1, "a"), (7, "-", 1, "a"), (8, "+", 1, "a")) == []
    )
    assert [died for *_, died in lives(stem)] == [FOREVER, 7, 6, FOREVER]
    assert stem.held(DEATH[1]).tolist()[1:3] == [5, 3], "seq of the change that deletes"
    assert stem.changed.ids.tolist() == [2, 2, 1, 3]
    assert stem.changed.sign.tolist() == [1, -1, -1, 1]
    assert (stem.alive, stem.deleted, stem.orphans) == (2, 2, 0)


def test_a_deletion_takes_only_a_row_that_is_equal_in_all_columns() -> None:
    stem = table((1, "a"), (1, None), (None, "a"), (None, None))
    assert change(stem, (5, "-", 1, "b"), (5, "-", 2, "a"), (5, "-", None, None)) == [0, 1]
    assert [row[:2] for row in lives(stem) if row[3] == 5] == [(None, None)]
    assert change(stem, (6, "-", 1, None), (6, "-", None, "a")) == []
    assert change(stem, (7, "-", None, None)) == [0], "it has gone already"
    assert (stem.alive, stem.orphans) == (1, 3)


def test_a_deletion_never_removes_a_later_row() -> None:
    stem = table()
    assert change(stem, (5, "-", 1, "a"), (5, "+", 1, "a")) == [0]
    assert lives(stem) == [(1, "a", 5, FOREVER)]
    assert stem.changed.sign.tolist() == [1]


def test_dead_rows_are_removed_at_once_unless_they_can_be_probed() -> None:
    stem = table()
    stem.remember(10)
    stem.remember(3)
    stem.compact_at = 0
    change(stem, (1, "+", 1, "a"), (2, "-", 1, "a"), (4, "+", 2, "b"))
    stem.purge(11)
    assert len(stem) == 2, "dead since 2: asked for until 12"
    stem.compact_at = 0
    stem.forget(10)
    stem.purge(11)
    assert lives(stem) == [(2, "b", 4, FOREVER)]
    assert change(stem, (13, "-", 2, "b"), first=3) == [], "found where it stands now"
    stem.compact_at = 0
    stem.purge(16)
    assert len(stem) == 0


def test_memory_follows_the_rows_not_the_updates() -> None:
    stem = table(*((k, "x" * 20) for k in range(50)))
    for step in range(400):
        updates = [(step, op, k, "x" * 20) for k in range(50) for op in "-+"]
        assert change(stem, *updates, first=100 * step) == []
        stem.purge(step)
    assert stem.alive == 50
    assert len(stem) < 2 * 1024
    assert sum(values.nbytes for _, values in flatten(stem.state())) < 500_000


values = st.tuples(st.sampled_from([None, 1, 2]), st.sampled_from([None, "a", "b"]))
chunks = st.lists(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from("+-"), values), max_size=6), max_size=6
)


@settings(max_examples=150, derandomize=True, deadline=None)
@given(contents=st.lists(values, max_size=4), chunks=chunks, restart_at=st.integers(0, 6))
def test_any_changes_in_any_chunks(contents: Any, chunks: Any, restart_at: int) -> None:
    stem = table(*contents)
    expected = [[*row, BEGINNING, FOREVER] for row in contents]
    now = done = 0
    for number, chunk in enumerate(chunks):
        if number == restart_at:
            saved = unflatten(dict(flatten(stem.state())))
            stem = table()
            stem.restore(saved)
        changes: list[Change] = []
        orphans = []
        for wait, sign, row in chunk:
            now += wait
            changes.append((now, sign, *row))
            if sign == "+":
                expected.append([*row, now, FOREVER])
                continue
            there = [e for e in expected if tuple(e[:2]) == row and e[3] == FOREVER]
            if there:
                there[-1][3] = now
            else:
                orphans.append(len(changes) - 1)
        assert change(stem, *changes, first=done) == orphans
        done += len(changes)
        stem.compact_at = 0 if number % 2 else 1024
        stem.purge(now)
        if number % 2:
            expected = [e for e in expected if e[3] > now]
        assert lives(stem) == [tuple(e) for e in expected]
    assert stem.alive == sum(e[3] == FOREVER for e in expected)
