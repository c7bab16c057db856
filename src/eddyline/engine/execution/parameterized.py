"""``FOR EACH ROW OF rules``: a parameterized query, with one instance per row of a table.

The answer is that of a join with the table. So the meaning of a change of the table follows from
its ``updates``: in a retroactive table, a new row also has results over the stream rows that are
held, and the results of a deleted row are taken back; changes of a non-retroactive table have
effects on later rows only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from eddyline.algebra.expressions import Expr
from eddyline.algebra.parameters import substitute
from eddyline.algebra.plan import Updates
from eddyline.engine.execution.groupings import Grouping
from eddyline.engine.execution.result_tables import ResultTable
from eddyline.engine.execution.shared_flow import SharedFlow
from eddyline.engine.execution.subscriptions import FlowSubscription
from eddyline.engine.query_metrics import QueryMetrics
from eddyline.physical.clauses import constants_of
from eddyline.physical.compiled import with_row
from eddyline.physical.flows import output_of, windows_of
from eddyline.runtime.batch import Batch, Stored, before
from eddyline.runtime.eddy.per_query import PerQuery
from eddyline.runtime.recipients import Recipients
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.stem import Stem
from eddyline.runtime.stores.table import DEATH, TableStem
from eddyline.sharing.flow_work import alike
from eddyline.sharing.grouping import Instances
from eddyline.sharing.signature import Part
from eddyline.types import FOREVER, Schema


class RowColumns:
    """The columns of the instances' rows, for results by recipients.

    Args:
        rows: the table of the rows.

    Attributes:
        ids: int64[bits], the row of each instance, by its bit in the flow.
    """

    def __init__(self, rows: Stem) -> None:
        self.ids = np.zeros(64, np.int64)
        self._rows = rows

    def put(self, bit: int, row: int) -> None:
        """Set the row of an instance."""
        if bit >= self.ids.size:
            self.ids = np.pad(self.ids, (0, 2 * bit - self.ids.size))
        self.ids[bit] = row

    def beside(self, batch: Batch) -> Batch:
        """Each result once per instance, with the columns of the instance's row behind its own."""
        to = batch.recipients
        assert to is not None, "set by the flow"
        order = np.argsort(to.rows, kind="stable")  # results keep their order
        batch = batch.take(to.rows[order])
        own = tuple(Stored(len(batch.ids), i) for i in range(len(self._rows.schema)))
        place = np.empty(order.size, np.int64)
        place[order] = np.arange(order.size)
        return replace(
            batch,
            ids=(*batch.ids, self.ids[to.query[order]]),
            stores=(*batch.stores, self._rows),
            cells=(*batch.cells, *own),
            recipients=Recipients(place, to.starts, to.exp),
            _gathered={},
        )


class ParameterizedTable(ResultTable):
    """The result table of a parameterized query: its select list also reads the instance's row.

    Attributes:
        own_rows: of the instances.
    """

    def __init__(
        self, name: str, shared: SharedFlow, part: Part, schema: pa.Schema, rows: Stem
    ) -> None:
        outputs = with_row(part.outputs, len(shared.signature.schema))
        super().__init__(schema, shared.pending, shared.tally, outputs, owner=name)
        self.own_rows = RowColumns(rows)

    def _with_parameters(self, batch: Batch) -> Batch:
        return self.own_rows.beside(batch)


class ParameterizedGrouping(Grouping):
    """The same of a query of which operators above the flow group the rows, or apply EMIT.

    Args:
        outputs: the select list, over the columns of the operators and Parameters.
    """

    def __init__(
        self,
        name: str,
        shared: SharedFlow,
        operator: PerQuery,
        outputs: Sequence[Expr],
        schema: pa.Schema,
        rows: Stem,
    ) -> None:
        super().__init__(schema, shared.pending, shared.tally, operator, replaces=False)
        self.owner = name
        self._outputs = [output_of(e) for e in outputs]
        self.own_rows = RowColumns(rows)
        self.bits: set[int] = set()

    def _bits(self) -> Collection[int]:
        return self.bits

    def _with_parameters(self, batch: Batch) -> Batch:
        return self.own_rows.beside(batch)


