"""Aggregates over the frame of each row: the rows of its partition that came just before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa

from eddyline.kernels import frames as kernels
from eddyline.kernels.aggregates import SignedRows, last_of_event
from eddyline.kernels.merge import merge_destinations
from eddyline.runtime.aggregates import Aggregate
from eddyline.runtime.batch import EXPIRY
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array, unique
from eddyline.runtime.stores.expiry import FifoStore
from eddyline.runtime.stores.later_rows import LaterRows
from eddyline.runtime.stores.slots import FreeNumbers, SlotArray

_NONE: Final = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Moves:
    """Rows that enter and leave frames, in order.

    Attributes:
        rows: each with its partition. lanes: what aggregates remember of them.
        emission: int64[n], for each row of the chunk the emission that has its value.
        emptied: int64[.], the partitions that have no row in a frame any more.
    """

    rows: SignedRows
    lanes: list[Array]
    emission: Array
    emptied: Array


class FrameRows(Protocol):
    """The rows in the frames of all partitions."""

    def moves(self, ts: Array, partition: Array, lanes: list[Array], clock: int) -> Moves:
        """What the rows of a chunk, and the time up to ``clock``, change.

        Args:
            ts, partition: int64[n], of the rows. lanes: what to remember of them.
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

    def moved(self, row: Array, sign: Array) -> list[Array]:
        """What is remembered of rows, of which those that leave are released."""
        moved = [held.array[row] for held in self._lanes]
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

    def moves(self, ts: Array, partition: Array, lanes: list[Array], clock: int) -> Moves:
        n = partition.size
        if self._most is None:
            return Moves(_entering(partition), lanes, np.arange(n), _NONE)
        number = self._lists.add(partition, lanes)
        row, of, sign = kernels.turn(partition, number, self._most, self._lists.arrays)
        moved = self._lists.moved(row, sign)
        return Moves(SignedRows(of, sign, sign > 0), moved, np.arange(n), _NONE)

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

    def moves(self, ts: Array, partition: Array, lanes: list[Array], clock: int) -> Moves:
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
        rows = SignedRows(of, sign, emit)
        return Moves(rows, moved, kernels.emissions(of, sign, emit), _NONE)

    def state(self) -> State:
        times, groups = self._times.held(), self._groups.held()
        return {"lists": self._lists.state(), "times": times, "groups": groups}

    def restore(self, state: State) -> None:
        self._lists.restore(nested(state, "lists"))
        self._times.restore(array(state, "times"))
        self._groups.restore(array(state, "groups"))
        self._scratch.grow(self._groups.end)


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

    def moves(self, ts: Array, partition: Array, lanes: list[Array], clock: int) -> Moves:
        of, sign, at = partition, np.ones(partition.size, np.int8), ts
        if self._length is not None:
            self._leaving.push([ts + self._length + 1, partition, *lanes])
            left, left_of, *left_lanes = self._leaving.pop(clock)
            if left.size:
                order = _merged(left, ts)
                at = np.concatenate((left, ts))[order]
                of = np.concatenate((left_of, partition))[order]
                sign = np.repeat(np.array([-1, 1], np.int8), (left.size, ts.size))[order]
                both = zip(left_lanes, lanes, strict=True)
                lanes = [np.concatenate(pair)[order] for pair in both]
        end = int(of.max()) + 1 if of.size else 0
        self._members.grow(end)
        self._scratch.grow(end)
        emit = last_of_event(at, np.zeros(at.size, np.int64), of, self._scratch.array)
        emission = kernels.emissions(of, sign, emit)
        return Moves(SignedRows(of, sign, emit), lanes, emission, self._emptied(of, sign))

    def _emptied(self, of: Array, sign: Array) -> Array:
        np.add.at(self._members.array, of, sign)
        left = unique(of[sign < 0])
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


def _entering(partition: Array) -> SignedRows:
    n = partition.size
    return SignedRows(partition, np.ones(n, np.int8), np.ones(n, np.bool_))


