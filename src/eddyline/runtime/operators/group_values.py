"""The aggregates of groups, and the changes of the groups' rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from eddyline.kernels.aggregates import SignedRows, last_of_event, left_empty
from eddyline.kernels.changelogs import Emissions, Ordered, in_order, values_of
from eddyline.runtime.aggregates.base import ByRow
from eddyline.runtime.aggregates.counts import ALL_VALUES
from eddyline.runtime.batch import EXPIRY, Batch, Predicate, insertions
from eddyline.runtime.constants import Constants
from eddyline.runtime.operators.group_aggregates import (
    AggregateColumn,
    GroupAggregates,
    GroupKeys,
    Naming,
    changes_of,
)
from eddyline.runtime.screens import Condition, Screen
from eddyline.runtime.stores.columns import Array, all_of, any_of, is_plain, raw_values


@dataclass(frozen=True, slots=True)
class ShownGroups:
    """Which rows of groups are emitted.

    Attributes:
        having: a predicate over the aggregates and the constants, which are behind them; None: all
            rows. Keys are NULL for it.
        constants: by the first key, the number of a query; None: there are none.
        every_us, offset_us: the answer is read at multiples of a period, behind them by the offset:
            of the changes of a group in between the last one suffices. 0: at any instant.
    """

    having: Predicate | None = None
    constants: Constants | None = None
    every_us: int = 0
    offset_us: int = 0


ALL_GROUPS: Final = ShownGroups()
_INT64: Final = np.dtype(np.int64)


@dataclass(slots=True)
class GroupRows:
    """Rows that enter and leave groups, in the order of time for each group.

    Attributes:
        ts, seq: int64[n]. slot: int64[n], the group. sign: int8[n]: 1 enters, -1 leaves.
    """

    ts: Array
    seq: Array
    slot: Array
    sign: Array
    _last: Array | None = None

    def last_of_events(self, seen: Array) -> Array:
        """bool[n], new: where a row is the last one of its group and event; ``seen`` as of
        ``last_of_event``.
        """
        if self._last is None:
            self._last = last_of_event(self.ts, self.seq, self.slot, seen)
        return self._last.copy()


class _Limits(NamedTuple):
    """Values of an aggregate that readers ask for: up to ``low``, and from ``high`` on."""

    number: int
    low: float
    high: float


_NOTHING: Final = _Limits(-1, -math.inf, math.inf)


class GroupValues(GroupAggregates):
    """Aggregates by the slot of a group, and what was emitted of them.

    A group has no row while an aggregate of it fails (a sum that is no BIGINT); the first failure
    is reported. Changes are a changelog: the '-' of a group's older row and the '+' that replaces
    it share a pair number. An unchanged row is not repeated.

    Args:
        keys: what rows are grouped by.
        retract: whether to emit the '-' of a row that a '+' replaces; where the consumer knows
            that new rows replace older ones it is spared.
        shown: which rows of groups are emitted.

    Attributes:
        screen: the rows that readers ask for, by columns of keys and values; None: all. Changes of
            others are left out, and are not computed where the aggregates tell this before.
    """

    def __init__(
        self,
        keys: GroupKeys,
        columns: Sequence[AggregateColumn],
        *,
        retract: bool,
        shown: ShownGroups = ALL_GROUPS,
    ) -> None:
        super().__init__(keys, columns)
        self.shown = shown
        self.screen: Screen | None = None
        self._limits: _Limits | None = None
        self._retract = retract
        self._nothing: Batch | None = None  # no changes; None: not made

    def run(self, rows: GroupRows, lanes: Sequence[Array], named: Naming) -> tuple[Batch, Array]:
        """Let rows enter and leave.

        Args:
            lanes: those of the aggregates, one after the other.
            named: the identities of groups.

        Returns:
            The changes, in the order of the rows that cause them; int64, the groups without rows.
        """
        signed, screening = self._screened(rows)
        found = self._report(signed, lanes, screening)
        emit = signed.emit
        new_members, old_members = self.members.counts(signed._replace(screened=False), ALL_VALUES)
        gone = left_empty(rows.slot, rows.sign, self.members.count, self._seen.array)
        slots, ts, seq = rows.slot[emit], rows.ts[emit], rows.seq[emit]
        if not slots.size and self._nothing is not None:
            return replace(self._nothing), gone
        now, before = new_members > 0, old_members > 0
        if not self._keys.types and now.size:  # its group is there without rows too
            now, before = np.ones((2, now.size), np.bool_)
            # not yet if it is brought up to date with rows that were there before it
            before[0], self.started = self.started, True
        changed = found.changed | (now != before)
        if any_of(found.failed):
            now, before = now & ~found.failed[0], before & ~found.failed[1]
            changed |= found.failed.any(axis=0)
            self._report_failed(slots, ts, seq, found, named)
        new, old = found.new, found.old
        if self.screen is not None:
            now &= self._is_asked_for(slots, new, named)
            before &= self._is_asked_for(slots, old, named)
        if self.shown.having is not None:
            constants = self._constants(slots, named)
            now &= self._is_accepted(new + constants)
            before &= self._is_accepted(old + constants)
        plus, minus = now & changed, before & changed
        if not self._retract:
            minus &= ~now
        out = _changelog(named, Emissions(slots, ts, seq, plus, minus), new, old)
        if not slots.size:
            self._nothing = out
        return out, gone

    def ask(self, screen: Screen | None) -> None:
        """Report what readers ask for, from now on; what was reported is up to date."""
        self.screen, self._limits = screen, None
        if screen is not None and self._keys.types:
            known = map(self._limits_of, screen.clauses)
            self._limits = next((limits for limits in known if limits is not None), None)

    def _limits_of(self, clause: Sequence[Condition]) -> _Limits | None:
        """What meets one of some conditions on one aggregate; None: others may."""
        if not clause:
            return _NOTHING
        number = clause[0].column - len(self._keys.types)
        if number < 0 or any(c.bound is None or c.column != clause[0].column for c in clause):
            return None
        aggregate = self.columns[number].aggregate
        if not isinstance(aggregate, ByRow):
            return None
        low, high = -math.inf, math.inf
        for condition in clause:
            assert condition.bound is not None, "seen above"
            limit = aggregate.limit(condition.bound.key)
            if limit is None:
                return None
            if condition.bound.above:
                high = min(high, limit)
            else:
                low = max(low, limit)
        return _Limits(number, low, high)

    def _screened(self, rows: GroupRows) -> tuple[SignedRows, int]:
        """The rows with those at which groups may be reported, and the number of the aggregate that
        tells of which of these they are; -1: of all.
        """
        emit = self._last_of_events(rows)
        limits = self._limits
        if limits is None or not self.cannot_fail():
            return SignedRows(rows.slot, rows.sign, emit), -1
        self._late.array[rows.slot] = True
        if limits is _NOTHING:
            return SignedRows(rows.slot, rows.sign, np.zeros_like(emit)), -1
        return SignedRows(rows.slot, rows.sign, emit, True, limits.low, limits.high), limits.number

    def _is_asked_for(self, slots: Array, values: list[pa.Array], named: Naming) -> Array:
        """bool[m]: the rows that readers may ask for, by their aggregates."""
        assert self.screen is not None, "asked only then"
        keys = len(self._keys.types)

        def column(number: int) -> pa.Array:
            return values[number - keys] if number >= keys else named.rows(slots)[1][number]

        return self.screen.accepts(column, slots.size)

    def rows(self, slots: Array, clock: int, named: Naming) -> Batch:
        """The rows of groups at ``clock``, of those that have one."""
        for column in self.columns:
            slots = slots[~column.aggregate.has_failed(slots)]
        values = [c.aggregate.current(slots) for c in self.columns]
        if self.shown.having is not None:
            kept = np.flatnonzero(self._is_accepted(values + self._constants(slots, named)))
            slots, values = slots[kept], [v.take(pa.array(kept)) for v in values]
        n = slots.size
        ids, keys = named.rows(slots)
        ts, seq, plus = np.full(n, clock), np.full(n, EXPIRY), np.ones(n, np.int8)
        return changes_of(ids, ts, seq, plus, keys + values, np.arange(n))

    def _last_of_events(self, rows: GroupRows) -> Array:
        """bool[n]: where groups are reported; all that is between two readings is one event."""
        every = self.shown.every_us
        if not every:
            return rows.last_of_events(self._seen.array)
        reading = -((self.shown.offset_us - rows.ts) // every)
        return last_of_event(reading, np.zeros_like(rows.seq), rows.slot, self._seen.array)

    def _constants(self, slots: Array, named: Naming) -> list[pa.Array]:
        """The constants for groups, in columns."""
        constants = self.shown.constants
        return [] if constants is None else constants.of(named.numbers(slots))

    def _is_accepted(self, values: list[pa.Array]) -> Array:
        """bool[m]: where HAVING accepts the values of aggregates and constants."""
        assert self.shown.having is not None, "asked only then"
        n = len(values[0])
        nothing = np.zeros(n, np.int64)
        keys = [pa.nulls(n, t) for t in self._keys.types]
        sign = nothing.astype(np.int8)
        return self.shown.having(
            changes_of(nothing, nothing, nothing, sign, keys + values, nothing)
        )


def _changelog(
    named: Naming,
    emissions: Emissions,
    new: Sequence[pa.Array],
    old: Sequence[pa.Array],
) -> Batch:
    """The changes of m emissions, of which the values of the aggregates are ``new`` and ``old``."""
    slots, ts, seq, comes, leaves = emissions
    if all_of(comes) and not any_of(leaves):  # every group has a new row and no more
        changes = Ordered(slots, ts, seq, insertions(slots.size), np.arange(slots.size))
        columns = list(new)
    else:
        changes = Ordered(*in_order(emissions))
        columns = [
            _chosen(emissions, changes, now, before) for now, before in zip(new, old, strict=True)
        ]
    slots, ts, seq, sign, emission = changes
    ids, keys = named.rows(slots)
    return changes_of(ids, ts, seq, sign, keys + columns, emission)


def _chosen(emissions: Emissions, changes: Ordered, new: pa.Array, old: pa.Array) -> pa.Array:
    """The values of changes, of which those of emissions are ``new`` and ``old``."""
    sign, emission = changes.sign, changes.emission
    if is_plain(new.type, 64) and not new.null_count and not old.null_count:
        pair = raw_values(new, _INT64), raw_values(old, _INT64)
        values = pa.py_buffer(values_of(emissions, *pair, sign.size))
        return pa.Array.from_buffers(new.type, sign.size, [None, values])
    places = np.where(sign > 0, emission, emission + len(new))
    return pa.concat_arrays([new, old]).take(pa.array(places))
