"""Aggregates of GROUP BY over windows: rows enter and leave, the group's value follows.

One class per kind of state, all with the same interface; the arithmetic is in
``eddyline.kernels.aggregates`` and ``heaps``. Values travel as *lanes*: plain arrays that can wait
in an expiry store until their row leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.errors import UnsupportedError
from eddyline.kernels import aggregates as kernels
from eddyline.kernels.heaps import NO_NODE, run_extreme
from eddyline.kernels.text import text_prefixes
from eddyline.runtime.columns import Array, bitmap, raw_values, text_buffers, validity_of
from eddyline.runtime.keytable import KeyTable
from eddyline.runtime.state import State, array, nested
from eddyline.types import sql_type

_NOTHING = np.zeros(0, np.bool_)


@dataclass(frozen=True, slots=True)
class Rows:
    """A sequence of rows entering and leaving groups, and where to report.

    Attributes:
        slot: int64[n]. sign: int8[n]. emit: bool[n], see ``kernels.aggregates.last_of_event``.
    """

    slot: Array
    sign: Array
    emit: Array


@dataclass(frozen=True, slots=True)
class Reported:
    """An aggregate's values at m emissions: now, before, and bool[m] whether they differ."""

    new: pa.Array
    old: pa.Array
    changed: Array


class Aggregate(Protocol):
    """State by group slot of one aggregate."""

    dtypes: Sequence[Any]  #: of the lanes that each row carries

    def lanes(self, slot: Array, values: pa.Array | None) -> list[Array]:
        """What to remember of each entering or leaving row."""

    def grow(self, capacity: int) -> None:
        """Make room for slots below ``capacity``."""

    def run(self, rows: Rows, lanes: Sequence[Array]) -> Reported:
        """Let the rows enter and leave."""

    def current(self, slots: Array) -> pa.Array:
        """The values last reported for slots."""

    def settle(self) -> None:
        """The chunk is over: give back what is not referred to any more."""

    def state(self) -> State:
        """Saved as plain arrays."""

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""


def make_aggregate(
    function: str, type_: pa.DataType, argument: pa.DataType | None, *, distinct: bool
) -> Aggregate:
    """The aggregate for a function of the algebra; ``type_`` is that of the result."""
    if function == "count":
        return CountDistinct(argument) if distinct and argument is not None else Count()
    if function in ("min", "max"):
        assert argument is not None
        if pa.types.is_decimal(argument) and argument.precision > 18:
            raise UnsupportedError(
                f"{function.upper()} of {sql_type(argument)} is not supported: "
                "CAST it to a DECIMAL of at most 18 digits, or to DOUBLE"
            )
        return Extreme(argument, largest=function == "max")
    if function == "sum" and pa.types.is_integer(type_):
        return SumInt()
    what = {"sum": kernels.SUM, "avg": kernels.AVG, "stddev": kernels.STDDEV}[function]
    return Moments(what)


class _Arrays:
    """State arrays by slot, grown together."""

    def __init__(self, **arrays: Array) -> None:
        self._names = list(arrays)
        for name, values in arrays.items():
            setattr(self, name, values)

    def _grow(self, capacity: int) -> None:
        for name in self._names:
            old = getattr(self, name)
            if old.shape[0] < capacity:
                new = np.full((capacity, *old.shape[1:]), self._fill(name), old.dtype)
                new[: old.shape[0]] = old
                setattr(self, name, new)

    def _fill(self, name: str) -> int:
        return 0

    def grow(self, capacity: int) -> None:
        self._grow(capacity)

    def settle(self) -> None:
        """Nothing to give back."""

    def state(self) -> State:
        return {n: getattr(self, n) for n in self._names}

    def restore(self, state: State) -> None:
        for name in self._names:
            setattr(self, name, array(state, name).copy())


def _valid_lane(values: pa.Array) -> Array:
    valid = validity_of(values)
    return np.ones(len(values), np.bool_) if valid is None else valid


def _numbers(values: pa.Array, dtype: Any) -> Array:
    filled = values.fill_null(0) if values.null_count else values
    return np.asarray(filled.to_numpy(zero_copy_only=False)).astype(dtype, copy=False)


def _number_array(values: Array, valid: Array | None, type_: pa.DataType) -> pa.Array:
    return pa.Array.from_buffers(type_, values.size, [bitmap(valid), pa.py_buffer(values)])


class Count(_Arrays):
    """COUNT(*) and COUNT(x)."""

    dtypes = (np.bool_,)
    count: Array
    reported: Array

    def __init__(self) -> None:
        super().__init__(count=np.zeros(0, np.int64), reported=np.zeros(0, np.int64))

    def lanes(self, slot: Array, values: pa.Array | None) -> list[Array]:
        return [np.ones(slot.size, np.bool_) if values is None else _valid_lane(values)]

    def run(self, rows: Rows, lanes: Sequence[Array]) -> Reported:
        new, old = kernels.run_count(
            rows.slot, rows.sign, rows.emit, lanes[0], self.count, self.reported
        )
        return Reported(pa.array(new), pa.array(old), new != old)

    def current(self, slots: Array) -> pa.Array:
        return pa.array(self.reported[slots])