class ParameterizedSubscription(FlowSubscription):
    """Of a parameterized query: one bit in the flow per instance.

    Args:
        part: what the query adds to the flow, with Parameters.
        rows: the table of the instances' rows. updates: the meaning of its changes.
    """

    def __init__(
        self,
        name: str,
        shared: SharedFlow,
        part: Part,
        schema: pa.Schema,
        rows: Stem,
        updates: Updates,
    ) -> None:
        self._name = name
        self._results = self._new_table(name, shared, part, schema, rows)
        super().__init__(shared, self._results, ("parameterized", name), ())
        self.rows = rows
        self.updates = updates
        self._part = part
        self._bit_of: dict[int, int] = {}  # by row id
        self._retired: dict[int, int] = {}  # by bit: when its results have left the answer
        self._dropped = QueryMetrics()  # of instances whose rows have been deleted
        shared.tables[self._key] = self._results
        windows = windows_of(part)
        if updates == "non-retroactive" and len(windows) == 1:  # nothing is joined with old rows
            windows = tuple(0 if us >= FOREVER else us for us in windows)
        self._windows = windows
        shared.flow.hold(windows)
        self._past: TableStem | None = None  # where deleted rows can be read
        if isinstance(rows, TableStem) and updates == "non-retroactive":
            self._past = rows
            rows.remember(self._lifespan_us)

    def _new_table(
        self, name: str, shared: SharedFlow, part: Part, schema: pa.Schema, rows: Stem
    ) -> ParameterizedTable | ParameterizedGrouping:
        return ParameterizedTable(name, shared, part, schema, rows)

    @property
    def _lifespan_us(self) -> int:
        """Maximum time for which a result is in the answer."""
        return min((us for us in self._part.windows if us is not None), default=FOREVER)

    @property
    def bits(self) -> Sequence[int]:
        return list(self._bit_of.values())

    def add_metrics(self, total: QueryMetrics) -> None:
        super().add_metrics(total)
        total.add(self._dropped, np.zeros(1, np.int64))

    # -- instances ---------------------------------------------------------------------------------

    def sync(self, clock: int) -> None:
        """Have instances for the rows that the table has now, and retired ones for those deleted so
        recently that results may be in the answer at ``clock``.
        """
        there = self._there().tolist()
        for row in self._bit_of.keys() - set(there):
            self._remove(row)
        self._add(np.array([row for row in there if row not in self._bit_of], np.int64))
        if self._past is not None and not self._retired:
            died = self._past.held(DEATH[0])
            recent = np.flatnonzero((died < FOREVER) & (died > clock - self._lifespan_us))
            gone = self._past.ids(recent + self._past.first)
            self._add(gone)
            for row, instant in zip(gone.tolist(), died[recent].tolist(), strict=True):
                self._remove(row, instant + self._lifespan_us)

    def changes_at(self, clock: int) -> bool:
        """Whether ``follow`` adds or removes instances."""
        if not isinstance(self.rows, TableStem):
            return False
        expired = any(until <= clock for until in self._retired.values())
        return expired or self.rows.changed.ids.size > 0

    def follow(self, clock: int) -> None:
        """Apply the chunk's changes of the table, at its instant ``clock``."""
        if not isinstance(self.rows, TableStem):
            return
        for bit in [bit for bit, until in self._retired.items() if until <= clock]:
            del self._retired[bit]
            self.shared.flow.dismiss(bit)
        changed = self.rows.changed
        for run in np.split(np.arange(changed.ids.size), np.flatnonzero(np.diff(changed.sign)) + 1):
            rows, comes = changed.ids[run], bool((changed.sign[run] > 0).all())
            if comes:
                self._add(rows)
            if self.updates == "retroactive" and rows.size:
                self._report(rows, clock, 1 if comes else -1)
            if not comes:
                for row in rows.tolist():
                    self._remove(row, self._last_expiry(row, clock))

    def _there(self) -> Array:
        """int64, ids of the rows that the table has now."""
        positions = np.arange(self.rows.first, self.rows.end)
        if isinstance(self.rows, TableStem):
            positions = positions[self.rows.held(DEATH[0]) == FOREVER]
        return self.rows.ids(positions)

    def _add(self, row_ids: Array) -> None:
        columns = [self.rows.gather(i, row_ids).to_pylist() for i in range(len(self.rows.schema))]
        for row, *values in zip(row_ids.tolist(), *columns, strict=True):
            filters = substitute(self._part.filters, values)
            residual = substitute(self._part.residual, values)
            part = replace(self._part, filters=filters, residual=residual)
            bit = self.shared.admit(self._name, self._key, part, alike(part))
            self._results.own_rows.put(bit, row)
            self._bit_of[row] = bit
            self._admitted(bit, row, part, values)
        self._added()

    def _admitted(self, bit: int, row: int, part: Part, values: Sequence[Any]) -> None:
        """An instance is in the flow; ``values`` are those of its row."""

    def _added(self) -> None:
        """All instances of some new rows are in the flow."""

    def _last_expiry(self, row: int, clock: int) -> int | None:
        """When all results of a row that is deleted now have left the answer; None: they do now."""
        if self._past is None:
            return None
        if self._lifespan_us < FOREVER:
            return clock + self._lifespan_us
        to = self.shared.answer(clock, [self._bit_of[row]]).recipients
        assert to is not None, "set by the flow"
        return int(to.exp.max()) if to.exp.size else None

    def _remove(self, row: int, until: int | None = None) -> None:
        """Remove an instance; ``until``: its results are in the answer up to here."""
        bit = self._bit_of.pop(row)
        self._dropped.add(self.shared.metrics, np.array([bit]))
        if until is None:
            self._dismissing(bit)
            self.shared.dismiss(bit)
        else:
            self.shared.retire(bit)
            self._retired[bit] = until

    def _dismissing(self, bit: int) -> None:
        """An instance is about to leave the flow."""

    def leave(self, name: str) -> None:
        for row in list(self._bit_of):
            self._remove(row)
        for bit in self._retired:
            self.shared.flow.dismiss(bit)
        self.shared.flow.let_go(self._windows)
        self.shared.close(self._key)
        if self._past is not None:
            self._past.forget(self._lifespan_us)

    # -- results -----------------------------------------------------------------------------------

    def _report(self, rows: Array, clock: int, sign: int) -> None:
        """Report that the results of rows enter the answer, or leave it."""
        batch = self._answer(clock, [self._bit_of[row] for row in rows.tolist()])
        n = len(batch)
        ts, signs = np.full(n, clock, np.int64), np.full(n, sign, np.int8)
        self._results.collect(replace(batch, ts=ts, sign=signs, pair=None), None)

    def _answer(self, clock: int, bits: Sequence[int]) -> Batch:
        return self.shared.answer(clock, bits)

    def answer(self, clock: int) -> Batch:
        """The results that are in the answer at ``clock``.

        With a non-retroactive table these are results of the rows that it had when they were made.
        """
        table, batch = self._past, self._answer(clock, [*self.bits, *self._retired])
        if table is None:
            return batch
        to = batch.recipients
        assert to is not None, "set by the flow"
        rules = table.positions(self._results.own_rows.ids[to.query])
        ts, seq = batch.ts[to.rows], batch.seq[to.rows]
        came = before(table.lane_at("ts", rules), table.lane_at("seq", rules), ts, seq)
        left = before(ts, seq, *(table.lane_at(lane, rules) for lane in DEATH))
        return batch.sent_to(to.only(came & left))


