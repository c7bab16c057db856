"""A flow over small streams, and the plain way to say what each of its queries should get."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.value_sets import above
from eddyline.runtime.batch import Batch
from eddyline.runtime.eddy.edges import Equality, JoinGraph, Key, keys_of
from eddyline.runtime.eddy.filter_flow import FilterFlow
from eddyline.runtime.eddy.flow import Flow, Member
from eddyline.runtime.eddy.gates import Gates
from eddyline.runtime.eddy.join_flow import JoinFlow
from eddyline.runtime.eddy.policies import PolicyName, make_policy
from eddyline.runtime.graph import run
from eddyline.runtime.join_inputs.flow_windows import FlowRows, FlowWindow
from eddyline.runtime.join_inputs.lineage_input import LineageInput
from eddyline.runtime.operators.base import Tick
from eddyline.runtime.operators.stateless import Scan
from eddyline.runtime.predicates.filter_bank import Attribute
from eddyline.runtime.recipients import Recipients
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.stem import Stem
from eddyline.runtime.window_join.schedules import ScheduleName, make_schedule
from eddyline.types import FOREVER, Field

COLUMNS = ("k", "v")
SCHEMA = tuple(Field(name, pa.int64()) for name in COLUMNS)


@dataclass(frozen=True)
class Row:
    """``at``: its place in the order of all rows."""

    at: int
    stream: str
    ts: int
    k: int
    v: int


@dataclass(frozen=True)
class Wanted:
    """A query: per source ``v > least`` (None: anything) and a window (microseconds or rows);
    ``v``'s first less last.
    """

    least: tuple[int | None, ...]
    windows: tuple[int, ...]
    rise: int | None = None

    def has(self, row: Row, source: int) -> bool:
        least = self.least[source]
        return least is None or row.v > least

    def accepts(self, rows: Sequence[Row]) -> bool:
        return self.rise is None or rows[-1].v - rows[0].v > self.rise


#: The numbers of its rows, its instant, and when it leaves the query's answer.
Result = tuple[tuple[int, ...], int, int]
#: The numbers of its rows, and of the row that pushes one of them out of its window.
Taken = tuple[tuple[int, ...], int]

#: No row has this number.
_NOBODY = 1 << 60


class Model:
    """A flow, fed chunk by chunk, and all that has happened to it.

    Args:
        sources: names of streams; a name may come twice.
        edges: source, column, source, column. Two sources without any are joined where ``v < v``.
        counted: by source, whether windows count rows.
        schedule: rows of its two sources wait, until they are served.
        feedback: what rows wait for until others find them.
    """

    def __init__(
        self,
        sources: Sequence[str],
        edges: Sequence[tuple[int, str, int, str]] = (),
        *,
        counted: Sequence[bool] = (),
        policy: PolicyName = "ticket",
        pull_up: bool = False,
        schedule: ScheduleName | None = None,
        rows_per_step: int = 4_096,
        feedback: str = "off",
    ) -> None:
        self.sources, self.edges = list(sources), list(edges)
        self._keyless = len(sources) == 2 and not edges
        self.rows: list[Row] = []
        self.stems = {name: Stem(name, SCHEMA) for name in dict.fromkeys(sources)}
        self.counted = list(counted) or [False] * len(sources)
        windows: list[FlowWindow | FlowRows] = [
            FlowRows(self.stems[name]) if counts else FlowWindow(joined=len(sources) > 1)
            for name, counts in zip(sources, self.counted, strict=True)
        ]
        self._scans = []
        for number, (name, window) in enumerate(zip(sources, windows, strict=True)):
            self.stems[name].open_window(number, partial(lambda w: w, window))
            self._scans.append(Scan(self.stems[name], window, number))
        ties = tuple(Equality(a, b, _key(m), _key(n)) for a, m, b, n in edges)
        sides = [
            LineageInput(scan.stem, window, keys_of(number, ties))
            for number, (scan, window) in enumerate(zip(self._scans, windows, strict=True))
        ]
        gates = None
        if feedback != "off" and len(sources) > 2:
            by_key, trying = feedback != "doe", feedback == "auto"
            gates = Gates(sides, ties, by_key=by_key, trying=trying)
        new_policy = partial(make_policy, policy, 1)
        self.flow: Flow
        if len(sources) == 1:
            self.flow = FilterFlow(self._scans, windows, new_policy)
        else:
            self.flow = JoinFlow(
                self._scans,
                sides,
                JoinGraph(ties, _below if self._keyless else None),
                new_policy,
                gates=gates,
                schedule=None if schedule is None else make_schedule(schedule, rows_per_step),
                selections="pull" if pull_up else "push",
            )
        self.flow.paced = schedule is not None
        self.got: dict[int, list[Result]] = {}  # by bit
        self.taken: dict[int, list[Taken]] = {}  # likewise
        self.said: dict[int, list[tuple[int, ...]]] = {}  # all of it: sign, seq, ids
        self._by_id: dict[str, list[Row]] = {name: [] for name in self.stems}
        self._place: dict[int, int] = {}  # of a row in its stream, by its number

    @property
    def clock(self) -> int:
        return self.rows[-1].ts if self.rows else 0

    def admit(self, wanted: Wanted) -> int:
        bit = self.flow.admit(_member(wanted))
        self.got[bit], self.taken[bit], self.said[bit] = [], [], []
        return bit

    def feed(self, rows: Sequence[tuple[str, int, int, int]], chunk: int) -> None:
        """Rows (stream, ts, k, v) in order of time."""
        new = [Row(len(self.rows) + i, *row) for i, row in enumerate(rows)]
        for start in range(0, len(new), chunk):
            self._run(new[start : start + chunk])

    def _run(self, rows: Sequence[Row]) -> None:
        self.rows += rows
        for name, stem in self.stems.items():
            mine = [r for r in rows if r.stream == name]
            self._place |= {r.at: n for n, r in enumerate(mine, start=len(self._by_id[name]))}
            self._by_id[name] += mine
            columns = [pa.array([getattr(r, c) for r in mine], pa.int64()) for c in COLUMNS]
            if mine:
                stem.add(_ints(r.ts for r in mine), _ints(2 * r.at + 1 for r in mine), columns)
        tick = Tick(self.clock, rows[0].ts)
        batch = run(self.flow, [run(s, [], tick) for s in self._scans], tick)
        assert (np.diff(batch.seq) >= 0).all(), "in the order of events"
        self._get(batch)
        for stem in self.stems.values():
            stem.purge(self.clock)

    def serve(self, steps: int | None = None) -> None:
        """Serve rows that wait: all of them, or so many times some."""
        while self.flow.waiting and steps != 0:
            for batch, _ in self.flow.step():
                self._get(batch)
            steps = None if steps is None else steps - 1

    def _get(self, batch: Batch) -> None:
        recipients = batch.recipients
        assert recipients is not None
        columns = [batch.sign, batch.seq, *batch.ids]
        for bit in set(range(recipients.width)) & set(self.said):
            rows, _ = recipients.of(bit)
            self.said[bit] += zip(*(c[rows].tolist() for c in columns), strict=True)
        came = batch.sign > 0
        arriving = recipients.only(came[recipients.rows])
        for bit, results in self._results(batch, arriving).items():
            self.got[bit] += results
        left = recipients.only(~came[recipients.rows])
        seq = batch.seq[left.rows].tolist()
        for bit, results in self._results(batch, left).items():
            mine = [n for n, query in enumerate(left.query.tolist()) if query == bit]
            self.taken[bit] += [(r[0], seq[n] // 2) for r, n in zip(results, mine, strict=True)]
            assert not any(seq[n] % 2 for n in mine), "just before a row comes"

    def answer(self, bits: Sequence[int]) -> dict[int, list[Result]]:
        batch = self.flow.answer(self.clock, bits)
        assert batch.recipients is not None
        return self._results(batch, batch.recipients)

    def _results(self, batch: Batch, to: Recipients) -> dict[int, list[Result]]:
        ids = [i.tolist() for i in batch.ids]
        found: dict[int, list[Result]] = {}
        for bit, n, exp in zip(to.query.tolist(), to.rows.tolist(), to.exp.tolist(), strict=True):
            at = tuple(self._by_id[s][i[n]].at for s, i in zip(self.sources, ids, strict=True))
            found.setdefault(bit, []).append((at, int(batch.ts[n]), exp))
        return found

    # -- the plain way -------------------------------------------------

    def expected(self, wanted: Wanted, since: int = 0) -> list[Result]:
        """What a query gets from the rows with numbers from ``since`` on."""
        return sorted(r for r, _ in self._all(wanted) if max(r[0]) >= since)

    def expected_taken(self, wanted: Wanted, since: int = 0) -> list[Taken]:
        """What is taken back from a query by the rows with numbers from ``since`` on."""
        ended = ((r, end) for r, end in self._all(wanted) if since <= end < _NOBODY)
        return sorted((r[0], end) for r, end in ended if self.rows[end].ts < r[2])

    def expected_answer(self, wanted: Wanted) -> list[Result]:
        """What is in a query's answer now."""
        return sorted(r for r, end in self._all(wanted) if r[2] > self.clock and end == _NOBODY)

    def _all(self, wanted: Wanted) -> Iterator[tuple[Result, int]]:
        """All results, and the number of the row that takes each back."""
        choices = [
            [row for row in self._by_id[name] if wanted.has(row, source)]
            for source, name in enumerate(self.sources)
        ]
        for rows in self._joined(choices, wanted.windows, ()):
            if wanted.accepts(rows):
                ts, exp, end = self._lifespan(rows, wanted.windows)
                yield (tuple(r.at for r in rows), ts, min(exp, FOREVER)), end

    def _joined(
        self, choices: Sequence[list[Row]], windows: tuple[int, ...], rows: tuple[Row, ...]
    ) -> Iterator[tuple[Row, ...]]:
        source = len(rows)
        if source == len(choices):
            yield rows
            return
        ties = [(rows[a], m, n) for a, m, b, n in self.edges if b == source]
        for row in choices[source]:
            if self._keyless and rows and rows[0].v >= row.v:
                continue
            if all(getattr(other, m) == getattr(row, n) for other, m, n in ties):
                ts, exp, end = self._lifespan((*rows, row), windows)
                if ts < exp and max(r.at for r in (*rows, row)) < end:
                    yield from self._joined(choices, windows, (*rows, row))

    def _lifespan(self, rows: Sequence[Row], windows: tuple[int, ...]) -> tuple[int, int, int]:
        """From when until when rows are together, and the number of the row that parts them."""
        exp, end = FOREVER, _NOBODY
        for row, length, counts in zip(rows, windows, self.counted, strict=False):
            if counts:
                end = min(end, self._pusher(row, length))
            else:
                exp = min(exp, row.ts + length)
        return max(r.ts for r in rows), exp, end

    def _pusher(self, row: Row, count: int) -> int:
        """The number of the row that pushes another one out of a window of so many rows."""
        stream, place = self._by_id[row.stream], self._place[row.at] + count
        return stream[place].at if place < len(stream) else _NOBODY