class SumInt(_Arrays):
    """SUM of integers, exact modulo 2^64."""

    dtypes = (np.bool_, np.int64)
    count: Array
    total: Array
    reported: Array
    shown: Array

    def __init__(self) -> None:
        zero = np.zeros(0, np.int64)
        super().__init__(count=zero, total=zero, reported=zero, shown=np.zeros(0, np.bool_))

    def lanes(self, slot: Array, values: pa.Array | None) -> list[Array]:
        assert values is not None
        return [_valid_lane(values), _numbers(values, np.int64)]

    def run(self, rows: Rows, lanes: Sequence[Array]) -> Reported:
        new, new_valid, old, old_valid = kernels.run_sum_int(
            rows.slot,
            rows.sign,
            rows.emit,
            lanes[0],
            lanes[1],
            self.count,
            self.total,
            self.reported,
            self.shown,
        )
        return _reported(new, new_valid, old, old_valid, pa.int64())

    def current(self, slots: Array) -> pa.Array:
        return _number_array(self.reported[slots], self.shown[slots], pa.int64())


class Moments(_Arrays):
    """SUM of floats, AVG, STDDEV (of the sample)."""

    dtypes = (np.bool_, np.float64)
    counters: Array
    sums: Array
    reported: Array
    shown: Array

    def __init__(self, what: int) -> None:
        self._what = what
        super().__init__(
            counters=np.zeros((0, 5), np.int64),
            sums=np.zeros((0, 8), np.float64),
            reported=np.zeros(0, np.float64),
            shown=np.zeros(0, np.bool_),
        )

    def lanes(self, slot: Array, values: pa.Array | None) -> list[Array]:
        assert values is not None
        return [_valid_lane(values), _numbers(values, np.float64)]

    def run(self, rows: Rows, lanes: Sequence[Array]) -> Reported:
        new, new_valid, old, old_valid = kernels.run_moments(
            rows.slot,
            rows.sign,
            rows.emit,
            lanes[0],
            lanes[1],
            self._what,
            self.counters,
            self.sums,
            self.reported,
            self.shown,
        )
        return _reported(new, new_valid, old, old_valid, pa.float64())

    def current(self, slots: Array) -> pa.Array:
        return _number_array(self.reported[slots], self.shown[slots], pa.float64())


def _reported(
    new: Array, new_valid: Array, old: Array, old_valid: Array, type_: pa.DataType
) -> Reported:
    same = (new == old) | ((new != new) & (old != old))  # NaN equals itself here
    changed = (new_valid != old_valid) | (new_valid & ~same)
    return Reported(
        _number_array(new, new_valid, type_), _number_array(old, old_valid, type_), changed
    )


class _Nodes:
    """Numbers for distinct (group, value) pairs, given back when nobody holds the value."""

    def __init__(self, type_: pa.DataType) -> None:
        self.table = KeyTable([pa.int64(), type_])
        self.occurrences = np.zeros(self.table.capacity, np.int64)
        self._touched: list[Array] = []

    def number(self, slot: Array, values: pa.Array) -> Array:
        """int64[n] nodes, NO_NODE where the value is NULL."""
        valid = validity_of(values)
        if valid is None:
            return self._number(slot, values)
        out = np.full(slot.size, NO_NODE, np.int64)
        rows = np.flatnonzero(valid)
        if rows.size:
            out[rows] = self._number(slot[rows], values.take(pa.array(rows)))
        return out

    def _number(self, slot: Array, values: pa.Array) -> Array:
        nodes = self.table.slots([pa.array(slot), values], slot.size)
        if self.table.capacity > self.occurrences.size:
            grown = np.zeros(self.table.capacity, np.int64)
            grown[: self.occurrences.size] = self.occurrences
            self.occurrences = grown
        return nodes

    def touch(self, nodes: Array) -> None:
        """These nodes may have lost their last occurrence in this chunk."""
        self._touched.append(nodes[nodes >= 0])

    def settle(self) -> None:
        """Give back the nodes that nothing refers to."""
        if self._touched:
            touched = np.unique(np.concatenate(self._touched))
            self._touched = []
            self.table.release(touched[self.occurrences[touched] == 0])

    def state(self) -> State:
        return {"table": self.table.state(), "occurrences": self.occurrences}

    def restore(self, state: State) -> None:
        self.table.restore(nested(state, "table"))
        self.occurrences = array(state, "occurrences").copy()


