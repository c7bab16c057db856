"""Queries that run together in a flow: who has which seat, and what each costs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.engine.execution.groupings import Grouping
from eddyline.engine.execution.latency import Latencies
from eddyline.engine.execution.result_tables import RuleRows, Shape
from eddyline.physical.flows import member, windows_of, with_row
from eddyline.runtime.eddy.fanout import Fanout
from eddyline.runtime.eddy.flow import Flow
from eddyline.runtime.failures import EVERY_QUERY, Failure
from eddyline.runtime.stores.columns import Array
from eddyline.sharing.flow_work import alike
from eddyline.sharing.signature import Part, Signature
from eddyline.types import FOREVER

#: Of fewer results that were expected it cannot be told how wrong that was.
_TELLING: Final = 100
#: A factor that grows or shrinks by more is another one.
_CHANGED: Final = 1.2


@dataclass
class Learning:
    """How many results queries of a flow are handed, against what is expected of them.

    Selectivities of comparisons with constants are guesses, and rules are often about what is rare.

    Attributes:
        factor: what they are handed, as a multiple of what is expected.
        handed_out: results so far, one for each query that gets it. before: when last looked at.
    """

    factor: float = 1.0
    handed_out: int = 0
    before: int = 0

    def look(self, expected: float) -> bool:
        """Since the last look so many results were expected; whether the factor has changed."""
        found, self.before = self.handed_out - self.before, self.handed_out
        if expected < _TELLING:
            return False
        factor, self.factor = self.factor, max(found, 1) / expected
        return not 1 / _CHANGED < self.factor / factor < _CHANGED


@dataclass(eq=False)
class Kind:
    """Queries of a flow that are expected to need the same: their parts differ in constants.

    Attributes:
        part: with what they have in common. count: how many there are.
    """

    part: Part
    count: int = 0


class SharedFlow:
    """A flow with the shapes of its queries.

    Attributes:
        shapes: by what their queries have in common. groupings: those of queries that group.
        kinds: by what the queries of each have in common.
        learning: how many results are handed out, against what is expected.
        rows_out, seconds, checks, latencies: by bit, since the query came.
    """

    def __init__(self, signature: Signature, flow: Flow) -> None:
        self.signature = signature
        self.flow = flow
        self.shapes: dict[object, Shape] = {}
        self.groupings: dict[object, Grouping] = {}
        self.rows_out = np.zeros(64, np.int64)
        self.seconds = np.zeros(64)
        self.checks = np.zeros(64)
        self.latencies = Latencies()
        self.kinds: dict[Part, Kind] = {}
        self.learning = Learning()
        self._kind_of: dict[int, Kind] = {}
        self._shape_of: dict[int, object] = {}
        self._name_of: dict[int, str] = {}
        self._masks: dict[object, Array] | None = None  # None: to be made anew
        self._bits: Array | None = None  # likewise
        self._accounted = 0.0  # seconds of the flow
        self._checked = 0  # looks at rows in its filters

    def add(self, name: str, key: object, part: Part, schema: pa.Schema, *, replaces: bool) -> Seat:
        """Add a query to the result table of this key."""
        bit = self.admit(name, key, part)
        if key not in self.shapes:
            self.shapes[key] = Shape(schema, part.outputs, replaces=replaces)
        self.shapes[key].seat(name, bit)
        return Seat(self, self.shapes[key], key, bit)

    def add_crowd(
        self,
        name: str,
        part: Part,
        schema: pa.Schema,
        rules: RuleRows,
        *,
        retroactive: bool,
    ) -> Crowd:
        """A query that stands once per row of a table comes, so far without rows.

        Args:
            retroactive: whether those that will come are about the rows that are there then.
        """
        key = ("crowd", name)
        outputs = with_row(part.outputs, len(self.signature.schema))
        shape = Shape(schema, outputs, replaces=False, crowd=name, rules=rules)
        self.shapes[key] = shape
        windows = windows_of(part)
        if not retroactive and len(windows) == 1:  # what passes is not looked at again
            windows = tuple(0 if us >= FOREVER else us for us in windows)
        self.flow.hold(windows)
        return Crowd(self, shape, rules, key, windows)

    def admit(self, name: str, key: object, part: Part) -> int:
        """Give a query of this shape a bit."""
        if not any(s.pending for s in self.shapes.values() if s.crowd is None):
            self.flow.recycle()  # results of a crowd are one query's, whatever their bits were
        bit = self.flow.admit(member(self.signature, part))
        self._fit(bit)
        for counter in (self.rows_out, self.seconds, self.checks):
            counter[bit] = 0
        self.latencies.forget(bit)
        self._shape_of[bit] = key
        self._name_of[bit] = name
        kind = Kind(alike(part))
        self._kind_of[bit] = kind = self.kinds.setdefault(kind.part, kind)
        kind.count += 1
        self._masks = self._bits = None
        return bit

    def dismiss(self, bit: int) -> None:
        """Take a query's bit back."""
        self.flow.dismiss(bit)
        del self._shape_of[bit], self._name_of[bit]
        kind = self._kind_of.pop(bit)
        kind.count -= 1
        if not kind.count:
            del self.kinds[kind.part]
        self._masks = self._bits = None

    @property
    def names(self) -> set[str]:
        """Of its queries."""
        return {s.crowd for s in self.shapes.values() if s.crowd} | set(self._name_of.values())

    def failed(self, failure: Failure) -> Iterator[tuple[str, Failure]]:
        """By query, the rows that failed for it. Keys that are computed again for rows that probe
        have been reported before, for the queries that want the rows.
        """
        if failure.bits is None:
            return
        if (failure.bits == EVERY_QUERY).all():
            yield from ((name, failure) for name in self.names)
            return
        for bit in np.unique(failure.bits).tolist():
            if bit in self._name_of:
                yield self._name_of[bit], failure.take(np.flatnonzero(failure.bits == bit))

    def kind(self, bit: int) -> Kind:
        """The kind of a query."""
        return self._kind_of[bit]

    def close(self, key: object) -> None:
        """A shape has no queries any more."""
        del self.shapes[key]
        self.groupings.pop(key, None)

    def collect(self, arrived: float) -> None:
        """Hand the chunk's results to the shapes, and account for the time that it took.

        Args:
            arrived: when its rows could be processed (``time.perf_counter``).
        """
        fanout, self.flow.fanout = self.flow.fanout, None
        if fanout is None:
            return
        counts = fanout.counts()
        self.learning.handed_out += int(counts.sum())
        self._account(counts)
        self.latencies.add(counts, time.perf_counter() - arrived)
        for grouping in self.groupings.values():
            grouping.collect(arrived)
        self._report_all(fanout, counts)

    def pace(self, *, paced: bool, arrived: float) -> None:
        """Let rows of the next chunk wait for their turn, or not: what groups them cannot wait."""
        self.flow.paced = paced and not self.groupings
        self.flow.arrived = arrived
        while not self.flow.paced and self.flow.waiting:
            self.serve()

    def serve(self) -> None:
        """Serve some of the rows that wait, and hand out what leaves."""
        for fanout, arrived in self.flow.step():
            counts = fanout.counts()
            self.learning.handed_out += int(counts.sum())
            self._account(counts)
            self.latencies.add_each(fanout, time.perf_counter() - arrived)
            self._report_all(fanout, counts)

    def _report_all(self, fanout: Fanout, counts: Array) -> None:
        """Let all queries have their results, but those that group them."""
        plain = self.shapes.keys() - self.groupings.keys()
        if len(self.shapes) == 1 and plain:
            (only,) = self.shapes.values()
            self.report(only, fanout)
        elif plain:
            self._report_each(plain, fanout, counts)

    def _report_each(self, plain: Set[object], fanout: Fanout, counts: Array) -> None:
        """Let the queries of each of these shapes have their results."""
        for key in {self._shape_of[b] for b in np.flatnonzero(counts).tolist()} & plain:
            self.report(self.shapes[key], fanout.of_queries(self._mask(key, counts.size)))

    def report(self, shape: Shape, fanout: Fanout) -> None:
        """Let queries of a shape have these results."""
        counts = shape.collect(fanout)
        self._fit(counts.size - 1)
        self.rows_out[: counts.size] += counts

    def answer(self, clock: int, bits: Sequence[int]) -> Fanout:
        """The results that are in the answers of some queries at ``clock``."""
        before = self.flow.visits
        fanout = self.flow.answer(clock, bits)
        self._checked += self.flow.visits - before  # nobody is charged for being asked
        return fanout

    def _account(self, counts: Array) -> None:
        """One half of the time is shared alike, for the filters; the other by the results."""
        spent, self._accounted = self.flow.seconds - self._accounted, self.flow.seconds
        checks, self._checked = self.flow.visits - self._checked, self.flow.visits
        present = np.zeros(counts.size)
        there = self._present()
        present[there[there < counts.size]] = 1 / max(there.size, 1)
        by_result = counts / counts.sum() if counts.any() else present
        self._fit(counts.size - 1)
        self.seconds[: counts.size] += spent * (present + by_result) / 2
        self.checks[: counts.size] += checks * present

    def _present(self) -> Array:
        """int64[queries], the bits that are given out."""
        if self._bits is None:
            self._bits = np.array(list(self._shape_of), np.int64)
        return self._bits

    def _mask(self, key: object, bits: int) -> Array:
        """bool[bits]: the queries of a shape."""
        if self._masks is None:
            size = max(self._shape_of, default=-1) + 1
            self._masks = {k: np.zeros(size, np.bool_) for k in self.shapes}
            for bit, shape in self._shape_of.items():
                self._masks[shape][bit] = True
        mask = self._masks[key][:bits]
        return np.pad(mask, (0, bits - mask.size))

    def _fit(self, bit: int) -> None:
        more = 2 * bit - self.rows_out.size
        if bit >= self.rows_out.size:
            self.rows_out = np.pad(self.rows_out, (0, more))
            self.seconds = np.pad(self.seconds, (0, more))
            self.checks = np.pad(self.checks, (0, more))

    def clear(self) -> None:
        """What was collected has been taken."""
        for shape in self.shapes.values():
            shape.clear()