def random_rows(
    chance: random.Random, streams: Sequence[str], count: int, start: int, end: int
) -> list[tuple[str, int, int, int]]:
    """Rows of which some have the same instant."""
    times = sorted(chance.randrange(start, end) for _ in range(count))
    return [(chance.choice(streams), t, chance.randrange(3), chance.randrange(5)) for t in times]


def random_wanted(chance: random.Random, sources: int) -> Wanted:
    least = tuple(chance.choice([None, None, None, 0, 2]) for _ in range(sources))
    windows = tuple(chance.choice([1, 3, 5, 8, 8]) for _ in range(sources))
    return Wanted(least, windows, chance.choice([None, None, None, 0]) if sources > 1 else None)


def _member(wanted: Wanted) -> Member:
    last = 2 * len(wanted.windows) - 1

    def rise(batch: Batch) -> pa.Array:
        return pc.subtract(batch.column(last), batch.column(1))

    residual = Attribute("rise", "rise", pa.int64(), rise, plain=False)
    value = Attribute("v", "v", pa.int64(), lambda batch: batch.column(1), plain=True)
    return Member(
        tuple([] if x is None else [[(value, above(x))]] for x in wanted.least),
        [] if wanted.rise is None else [[(residual, above(wanted.rise))]],
        wanted.windows,
        tuple(None if x is None else partial(_wants, x) for x in wanted.least),
    )


def _wants(least: int) -> Any:
    return lambda batch: pc.greater(batch.column(1), least).to_numpy(zero_copy_only=False)


def _below(pairs: Batch) -> Array:
    less = pc.less(pairs.column(COLUMNS.index("v")), pairs.column(len(COLUMNS) + 1))
    return np.asarray(less.to_numpy(zero_copy_only=False))


def _key(column: str) -> Key:
    number = COLUMNS.index(column)
    return Key(column, pa.int64(), lambda batch: batch.column(number))


def _ints(values: Any) -> Array:
    return np.array(list(values), np.int64)
