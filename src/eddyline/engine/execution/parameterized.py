"""``FOR EACH ROW OF rules``: a parameterized query, with one instance per row of a table.

The answer is that of a join with the table. So the meaning of a change of the table follows from
its ``updates``: in a retroactive table, a new row also has results over the stream rows that are
held, and the results of a deleted row are taken back; changes of a non-retroactive table have
effects on later rows only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pyarrow as pa

from eddyline.algebra.expressions import Literal
from eddyline.algebra.parameters import substitute
from eddyline.engine.execution.parameterized_tables import (
    MaterialisedParameterizedTable,
    ParameterizedGrouping,
    ParameterizedTable,
)
from eddyline.engine.execution.shared_flow import SharedFlow
from eddyline.engine.execution.subscriptions import FlowSubscription
from eddyline.engine.ingest.tables import ParameterTable
from eddyline.engine.query_metrics import QueryMetrics
from eddyline.physical.clauses import constants_of
from eddyline.physical.compiled import with_row
from eddyline.physical.flows import windows_of
from eddyline.runtime.batch import Batch, before
from eddyline.runtime.eddy.per_query import PerQuery
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.stem import Stem
from eddyline.runtime.stores.table import DEATH, TableStem
from eddyline.sharing.flow_work import alike
from eddyline.sharing.instances import Instances
from eddyline.sharing.signature import Part
from eddyline.types import FOREVER, Schema

_NEVER: Final = Literal(pa.bool_(), False)


class ParameterizedSubscription(FlowSubscription):
    """Of a parameterized query: one bit in the flow per instance.

    Args:
        part: what the query adds to the flow, with Parameters.
        parameters: the table with the instances' rows.
        kept: whether the answer is kept.
    """

    def __init__(
        self,
        name: str,
        shared: SharedFlow,
        part: Part,
        schema: pa.Schema,
        parameters: ParameterTable,
        *,
        kept: bool = False,
    ) -> None:
        self._name = name
        rows, updates = parameters
        self._keeps_answers = kept
        self._results = self._new_table(name, shared, part, schema, rows)
        self.view = self._results.view
        super().__init__(shared, self._results, ("parameterized", name), ())
        self.parameters = parameters
        self.rows = rows
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
        make = MaterialisedParameterizedTable if self._keeps_answers else ParameterizedTable
        return make(name, shared, part, schema, rows)

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

    # -- instances -----------------------------------------------------

    def sync(self, clock: int) -> None:
        """Have instances for the rows that the table has now, and retired ones for those deleted so
        recently that results may be in the answer at ``clock``.
        """
        there = self._there().tolist()
        for row in self._bit_of.keys() - set(there):
            self._remove(row)
        self._add(np.array([row for row in there if row not in self._bit_of], np.int64), clock)
        if self._past is not None and not self._retired:
            died = self._past.held(DEATH[0])
            recent = np.flatnonzero((died < FOREVER) & (died > clock - self._lifespan_us))
            gone = self._past.ids(recent + self._past.first)
            self._add(gone, clock)
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
            self._dismissing(bit)
            self.shared.flow.dismiss(bit)
        changed = self.rows.changed
        for run in np.split(np.arange(changed.ids.size), np.flatnonzero(np.diff(changed.sign)) + 1):
            rows, comes = changed.ids[run], bool((changed.sign[run] > 0).all())
            if comes:
                self._add(rows, clock)
            if (
                self.parameters.updates == "retroactive"
                and rows.size
                and not self._part.emit.is_periodic
            ):
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

    def _add(self, row_ids: Array, clock: int) -> None:
        columns = [self.rows.gather(i, row_ids).to_pylist() for i in range(len(self.rows.schema))]
        for row, *values in zip(row_ids.tolist(), *columns, strict=True):
            part = _instance(self._part, values)
            bit = self.shared.admit(self._name, self._key, part, alike(part))
            self._results.own_rows.put(bit, row)
            self._bit_of[row] = bit
            self._admitted(bit, row, part, values)
        self._added()
        if self.view is not None:
            self.view.admit([self._bit_of[row] for row in row_ids.tolist()], clock)

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
        if self.view is not None:
            self.view.dismiss(bit)

    def leave(self, name: str) -> None:
        for row in list(self._bit_of):
            self._remove(row)
        for bit in self._retired:
            self._dismissing(bit)
            self.shared.flow.dismiss(bit)
        self.shared.flow.let_go(self._windows)
        self.shared.close(self._key)
        if self._past is not None:
            self._past.forget(self._lifespan_us)

    # -- results -------------------------------------------------------

    def _report(self, rows: Array, clock: int, sign: int) -> None:
        """Report that the results of rows enter the answer, or leave it."""
        batch = self._answer(clock, [self._bit_of[row] for row in rows.tolist()])
        n = len(batch)
        ts, signs = np.full(n, clock, np.int64), np.full(n, sign, np.int8)
        self._results.collect(replace(batch, ts=ts, sign=signs, pair=None), None)

    def _answer(self, clock: int, bits: Sequence[int]) -> Batch:
        if self.view is not None and not self.shared.flow.waiting:
            return self.view.answer(clock, bits)
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
        parameters: ParameterTable,
        began: Callable[[], bool],
    ) -> None:
        self._instances = instances
        self._operator = operator
        self._began = began
        self._numbers: dict[int, int] = {}  # by row id, from a checkpoint
        self._new: list[int] = []  # bits of instances without groups yet
        super().__init__(name, shared, instances.part, schema, parameters)
        self.operator = operator
        shared.groupings[self._key] = self.grouping
        windows = instances.part.windows[len(instances.part.filters) :]
        self._above = [us or 0 for us in windows]
        operator.hold(self._above)

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
        self._operator.let_go(self._above)
        self.grouping.renew()


def _instance(part: Part, values: Sequence[Any]) -> Part:
    """The part of an instance in the flow, by the values of its row.

    A window without length holds no rows: then none are accepted.
    """
    filters = substitute(part.filters, values)
    residual = substitute(part.residual, values)
    if not part.row_lengths:
        return replace(part, filters=filters, residual=residual)
    windows = list(part.windows)
    for i, length in enumerate(part.row_lengths):
        longest = windows[i]
        if length is not None and longest is not None:
            windows[i] = length.us(values, longest)
            if not windows[i] and i < len(filters):
                filters = (*filters[:i], (*filters[i], _NEVER), *filters[i + 1 :])
                windows[i] = 1
    return replace(part, filters=filters, residual=residual, windows=tuple(windows), row_lengths=())


def _columns_of(instances: Instances) -> Schema:
    """The columns above the flow without the number of the query."""
    above = instances.part.above
    assert above is not None, "there are operators above the flow"
    return above.schema[1:]
