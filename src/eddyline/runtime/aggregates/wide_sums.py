"""SUM and AVG of DECIMAL and INTERVAL, whole and from parts: exact, of the type that Spark gives.

A part is the words of ``kernels/wide_sums.py`` as bytes; NULL of no values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from eddyline.kernels import wide_sums as kernels
from eddyline.kernels.aggregates import SignedRows
from eddyline.runtime.aggregates.base import (
    ByRow,
    Reported,
    SlotArrays,
    Wanted,
    numbers,
    valid_lane,
)
from eddyline.runtime.stores.columns import Array, bitmap, raw_values
from eddyline.runtime.stores.slots import SlotArray
from eddyline.types import sql_type


class _Words(SlotArrays, ABC):
    """Sums by slot."""

    total: Array
    reported: Array

    def __init__(self) -> None:
        shape = (kernels.WORDS,)
        super().__init__(total=SlotArray(np.int64, shape), reported=SlotArray(np.int64, shape))

    @abstractmethod
    def _run(self, rows: SignedRows, lanes: Sequence[Array]) -> tuple[Array, Array]:
        """The new and the old words of the rows' slots."""


class _OfValues(_Words, ByRow):
    """Sums of values."""

    def __init__(self, argument: pa.DataType) -> None:
        super().__init__()
        self._wide = pt.is_decimal(argument)
        self.dtypes: Sequence[Any] = (np.bool_, *[np.int64] * (1 + self._wide))

    def lanes(self, slot: Array, values: pa.Array | None) -> list[Array]:
        assert values is not None
        valid = valid_lane(values)
        if not self._wide:
            return [valid, numbers(values.cast(pa.int64()), np.int64)]
        halves = raw_values(values, np.dtype("2i8"))
        return [valid, halves[:, 0].copy(), halves[:, 1].copy()]

    def _run(self, rows: SignedRows, lanes: Sequence[Array]) -> tuple[Array, Array]:
        valid, low, *high = lanes
        high_words = high[0] if high else np.empty(0, np.int64)
        return kernels.run_wide_words(rows, valid, low, high_words, self.total, self.reported)


class _OfParts(_Words):
    """Sums of the sums of parts."""

    dtypes: Sequence[Any] = (np.int64,) * kernels.WORDS

    def lanes(self, slot: Array, values: pa.Array | None) -> list[Array]:
        assert values is not None
        found = np.zeros((len(values), kernels.WORDS), np.int64)
        there = values.drop_null()
        _, offsets, data = there.buffers()
        if data is not None and len(there):
            first = np.frombuffer(offsets, np.int32)[there.offset]
            words = np.frombuffer(data, np.int64, kernels.WORDS * len(there), first)
            found[valid_lane(values)] = words.reshape(-1, kernels.WORDS)
        return [found[:, i].copy() for i in range(kernels.WORDS)]

    def _run(self, rows: SignedRows, lanes: Sequence[Array]) -> tuple[Array, Array]:
        return kernels.run_merged_words(rows, tuple(lanes), self.total, self.reported)


class _Results(_Words):
    """Sums or means as the aggregate's result. One that does not fit its type has failed.

    Args:
        mean: whether it is the mean. tolerant: what does not fit is NULL instead.
    """

    def __init__(self, of: Wanted, scale: int, *, mean: bool, tolerant: bool) -> None:
        self._type, self._mean, self._tolerant = of.result, mean, tolerant
        self._factor = 10 ** (of.result.scale - scale) if pt.is_decimal(of.result) else 1
        most = 10**of.result.precision - 1 if pt.is_decimal(of.result) else 2**63 - 1
        self._most = np.frombuffer(most.to_bytes(16, "little"), np.int64)
        what = "an AVG" if mean else "a SUM"
        self.failure = f"{what} of the group is no {sql_type(of.result)}"

    def _values(self, words: Array) -> tuple[pa.Array, Array]:
        """The values, and where there is none that fits."""
        values, kinds = kernels.values_of_words(words, self._mean, self._factor, self._most)
        valid = bitmap(kinds == kernels.FITS)
        if pt.is_decimal(self._type):
            data = pa.py_buffer(np.ascontiguousarray(values))
        else:
            data = pa.py_buffer(values[:, 0].copy())
        found = pa.Array.from_buffers(self._type, len(values), [valid, data])
        return found, kinds == kernels.OVERFLOW

    def run(self, rows: SignedRows, lanes: Sequence[Array]) -> Reported:
        new, old = self._run(rows, lanes)
        (now, failed), (before, had_failed) = self._values(new), self._values(old)
        changed = (new[:, 1:] != old[:, 1:]).any(axis=1) | ((new[:, 0] > 0) != (old[:, 0] > 0))
        if self._mean:
            changed |= new[:, 0] != old[:, 0]
        if self._tolerant or not (failed.any() or had_failed.any()):
            return Reported(now, before, changed)
        return Reported(now, before, changed, (failed, had_failed))

    def current(self, slots: Array) -> pa.Array:
        return self._values(self.reported[slots])[0]

    def has_failed(self, slots: Array) -> Array:
        if self._tolerant:
            return super().has_failed(slots)
        return self._values(self.reported[slots])[1]


class WideSum(_Results, _OfValues):
    """SUM or AVG of values."""

    def __init__(self, of: Wanted, *, mean: bool, tolerant: bool = False) -> None:
        assert of.argument is not None
        _OfValues.__init__(self, of.argument)
        scale = of.argument.scale if pt.is_decimal(of.argument) else 0
        _Results.__init__(self, of, scale, mean=mean, tolerant=tolerant)


class MergedWideSum(_Results, _OfParts):
    """SUM or AVG from the sums of parts; the parameter of the function is the scale of values."""

    def __init__(self, of: Wanted, *, mean: bool, tolerant: bool = False) -> None:
        _OfParts.__init__(self)
        [scale] = of.parameters
        _Results.__init__(self, of, scale, mean=mean, tolerant=tolerant)


class PartialWideSum(_OfValues):
    """The sum of a part, with the number of its values, as words."""

    def run(self, rows: SignedRows, lanes: Sequence[Array]) -> Reported:
        new, old = self._run(rows, lanes)
        return Reported(_bytes(new), _bytes(old), (new != old).any(axis=1))

    def current(self, slots: Array) -> pa.Array:
        return _bytes(self.reported[slots])


def is_wide(type_: pa.DataType | None) -> bool:
    """Whether sums of values of a type are computed here."""
    return type_ is not None and (pt.is_decimal(type_) or pt.is_duration(type_))


def _bytes(words: Array) -> pa.Array:
    """Words as binaries; NULL where there are no values."""
    there = words[:, 0] > 0
    width = 8 * kernels.WORDS
    offsets = pa.py_buffer(np.arange(len(words) + 1, dtype=np.int32) * width)
    data = pa.py_buffer(np.ascontiguousarray(words))
    return pa.Array.from_buffers(pa.binary(), len(words), [bitmap(there), offsets, data])