class CountDistinct(_Arrays):
    """COUNT(DISTINCT x)."""

    dtypes = (np.int64,)
    count: Array
    reported: Array

    def __init__(self, type_: pa.DataType) -> None:
        super().__init__(count=np.zeros(0, np.int64), reported=np.zeros(0, np.int64))
        self._nodes = _Nodes(type_)

    def lanes(self, slot: Array, values: pa.Array | None) -> list[Array]:
        assert values is not None
        return [self._nodes.number(slot, values)]

    def run(self, rows: Rows, lanes: Sequence[Array]) -> Reported:
        self._nodes.touch(lanes[0])
        new, old = kernels.run_count_distinct(
            rows.slot,
            rows.sign,
            rows.emit,
            lanes[0],
            self._nodes.occurrences,
            self.count,
            self.reported,
        )
        return Reported(pa.array(new), pa.array(old), new != old)

    def current(self, slots: Array) -> pa.Array:
        return pa.array(self.reported[slots])

    def settle(self) -> None:
        self._nodes.settle()

    def state(self) -> State:
        return {**super().state(), "nodes": self._nodes.state()}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._nodes.restore(nested(state, "nodes"))


class _Heap(_Arrays):
    """Order keys and links of heap nodes; a node's links are set when it is inserted."""

    order: Array
    child: Array
    sibling: Array
    previous: Array

    def __init__(self) -> None:
        zero = np.zeros(0, np.int64)
        super().__init__(order=zero, child=zero, sibling=zero, previous=zero)


class Extreme(_Arrays):
    """MIN and MAX: a heap of distinct values by group."""

    dtypes = (np.int64,)
    root: Array
    reported: Array

    def __init__(self, type_: pa.DataType, *, largest: bool) -> None:
        super().__init__(root=np.zeros(0, np.int64), reported=np.zeros(0, np.int64))
        self._type = type_
        self._largest = largest
        self._nodes = _Nodes(type_)
        self._is_text = pa.types.is_string(type_) or pa.types.is_binary(type_)
        self._heap = _Heap()

    def _fill(self, name: str) -> int:
        return NO_NODE

    def lanes(self, slot: Array, values: pa.Array | None) -> list[Array]:
        assert values is not None
        nodes = self._nodes.number(slot, values)
        self._heap.grow(self._nodes.table.capacity)
        rows = np.flatnonzero(nodes >= 0)
        self._heap.order[nodes[rows]] = order_keys(values)[rows]
        return [nodes]

    def run(self, rows: Rows, lanes: Sequence[Array]) -> Reported:
        self._nodes.touch(lanes[0])
        place, offsets, data = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint8)
        if self._is_text:
            place, offsets, data = self._nodes.table.text_of(1)
        heap = self._heap
        new, old = run_extreme(
            rows.slot,
            rows.sign,
            rows.emit,
            lanes[0],
            self._largest,
            self._nodes.occurrences,
            heap.order,
            place,
            offsets,
            data,
            heap.child,
            heap.sibling,
            heap.previous,
            self.root,
            self.reported,
        )
        return Reported(self._values(new), self._values(old), new != old)

    def _values(self, nodes: Array) -> pa.Array:
        if len(self._nodes.table) == 0:
            return pa.nulls(nodes.size, self._type)
        some = int(self._nodes.table.used()[0])
        values = self._nodes.table.keys(np.where(nodes >= 0, nodes, some))[1]
        return pc.if_else(pa.array(nodes >= 0), values, pa.scalar(None, self._type))

    def current(self, slots: Array) -> pa.Array:
        return self._values(self.reported[slots])

    def settle(self) -> None:
        self._nodes.settle()

    def state(self) -> State:
        return {**super().state(), "nodes": self._nodes.state(), "heap": self._heap.state()}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._nodes.restore(nested(state, "nodes"))
        self._heap.restore(nested(state, "heap"))


def order_keys(values: pa.Array) -> Array:
    """int64[n] that compare as the values do; of texts the first eight bytes, the rest may tie."""
    type_ = values.type
    if pa.types.is_floating(type_):
        bits = _numbers(values, np.float64).copy()
        bits[bits == 0.0] = 0.0
        bits[np.isnan(bits)] = np.nan  # one NaN, above everything, as in Spark
        as_int = bits.view(np.int64)
        return np.where(as_int < 0, as_int ^ np.int64(0x7FFFFFFFFFFFFFFF), as_int)
    if pa.types.is_string(type_) or pa.types.is_binary(type_):
        return text_prefixes(*text_buffers(values))
    if pa.types.is_decimal(type_):  # of at most 18 digits: the low half of the 16 bytes
        return raw_values(values, np.dtype("2i8"))[:, 0].copy()
    if pa.types.is_date32(type_):
        values = values.cast(pa.int32())
    elif pa.types.is_timestamp(type_) or pa.types.is_duration(type_):
        values = values.cast(pa.int64())
    elif pa.types.is_boolean(type_):
        values = values.cast(pa.int8())
    return _numbers(values, np.int64)
