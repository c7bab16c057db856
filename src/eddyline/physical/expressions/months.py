"""Kernels that count months, as Java's ``LocalDate`` does, and dates that they make."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from eddyline.algebra.expressions import Call
from eddyline.physical.expressions.data import Datum, as_arrays, null_where_not, values_of
from eddyline.physical.expressions.evaluation import Evaluation, without
from eddyline.physical.expressions.kernel import Kernel, Maker, always, argument_constant

_Ints = npt.NDArray[np.int64]

_DAY_US: Final = 86_400_000_000
_DATES: Final = np.iinfo(np.int32)
_FIRST_DAY, _FIRST_US = divmod(-(2**63), _DAY_US)
_LAST_DAY, _LAST_US = divmod(2**63 - 1, _DAY_US)
#: Months and years beyond those of any date, whose sums do not overflow.
_FAR: Final = 1 << 33


def _days_and_time(moments: pa.Array) -> tuple[_Ints, _Ints]:
    """Days since 1970, and microseconds since midnight."""
    if pt.is_date(moments.type):
        days = values_of(moments.cast(pa.int32())).astype(np.int64)
        return days, np.zeros_like(days)
    days, time = np.divmod(values_of(moments.cast(pa.int64())), _DAY_US)
    return days, time


def _month_of(days: _Ints) -> tuple[_Ints, _Ints]:
    """Months since January 1970, and the day of the month from 0."""
    months = days.astype("M8[D]").astype("M8[M]").astype(np.int64)
    return months, days - _first_day(months)


def _first_day(months: _Ints) -> _Ints:
    return months.astype("M8[M]").astype("M8[D]").astype(np.int64)


def months_later(moments: pa.Array, count: _Ints | int) -> tuple[_Ints, _Ints]:
    """Dates or timestamps a number of months later: months since January 1970, and days, or
    microseconds, since 1970. A day that a month does not have becomes its last; NULL: any number.
    """
    days, time = _days_and_time(moments)
    months, day = _month_of(days)
    later = months + count
    first = _first_day(later)
    found = first + np.minimum(day, _first_day(later + 1) - first - 1)
    return later, found if pt.is_date(moments.type) else found * _DAY_US + time


def _make_add_months(call: Call) -> Kernel:
    is_date = pt.is_date(call.type)

    def kernel(evaluation: Evaluation, moment: Datum, count: Datum) -> pa.Array:
        moments, counts = as_arrays(moment, count)
        days, time = _days_and_time(moments)
        months, day = _month_of(days)
        later = months + np.clip(values_of(counts), -_FAR, _FAR)
        first = _first_day(later)
        days = first + np.minimum(day, _first_day(later + 1) - first - 1)
        reason = ("out of range: ", moments, " and ", counts, " months")
        known = pc.and_(moments.is_valid(), counts.is_valid())
        if is_date:
            return _dates(evaluation, days, known, reason)
        good = (days > _FIRST_DAY) | ((days == _FIRST_DAY) & (time >= _FIRST_US))
        good &= (days < _LAST_DAY) | ((days == _LAST_DAY) & (time <= _LAST_US))
        micros = np.where(good, days, 0) * _DAY_US + time
        return _checked(evaluation, pa.array(micros).cast(call.type), good, known, reason)

    return kernel


def _last_day(evaluation: Evaluation, dates: pa.Array) -> pa.Array:
    days, _ = _days_and_time(dates)
    last = _first_day(_month_of(days)[0] + 1) - 1
    return _dates(evaluation, last, dates.is_valid(), ("the month is out of range: ", dates))


def _make_date(evaluation: Evaluation, *parts: Datum) -> pa.Array:
    arrays = as_arrays(*parts)
    year, month, day = (np.clip(values_of(a, 1), -_FAR, _FAR) for a in arrays)
    months = (year - 1970) * 12 + np.clip(month, 1, 12) - 1
    first = _first_day(months)
    good = (month >= 1) & (month <= 12) & (day >= 1) & (day <= _first_day(months + 1) - first)
    known = pc.and_(pc.and_(arrays[0].is_valid(), arrays[1].is_valid()), arrays[2].is_valid())
    words = ("there is no date of year ", ", month ", ", day ")
    reason = tuple(part for pair in zip(words, arrays, strict=True) for part in pair)
    return _dates(evaluation, first + day - 1, known, reason, good)


def _make_timestamp(evaluation: Evaluation, *parts: Datum) -> pa.Array:
    """Of year, month, day, hour, minute and microseconds; 60 seconds are the next minute."""
    arrays = as_arrays(*parts)
    year, month, day = (np.clip(values_of(a, 1), -_FAR, _FAR) for a in arrays[:3])
    hour, minute, micros = (np.clip(values_of(a), -_FAR, _FAR) for a in arrays[3:])
    months = (year - 1970) * 12 + np.clip(month, 1, 12) - 1
    first = _first_day(months)
    good = (month >= 1) & (month <= 12) & (day >= 1) & (day <= _first_day(months + 1) - first)
    good &= (hour >= 0) & (hour < 24) & (minute >= 0) & (minute < 60)
    good &= (micros >= 0) & (micros <= 60_000_000) & (np.abs(year) < 10_000)
    total = (first + day - 1) * _DAY_US + (hour * 60 + minute) * 60_000_000 + micros
    known = arrays[0].is_valid()
    for array in arrays[1:]:
        known = pc.and_(known, array.is_valid())
    words = ("there is no timestamp of year ", ", month ", ", day ", ", hour ", ", minute ")
    named = [part for pair in zip(words, arrays, strict=False) for part in pair]
    made = pa.array(np.where(good, total, 0)).cast(pa.timestamp("us", "UTC"))
    reason = (*named, " and microseconds ", arrays[5])
    return _checked(evaluation, made, good, known, reason)


def _make_months_between(call: Call) -> Kernel:
    rounds = argument_constant(call, 2)

    def kernel(end: Datum, start: Datum, _: Datum) -> pa.Array:
        ends, starts = as_arrays(end, start)
        (to, to_time), (since, since_time) = _days_and_time(ends), _days_and_time(starts)
        (months, day), (before, since_day) = _month_of(to), _month_of(since)
        last = _first_day(months + 1) - _first_day(months) - 1 == day
        last &= _first_day(before + 1) - _first_day(before) - 1 == since_day
        whole = (months - before).astype(np.float64)
        seconds = (day - since_day) * 86_400 + to_time // 1_000_000 - since_time // 1_000_000
        found = np.where(last | (day == since_day), whole, whole + seconds / (31 * 86_400.0))
        if rounds:
            found = _rounded(found)
        return null_where_not(pc.and_(ends.is_valid(), starts.is_valid()), pa.array(found))

    return kernel


def _rounded(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """To 8 digits behind the point, halves away from 0, as ``java.lang.Math.round`` over them."""
    return np.floor(numbers * 1e8 + 0.5) / 1e8


def _dates(
    evaluation: Evaluation, days: _Ints, known: pa.Array, reason: tuple[Any, ...], good: Any = True
) -> pa.Array:
    fits = (days >= _DATES.min) & (days <= _DATES.max) & good
    dates = pa.array(np.where(fits, days, 0).astype(np.int32)).cast(pa.date32())
    return _checked(evaluation, dates, fits, known, reason)


def _checked(
    evaluation: Evaluation, values: pa.Array, good: Any, known: pa.Array, reason: tuple[Any, ...]
) -> pa.Array:
    """The values; rows that are known and not good fail."""
    result = null_where_not(known, values)
    bad = ~good & np.asarray(known)
    return without(evaluation, bad, result, *reason) if bad.any() else result


def _whole_months(end: Datum, start: Datum) -> pa.Array:
    """Whole months from start to end; the last one is not whole if its time of day is not over."""
    ends, starts = as_arrays(end, start)
    to, to_time = _days_and_time(ends)
    since, since_time = _days_and_time(starts)
    to = to - ((to > since) & (to_time < since_time)) + ((to < since) & (to_time > since_time))
    (months, day), (before, since_day) = _month_of(to), _month_of(since)
    packed = (months * 32 + day) - (before * 32 + since_day)
    whole = np.sign(packed) * (np.abs(packed) // 32)
    return null_where_not(pc.and_(ends.is_valid(), starts.is_valid()), pa.array(whole))


MONTH_KERNELS: Final[dict[str, Maker]] = {
    "whole_months": always(_whole_months),
    "months_between": _make_months_between,
}
FALLIBLE_MONTHS: Final[dict[str, Maker]] = {
    "add_months": _make_add_months,
    "last_day": lambda call: _last_day,
    "make_date": lambda call: _make_date,
    "make_timestamp": lambda call: _make_timestamp,
}
