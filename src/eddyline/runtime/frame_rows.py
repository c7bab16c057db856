"""Rows that enter and leave the frames of the rows of their partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from eddyline.kernels import frames as kernels
from eddyline.kernels import frames_apart
from eddyline.kernels.aggregates import SignedRows, last_of_event
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array, unique
from eddyline.runtime.stores.expiry import FifoStore
from eddyline.runtime.stores.slots import FreeNumbers, SlotArray

_NONE: Final = np.zeros(0, np.int64)


class Rows(NamedTuple):
    """Rows in the order of their times.

    Attributes:
        ts, partition: int64[n]. lanes: what aggregates remember of each.
    """

    ts: Array
    partition: Array
    lanes: list[Array]


@dataclass(frozen=True, slots=True)
class Moves:
    """Rows that enter and leave frames, in order.

    Attributes:
        rows: each with its partition. lanes: what aggregates remember of them.
        emission: int64[n], for each current row the emission that has its value.
        emptied: int64[.], the partitions that have no row in a frame any more.
        released: what aggregates remember of rows that were kept outside of frames, too, and are
            not needed any more.
    """

    rows: SignedRows
    lanes: list[Array]
    emission: Array
    emptied: Array = field(default_factory=lambda: _NONE)
    released: list[Array] | None = None

    def without(self, current: Rows, exclude: int) -> Moves:
        """The same where rows around the current ones are left out of their frames.

        Args:
            current: the rows whose values are emitted. exclude: as of the kernels.
        """
        of, sign, emit = self.rows[:3]
        source, signs, emits, emission = frames_apart.without(sign, emit, self.emission, exclude)
        lanes = [
            np.concatenate(pair)[source] for pair in zip(self.lanes, current.lanes, strict=True)
        ]
        slots = np.concatenate((of, current.partition))[source]
        return Moves(SignedRows(slots, signs, emits), lanes, emission, self.emptied)


class FrameRows(Protocol):
    """The rows in the frames of all partitions."""

    def moves(self, entering: Rows, current: Rows | None, clock: int) -> Moves:
        """What rows, and the time up to ``clock``, change.

        Args:
            entering: the rows that come. current: those whose values are emitted, with lanes of no
                value; None: the same.
        """

    def __len__(self) -> int: ...

    def state(self) -> State:
        """Saved as plain arrays."""

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""


class _Lists:
    """The rows in the frames of partitions, oldest first, in lists.

    Args:
        dtypes: of what is remembered of rows.
    """

    def __init__(self, dtypes: Sequence[Any]) -> None:
        self.numbers = FreeNumbers()
        self._following = SlotArray(np.int64)
        self._lanes = [SlotArray(d) for d in dtypes]
        self._by_partition = tuple(SlotArray(np.int64) for _ in range(3))

    def add(self, partition: Array, lanes: list[Array]) -> Array:
        """The numbers of rows that are to enter."""
        number = self.numbers.take(partition.size)
        for held in (self._following, *self._lanes):
            held.grow(self.numbers.end)
        for held in self._by_partition:
            held.grow(_end(partition))
        for held, lane in zip(self._lanes, lanes, strict=True):
            held.array[number] = lane
        return number

    @property
    def arrays(self) -> kernels.Lists:
        """The lists, for kernels."""
        return kernels.Lists(*(a.array for a in (*self._by_partition, self._following)))

    def of(self, rows: Array) -> list[Array]:
        """What is remembered of rows."""
        return [held.array[rows] for held in self._lanes]

    def moved(self, row: Array, sign: Array) -> list[Array]:
        """What is remembered of rows, of which those that leave are released."""
        moved = self.of(row)
        self.numbers.release(row[sign < 0])
        return moved

    def state(self) -> State:
        """Saved as plain arrays."""
        held = [a.held() for a in (*self._by_partition, self._following, *self._lanes)]
        return {"numbers": self.numbers.state(), **{str(i): a for i, a in enumerate(held)}}

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        self.numbers.restore(nested(state, "numbers"))
        for i, held in enumerate((*self._by_partition, self._following, *self._lanes)):
            held.restore(array(state, str(i)))


class EarlierInPartition:
    """Frames of the last rows of each partition; None: of all.

    Args:
        most: rows, the current one included. dtypes: of what is remembered of rows.
    """

    def __init__(self, most: int | None, dtypes: Sequence[Any]) -> None:
        self._most = most
        self._lists = _Lists(dtypes)

    def __len__(self) -> int:
        return len(self._lists.numbers)

    def moves(self, entering: Rows, current: Rows | None, clock: int) -> Moves:
        _, partition, lanes = entering
        n = partition.size
        if self._most is None:
            everywhere = np.ones(n, np.bool_)
            rows = SignedRows(partition, np.ones(n, np.int8), everywhere)
            return Moves(rows, lanes, np.arange(n))
        number = self._lists.add(partition, lanes)
        row, of, sign = kernels.turn(partition, number, self._most, self._lists.arrays)
        moved = self._lists.moved(row, sign)
        return Moves(SignedRows(of, sign, sign > 0), moved, np.arange(n))

    def state(self) -> State:
        return self._lists.state()

    def restore(self, state: State) -> None:
        self._lists.restore(state)


class EarlierGroups:
    """Frames of the rows of the last times of each partition.

    Args:
        most: times, that of the current row included. dtypes: of what is remembered of rows.
    """

    def __init__(self, most: int, dtypes: Sequence[Any]) -> None:
        self._most = most
        self._lists = _Lists(dtypes)
        self._times = SlotArray(np.int64)
        self._groups = SlotArray(np.int64)
        self._scratch = SlotArray(np.int64)

    def __len__(self) -> int:
        return len(self._lists.numbers)

    def moves(self, entering: Rows, current: Rows | None, clock: int) -> Moves:
        ts, partition, lanes = entering
        number = self._lists.add(partition, lanes)
        self._times.grow(self._lists.numbers.end)
        for held in (self._groups, self._scratch):
            held.grow(_end(partition))
        times, groups = self._times.array, self._groups.array
        row, of, sign, at = kernels.turn_groups(
            ts, partition, number, self._most, self._lists.arrays, times, groups
        )
        moved = self._lists.moved(row, sign)
        emit = last_of_event(at, np.zeros(at.size, np.int64), of, self._scratch.array)
        return Moves(SignedRows(of, sign, emit), moved, kernels.emissions(of, sign, emit))

    def state(self) -> State:
        times, groups = self._times.held(), self._groups.held()
        return {"lists": self._lists.state(), "times": times, "groups": groups}

    def restore(self, state: State) -> None:
        self._lists.restore(nested(state, "lists"))
        self._times.restore(array(state, "times"))
        self._groups.restore(array(state, "groups"))
        self._scratch.grow(self._groups.end)


class EarlierApart:
    """Frames of ROWS and GROUPS that end before the current row or leave out rows before it. Rows
    are kept before they enter.

    Args:
        bounds: of the frames. dtypes: of what is remembered of rows.
        nothing: what is remembered of a row without values, an item each.
    """

    def __init__(
        self, bounds: frames_apart.Apart, dtypes: Sequence[Any], nothing: Sequence[Array]
    ) -> None:
        self._bounds = bounds
        self._nothing = nothing
        self._lists = _Lists(dtypes)
        self._places = SlotArray(np.int64, (2,))  # of rows: times, and places
        self._heads = SlotArray(np.int64, (3,), fill=(0, 0, kernels.NONE))

    def __len__(self) -> int:
        return len(self._lists.numbers)

    def moves(self, entering: Rows, current: Rows | None, clock: int) -> Moves:
        ts, partition, lanes = entering
        number = self._lists.add(partition, lanes)
        self._places.grow(self._lists.numbers.end)
        self._heads.grow(_end(partition))
        places = frames_apart.Places(self._places.array, self._heads.array)
        row, of, sign, emit, left = frames_apart.turn_apart(
            ts, partition, number, self._bounds, self._lists.arrays, places
        )
        there = row != kernels.NONE
        moved = [
            np.where(there, lane, nothing[0])
            for lane, nothing in zip(self._lists.of(row), self._nothing, strict=True)
        ]
        released = self._lists.moved(left, np.full(left.size, -1))
        emission = np.arange(ts.size)
        return Moves(SignedRows(of, sign, emit), moved, emission, released=released)

    def state(self) -> State:
        places, heads = self._places.held(), self._heads.held()
        return {"lists": self._lists.state(), "places": places, "heads": heads}

    def restore(self, state: State) -> None:
        self._lists.restore(nested(state, "lists"))
        self._places.restore(array(state, "places"))
        self._heads.restore(array(state, "heads"))


class EarlierInTime:
    """Frames of the rows of a length of time, those of the time of the current row included.

    Args:
        length_us: how much earlier rows count; None: all. dtypes: of what is remembered of rows.
    """

    def __init__(self, length_us: int | None, dtypes: Sequence[Any]) -> None:
        self._length = length_us
        self._leaving = FifoStore([np.int64, np.int64, *dtypes])
        self._members = SlotArray(np.int64)
        self._scratch = SlotArray(np.int64)

    def __len__(self) -> int:
        return len(self._leaving)

    def moves(self, entering: Rows, current: Rows | None, clock: int) -> Moves:
        ts, partition, lanes = entering
        parts, signs = [entering], [1]
        end = max(_end(partition), 0 if current is None else _end(current.partition))
        self._members.grow(end)
        self._scratch.grow(end)
        emptied = _NONE
        if self._length is not None:
            self._leaving.push([ts + self._length + 1, partition, *lanes])
            left, left_of, *left_lanes = self._leaving.pop(clock)
            parts, signs = [Rows(left, left_of, left_lanes), entering], [-1, 1]
            emptied = self._emptied(partition, left_of)
        if current is not None:
            parts, signs = [*parts, current], [*signs, 1]
        sizes = [p.ts.size for p in parts]
        at = np.concatenate([p.ts for p in parts])
        of = np.concatenate([p.partition for p in parts])
        sign = np.repeat(np.array(signs, np.int8), sizes)
        moved = [np.concatenate(columns) for columns in zip(*(p.lanes for p in parts), strict=True)]
        wanted = np.repeat(np.arange(len(parts)), sizes) == len(parts) - 1
        if len(parts) > 1:
            order = np.argsort(at, kind="stable")  # at one time rows leave first
            at, of, sign, wanted = at[order], of[order], sign[order], wanted[order]
            moved = [lane[order] for lane in moved]
        emit = last_of_event(at, np.zeros(at.size, np.int64), of, self._scratch.array)
        emission = kernels.emissions(of, sign, emit)[wanted[sign > 0]]
        return Moves(SignedRows(of, sign, emit), moved, emission, emptied)

    def _emptied(self, entering: Array, leaving: Array) -> Array:
        """The partitions that have no rows any more."""
        np.add.at(self._members.array, entering, 1)
        np.add.at(self._members.array, leaving, -1)
        left = unique(leaving)
        gone: Array = left[self._members.array[left] == 0]
        return gone

    def state(self) -> State:
        return {"leaving": self._leaving.state(), "members": self._members.held()}

    def restore(self, state: State) -> None:
        self._leaving.restore(nested(state, "leaving"))
        self._members.restore(array(state, "members"))
        self._scratch.grow(self._members.end)


def _end(partition: Array) -> int:
    """All partitions are below this."""
    return int(partition.max()) + 1 if partition.size else 0