def _merged(leaving: Array, coming: Array) -> Array:
    """The order of rows that leave, then come, by time; at one time they leave first."""
    first, second = (np.full(t.size, s, np.int64) for t, s in ((leaving, EXPIRY), (coming, 0)))
    to_first, to_second = merge_destinations(leaving, first, coming, second)
    order = np.empty(leaving.size + coming.size, np.int64)
    order[to_first] = np.arange(leaving.size)
    order[to_second] = np.arange(coming.size) + leaving.size
    return order


@dataclass(frozen=True, slots=True)
class Computed:
    """A column of values, bool[n] where there is none, and why."""

    values: pa.Array
    failed: Array | None
    reason: str


class AggregatesOfFrame:
    """Aggregates over the same frames. Frames that end before the current row get a row of NULLs
    in its place, at whose time its values are computed.

    Args:
        aggregates: their states. frame: the rows. later: those that enter later, if they do.

    Attributes:
        emptied: the partitions whose last row has left its frame in the last chunk.
    """

    def __init__(
        self, aggregates: Sequence[Aggregate], frame: FrameRows, later: LaterRows | None
    ) -> None:
        self._aggregates = list(aggregates)
        self._frame = frame
        self._later = later
        self.emptied = _NONE

    def __len__(self) -> int:
        """How many rows wait until they leave a frame."""
        return len(self._frame) + (0 if self._later is None else len(self._later))

    def run(
        self,
        ts: Array,
        partition: Array,
        partitions: int,
        arguments: Sequence[pa.Array | None],
        clock: int,
    ) -> list[Computed]:
        """The aggregates of the frame of each row of a chunk.

        Args:
            ts, partition: int64[n], of the rows; partitions are below ``partitions``.
            arguments: a column per aggregate; None: whole rows.
        """
        if self._later is None:
            everywhere = np.arange(ts.size)
            return self._computed(ts, partition, partitions, arguments, clock, everywhere)
        columns = [a for a in arguments if a is not None]
        at, of, entering = self._later.exchange(ts, partition, columns, clock)
        times = np.concatenate((at, ts))
        order = np.argsort(times, kind="stable")
        marked = [
            pa.concat_arrays([c, pa.nulls(len(m), m.type)]).take(pa.array(order))
            for c, m in zip(entering, columns, strict=True)
        ]
        marks = np.empty(order.size, np.int64)
        marks[order] = np.arange(order.size)
        both = np.concatenate((of, partition))[order]
        found = self._computed(times[order], both, partitions, marked, clock, marks[at.size :])
        self.emptied = self._later.none_of(self.emptied)
        return found

    def _computed(
        self,
        ts: Array,
        partition: Array,
        partitions: int,
        arguments: Sequence[pa.Array | None],
        clock: int,
        wanted: Array,
    ) -> list[Computed]:
        """The aggregates of the frames of those of the rows that are ``wanted``."""
        lanes = []
        for aggregate, values in zip(self._aggregates, arguments, strict=True):
            lanes.append(aggregate.lanes(partition, values))
        moves = self._frame.moves(ts, partition, [lane for own in lanes for lane in own], clock)
        self.emptied = moves.emptied
        emission = moves.emission[wanted]
        out, taken = [], 0
        for aggregate, own in zip(self._aggregates, lanes, strict=True):
            aggregate.grow(partitions)
            reported = aggregate.run(moves.rows, moves.lanes[taken : taken + len(own)])
            taken += len(own)
            failed = None if reported.failed is None else reported.failed[0][emission]
            values = reported.new.take(pa.array(emission))
            out.append(Computed(values, failed, aggregate.failure))
            aggregate.settle()
        return out

    def state(self) -> State:
        """Saved as plain arrays."""
        own = {str(i): a.state() for i, a in enumerate(self._aggregates)}
        later = {} if self._later is None else self._later.state()
        return {"frame": self._frame.state(), "aggregates": own, "later": later}

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        self._frame.restore(nested(state, "frame"))
        if self._later is not None:
            self._later.restore(nested(state, "later"))
        for i, aggregate in enumerate(self._aggregates):
            aggregate.restore(nested(nested(state, "aggregates"), str(i)))
