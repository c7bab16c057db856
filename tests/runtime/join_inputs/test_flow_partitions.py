"""Windows of a flow with the last rows of keys, against lists of rows by key."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.runtime.join_inputs.flow_partitions import FlowPartitionRows
from eddyline.runtime.stores.index import HashIndex, Probes
from eddyline.runtime.stores.stem import Stem
from eddyline.types import Field

TEXT = pa.string()
SCHEMA = (Field("k", pa.int64()), Field("j", TEXT))
LEAST_COMPACTED = 4  # rows of the SteM
steps = st.lists(
    st.one_of(
        st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab")), max_size=12),
        st.sets(st.integers(1, 6), min_size=1, max_size=3),
        st.just("save"),
    ),
    max_size=14,
)


class Model:
    """A SteM with the window and an index of one column, and all its rows; ids are their numbers.

    Attributes:
        counts: the lengths of the queries' windows.
    """

    def __init__(self, columns: tuple[int, ...]) -> None:
        self.columns = columns
        self.rows: list[tuple[int, str]] = []
        self.counts = [1]
        self._make()

    def _make(self) -> None:
        self.stem = Stem("s", SCHEMA)
        self.window = FlowPartitionRows(self.stem, "w", self.columns)
        self.stem.open_window("w", lambda: self.window)
        self.index = HashIndex(self.stem)
        if len(self.columns) == 1:
            self.window.are_chained_in([self.index])
        self.fit(self.counts)

    def fit(self, counts: list[int]) -> None:
        self.counts = counts
        self.window.fit(counts, [])

    def keys(self, rows: list[tuple[int, str]]) -> np.ndarray:
        """What is indexed: the first of the partition columns."""
        return np.array([ord(str(row[self.columns[0]])) for row in rows], np.int64)

    def held(self) -> list[int]:
        found: list[int] = self.stem.ids(np.arange(self.stem.first, self.stem.end)).tolist()
        return found

    def add(self, rows: list[tuple[int, str]]) -> None:
        seq = 2 * (len(self.rows) + np.arange(len(rows)))
        columns = [pa.array([r[0] for r in rows], pa.int64()), pa.array([r[1] for r in rows], TEXT)]
        self.stem.compact_at = LEAST_COMPACTED
        self.stem.add(seq, seq, columns)
        self.rows += rows
        self.index.insert(self.stem.positions(self.stem.fresh), self.keys(rows))

    def restart(self) -> None:
        stem, index = self.stem.state(), self.index.state()
        self._make()
        self.stem.restore(stem)
        self.index.restore(index)

    def partition(self, row: int) -> tuple[int | str, ...]:
        return tuple(self.rows[row][c] for c in self.columns)

    def age(self, row: int, now: int) -> int:
        """The number of newer rows in its partition when row ``now`` has come."""
        return sum(self.partition(r) == self.partition(row) for r in range(row + 1, now + 1))

    def check_evicted(self, fresh: range) -> None:
        found = self.window.evicted(self.stem.fresh, np.array(self.counts))
        by, length, out = found[0].tolist(), found[1].tolist(), self.stem.ids(found[2]).tolist()
        expected = [
            (row - fresh.start, n, old)
            for row in fresh
            for n, count in enumerate(self.counts)
            for old in self.held()
            if old < row
            and self.partition(old) == self.partition(row)
            and self.age(old, row) == count
        ]
        assert list(zip(by, length, out, strict=True)) == expected

    def check_found(self, fresh: range, *, inclusive: bool) -> None:
        keys, seq = self.keys(self.rows), 2 * np.array(fresh, np.int64)
        probes, longest = Probes(keys[fresh.start : fresh.stop], seq, seq), self.counts[-1]
        number, at, age = self.window.find(
            self.index, probes, longest, inclusive=inclusive, as_of_now=False
        )
        found = zip(number.tolist(), self.stem.ids(at).tolist(), age.tolist(), strict=True)
        expected = [
            (row - fresh.start, old, self.age(old, row))
            for row in fresh
            for old in reversed(self.held())
            if old < row + inclusive and keys[old] == keys[row] and self.age(old, row) < longest
        ]
        assert list(found) == expected


@pytest.mark.parametrize("columns", [(0,), (1,), (1, 0)])
@settings(max_examples=60, derandomize=True)
@given(steps=steps)
def test_what_is_found_and_pushed_out_and_kept(
    columns: tuple[int, ...], steps: list[list[tuple[int, str]] | set[int] | str]
) -> None:
    model = Model(columns)
    for step in steps:
        if isinstance(step, set):
            model.fit(sorted(step))
        elif isinstance(step, str):
            model.restart()
        else:
            fresh = range(len(model.rows), len(model.rows) + len(step))
            model.add(step)
            model.check_evicted(fresh)
            for inclusive in (False, True):
                model.check_found(fresh, inclusive=inclusive)
            before = model.held()
            model.stem.purge(0)
            now, longest = fresh.stop - 1, model.counts[-1]
            inside = [row for row in before if model.age(row, now) < longest]
            assert model.held() == (inside if len(before) >= LEAST_COMPACTED else before)
