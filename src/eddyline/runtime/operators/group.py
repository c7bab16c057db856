"""GroupBy: one row per group, new whenever the group changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.kernels.aggregates import SignedRows, last_of_event
from eddyline.kernels.merge import merge_destinations
from eddyline.runtime.aggregates import Aggregate, Count
from eddyline.runtime.batch import EXPIRY, Batch, Evaluator, Predicate, merge
from eddyline.runtime.failures import Failure, report, usable_rows
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.expiry import ExpiryStore, uncancelled
from eddyline.runtime.stores.keytable import KeyTable
from eddyline.runtime.stores.slot_arrays import SlotArray
from eddyline.types import BEGINNING, FOREVER


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
    """An aggregate, what it is applied to (None: whole rows) and which rows count (None: all)."""

    aggregate: Aggregate
    argument: Evaluator | None


@dataclass(frozen=True, slots=True)
class ShownGroups:
    """Which rows of groups are emitted.

    Attributes:
        having: a predicate over the aggregates; None: all rows. Keys are NULL for it.
        every_us, offset_us: the answer is read at multiples of a period, behind them by the offset:
            of the changes of a group in between the last one suffices. 0: at any instant.
    """

    having: Predicate | None = None
    every_us: int = 0
    offset_us: int = 0


ALL_GROUPS: Final = ShownGroups()


@dataclass(frozen=True, slots=True)
class _Due:
    """Rows that expire: when, from which group, with which lanes."""

    exp: Array
    slot: Array
    lanes: list[Array]


class GroupBy(Operator):
    """Rows enter when they come and leave when they expire or are taken back.

    A row whose keys or arguments cannot be computed belongs to no group. A group has no row while
    an aggregate of it fails (a sum that is no BIGINT); the first failure is reported.

    Each row waits for its expiry with its group's slot and the aggregates' lanes, so nothing is
    looked up or computed twice. A '-' waits as well, until the row that it takes back would have
    expired: there the two cancel (rows then wait with their ids, by which they are matched).

    The output is a changelog: the '-' of a group's older row and the '+' that replaces it share a
    pair number. An unchanged row is not repeated. Without keys there is one group, which exists
    from when on anything happens.

    Args:
        expiries: dtypes (int64 exp, int64 order, int64 slot, int8 sign, int64 per id, lanes of
            the aggregates); None where every row leaves by a '-' (negative tuples).
        id_width: how many ids rows wait with: none if the input never takes a row back.
        retract: whether to emit the '-' of a row that a '+' replaces; where the consumer knows
            that new rows replace older ones it is spared.
        by_instant: whether all that happens at one instant is one change of a group.
        shown: which rows of groups are emitted.
    """

    def __init__(
        self,
        source: Operator,
        keys: GroupKeys,
        columns: Sequence[AggregateColumn],
        expiries: ExpiryStore | None,
        *,
        id_width: int,
        retract: bool,
        by_instant: bool = False,
        shown: ShownGroups = ALL_GROUPS,
    ) -> None:
        super().__init__((source,))
        self._key_names, self._key_types = keys.names, keys.types
        self._shown = shown
        self._id_width = id_width
        self._retract = retract
        self._by_instant = by_instant
        self._keys = keys.evaluators
        self._table = KeyTable(keys.types)
        self._columns = tuple(columns)
        self._members = Count()
        self._expiries = expiries
        self._order = 0
        self._seen = SlotArray(np.int64)
        self._started = bool(self._keys)

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        batch, keys, arguments = self._usable(batches[0])
        if self._by_instant:
            batch = replace(batch, seq=np.full(len(batch), EXPIRY, np.int64))
        slot = self._table.slots(keys, len(batch))
        lanes = [
            lane
            for column, values in zip(self._columns, arguments, strict=True)
            for lane in column.aggregate.lanes(slot, values)
        ]
        self._wait(batch, slot, lanes)
        due = self._due(tick.clock)
        ts, seq, rows_slot, sign, rows_lanes = _timeline(batch, slot, lanes, due)
        self._grow()
        first = self._first_row(batch, tick)
        emit = last_of_event(*self._events(ts, seq), rows_slot, self._seen.array)
        rows = SignedRows(rows_slot, sign, emit)
        out = self._report(rows, ts[emit], seq[emit], rows_lanes)
        for column in self._columns:
            column.aggregate.settle()
        return out if first is None else merge([first, out])

    def _events(self, ts: Array, seq: Array) -> tuple[Array, Array]:
        """What rows of one event agree on, as ts and seq do."""
        every = self._shown.every_us
        if not every:
            return ts, seq
        return -((self._shown.offset_us - ts) // every), np.zeros(seq.size, np.int64)

    def _usable(self, batch: Batch) -> tuple[Batch, list[pa.Array], list[pa.Array | None]]:
        """The rows whose keys and arguments can be computed, with these, by aggregate."""
        computed = [c.argument for c in self._columns if c.argument is not None]
        batch, values = usable_rows(batch, [*self._keys, *computed])
        keys, rest = values[: len(self._keys)], iter(values[len(self._keys) :])
        arguments = [None if c.argument is None else next(rest) for c in self._columns]
        return batch, keys, arguments

    def _wait(self, batch: Batch, slot: Array, lanes: list[Array]) -> None:
        if self._expiries is None:
            return
        mortal = batch.exp < FOREVER
        order = np.arange(self._order, self._order + len(batch))
        self._order += len(batch)
        rows = [batch.exp, order, slot, batch.sign, *batch.ids[: self._id_width], *lanes]
        self._expiries.push(rows if mortal.all() else [r[mortal] for r in rows])

    def _due(self, clock: int) -> _Due:
        """The rows that expire now."""
        if self._expiries is None:
            nothing = np.zeros(0, np.int64)
            return _Due(nothing, nothing, [])
        exp, _, slot, sign, *rest = self._expiries.pop(clock)
        ids, lanes = rest[: self._id_width], rest[self._id_width :]
        left = uncancelled(exp, sign, ids)
        if left.size < exp.size:
            exp, slot, lanes = exp[left], slot[left], [lane[left] for lane in lanes]
        return _Due(exp, slot, lanes)

    def _grow(self) -> None:
        end = self._table.end
        if end > self._seen.end:
            self._seen.grow(end)
            self._members.grow(end)
            for column in self._columns:
                column.aggregate.grow(end)

    def _first_row(self, batch: Batch, tick: Tick) -> Batch | None:
        """The one group of an aggregate without keys appears, empty, before anything happens. Not
        if it is brought up to date with rows that were there before it.
        """
        since = tick.clock if tick.first_row is None else tick.first_row
        if self._started or since == BEGINNING or (tick.first_row is None and len(batch)):
            return None
        self._started = True
        slot = np.zeros(1, np.int64)
        return _rows(
            slot,
            np.array([since], np.int64),
            np.array([EXPIRY], np.int64),
            np.ones(1, np.int8),
            np.array([FOREVER], np.int64),
            [c.aggregate.current(slot) for c in self._columns],
            np.array([-1], np.int64),
        )

    def _report(self, rows: SignedRows, ts: Array, seq: Array, lanes: Sequence[Array]) -> Batch:
        everyone = np.ones(rows.slot.size, np.bool_)
        members = self._members.run(rows, [everyone])
        now = members.new.to_numpy() > 0
        before = members.old.to_numpy() > 0
        if not self._keys and now.size:  # its group is there without rows too
            now, before = np.ones((2, now.size), np.bool_)
            # not yet if it is brought up to date with rows that were there before it
            before[0], self._started = self._started, True
        changed = now != before
        new, old = [], []
        failed = np.zeros((2, changed.size), np.bool_)  # now, and before
        reasons: list[tuple[Array, str]] = []
        taken = 0
        for column in self._columns:
            width = len(column.aggregate.dtypes)
            reported = column.aggregate.run(rows, lanes[taken : taken + width])
            taken += width
            new.append(reported.new)
            old.append(reported.old)
            changed |= reported.changed
            if reported.failed is not None:
                failed |= reported.failed
                reasons.append((reported.failed[0], column.aggregate.failure))
        slots = rows.slot[rows.emit]
        if failed.any():
            now, before, changed = (
                now & ~failed[0],
                before & ~failed[1],
                changed | failed.any(axis=0),
            )
            places = np.flatnonzero(failed[0] & ~failed[1])
            why = np.select([f[places] for f, _ in reasons], [text for _, text in reasons], "")
            at = slots[places], ts[places], seq[places]
            self._report_failed(*at, [v.take(pa.array(places)) for v in new], why)
        having = self._shown.having
        if having is not None:
            now &= self._is_accepted(new, having)
            before &= self._is_accepted(old, having)
        plus, minus = now & changed, before & changed
        if not self._retract:
            minus &= ~now
        out = _changelog(self._table, slots, ts, seq, (new, plus), (old, minus))
        gone = np.unique(slots[members.new.to_numpy() == 0])
        self._table.release(gone[self._members.count[gone] == 0])
        return out

    def _is_accepted(self, values: list[pa.Array], having: Predicate) -> Array:
        """bool[m]: where HAVING accepts the values of aggregates."""
        n = len(values[0])
        nothing = np.zeros(n, np.int64)
        keys = [pa.nulls(n, t) for t in self._key_types]
        sign = nothing.astype(np.int8)
        return having(_rows(nothing, nothing, nothing, sign, nothing, keys + values, nothing))

    def _report_failed(
        self, slots: Array, ts: Array, seq: Array, values: list[pa.Array], reasons: Array
    ) -> None:
        """Report groups of which an aggregate has no value, with the reasons."""
        n = slots.size
        never, plus = np.full(n, FOREVER, np.int64), np.ones(n, np.int8)
        columns = self._table.keys(slots) + values
        groups = _rows(slots, ts, seq, plus, never, columns, np.arange(n))
        report(Failure(groups, np.arange(n), pa.array(reasons), self._key_names))

    def live(self, clock: int) -> Batch:
        slots = self._table.used()
        if self._keys:
            slots = slots[self._members.count[slots] > 0]
        n = slots.size if self._started else 0
        slots = slots[:n]
        for column in self._columns:
            slots = slots[~column.aggregate.has_failed(slots)]
        values = [c.aggregate.current(slots) for c in self._columns]
        having = self._shown.having
        if having is not None:
            kept = np.flatnonzero(self._is_accepted(values, having))
            slots, values = slots[kept], [v.take(pa.array(kept)) for v in values]
        n = slots.size
        never = np.full(n, FOREVER, np.int64)
        return _rows(
            slots,
            np.full(n, clock, np.int64),
            np.full(n, EXPIRY, np.int64),
            np.ones(n, np.int8),
            never,
            self._table.keys(slots) + values,
            np.arange(n),
        )

    def kept(self) -> int:
        return len(self._table) + (0 if self._expiries is None else len(self._expiries))

    def state(self) -> State:
        return {
            "table": self._table.state(),
            "members": self._members.state(),
            "expiries": {} if self._expiries is None else self._expiries.state(),
            "counters": np.array([self._order, self._started], np.int64),
            "aggregates": {str(i): c.aggregate.state() for i, c in enumerate(self._columns)},
        }

    def restore(self, state: State) -> None:
        self._table.restore(nested(state, "table"))
        self._members.restore(nested(state, "members"))
        if self._expiries is not None:
            self._expiries.restore(nested(state, "expiries"))
        self._order, started = (int(v) for v in array(state, "counters"))
        self._started = bool(started)
        for i, column in enumerate(self._columns):
            column.aggregate.restore(nested(nested(state, "aggregates"), str(i)))
        self._seen.grow(self._table.end)


def _timeline(
    batch: Batch, slot: Array, lanes: list[Array], due: _Due
) -> tuple[Array, Array, Array, Array, list[Array]]:
    """Rows that come and rows that expire, merged by time: ts, seq, slot, sign, lanes."""
    if due.exp.size == 0:
        return batch.ts, batch.seq, slot, batch.sign, lanes
    due_seq = np.full(due.exp.size, EXPIRY, np.int64)
    to_due, to_new = merge_destinations(due.exp, due_seq, batch.ts, batch.seq)

    def mixed(expiring: Array, coming: Array) -> Array:
        out = np.empty(expiring.size + coming.size, coming.dtype)
        out[to_due] = expiring
        out[to_new] = coming
        return out

    return (
        mixed(due.exp, batch.ts),
        mixed(due_seq, batch.seq),
        mixed(due.slot, slot),
        mixed(np.full(due.exp.size, -1, np.int8), batch.sign),
        [mixed(d, c) for d, c in zip(due.lanes, lanes, strict=True)],
    )


def _changelog(
    table: KeyTable,
    slots: Array,
    ts: Array,
    seq: Array,
    entering: tuple[list[pa.Array], Array],
    leaving: tuple[list[pa.Array], Array],
) -> Batch:
    """The changes of m emissions: where bool[m] says so the '-' of the row before, then the '+'.

    ``entering`` and ``leaving`` are the aggregates' values and where there is such a row.
    """
    (new, is_plus), (old, is_minus) = entering, leaving
    plus, minus = np.flatnonzero(is_plus), np.flatnonzero(is_minus)
    if plus.size == slots.size and minus.size == 0:  # every group has a new row and no more
        emission, sign, columns = plus, np.ones(plus.size, np.int8), new
    else:
        place = np.cumsum(is_plus.astype(np.int64) + is_minus)
        order = np.empty(plus.size + minus.size, np.int64)  # numbers of the '+', then of the '-'
        order[place[plus] - 1] = np.arange(plus.size)
        order[place[minus] - 1 - is_plus[minus]] = np.arange(minus.size) + plus.size
        emission = np.concatenate((plus, minus))[order]
        sign = np.where(order < plus.size, 1, -1).astype(np.int8)
        rows = [pa.array(r) for r in (plus, minus, order)]
        columns = [
            pa.concat_arrays([now.take(rows[0]), before.take(rows[1])]).take(rows[2])
            for now, before in zip(new, old, strict=True)
        ]
        slots, ts, seq = slots[emission], ts[emission], seq[emission]
    never = np.full(emission.size, FOREVER, np.int64)
    return _rows(slots, ts, seq, sign, never, table.keys(slots) + columns, emission)


def _rows(
    slots: Array,
    ts: Array,
    seq: Array,
    sign: Array,
    exp: Array,
    columns: Sequence[pa.Array],
    pair: Array,
) -> Batch:
    return Batch(ts, seq, exp, sign, (slots,), (None,), tuple(columns), pair)
