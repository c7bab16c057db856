"""The aggregates of groups: what rows change, and what was reported of it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from eddyline.kernels.aggregates import SignedRows
from eddyline.kernels.shared_groups import Walk, steps
from eddyline.runtime.aggregates import Aggregate, Count
from eddyline.runtime.aggregates.base import ByRow, Reported
from eddyline.runtime.batch import EXPIRY, Batch, Evaluator, usable_rows
from eddyline.runtime.failures import Failure, collecting, report
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array, any_of, filled
from eddyline.runtime.stores.slots import SlotArray
from eddyline.types import FOREVER

#: More rows than any group has.
_MOST_ROWS: Final = 1 << 31


@dataclass(frozen=True, slots=True)
class GroupKeys:
    """What rows are grouped by.

    Attributes:
        evaluators, types: one per key.
        names: (name, number) of keys, for reports of groups; some may be missing.
    """

    evaluators: tuple[Evaluator, ...]
    types: tuple[pa.DataType, ...]
    names: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class AggregateColumn:
    """An aggregate of a value by row.

    Attributes:
        argument: the value; None: whole rows.
        lanes_key: aggregates of the same rows with the same one remember the same of each row;
            None: no others do.
    """

    aggregate: Aggregate
    argument: Evaluator | None
    lanes_key: Hashable = None


#: From the groups of rows to what an aggregate remembers of them.
LanesOf: TypeAlias = Callable[[Array], list[Array]]


class Naming(NamedTuple):
    """What groups are called, given their slots, int64[m].

    Attributes:
        rows: makes the ids of their rows (int64[m]), and their keys.
        numbers: int64[m], the first key, if that is the number of a query.
    """

    rows: Callable[[Array], tuple[Array, list[pa.Array]]]
    numbers: Callable[[Array], Array]


class Report(NamedTuple):
    """The aggregates at m emissions.

    Attributes:
        new, old: their values, now and before. changed: bool[m], whether one differs.
        failed: bool[2, m], whether one has no value, now and before.
        reasons: where one has none now, and why.
    """

    new: list[pa.Array]
    old: list[pa.Array]
    changed: Array
    failed: Array
    reasons: list[tuple[Array, str]]


class GroupAggregates:
    """Aggregates by the slot of a group.

    Attributes:
        columns: the aggregates. members: the number of rows of each group.
        started: whether the one group of rows without keys exists, which it does without rows.
    """

    def __init__(self, keys: GroupKeys, columns: Sequence[AggregateColumn]) -> None:
        self.columns = tuple(columns)
        ends = [*accumulate((len(c.aggregate.dtypes) for c in columns), initial=0)]
        self._lanes = [slice(start, end) for start, end in pairwise(ends)]
        self.members = Count()
        self.started = bool(keys.types)
        self._keys = keys
        self._seen = SlotArray(np.int64)  # scratch
        self._late = SlotArray(np.bool_)  # by slot, whether what was reported is older than values

    def grow(self, end: int) -> None:
        """Let there be slots below ``end``."""
        if end > self._seen.end:
            self._grow_scratch(end)
            self.members.grow(end)
            for column in self.columns:
                column.aggregate.grow(end)

    def _grow_scratch(self, end: int) -> None:
        for lane in (self._seen, self._late):
            lane.grow(end)

    def move(self, cells: Array, to: Array) -> None:
        """Move what is kept of some slots to others, which are as new."""
        self.grow(int(to.max(initial=-1)) + 1)
        self.members.move(cells, to)
        self._late.array[to] = self._late.array[cells]
        self._late.clear(cells)
        for column in self.columns:
            assert isinstance(column.aggregate, ByRow), "others refer to their slots"
            column.aggregate.move(cells, to)

    def forget(self, slots: Array) -> None:
        """Let slots be as new ones: their rows never leave."""
        self.members.forget(slots)
        self._late.clear(slots)
        for column in self.columns:
            column.aggregate.forget(slots)

    def usable(
        self, batch: Batch, keys: Sequence[Evaluator]
    ) -> tuple[Batch, list[pa.Array], list[pa.Array | None]]:
        """The rows whose keys and arguments can be computed, with these, by aggregate."""
        computed = [c.argument for c in self.columns if c.argument is not None]
        batch, values = usable_rows(batch, [*keys, *computed])
        rest = iter(values[len(keys) :])
        arguments = [None if c.argument is None else next(rest) for c in self.columns]
        return batch, values[: len(keys)], arguments

    def lanes_of(self, arguments: Sequence[pa.Array | None]) -> list[LanesOf]:
        """What each aggregate remembers of rows with these arguments."""
        return [
            partial(column.aggregate.lanes, values=values)
            for column, values in zip(self.columns, arguments, strict=True)
        ]

    def lanes(self, slot: Array, arguments: Sequence[pa.Array | None]) -> list[Array]:
        """The same for all aggregates, one after the other."""
        return [lane for lanes_of in self.lanes_of(arguments) for lane in lanes_of(slot)]

    def lanes_by_column(self, lanes: Sequence[Array]) -> list[Sequence[Array]]:
        """The same by aggregate."""
        return [lanes[its] for its in self._lanes]

    def run_quietly(self, lanes: Sequence[Array], walk: Walk) -> None:
        """Let rows enter and leave windows over row lists; nothing is reported.

        Args:
            lanes: by row number.
        """
        cells, signs, rows = steps(walk)
        nowhere = np.zeros(cells.size, np.bool_)
        signed = SignedRows(cells, signs, nowhere)
        self._late.array[cells] = True
        self.members.run(signed, [~nowhere])
        self._report(signed, [lane[rows] for lane in lanes])

    def set_rows(self, slots: Array, slot: Array, lanes: Sequence[Array]) -> None:
        """Let groups have these rows and no others, whatever was reported of them stays.

        Args:
            slots: int64[k], different ones. slot: int64[n], the group of each row.
        """
        columns = [c.aggregate for c in self.columns]
        aggregates = [a for a in (self.members, *columns) if isinstance(a, ByRow)]
        reports = [lane for aggregate in aggregates for lane in aggregate.reports]
        before = [lane.array[slots] for lane in reports]
        for aggregate in aggregates:
            aggregate.forget(slots)
        nowhere = np.zeros(slot.size, np.bool_)
        rows = SignedRows(slot, np.ones(slot.size, np.int8), nowhere)
        self.members.run(rows, [~nowhere])
        self._report(rows, lanes)
        for lane, values in zip(reports, before, strict=True):
            lane.array[slots] = values

    def report_all(self, clock: int, named: Naming) -> None:
        """Let what was last reported of all groups be what their values are at ``clock``."""
        slots = np.flatnonzero(self._late.held())
        if not slots.size:
            return
        self._late.array[slots] = False
        everywhere = np.ones(slots.size, np.bool_)
        nothing = SignedRows(slots, everywhere.astype(np.int8), everywhere)
        self.members.run(nothing, [~everywhere])
        dtypes = [dtype for column in self.columns for dtype in column.aggregate.dtypes]
        found = self._report(nothing, [np.zeros(slots.size, dtype) for dtype in dtypes])
        if any_of(found.failed):
            ts, seq = np.full(slots.size, clock), np.full(slots.size, EXPIRY)
            self._report_failed(slots, ts, seq, found, named)

    @contextmanager
    def reported(self, clock: int, named: Naming) -> Iterator[None]:
        """Inside, ``report_all`` has been done, without reports of failures."""
        late = np.flatnonzero(self._late.held())
        aggregates = [self.members, *(c.aggregate for c in self.columns)]
        lanes = [r for a in aggregates if isinstance(a, ByRow) for r in a.reports]
        before = [lane.array[late] for lane in lanes]
        with collecting():
            self.report_all(clock, named)
        try:
            yield
        finally:
            self._late.array[late] = True
            for lane, values in zip(lanes, before, strict=True):
                lane.array[late] = values

    def cannot_fail(self) -> bool:
        """Whether all aggregates have a value of any of the rows so far."""
        columns = [c.aggregate for c in self.columns]
        return all(isinstance(c, ByRow) and c.cannot_fail(_MOST_ROWS) for c in columns)

    def _report(self, rows: SignedRows, lanes: Sequence[Array], screening: int = -1) -> Report:
        """Let rows enter and leave the aggregates.

        Args:
            screening: the number of the one that says which of the rows are reported; -1: all are.
        """
        by_column = self.lanes_by_column(lanes)
        found: list[Reported | None] = [None] * len(self.columns)
        if screening >= 0:
            found[screening] = self.columns[screening].aggregate.run(rows, by_column[screening])
            rows = rows._replace(screened=False)
        new, old, reasons = [], [], []
        slots = np.count_nonzero(rows.emit)
        changed, failed = np.zeros(slots, np.bool_), np.zeros((2, slots), np.bool_)
        for column, its, known in zip(self.columns, by_column, found, strict=True):
            reported = column.aggregate.run(rows, its) if known is None else known
            new.append(reported.new)
            old.append(reported.old)
            changed |= reported.changed
            if reported.failed is not None:
                failed |= reported.failed
                reasons.append((reported.failed[0], column.aggregate.failure))
        return Report(new, old, changed, failed, reasons)

    def settle(self) -> None:
        """Release what is not referred to any more."""
        for column in self.columns:
            column.aggregate.settle()

    def _report_failed(
        self, slots: Array, ts: Array, seq: Array, found: Report, named: Naming
    ) -> None:
        """Report groups of which an aggregate has no value any more, with the reasons."""
        places = np.flatnonzero(found.failed[0] & ~found.failed[1])
        n, slots = places.size, slots[places]
        why = [(failed[places], text) for failed, text in found.reasons]
        reasons = np.select([failed for failed, _ in why], [text for _, text in why], "")
        columns = named.rows(slots)[1] + [v.take(pa.array(places)) for v in found.new]
        plus, pair = np.ones(n, np.int8), np.arange(n)
        groups = changes_of(slots, ts[places], seq[places], plus, columns, pair)
        report(Failure(groups, np.arange(n), pa.array(reasons), self._keys.names))

    def state(self) -> State:
        """Saved as plain arrays."""
        return {
            "members": self.members.state(),
            "started": np.array([self.started]),
            "aggregates": {str(i): c.aggregate.state() for i, c in enumerate(self.columns)},
        }

    def restore(self, state: State, end: int) -> None:
        """Take over what ``state`` returned; slots are below ``end``."""
        self.members.restore(nested(state, "members"))
        self.started = bool(array(state, "started")[0])
        for i, column in enumerate(self.columns):
            column.aggregate.restore(nested(nested(state, "aggregates"), str(i)))
        self._grow_scratch(end)


def changes_of(
    ids: Array, ts: Array, seq: Array, sign: Array, columns: Sequence[pa.Array], pair: Array
) -> Batch:
    """Changes of groups' rows, which do not expire by themselves."""
    never = filled(ids.size, FOREVER)
    return Batch(ts, seq, never, sign, (ids,), (None,), tuple(columns), pair)
