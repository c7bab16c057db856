"""What OVER keeps of rows whose values are aggregates of frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.kernels import framed_rows, shown_values
from eddyline.kernels import ordered_rows as kernels
from eddyline.kernels.aggregates import SignedRows
from eddyline.kernels.heaps import NO_NODE, Values
from eddyline.kernels.ordered_frames import run_frames
from eddyline.runtime.aggregates import Aggregate
from eddyline.runtime.frames import no_values
from eddyline.runtime.operators.row_orders import TreapOrders
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array, order_by
from eddyline.runtime.stores.counted_values import CountedValues
from eddyline.runtime.stores.slots import SlotArray

#: About how many rows enter and leave aggregates before the values are computed.
_MOST_MOVES: Final = 1 << 18
_ONE: Final = np.zeros(1, np.int64)


@dataclass(frozen=True, slots=True)
class FramedValue:
    """An aggregate of a frame.

    Attributes:
        aggregate: its state. frame: which of the frames. argument: which of the columns computed of
            rows, and its type; None: whole rows. type: of the values.
    """

    aggregate: Aggregate
    frame: int
    argument: tuple[int, pa.DataType] | None
    type: pa.DataType


@dataclass(frozen=True, slots=True)
class Failures:
    """Rows of which values cannot be computed: numbers of rows and of events, and reasons."""

    row: Array
    event: Array
    reasons: list[str]


class FramedOrders(TreapOrders):
    """All rows, in treaps, with the values of aggregates over frames.

    Args:
        bounds: of the frames. values: one per column that is added to rows.
        arguments: how many bounds of RANGE rows have. keys: the sort keys. peers: the parts of them
            by which rows tie, and bounds.
    """

    def __init__(
        self,
        bounds: framed_rows.Bounds,
        values: Sequence[FramedValue],
        arguments: int,
        keys: CountedValues,
        peers: CountedValues,
    ) -> None:
        super().__init__(kernels.no_functions(), arguments, keys)
        self._bounds, self._values, self._peers = bounds, list(values), peers
        frames = bounds.unit.size
        self._cells["values"] = SlotArray(np.int64, (len(values),), fill=kernels.NOTHING)
        self._inside = SlotArray(np.bool_, (frames,))
        self._ends = SlotArray(np.int64, (frames, 2), fill=NO_NODE)
        self._lanes = [[SlotArray(d) for d in v.aggregate.dtypes] for v in values]
        self._numbers = [CountedValues(v.type) for v in values]
        self._dropped: list[Array] = []
        self.failures: list[Failures] = []

    def grow(self, rows: int, partitions: int) -> None:
        super().grow(rows, partitions)
        self._inside.grow(rows)
        self._ends.grow(partitions)
        for value, lanes in zip(self._values, self._lanes, strict=True):
            value.aggregate.grow(partitions)
            for lane in lanes:
                lane.grow(rows)

    def take(self, rows: Array, slots: Array, columns: Sequence[pa.Array]) -> None:
        """Remember what aggregates need of rows that come; ``columns``: computed of them."""
        for value, held in zip(self._values, self._lanes, strict=True):
            argument = None if value.argument is None else columns[value.argument[0]]
            lanes = value.aggregate.lanes(slots, argument)
            value.aggregate.refer(lanes)
            for lane, own in zip(held, lanes, strict=True):
                lane.array[rows] = own

    def run(self, events: kernels.Events, changes: int) -> tuple[Array, Array, Array]:
        begin, found = 0, []
        while begin < events.kind.size:
            begin, *one = self._piece(events, begin, changes)
            changes += one[0].size
            found.append(one)
        if not found:
            none = np.zeros(0, np.int64)
            return np.zeros(0, kernels.CHANGE), none.reshape(0, len(self._values)), none
        change, values, left = (np.concatenate(parts) for parts in zip(*found, strict=True))
        for value, held in zip(self._values, self._lanes, strict=True):
            value.aggregate.drop([lane.array[left] for lane in held])
            value.aggregate.settle()
        return change, values, left

    def _piece(
        self, events: kernels.Events, begin: int, changes: int
    ) -> tuple[int, Array, Array, Array]:
        """Process some events; the next one, changes, their values, and the rows that left."""
        cursors = framed_rows.Cursors(self._inside.array, self._ends.array, _values(self._peers))
        begin, moves, found, left = run_frames(
            self._bounds, events, self._state(changes), cursors, begin, _MOST_MOVES
        )
        updates, reasons = self._updates(moves, found)
        values = self._cells["values"].array
        change, shown, dropped, failing = shown_values.show_updates(
            updates, self.rows.records, values, changes
        )
        self._dropped.append(dropped)
        if failing.size:
            told = [reasons[c] for c in failing[:, 2]]
            self.failures.append(Failures(failing[:, 0], failing[:, 1], told))
        return begin, change, shown, left

    def _updates(self, moves: Array, found: Array) -> tuple[shown_values.Updates, list[str]]:
        """The new values of rows, and by column why there may be none."""
        frame = found["frame"]
        left = found[frame < 0]
        parts = [(left["event"], left["row"], left["frame"], np.zeros(left.size, np.int64))]
        for column, value in enumerate(self._values):
            own = found[frame == value.frame]
            numbers = self._computed(column, moves[moves["frame"] == value.frame])
            number = numbers[own["emission"]]
            self._numbers[column].refer(number)
            parts.append((own["event"], own["row"], np.full(own.size, column), number))
        event, row, column_of, number = (np.concatenate(lane) for lane in zip(*parts, strict=True))
        order = order_by(event, row)
        lanes = (np.ascontiguousarray(a[order]) for a in (event, row, column_of, number))
        return shown_values.Updates(*lanes), [v.aggregate.failure for v in self._values]

    def _computed(self, column: int, moves: Array) -> Array:
        """int64[n]: the numbers of the values that are emitted."""
        value, held = self._values[column], self._lanes[column]
        type_ = None if value.argument is None else value.argument[1]
        nothing = no_values([value.aggregate], _ONE, [type_])
        row = moves["row"]
        is_row = row != NO_NODE
        lanes = [
            np.where(is_row, lane.array[row], none[0])
            for lane, none in zip(held, nothing, strict=True)
        ]
        slot, sign, emit = (np.ascontiguousarray(moves[n]) for n in ("slot", "sign", "emit"))
        signed = SignedRows(slot, sign, emit)
        reported = value.aggregate.run(signed, lanes)
        numbers = self._numbers[column].number(reported.new)
        if reported.failed is not None:
            numbers = np.where(reported.failed[0], shown_values.FAILED, numbers)
        return numbers

    def columns(self, numbers: Array) -> list[pa.Array]:
        """The values of rows; numbers: int64[n, f]."""
        both = enumerate(self._numbers)
        return [held.values(np.ascontiguousarray(numbers[:, f])) for f, held in both]

    def forget(self) -> None:
        """Release the values that no row has any more."""
        for dropped in self._dropped:
            for column, held in enumerate(self._numbers):
                held.drop(dropped[dropped[:, 0] == column, 1])
        self._dropped = []

    def state(self) -> State:
        return {
            **super().state(),
            "inside": self._inside.held(),
            "ends": self._ends.held(),
            "aggregates": {str(i): v.aggregate.state() for i, v in enumerate(self._values)},
            "numbers": {str(i): n.state() for i, n in enumerate(self._numbers)},
            "lanes": {
                f"{i} {j}": lane.held()
                for i, lanes in enumerate(self._lanes)
                for j, lane in enumerate(lanes)
            },
        }

    def restore(self, state: State) -> None:
        super().restore(state)
        self._inside.restore(array(state, "inside"))
        self._ends.restore(array(state, "ends"))
        for i, (value, numbers) in enumerate(zip(self._values, self._numbers, strict=True)):
            value.aggregate.restore(nested(nested(state, "aggregates"), str(i)))
            numbers.restore(nested(nested(state, "numbers"), str(i)))
            for j, lane in enumerate(self._lanes[i]):
                lane.restore(array(nested(state, "lanes"), f"{i} {j}"))


def _values(held: CountedValues) -> Values:
    """Numbered values, as kernels compare them."""
    texts = held.table.texts(0)
    return Values(held.order_keys, texts.row, texts.base, texts.offsets, texts.origin, texts.data)