class Seat:
    """The place of a query in its flow."""

    def __init__(self, shared: SharedFlow, shape: Shape, key: object, bit: int) -> None:
        self.shared = shared
        self.shape = shape
        self._key = key
        self._bit = bit

    @property
    def rows_out(self) -> int:
        """Changes so far."""
        return int(self.shared.rows_out[self._bit])

    @property
    def seconds(self) -> float:
        """Its share of the flow's time."""
        return float(self.shared.seconds[self._bit])

    @property
    def latencies(self) -> tuple[Latencies, Array]:
        """Where its latencies are counted, with those of others, and as whose."""
        return self.shared.latencies, np.array([self._bit])

    #: How many queries of the flow it is.
    members = 1

    @property
    def grouped(self) -> int | None:
        """How many queries one grouping serves, this one among them; None if it does not group."""
        return None

    @property
    def predicates(self) -> int:
        """How many attributes it has predicates on."""
        return self.shared.flow.predicates_of(self._bit)

    @property
    def checks(self) -> float:
        """Its share of the looks at rows in the flow's filters."""
        return float(self.shared.checks[self._bit])

    @property
    def kinds(self) -> list[Kind]:
        """Of which kind it is."""
        return [self.shared.kind(self._bit)]

    def answer(self, clock: int) -> Fanout:
        """The results that are in the answer at ``clock``."""
        return self.shared.answer(clock, [self._bit])

    def leave(self, name: str) -> None:
        """The query goes."""
        self.shared.dismiss(self._bit)
        self.shape.unseat(name)
        if not self.shape.seats:
            self.shared.close(self._key)


