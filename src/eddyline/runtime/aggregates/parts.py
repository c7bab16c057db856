"""Aggregates of parts of a group's rows, and their mergers: exact, whatever the parts are.

Rows of a merger never wait for an expiry: every part leaves by a '-'. COUNT, MIN and MAX of a part
are themselves, and MIN and MAX are their own mergers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from eddyline.kernels import moments, partial_sums
from eddyline.kernels.aggregates import SignedRows
from eddyline.runtime.aggregates.base import (
    Aggregate,
    Reported,
    SlotArrays,
    Wanted,
    computes,
    number_array,
    numbers,
    numbers_reported,
    valid_lane,
)
from eddyline.runtime.aggregates.sums import SPREADS, SumInt
from eddyline.runtime.aggregates.wide_sums import MergedWideSum, PartialWideSum, is_wide
from eddyline.runtime.stores.columns import Array, bitmap, raw_values
from eddyline.runtime.stores.slots import SlotArray
from eddyline.types import WIDE_INTEGER


class MergedCount(SlotArrays):
    """COUNT from the counts of parts."""

    dtypes: Sequence[Any] = (np.int64,)
    count: Array
    reported: Array

    def __init__(self) -> None:
        super().__init__(count=SlotArray(np.int64), reported=SlotArray(np.int64))

    def lanes(self, slot: Array, values: pa.Array | None) -> list[Array]:
        assert values is not None
        return [numbers(values, np.int64)]

    def run(self, rows: SignedRows, lanes: Sequence[Array]) -> Reported:
        new, old = partial_sums.run_merged_count(rows, lanes[0], self.count, self.reported)
        return Reported(pa.array(new), pa.array(old), new != old)

    def current(self, slots: Array) -> pa.Array:
        return pa.array(self.reported[slots])


class _WideSum(SlotArrays):
    """Sums of integers of 128 bits, by slot."""

    dtypes: Sequence[Any] = (np.bool_, np.int64, np.int64)
    count: Array
    total: Array
    reported: Array
    shown: Array

    def __init__(self) -> None:
        super().__init__(
            count=SlotArray(np.int64),
            total=SlotArray(np.int64, (2,)),
            reported=SlotArray(np.int64, (2,)),
            shown=SlotArray(np.bool_),
        )

    def _run(self, rows: SignedRows, lanes: Sequence[Array]) -> tuple[Array, Array, Array, Array]:
        valid, low, high = lanes
        return partial_sums.run_wide_sum(
            rows, valid, low, high, self.count, self.total, self.reported, self.shown
        )


class PartialSumInt(_WideSum):
    """The SUM of a part, of integers: as a WIDE_INTEGER, which it always fits."""

    def lanes(self, slot: Array, values: pa.Array | None) -> list[Array]:
        assert values is not None
        low = numbers(values, np.int64)
        return [valid_lane(values), low, low >> 63]

    def run(self, rows: SignedRows, lanes: Sequence[Array]) -> Reported:
        new, new_valid, old, old_valid = self._run(rows, lanes)
        changed = (new_valid != old_valid) | (new_valid & (new != old).any(axis=1))
        return Reported(_wide(new, new_valid), _wide(old, old_valid), changed)

    def current(self, slots: Array) -> pa.Array:
        return _wide(self.reported[slots], self.shown[slots])


class MergedSumInt(_WideSum):
    """SUM of integers from the sums of parts. A sum that is no BIGINT has failed.

    Args:
        tolerant: it is NULL instead (TRY_SUM).
    """

    failure = SumInt.failure

    def __init__(self, *, tolerant: bool = False) -> None:
        super().__init__()
        self._tolerant = tolerant

    def lanes(self, slot: Array, values: pa.Array | None) -> list[Array]:
        assert values is not None
        halves = raw_values(values, np.dtype("2i8"))
        valid = valid_lane(values)
        return [valid, *(np.where(valid, halves[:, i], 0) for i in (0, 1))]

    def run(self, rows: SignedRows, lanes: Sequence[Array]) -> Reported:
        new, new_valid, old, old_valid = self._run(rows, lanes)
        fits, before = new_valid & _fits(new), old_valid & _fits(old)
        out = numbers_reported(new[:, 0].copy(), fits, old[:, 0].copy(), before, pa.int64())
        if self._tolerant:
            return out
        failed = new_valid & ~fits, old_valid & ~before
        return Reported(out.new, out.old, out.changed, failed)

    def current(self, slots: Array) -> pa.Array:
        sums = self.reported[slots]
        return number_array(sums[:, 0].copy(), self.shown[slots] & _fits(sums), pa.int64())

    def has_failed(self, slots: Array) -> Array:
        if self._tolerant:
            return super().has_failed(slots)
        failed: Array = self.shown[slots] & ~_fits(self.reported[slots])
        return failed


class PartialMoments(SlotArrays):
    """The sum of floats of a part, with their number, as words of ``kernels/partial_sums.py``.

    Args:
        what: for SUM and AVG, or for STDDEV, which needs the sum of squares too.
    """

    dtypes: Sequence[Any] = (np.bool_, np.float64)
    counters: Array
    limbs: Array
    words: Array
    length: Array

    def __init__(self, what: int) -> None:
        super().__init__(
            counters=SlotArray(np.int64, (partial_sums.COUNTERS,)),
            limbs=SlotArray(np.int64, (moments.limbs_of(what),)),
            words=SlotArray(np.int32, (partial_sums.most_words(what),)),
            length=SlotArray(np.int64),
        )

    def lanes(self, slot: Array, values: pa.Array | None) -> list[Array]:
        assert values is not None
        return [valid_lane(values), numbers(values, np.float64)]

    def run(self, rows: SignedRows, lanes: Sequence[Array]) -> Reported:
        new, new_starts, old, old_starts, changed = partial_sums.run_partial_moments(
            rows, lanes[0], lanes[1], self.counters, self.limbs, self.words, self.length
        )
        return Reported(binary_words(new, new_starts), binary_words(old, old_starts), changed)

    def current(self, slots: Array) -> pa.Array:
        return binary_words(*partial_sums.gathered_words(self.words, self.length, slots))


class OfWords(SlotArrays):
    """An aggregate of parts that consist of words: lanes say where those of each row are."""

    _words: Array = np.zeros(0, np.int32)  # of the chunk

    def lanes(self, slot: Array, values: pa.Array | None) -> list[Array]:
        assert values is not None
        self._words, *lanes = word_lanes(values)
        return lanes

    def take_words(self) -> Array:
        """The words of the chunk, once."""
        words, self._words = self._words, OfWords._words
        return words


class MergedMoments(OfWords):
    """SUM of floats, AVG or STDDEV from parts.

    Args:
        what: which of these, as of ``kernels/moments.py``.
    """

    dtypes: Sequence[Any] = (np.int64, np.int64)
    counters: Array
    limbs: Array
    reported: Array
    shown: Array

    def __init__(self, what: int) -> None:
        self._what = what
        super().__init__(
            counters=SlotArray(np.int64, (partial_sums.COUNTERS,)),
            limbs=SlotArray(np.int64, (moments.limbs_of(what),)),
            reported=SlotArray(np.float64),
            shown=SlotArray(np.bool_),
        )

    def run(self, rows: SignedRows, lanes: Sequence[Array]) -> Reported:
        new, new_valid, old, old_valid = partial_sums.run_merged_moments(
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

    def current(self, slots: Array) -> pa.Array:
        return number_array(self.reported[slots], self.shown[slots], pa.float64())


def _fits(sums: Array) -> Array:
    """bool[n]: whether sums of 128 bits are BIGINTs."""
    fits: Array = sums[:, 1] == sums[:, 0] >> 63
    return fits


def _wide(sums: Array, valid: Array) -> pa.Array:
    values = pa.py_buffer(np.ascontiguousarray(sums))
    return pa.Array.from_buffers(WIDE_INTEGER, valid.size, [bitmap(valid), values])


def word_lanes(values: pa.Array) -> list[Array]:
    """The words of parts one after the other, and where those of each begin and end."""
    _, offsets, data = values.buffers()
    ends = np.frombuffer(offsets, np.int32)[values.offset :][: len(values) + 1] // 4
    given = b"" if data is None else data
    words = np.frombuffer(given, np.int32, len(given) // 4).copy()
    start, end = ends[:-1].astype(np.int64), ends[1:].astype(np.int64)
    return [words, start, np.where(valid_lane(values), end, start)]


def binary_words(words: Array, starts: Array) -> pa.Array:
    """The words of parts as binaries; NULL where there are none."""
    offsets = pa.py_buffer((4 * starts).astype(np.int32))
    valid = bitmap(starts[1:] > starts[:-1])
    return pa.Array.from_buffers(
        pa.binary(), starts.size - 1, [valid, offsets, pa.py_buffer(np.ascontiguousarray(words))]
    )


@computes("partial_sum")
def _partial_sum(of: Wanted) -> Aggregate:
    if is_wide(of.argument):
        return PartialWideSum(of.argument)
    return PartialSumInt() if pa.types.is_integer(of.argument) else PartialMoments(moments.SUM)


@computes("partial_stddev")
def _partial_stddev(of: Wanted) -> Aggregate:
    return PartialMoments(moments.STDDEV)


@computes("merged_count")
def _merged_count(of: Wanted) -> Aggregate:
    return MergedCount()


@computes("merged_sum")
def _merged_sum(of: Wanted) -> Aggregate:
    if is_wide(of.result):
        return MergedWideSum(of, mean=False)
    return MergedSumInt() if pa.types.is_decimal(of.argument) else MergedMoments(moments.SUM)


@computes("merged_try_sum")
def _merged_try_sum(of: Wanted) -> Aggregate:
    if is_wide(of.result):
        return MergedWideSum(of, mean=False, tolerant=True)
    whole = pa.types.is_decimal(of.argument)
    return MergedSumInt(tolerant=True) if whole else MergedMoments(moments.SUM)


@computes("merged_try_avg")
def _merged_try_avg(of: Wanted) -> Aggregate:
    return MergedWideSum(of, mean=True, tolerant=True)


@computes("merged_avg")
def _merged_avg(of: Wanted) -> Aggregate:
    return MergedWideSum(of, mean=True) if is_wide(of.result) else MergedMoments(moments.AVG)


def _merged_spread(what: int, of: Wanted) -> Aggregate:
    return MergedMoments(what)


for _name, _what in SPREADS.items():
    computes(f"merged_{_name}")(partial(_merged_spread, _what))