class ParameterizedGroups(ParameterizedSubscription):
    """Of a parameterized query with operators above the flow: a number there per instance.

    Args:
        outputs: as of ``ParameterizedGrouping``.
        began: whether the group of streams has begun: new instances have rows to group then.
    """

    def __init__(
        self,
        name: str,
        shared: SharedFlow,
        instances: Instances,
        operator: PerQuery,
        schema: pa.Schema,
        rows: Stem,
        updates: Updates,
        began: Callable[[], bool],
    ) -> None:
        self._instances = instances
        self._operator = operator
        self._began = began
        self._numbers: dict[int, int] = {}  # by row id, from a checkpoint
        self._new: list[int] = []  # bits of instances without groups yet
        super().__init__(name, shared, instances.part, schema, rows, updates)
        self.operator = operator
        shared.groupings[self._key] = self.grouping

    def _new_table(
        self, name: str, shared: SharedFlow, part: Part, schema: pa.Schema, rows: Stem
    ) -> ParameterizedGrouping:
        outputs = with_row(self._instances.outputs, 1 + len(_columns_of(self._instances)))
        self.grouping = ParameterizedGrouping(name, shared, self._operator, outputs, schema, rows)
        return self.grouping

    @property
    def grouped(self) -> int:
        """Number of queries above the operators, with the instances of this one."""
        return self._operator.members

    def restore(self, clock: int, numbers: Mapping[int, int]) -> None:
        """As ``sync`` for a checkpoint: ``numbers`` are those of instances by row."""
        self._numbers = dict(numbers)
        self.sync(clock)

    def saved(self) -> dict[int, int]:
        """The numbers of instances by row."""
        return {row: self._operator.number(bit) for row, bit in self._bit_of.items()}

    def _admitted(self, bit: int, row: int, part: Part, values: Sequence[Any]) -> None:
        constants = substitute(part.constants, values)
        number = self._numbers.pop(row, None)
        if number is None:
            self._new.append(bit)
        self._operator.admit(bit, number, constants_of(replace(part, constants=constants)))
        self.grouping.bits.add(bit)

    def _added(self) -> None:
        new, self._new = self._new, []
        if new and self._began():
            self._operator.bring_up(new, self._operator.clock)

    def _dismissing(self, bit: int) -> None:
        self.grouping.bits.discard(bit)
        self._operator.dismiss(bit)

    def _answer(self, clock: int, bits: Sequence[int]) -> Batch:
        return self._operator.answer(clock, bits)

    def leave(self, name: str) -> None:
        super().leave(name)
        self.grouping.renew()


def _columns_of(instances: Instances) -> Schema:
    """The columns above the flow without the number of the query."""
    above = instances.part.above
    assert above is not None, "there are operators above the flow"
    return above.schema[1:]