class Crowd:
    """The places of a query that stands once per row of a table of rules."""

    def __init__(
        self,
        shared: SharedFlow,
        shape: Shape,
        rules: RuleRows,
        key: object,
        windows: tuple[int, ...],
    ) -> None:
        self.shared = shared
        self._windows = windows
        self.shape = shape
        self._rules = rules
        self._key = key
        self._bits: dict[int, int] = {}  # by row id
        self._seconds = self._checks = 0.0  # of rows that are gone
        self._latencies = Latencies()  # likewise

    @property
    def rows(self) -> list[int]:
        """The rows that it stands for."""
        return list(self._bits)

    @property
    def rows_out(self) -> int:
        """Changes so far, of all rows."""
        return self.shape.rows_out

    @property
    def seconds(self) -> float:
        """Its share of the flow's time."""
        return self._seconds + float(self.shared.seconds[list(self._bits.values())].sum())

    @property
    def latencies(self) -> tuple[Latencies, Array]:
        """Where its latencies are counted, and as whose."""
        whole = Latencies()
        whole.add_all(self._latencies, np.zeros(1, np.int64))
        whole.add_all(self.shared.latencies, np.array(list(self._bits.values()), np.int64))
        return whole, np.zeros(1, np.int64)

    @property
    def members(self) -> int:
        """How many queries of the flow it is: one per row."""
        return len(self._bits)

    #: Its rows are not grouped.
    grouped = None

    @property
    def predicates(self) -> int:
        """How many attributes its rows have predicates on, all told."""
        return sum(map(self.shared.flow.predicates_of, self._bits.values()))

    @property
    def checks(self) -> float:
        """Its share of the looks at rows in the flow's filters."""
        return self._checks + float(self.shared.checks[list(self._bits.values())].sum())

    @property
    def kinds(self) -> list[Kind]:
        """Of which kind each of its rows is."""
        return list(map(self.shared.kind, self._bits.values()))

    def stand_for(self, row: int, part: Part) -> None:
        """The query stands for one more row, whose values are in ``part``."""
        assert self.shape.crowd is not None, "the query that the rows stand for"
        bit = self.shared.admit(self.shape.crowd, self._key, part)
        self._rules.put(bit, row)
        self._bits[row] = bit

    def stand_down(self, row: int) -> None:
        """The row is gone."""
        bit = self._bits.pop(row)
        self._seconds += float(self.shared.seconds[bit])
        self._checks += float(self.shared.checks[bit])
        self._latencies.add_all(self.shared.latencies, np.array([bit]))
        self.shared.dismiss(bit)

    def answer(self, clock: int, rows: Sequence[int] | None = None) -> Fanout:
        """The results that are in the answer at ``clock``, of some rows or all."""
        mine = self._bits.values() if rows is None else [self._bits[r] for r in rows]
        return self.shared.answer(clock, list(mine))

    def report(self, fanout: Fanout) -> None:
        """Let the query have these results."""
        self.shared.report(self.shape, fanout)

    def rules_of(self, fanout: Fanout) -> Array:
        """int64[m]: the row of the table that stands behind each result."""
        return self._rules.ids[fanout.member]

    def leave(self, name: str) -> None:
        """The query goes."""
        for row in self.rows:
            self.stand_down(row)
        self.shared.flow.let_go(self._windows)
        self.shared.close(self._key)
