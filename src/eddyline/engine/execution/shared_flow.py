"""A flow with the result tables of its queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import pyarrow as pa

from eddyline.engine.execution.groupings import Grouping
from eddyline.engine.execution.result_tables import MaterialisedTable, Pending, ResultTable, Tally
from eddyline.engine.query_metrics import QueryMetrics
from eddyline.physical.flows import member
from eddyline.runtime.batch import Batch
from eddyline.runtime.eddy.flow import Flow
from eddyline.runtime.eddy.per_query import PerQuery
from eddyline.runtime.eddy.shared_view import SharedView
from eddyline.runtime.failures import EVERY_QUERY, Failure
from eddyline.runtime.stores.columns import Array
from eddyline.sharing.signature import Part, Signature

#: Minimum number of expected results before the estimate is corrected.
_LEAST_EXPECTED: Final = 100
#: Minimum ratio of two factors that counts as a change.
_CHANGED: Final = 1.2


#: How rows of scheduled joins are served: all at once, small windows first, or as much of that as
#: a call has time for: then a repeated call serves the same rows.
Pace = Literal["at once", "by schedule", "in part"]


@dataclass
class Learning:
    """Number of results of a flow's queries, against the estimate.

    Selectivities of comparisons with constants are guesses, and predicates often select rare rows.

    Attributes:
        factor: number of results, as a multiple of the estimate.
        handed_out: results so far, counted once per recipient. before: the same at the last look.
    """

    factor: float = 1.0
    handed_out: int = 0
    before: int = 0

    def look(self, expected: float) -> bool:
        """Whether the factor has changed, given the results expected since the last look."""
        found, self.before = self.handed_out - self.before, self.handed_out
        if expected < _LEAST_EXPECTED:
            return False
        factor, self.factor = self.factor, max(found, 1) / expected
        return not 1 / _CHANGED < self.factor / factor < _CHANGED


@dataclass(eq=False)
class Kind:
    """Queries of a flow with the same expected cost: their parts differ in constants.

    Attributes:
        part: with what they have in common. count: number of queries.
    """

    part: Part
    count: int = 0


class SharedFlow:
    """The queries of a flow: their bits, result tables and metrics.

    Attributes:
        tables: by what their queries have in common. groupings: those of queries that group.
        kinds: by what the queries of each have in common.
        learning: number of results, against the estimate.
        tally: counts by bit, since the query was added.
    """

    def __init__(self, signature: Signature, flow: Flow, pending: Pending) -> None:
        self.signature = signature
        self.flow = flow
        self.pending = pending
        self.tables: dict[object, ResultTable] = {}
        self.groupings: dict[object, Grouping] = {}
        self.tally = Tally()
        self.kinds: dict[Part, Kind] = {}
        self.learning = Learning()
        self._kind_of: dict[int, Kind] = {}
        self._table_of: dict[int, object] = {}
        self._keys: dict[object, object] = {}  # of tables: one object per key, compared at once
        self._name_of: dict[int, str] = {}
        self._masks: dict[object, Array] | None = None  # None: not computed
        self._present: Array = np.zeros(0)  # by bit, 1 where there is a query
        self._results: Array = np.zeros(0, np.int64)  # by bit, since the work was divided
        self._accounted = 0.0  # seconds of the flow
        self._checked = 0  # tests of rows in its filters

    # -- queries -------------------------------------------------------

    def admit(self, name: str, key: object, part: Part, alike: Part) -> int:
        """Add a query whose results go to the table with this key; returns its bit.

        Args:
            alike: the part without its constants.
        """
        if not any(t.has_changes for t in self.tables.values() if t.owner is None):
            self.flow.recycle()  # in a table with an owner the bits do not matter
        self._divide_work()
        bit = self.flow.admit(member(part))
        self.metrics.clear(bit)
        self._table_of[bit] = self._keys.setdefault(key, key)
        self._name_of[bit] = name
        if bit < self._present.size:
            self._present[bit] = 1.0
        kind = self.kinds.get(alike)
        if kind is None:
            kind = self.kinds[alike] = Kind(alike)
        self._kind_of[bit] = kind
        kind.count += 1
        self._masks = None
        return bit

    def dismiss(self, bit: int) -> None:
        """Remove a query."""
        self._forget(bit)
        self.flow.dismiss(bit)

    def retire(self, bit: int) -> None:
        """Remove a query, but let ``answer`` find the results that it has had, until the flow
        dismisses it.
        """
        self._forget(bit)
        self.flow.retire(bit)

    def _forget(self, bit: int) -> None:
        self._divide_work()
        del self._table_of[bit], self._name_of[bit]
        if bit < self._present.size:
            self._present[bit] = 0.0
        kind = self._kind_of.pop(bit)
        kind.count -= 1
        if not kind.count:
            del self.kinds[kind.part]
        self._masks = None

    def table(
        self, key: object, schema: pa.Schema, part: Part, *, replaces: bool, kept: bool = False
    ) -> ResultTable:
        """The result table of the queries with this select list; ``kept``: with their answers."""
        if key not in self.tables:
            of = schema, self.pending, self.tally, part.outputs
            if kept:
                self.tables[key] = MaterialisedTable(*of, self.new_view(), replaces=replaces)
            else:
                self.tables[key] = ResultTable(*of, replaces=replaces)
        return self.tables[key]

    def new_view(self) -> SharedView:
        """What keeps the answers of a result table."""
        return SharedView(self.flow, takes_back=self.signature.takes_back)

    @property
    def views(self) -> list[SharedView]:
        """The answers that are kept, by result table."""
        return [t.view for t in self.tables.values() if t.view is not None]

    def grouping(
        self, key: object, schema: pa.Schema, operator: PerQuery, *, replaces: bool
    ) -> Grouping:
        """The result table of the queries that group like this."""
        if key not in self.groupings:
            grouping = Grouping(schema, self.pending, self.tally, operator, replaces=replaces)
            self.tables[key] = self.groupings[key] = grouping
        return self.groupings[key]

    def close(self, key: object) -> None:
        """Remove a table without queries."""
        del self.tables[key]
        self._keys.pop(key, None)
        self.groupings.pop(key, None)

    def kind(self, bit: int) -> Kind:
        """The kind of a query."""
        return self._kind_of[bit]

    @property
    def names(self) -> set[str]:
        """The names of its queries."""
        owners = {t.owner for t in self.tables.values() if t.owner is not None}
        return owners | set(self._name_of.values())

    def failed(self, failure: Failure) -> Iterator[tuple[str, Failure]]:
        """By query, the rows that failed for it. Keys that are computed again for rows that probe
        have been reported before, for the queries that get the rows.
        """
        if failure.bits is None:
            return
        if (failure.bits == EVERY_QUERY).all():
            yield from ((name, failure) for name in self.names)
            return
        for bit in np.unique(failure.bits).tolist():
            if bit in self._name_of:
                yield self._name_of[bit], failure.take(np.flatnonzero(failure.bits == bit))

    # -- results -------------------------------------------------------

    def begin(self, since: int) -> None:
        """Nothing depends on the first instant."""

    def collect(self, batch: Batch, arrived: float | Array) -> None:
        """Pass results to the tables of the queries that get them, but those that are grouped.

        Args:
            arrived: when their rows could be processed, for all or each (``time.perf_counter``).
        """
        assert batch.recipients is not None, "set by the flow"
        if not batch.ts.size or batch.recipients.are_none:
            return
        counts = self.flow.counts(batch.recipients)
        self.learning.handed_out += int(np.add.reduce(counts))
        if counts.size > self._results.size:
            self._results = np.pad(self._results, (0, counts.size - self._results.size))
        self._results[: counts.size] += counts
        plain = self.tables.keys() - self.groupings.keys()
        if len(self.tables) == 1 and plain:
            (only,) = self.tables.values()
            only.collect(batch, arrived)
        elif plain:
            self._collect_each(plain, batch, counts, arrived)

    def _collect_each(
        self, plain: Set[object], batch: Batch, counts: Array, arrived: float | Array
    ) -> None:
        assert batch.recipients is not None, "set by the flow"
        for key in {self._table_of[b] for b in np.flatnonzero(counts).tolist()} & plain:
            recipients = batch.recipients.of_queries(self._mask(key, counts.size))
            self.tables[key].collect(batch.sent_to(recipients), arrived)

    def pace(self, pace: Pace, arrived: float) -> None:
        """Queue the rows of the next chunk, or not: those that are grouped cannot be queued."""
        self.flow.paced = pace != "at once" and not self.groupings
        self.flow.joins_classes = pace == "by schedule"
        self.flow.arrived = arrived
        while not self.flow.paced and self.flow.waiting:
            self.serve()

    def serve(self) -> None:
        """Process some of the queued rows."""
        for batch, arrived in self.flow.step():
            self.collect(batch, arrived)

    def answer(self, clock: int, bits: Sequence[int]) -> Batch:
        """The results that are in the answers of some queries at ``clock``."""
        before, filters = self.flow.visits, self.flow.filters
        seconds = [f.seconds for f in filters]
        batch = self.flow.answer(clock, bits)
        self._checked += self.flow.visits - before  # reading is not counted as work of a query
        for grouped, spent in zip(filters, seconds, strict=True):
            grouped.seconds = spent
        return batch

    @property
    def metrics(self) -> QueryMetrics:
        """Counts and work by bit, since the query was added."""
        self._divide_work()
        return self.tally.metrics

    def _divide_work(self) -> None:
        """Divide the work since the last call, before queries change: the time of each filter among
        the queries with a predicate in it; of the rest half equally, the other half by results.
        """
        if not self._table_of or self.flow.seconds == self._accounted:
            return
        spent, self._accounted = self.flow.seconds - self._accounted, self.flow.seconds
        checks, self._checked = self.flow.visits - self._checked, self.flow.visits
        counts, self._results = self._results, np.zeros(0, np.int64)
        if self._present.size != self.flow.width:
            self._present = np.zeros(self.flow.width)
            self._present[list(self._table_of)] = 1.0
        equally = self._present / len(self._table_of)
        by_result = equally
        if counts.any():
            by_result = np.zeros(self.flow.width)
            by_result[: counts.size] = counts / counts.sum()
        own = np.zeros(self.flow.width)
        for grouped in self.flow.filters:
            own += grouped.seconds * grouped.shares(self.flow.width)
            grouped.seconds = 0.0
        own *= min(1.0, spent / max(own.sum(), spent, 1e-12))
        rest = spent - own.sum()
        self.tally.metrics.add_work(own + rest * (equally + by_result) / 2, checks * equally)

    def _mask(self, key: object, bits: int) -> Array:
        """bool[bits]: the queries of a table."""
        if self._masks is None:
            self._masks = {k: np.zeros(self.flow.width, np.bool_) for k in self.tables}
            for bit, table in self._table_of.items():
                self._masks[table][bit] = True
        return self._masks[key][:bits]
