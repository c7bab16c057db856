"""Groups of windows, each dropped when its window has ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from eddyline.runtime.aggregates import Aggregate
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array, unique
from eddyline.runtime.stores.keytable import KeyTable
from eddyline.runtime.stores.running import RunningAggregates
from eddyline.runtime.stores.slots import SlotArray
from eddyline.types import BEGINNING


@dataclass(frozen=True, slots=True)
class Closed:
    """Groups of windows that have ended, by the window's end, then in order of appearance.

    Attributes:
        end: int64[n]. keys, values: columns of length n.
        failed: bool[n], whether an aggregate has no value. reasons: texts where it has none.
    """

    end: Array
    keys: list[pa.Array]
    values: list[pa.Array]
    failed: Array
    reasons: pa.Array

    def where(self, wanted: Array) -> Closed:
        """Those where bool[n]."""
        rows = pa.array(np.flatnonzero(wanted))
        keys, values = ([c.take(rows) for c in columns] for columns in (self.keys, self.values))
        return Closed(self.end[wanted], keys, values, self.failed[wanted], self.reasons.take(rows))


class _Generation:
    """The groups of the windows that end in a span of time, up to ``until``."""

    def __init__(
        self, types: Sequence[pa.DataType], aggregates: list[Aggregate], until: int
    ) -> None:
        self.until = until
        self._table = KeyTable([*types, pa.int64()])
        self._aggregates = RunningAggregates(aggregates)
        self._ends = SlotArray(np.int64)

    def add(self, end: Array, keys: list[pa.Array], columns: list[pa.Array | None]) -> None:
        slot = self._table.slots([*keys, pa.array(end)], end.size)
        self._ends.grow(self._table.end)
        self._ends.array[slot] = end
        self._aggregates.add(slot, columns, self._table.end)

    def close(self, after: int, clock: int) -> Closed:
        """The groups of windows that end behind ``after``, up to the clock."""
        end = self._ends.held()
        slots = np.flatnonzero((end > after) & (end <= clock))
        slots = slots[np.argsort(end[slots], kind="stable")]
        values = self._aggregates.values(slots)
        return Closed(end[slots], self._table.keys(slots)[:-1], *values)

    def __len__(self) -> int:
        return len(self._table)

    def state(self) -> State:
        return {
            "until": np.array([self.until]),
            "table": self._table.state(),
            "ends": self._ends.held(),
            "aggregates": self._aggregates.state(),
        }

    def restore(self, state: State) -> None:
        self._table.restore(nested(state, "table"))
        self._ends.restore(array(state, "ends"))
        self._aggregates.restore(nested(state, "aggregates"), self._table.end)


class WindowGroups:
    """Groups by key and window. Rows come in the order of the windows that they are in.

    The groups of windows that end in one span of time have a table and aggregates of their own,
    which are dropped together: no group is reset, and no row waits to leave it.

    Args:
        types: of the keys. aggregates: makes those of new groups.
    """

    def __init__(
        self, types: Sequence[pa.DataType], aggregates: Callable[[], list[Aggregate]]
    ) -> None:
        self._types = tuple(types)
        self._new = aggregates
        self._generations: list[_Generation] = []  # by the ends of their windows
        self._closed = BEGINNING
        self._none = self._generation(BEGINNING)  # for the types of columns

    def __len__(self) -> int:
        return sum(map(len, self._generations))

    def add(self, end: Array, keys: list[pa.Array], columns: list[pa.Array | None]) -> None:
        """Let rows into the groups of the windows that end at int64[n] ``end``."""
        if end.size == 0:
            return
        latest = int(end.max())
        if not self._generations or latest > self._generations[-1].until:
            self._generations.append(self._generation(latest))
        spans = [g.until for g in self._generations]
        place = np.searchsorted(spans, end, "left")
        for number in unique(place).tolist():
            rows = np.flatnonzero(place == number)
            if rows.size == end.size:
                self._generations[number].add(end, keys, columns)
                return
            taken = pa.array(rows)
            self._generations[number].add(
                end[rows],
                [k.take(taken) for k in keys],
                [None if c is None else c.take(taken) for c in columns],
            )

    def close(self, clock: int) -> Closed:
        """The groups of windows that end up to the clock, and have not been returned."""
        parts = [g.close(self._closed, clock) for g in (self._none, *self._generations)]
        self._closed = max(self._closed, clock)
        self._generations = [g for g in self._generations if g.until > clock]
        parts = [p for p in parts if p.end.size] or parts[:1]
        return parts[0] if len(parts) == 1 else _joined(parts)

    def _generation(self, until: int) -> _Generation:
        return _Generation(self._types, self._new(), until)

    def state(self) -> State:
        return {
            "closed": np.array([self._closed]),
            "generations": {str(i): g.state() for i, g in enumerate(self._generations)},
        }

    def restore(self, state: State) -> None:
        self._closed = int(array(state, "closed")[0])
        saved = nested(state, "generations")
        self._generations = []
        for number in sorted(saved, key=int):
            of = nested(saved, number)
            generation = self._generation(int(array(of, "until")[0]))
            generation.restore(of)
            self._generations.append(generation)


def _joined(parts: Sequence[Closed]) -> Closed:
    def columns(each: Sequence[list[pa.Array]]) -> list[pa.Array]:
        return [pa.concat_arrays(list(arrays)) for arrays in zip(*each, strict=True)]

    return Closed(
        np.concatenate([p.end for p in parts]),
        columns([p.keys for p in parts]),
        columns([p.values for p in parts]),
        np.concatenate([p.failed for p in parts]),
        pa.concat_arrays([p.reasons for p in parts]),
    )
