"""Shared window joins: whatever the schedule and the access, queries get what they get alone."""

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from eddyline.bench.comparison.state_slices import SlicedAccess
from eddyline.runtime.join_inputs.access import Access, ScanIndex
from eddyline.runtime.join_inputs.flow_windows import Levels
from eddyline.runtime.stores.index import HashIndex
from eddyline.runtime.stores.rowstore import RowStore
from eddyline.runtime.window_join.output_buffer import Release
from eddyline.runtime.window_join.schedules import (
    Classes,
    ScheduleName,
    apart,
    make_schedule,
    spread,
)
from eddyline.runtime.window_join.scheduling_queue import Arrivals
from eddyline.runtime.window_join.shared_join import SharedJoin
from eddyline.types import FOREVER
from thinned import thinned

SCHEDULES: list[ScheduleName] = ["lwo", "swf", "greedy"]


@dataclass(frozen=True)
class Row:
    seq: int
    side: int
    ts: int
    key: int
    id: int


#: Numbers of the row that brings the result about, and of the rows of both sides.
Result = tuple[int, int, int]


@dataclass
class Setting:
    """A join of queries with these windows (side, query), and what each has got."""

    windows: Any
    access: str
    schedule: ScheduleName
    rows_per_step: int
    classes: Classes = spread
    rows: list[Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.stores = [RowStore((), ["ts", "seq"]) for _ in range(2)]
        self.parts = [_access(self.access, store) for store in self.stores]
        self.join = SharedJoin(
            self.stores,
            self.parts,
            make_schedule(self.schedule, self.rows_per_step, self.classes),
        )
        self.join.fit(Levels.of(self.windows, np.arange(self.windows.shape[1]), 1))
        self.got: list[list[Result]] = [[] for _ in self.windows[0]]

    def arrive(self, rows: list[Row]) -> None:
        new = []
        for side, (store, part) in enumerate(zip(self.stores, self.parts, strict=True)):
            mine = [r for r in rows if r.side == side]
            ts, seq, key = (np.array([getattr(r, n) for r in mine], np.int64) for n in FIELDS)
            held = store.append(ts.size, {"ts": ts, "seq": seq})
            positions = np.arange(held.start, held.stop)
            part.insert(positions, key)
            new.append(Arrivals(store.ids(positions), ts, seq, key))
        self.join.arrive(new)
        self.rows += rows
        self._purge()

    def _purge(self) -> None:
        since = self.join.queued_since
        clock = self.rows[-1].ts if self.rows else 0
        for side, store in enumerate(self.stores):
            oldest = min(clock, clock if since is None else since) - int(self.windows[side].max())
            store.drop_before(store.first + int(np.searchsorted(store.held("ts"), oldest, "right")))

    def serve(self, steps: int) -> None:
        for _ in range(steps):
            if self.join.waiting:
                for release in self.join.step():
                    self._get(release)

    def _get(self, release: Release) -> None:
        pairs = release.pairs
        for query in self.join.queries(release.lowest, release.window_class):
            ages = [pairs.ts - instants for instants in pairs.instants]
            mine = (ages[0] < self.windows[0, query]) & (ages[1] < self.windows[1, query])
            columns = (pairs.row[mine], pairs.ids[0][mine], pairs.ids[1][mine])
            self.got[query] += zip(*(c.tolist() for c in columns), strict=True)

    def expected(self, query: int) -> list[Result]:
        found = []
        for number, row in enumerate(self.rows):
            other = 1 - row.side
            partners = [
                r.id
                for r in self.rows[:number]
                if r.side == other
                and r.key == row.key
                and r.ts + self.windows[other, query] > row.ts
            ]
            for partner in sorted(partners, reverse=True):
                pair = (row.id, partner) if row.side == 0 else (partner, row.id)
                found.append((number, *pair))
        return found


FIELDS = ("ts", "seq", "key")


def _access(name: str, store: RowStore) -> Access:
    if name == "hash":
        return HashIndex(store)
    return ScanIndex(store) if name == "scan" else SlicedAccess(store)


@pytest.mark.parametrize(
    ("access", "schedule", "seed"), thinned(3, ["hash", "scan", "slices"], SCHEDULES, range(15))
)
def test_results_and_order_are_those_of_each_query_alone(
    access: str, schedule: ScheduleName, seed: int
) -> None:
    some = random.Random(seed)
    queries = some.randrange(1, 6)
    one = [some.choice((1, 3, some.randrange(1, 30))) for _ in range(queries)]
    other = one if some.random() < 0.7 else [some.randrange(1, 30) for _ in range(queries)]
    classes = some.choice((spread, apart))
    steps_of = some.choice((1, 2, 5, 1000))
    setting = Setting(np.array([one, other]), access, schedule, steps_of, classes)
    setting.join.joins_classes = access != "slices" and some.random() < 0.7
    ts, counts = 0, [0, 0]
    for _ in range(some.randrange(1, 12)):
        rows: list[Any] = []
        for _ in range(some.randrange(8)):
            ts += some.randrange(4)
            side = some.randrange(2)
            seq = 2 * (len(setting.rows) + len(rows))
            rows.append(Row(seq, side, ts, some.randrange(3), counts[side]))
            counts[side] += 1
        setting.arrive(rows)
        setting.join.following = some.choice((0, 0, 100_000))
        setting.serve(some.randrange(30))
    setting.serve(100_000)
    for query in range(queries):
        assert setting.got[query] == setting.expected(query)
    assert setting.join.output_rows == setting.join.input_rows == 0


def test_greedy_releases_the_results_found_by_the_last_row() -> None:
    """Section 3.3 of Hammad et al. 2003: the order in which rows are served is known."""
    setting = Setting(np.array([[10, 30]] * 2), "hash", "greedy", 1)
    setting.arrive([Row(0, 1, 0, 7, 0), Row(2, 1, 15, 7, 1), Row(4, 0, 20, 7, 0)])
    setting.serve(100)
    setting.arrive([Row(6, 0, 21, 7, 1)])
    setting.serve(1)  # joined with the small window; it is the next row of the large one
    assert setting.got == [[(2, 0, 1), (3, 1, 1)], [(2, 0, 1), (2, 0, 0), (3, 1, 1)]]


def test_rows_behind_which_none_wait_are_served_at_once() -> None:
    """The queries of all windows get their results, unless rows of much work are to come."""
    setting = Setting(np.array([[1, 100]] * 2), "hash", "greedy", 1000)
    setting.join.joins_classes = True
    setting.arrive([Row(0, 1, 0, 7, 0), Row(2, 1, 10, 7, 1), Row(4, 0, 10, 7, 0)])
    setting.serve(1)
    assert not setting.join.waiting
    assert setting.got == [[(2, 0, 1)], [(2, 0, 1), (2, 0, 0)]]
    setting.arrive([Row(6, 0, 10, 7, 1)])
    setting.join.following = 1_000_000
    setting.serve(1)
    assert setting.join.waiting
    assert setting.got == [[(2, 0, 1), (3, 1, 1)], [(2, 0, 1), (2, 0, 0)]]


def test_windows_of_classes_are_apart() -> None:
    assert apart(np.array([7])).tolist() == [0]
    assert apart(np.array([1, 16, 255, 256])).tolist() == [0, 1, 3]
    assert apart(np.array([3, 10, FOREVER])).tolist() == [1, 2]


def test_many_windows_share_rungs() -> None:
    lengths = np.append(np.arange(1, 1000), FOREVER)
    classes = spread(lengths)
    assert classes.size <= 32
    assert classes[0] == 0
    assert classes[-1] == lengths.size - 1
    assert (np.diff(classes) > 0).all()


def test_similar_windows_share_rungs() -> None:
    lengths = np.arange(1, 101)
    levels = Levels.of([lengths, np.full(100, FOREVER)], np.arange(100), 2)
    assert levels.lengths.tolist() == lengths.tolist()
    assert 2 < spread(levels.lengths).size <= 32
