"""SUM, AVG, deviations and variances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa

from eddyline.kernels import aggregates as kernels
from eddyline.kernels import moments
from eddyline.kernels.aggregates import SignedRows
from eddyline.kernels.double_sums import run_double_spreads, run_double_sums
from eddyline.kernels.group_limbs import FRESH, NO_PLACE, release_rows
from eddyline.runtime.aggregates.base import (
    Aggregate,
    ByRow,
    Reported,
    Wanted,
    computes,
    number_array,
    numbers,
    numbers_reported,
    valid_lane,
)
from eddyline.runtime.aggregates.wide_sums import WideSum, is_wide
from eddyline.runtime.state import State, array
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.slots import SlotArray

#: Deviations and variances.
SPREADS: Final = {
    "stddev": moments.STDDEV,
    "stddev_pop": moments.STDDEV_POP,
    "variance": moments.VAR_SAMP,
    "var_pop": moments.VAR_POP,
}


class SumInt(ByRow):
    """SUM of integers, exact. A sum that is no BIGINT has failed.

    Args:
        tolerant: it is NULL instead (TRY_SUM).
    """

    dtypes: Sequence[Any] = (np.bool_, np.int64)
    failure = "a SUM of the group is no BIGINT"
    count: Array
    total: Array
    reported: Array
    kind: Array

    def __init__(self, *, tolerant: bool = False) -> None:
        self._tolerant = tolerant
        self._largest = 0  # magnitude of all values so far
        super().__init__(
            count=SlotArray(np.int64),
            total=SlotArray(np.int64, (2,)),
            reported=SlotArray(np.int64),
            kind=SlotArray(np.int8),
        )

    def lanes(self, slot: Array, values: pa.Array | None) -> list[Array]:
        assert values is not None
        whole = numbers(values, np.int64)
        ends = int(whole.max(initial=0)), -int(whole.min(initial=0))
        self._largest = max(self._largest, *ends)
        return [valid_lane(values), whole]

    def run(self, rows: SignedRows, lanes: Sequence[Array]) -> Reported:
        new, new_kind, old, old_kind = kernels.run_sum_int(
            rows,
            lanes[0],
            lanes[1],
            self.count,
            self.total,
            self.reported,
            self.kind,
        )
        fits = new_kind == kernels.FITS, old_kind == kernels.FITS
        out = numbers_reported(new, fits[0], old, fits[1], pa.int64())
        if self._tolerant or not (new_kind.max(initial=0) | old_kind.max(initial=0)) & 2:
            return out
        failed = new_kind == kernels.OVERFLOW, old_kind == kernels.OVERFLOW
        return replace(out, failed=failed)

    def cannot_fail(self, rows: int) -> bool:
        return self._tolerant or self._largest * rows < 2**63

    def limit(self, key: Any) -> float | None:
        return float(key)

    def current(self, slots: Array) -> pa.Array:
        return number_array(self.reported[slots], self.kind[slots] == kernels.FITS, pa.int64())

    def has_failed(self, slots: Array) -> Array:
        none = np.zeros(slots.size, np.bool_)
        return none if self._tolerant else self.kind[slots] == kernels.OVERFLOW


class Moments(ByRow):
    """SUM of floats, AVG, deviations and variances."""

    dtypes: Sequence[Any] = (np.bool_, np.float64)
    remembers = "doubles"
    counters: Array
    sums: Array
    place: Array
    reported: Array
    shown: Array

    def __init__(self, what: int) -> None:
        self._what = what
        super().__init__(
            counters=SlotArray(np.int64, (4,)),
            sums=SlotArray(np.float64, (moments.parts_of(what),)),
            place=SlotArray(np.int64, fill=NO_PLACE),
            reported=SlotArray(np.float64),
            shown=SlotArray(np.bool_),
        )
        self._limbs = SlotArray(np.int64, (moments.limbs_of(what),))
        self._free = np.array([NO_PLACE, 0])

    def lanes(self, slot: Array, values: pa.Array | None) -> list[Array]:
        assert values is not None
        return [valid_lane(values), numbers(values, np.float64)]

    def run(self, rows: SignedRows, lanes: Sequence[Array]) -> Reported:
        size = rows.slot.size
        end, reported = self._in_doubles(rows, lanes)
        while end < size:
            begin = end
            end, *more = self._in_limbs(rows, lanes, begin)
            reported = [np.concatenate(pair) for pair in zip(reported, more, strict=True)]
            if end == begin:
                self._grow_limbs(len(self._limbs.array) + 1)
        new, new_valid, old, old_valid = reported
        return numbers_reported(new, new_valid, old, old_valid, pa.float64())

    def _grow_limbs(self, end: int) -> None:
        """Let there be rows of limbs below ``end``."""
        room = len(self._limbs.array)
        if end > room:
            self._limbs.grow(room)  # all of these are kept
            self._limbs.grow(end)

    def _in_doubles(self, rows: SignedRows, lanes: Sequence[Array]) -> tuple[int, list[Array]]:
        """As many rows as need no limbs."""
        run = run_double_sums if self._what < moments.STDDEV else run_double_spreads
        end, *reported = run(
            rows,
            lanes[0],
            lanes[1],
            self._what,
            self.counters,
            self.sums,
            self.place,
            self.reported,
            self.shown,
        )
        return end, reported

    def _in_limbs(
        self, rows: SignedRows, lanes: Sequence[Array], start: int
    ) -> tuple[int, Array, Array, Array, Array]:
        """Rows from ``start`` on, up to one for which there is no row of limbs."""
        return moments.run_moments(
            rows,
            lanes[0],
            lanes[1],
            self._what,
            self.counters,
            self.sums,
            self.place,
            self._limbs.array,
            self._free,
            self.reported,
            self.shown,
            start,
        )

    def limit(self, key: Any) -> float | None:
        return float(key)

    def current(self, slots: Array) -> pa.Array:
        return number_array(self.reported[slots], self.shown[slots], pa.float64())

    def forget(self, slots: Array) -> None:
        release_rows(slots, self.place, self._limbs.array, self._free)
        super().forget(slots)

    def state(self) -> State:
        limbs = self._limbs.array[: self._free[FRESH]]
        return {**super().state(), "limbs": limbs, "free": self._free}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._limbs.restore(array(state, "limbs"))
        self._free = array(state, "free").copy()


@computes("sum")
def _sum(of: Wanted) -> Aggregate:
    if is_wide(of.argument):
        return WideSum(of, mean=False)
    return SumInt() if pa.types.is_integer(of.argument) else Moments(moments.SUM)


@computes("try_sum")
def _try_sum(of: Wanted) -> Aggregate:
    if is_wide(of.argument):
        return WideSum(of, mean=False, tolerant=True)
    return SumInt(tolerant=True) if pa.types.is_integer(of.argument) else Moments(moments.SUM)


@computes("avg")
def _avg(of: Wanted) -> Aggregate:
    return WideSum(of, mean=True) if is_wide(of.argument) else Moments(moments.AVG)


@computes("try_avg")
def _try_avg(of: Wanted) -> Aggregate:
    return WideSum(of, mean=True, tolerant=True)


def _spread(what: int, of: Wanted) -> Aggregate:
    return Moments(what)


for _name, _what in SPREADS.items():
    computes(_name)(partial(_spread, _what))
