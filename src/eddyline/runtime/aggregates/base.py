"""What every sliding aggregate does, and the pieces they are made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from eddyline.kernels.aggregates import SignedRows
from eddyline.runtime.state import State, array
from eddyline.runtime.stores.columns import Array, bitmap, filled, validity_of
from eddyline.runtime.stores.slots import SlotArray


@dataclass(frozen=True, slots=True)
class Reported:
    """An aggregate's values at m emissions: now, before, and bool[m] whether they differ.

    ``failed``: where it has no value and is not NULL either, bool[m] now and before; None: nowhere.
    """

    new: pa.Array
    old: pa.Array
    changed: Array
    failed: tuple[Array, Array] | None = None


class Aggregate(Protocol):
    """State by group slot of one aggregate."""

    dtypes: Sequence[Any]  #: of the lanes that each row carries
    remembers: str  #: what the lanes are, if they are a function of the argument; "" if not
    failure: str  #: the reason reported for a group that has no value

    def lanes(self, slot: Array, values: pa.Array | None) -> list[Array]:
        """What to remember of each entering or leaving row."""

    def grow(self, end: int) -> None:
        """Let there be slots below ``end``."""

    def run(self, rows: SignedRows, lanes: Sequence[Array]) -> Reported:
        """Let the rows enter and leave."""

    def current(self, slots: Array) -> pa.Array:
        """The values last reported for slots."""

    def has_failed(self, slots: Array) -> Array:
        """bool[n]: for which slots there is no value, as last reported."""

    def settle(self) -> None:
        """Release, at the end of a chunk, what is not referred to any more."""

    def refer(self, lanes: Sequence[Array]) -> None:
        """Let rows be kept that are in no group, so that they may enter later."""

    def drop(self, lanes: Sequence[Array]) -> None:
        """Let such rows be kept no more."""

    def forget(self, slots: Array) -> None:
        """Let distinct slots be as new ones: their rows never leave. Takes as long as there are
        rows in all slots.
        """

    def state(self) -> State:
        """Saved as plain arrays."""

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an aggregate function is to compute.

    Attributes:
        argument: the type of the values; None: whole rows. result: the type of the aggregate.
        distinct: whether equal values count once. parameters: constants of the function.
        endless: whether rows never leave. in_order: whether they leave in the order in which they
            came.
    """

    argument: pa.DataType | None
    result: pa.DataType
    distinct: bool = False
    parameters: tuple[Any, ...] = ()
    endless: bool = False
    in_order: bool = False


Factory: TypeAlias = Callable[[Wanted], Aggregate]
#: What computes each aggregate function, by its name in ``algebra/functions/aggregates.py``.
FACTORIES: Final[dict[str, Factory]] = {}


def computes(function: str) -> Callable[[Factory], Factory]:
    """Register what computes an aggregate function."""

    def register(factory: Factory) -> Factory:
        assert function not in FACTORIES, f"{function} is computed twice"
        FACTORIES[function] = factory
        return factory

    return register


class SlotArrays:
    """State arrays by slot, grown together; each is an attribute, as kernels need it."""

    remembers = ""
    failure = ""

    def __init__(self, **arrays: SlotArray) -> None:
        self._arrays = arrays
        self._show()

    def grow(self, end: int) -> None:
        for rows in self._arrays.values():
            rows.grow(end)
        self._show()

    def _show(self) -> None:
        for name, rows in self._arrays.items():
            setattr(self, name, rows.array)

    def has_failed(self, slots: Array) -> Array:
        return np.zeros(slots.size, np.bool_)

    def settle(self) -> None:
        """Nothing to release."""

    def refer(self, lanes: Sequence[Array]) -> None:
        """Lanes are values."""

    def drop(self, lanes: Sequence[Array]) -> None:
        """Lanes are values."""

    def forget(self, slots: Array) -> None:
        for rows in self._arrays.values():
            rows.clear(slots)

    def state(self) -> State:
        return {name: rows.held() for name, rows in self._arrays.items()}

    def restore(self, state: State) -> None:
        for name, rows in self._arrays.items():
            rows.restore(array(state, name))
        self._show()


#: Names of arrays of what was last reported.
_REPORTS: Final = ("reported", "shown", "kind")


class ByRow(SlotArrays, ABC):
    """An aggregate for which the lanes of a row are the same in all slots: rows that many windows
    hold are kept once. A row changes nothing if its first lane is False.
    """

    def limit(self, key: Any) -> float | None:
        """What ``run`` screens values by that are compared with ``key``, as of ``Bound``; None: it
        reports all.
        """
        return None

    @property
    def reports(self) -> list[SlotArray]:
        """By slot, what was last reported."""
        return [rows for name, rows in self._arrays.items() if name in _REPORTS]

    def cannot_fail(self, rows: int) -> bool:
        """Whether it has a value of each choice of at most this many of the rows so far."""
        return not self.failure

    def move(self, slots: Array, to: Array) -> None:
        """Move the state of slots to others, which are as new."""
        for rows in self._arrays.values():
            rows.array[to] = rows.array[slots]
            rows.clear(slots)

    @abstractmethod
    def run(self, rows: SignedRows, lanes: Sequence[Array]) -> Reported:
        """Let the rows enter and leave."""


def valid_lane(values: pa.Array) -> Array:
    """bool[n]: where there is a value."""
    valid = validity_of(values)
    return filled(len(values), 1, np.bool_) if valid is None else valid


def numbers(values: pa.Array, dtype: Any) -> Array:
    """The values as a NumPy array, 0 where NULL."""
    filled = values.fill_null(0) if values.null_count else values
    return np.asarray(filled.to_numpy(zero_copy_only=False)).astype(dtype, copy=False)


def number_array(values: Array, valid: Array | None, type_: pa.DataType) -> pa.Array:
    """The inverse of ``numbers``."""
    return pa.Array.from_buffers(type_, values.size, [bitmap(valid), pa.py_buffer(values)])


def numbers_reported(
    new: Array, new_valid: Array, old: Array, old_valid: Array, type_: pa.DataType
) -> Reported:
    """Numbers as an aggregate reports them; NaN equals itself here."""
    same = (new == old) | ((new != new) & (old != old))
    changed = (new_valid != old_valid) | (new_valid & ~same)
    return Reported(
        number_array(new, new_valid, type_), number_array(old, old_valid, type_), changed
    )
