"""Covariance, correlation and linear regression of pairs of values, whole and from parts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa

from eddyline.kernels import comoments as kernels
from eddyline.kernels.aggregates import SignedRows
from eddyline.kernels.partial_sums import gathered_words
from eddyline.runtime.aggregates.base import (
    Aggregate,
    ByRow,
    Reported,
    SlotArrays,
    Wanted,
    computes,
    number_array,
    numbers,
    numbers_reported,
    valid_lane,
)
from eddyline.runtime.aggregates.parts import OfWords, binary_words
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.slots import SlotArray

#: The functions of pairs (y, x).
KINDS: Final = {
    "covar_samp": kernels.COVAR_SAMP,
    "covar_pop": kernels.COVAR_POP,
    "corr": kernels.CORR,
    "regr_slope": kernels.SLOPE,
    "regr_intercept": kernels.INTERCEPT,
    "regr_r2": kernels.R2,
    "regr_sxy": kernels.SXY,
}


class _Sums(SlotArrays):
    """Sums of pairs by slot."""

    counters: Array
    limbs: Array

    def __init__(self, limbs: int, **more: SlotArray) -> None:
        super().__init__(
            counters=SlotArray(np.int64, (kernels.COUNTERS,)),
            limbs=SlotArray(np.int64, (limbs,)),
            **more,
        )


class _Results(_Sums):
    """The aggregate of groups.

    Args:
        what: which one, as of ``kernels/comoments.py``.
    """

    reported: Array
    shown: Array

    def __init__(self, what: int) -> None:
        self._what = what
        super().__init__(
            kernels.limbs_of(what), reported=SlotArray(np.float64), shown=SlotArray(np.bool_)
        )

    def current(self, slots: Array) -> pa.Array:
        return number_array(self.reported[slots], self.shown[slots], pa.float64())


class Comoments(_Results, ByRow):
    """An aggregate of the pairs in which both values are there."""

    dtypes: Sequence[Any] = (np.bool_, np.float64, np.float64)
    remembers = "pairs of doubles"

    def lanes(self, slot: Array, values: pa.Array | None) -> list[Array]:
        return _pairs(values)

    def run(self, rows: SignedRows, lanes: Sequence[Array]) -> Reported:
        valid, y, x = lanes
        new, new_valid, old, old_valid = kernels.run_comoments(
            rows, valid, y, x, self._what, self.counters, self.limbs, self.reported, self.shown
        )
        return numbers_reported(new, new_valid, old, old_valid, pa.float64())


class PartialComoments(_Sums):
    """The sums of a part, as words."""

    dtypes: Sequence[Any] = Comoments.dtypes
    words: Array
    length: Array

    def __init__(self, what: int) -> None:
        limbs = kernels.limbs_of(what)
        words = SlotArray(np.int32, (kernels.most_words(limbs),))
        super().__init__(limbs, words=words, length=SlotArray(np.int64))

    def lanes(self, slot: Array, values: pa.Array | None) -> list[Array]:
        return _pairs(values)

    def run(self, rows: SignedRows, lanes: Sequence[Array]) -> Reported:
        valid, y, x = lanes
        new, new_starts, old, old_starts, changed = kernels.run_partial_comoments(
            rows, valid, y, x, self.counters, self.limbs, self.words, self.length
        )
        return Reported(binary_words(new, new_starts), binary_words(old, old_starts), changed)

    def current(self, slots: Array) -> pa.Array:
        return binary_words(*gathered_words(self.words, self.length, slots))


class MergedComoments(OfWords, _Results):
    """An aggregate from the sums of parts."""

    dtypes: Sequence[Any] = (np.int64, np.int64)

    def run(self, rows: SignedRows, lanes: Sequence[Array]) -> Reported:
        new, new_valid, old, old_valid = kernels.run_merged_comoments(
            rows,
            self.take_words(),
            lanes[0],
            lanes[1],
            self._what,
            self.counters,
            self.limbs,
            self.reported,
            self.shown,
        )
        return numbers_reported(new, new_valid, old, old_valid, pa.float64())


def _pairs(values: pa.Array | None) -> list[Array]:
    """Where both values are there, and these."""
    assert values is not None
    first, second = values.flatten()
    valid = valid_lane(first) & valid_lane(second)
    return [valid, numbers(first, np.float64), numbers(second, np.float64)]


def _compute(function: str, state: type[Any], what: int) -> None:
    def make(what: int, of: Wanted) -> Aggregate:
        made: Aggregate = state(what)
        return made

    computes(function)(partial(make, what))


for _name, _what in KINDS.items():
    _compute(_name, Comoments, _what)
    _compute(f"merged_{_name}", MergedComoments, _what)
_compute("partial_covar", PartialComoments, kernels.COVAR_SAMP)
_compute("partial_regr", PartialComoments, kernels.CORR)
