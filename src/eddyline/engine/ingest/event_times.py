"""Conversion of event times: timestamps, text, and numbers in some unit since 1970.

Numbers without a declared unit are microseconds. Epoch seconds and milliseconds read as that fall
into the first weeks of 1970, so such rows are refused with a hint. Clocks that start near zero, as
in tests and simulations, pass through the same numbers and are not refused; the previous rows of
the stream decide (see :func:`improbable`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.catalog import TimeUnit
from eddyline.engine.ingest.arrow_values import instants
from eddyline.runtime.stores.columns import Array, raw_values
from eddyline.types import BEGINNING, END_OF_TIME, FIRST_INSTANT, TIMESTAMP

#: What to do about numbers that are probably of this unit.
Advice = Callable[[TimeUnit], str]

_UNITS: Final[tuple[TimeUnit, ...]] = get_args(TimeUnit)
_PER_SECOND: Final[dict[str, int]] = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_NAMES: Final = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
#: The years 2001 to 2100, in seconds since 1970, in which event times are probable.
_PROBABLE_S: Final = (978_307_200, 4_102_444_800)
#: The integers that are these years in seconds or milliseconds. Those of columns without a unit may
#: be improbable as microseconds, depending on the rows before.
IN_DOUBT: Final = (_PROBABLE_S[0], _PROBABLE_S[1] * 1_000)
#: A clock that starts near zero has passed this fraction of its current value.
_APPROACH: Final = 1_000
_WHOLE: Final = r"^-?\d{1,18}$"
_NUMBER: Final = r"^\s*[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?\s*$"


def declare(unit: TimeUnit) -> str:
    """Advice for numbers of a unit that is declared."""
    return f"declare ts_unit = '{unit}'"


def event_times(
    values: pa.Array, unit: TimeUnit | None, column: str, advice: Advice = declare
) -> tuple[pa.Array, pa.Array | None]:
    """A column of timestamps, and for each row the reason if there is none.

    Args:
        values: timestamps, dates, ISO 8601 text, or numbers, also as text.
        unit: of numbers; None: integers are microseconds, other numbers are refused.
        advice: what to do if the numbers have another unit.

    Returns:
        Timestamps, NULL where there is a reason; and the reasons (None: no row has one).

    Raises:
        pa.ArrowTypeError: values of this type are not timestamps.
    """
    numbers = _numbers(values, unit)
    if numbers is None:
        times = instants(values)
    else:
        times = _scaled(numbers, unit or "us")
        if pa.types.is_string(values.type):
            times = pc.if_else(numbers.is_valid(), times, instants(values))
    lost = pc.and_(values.is_valid(), times.is_null())
    if not pc.any(lost).as_py():
        return times, None
    text = values.cast(pa.string())
    why = pc.binary_join_element_wise(f"{column}: cannot read '", text, "' as TIMESTAMP", "")
    if numbers is not None:
        where = f" {_NAMES[unit or 'us']} since 1970 is not between the years 1 and 9999"
        beyond = pc.binary_join_element_wise(f"{column}: ", text, where, "")
        why = pc.if_else(pc.is_finite(numbers).fill_null(False), beyond, why)
    why = pc.binary_join_element_wise(why, _hints(values, unit, advice), "")
    return times, pc.if_else(lost, why, pa.scalar(None, pa.string()))


def are_microseconds(values: pa.Array, unit: TimeUnit | None) -> bool:
    """Whether timestamps are integers that need no conversion, all between the years 1 and 9999."""
    if values.type != pa.int64() or unit not in (None, "us") or values.null_count:
        return False
    us = raw_values(values, np.dtype(np.int64))
    return bool(((us >= FIRST_INSTANT) & (us < END_OF_TIME)).all())


def impossible(times: pa.Array, column: str) -> pa.Array | None:
    """The reasons of timestamps outside the years 1 to 9999; None: there are none."""
    us = raw_values(times, np.dtype(np.int64))
    beyond = (us < FIRST_INSTANT) | (us >= END_OF_TIME)
    if not beyond.any():
        return None
    why = pa.scalar(f"{column} is not between the years 1 and 9999")
    rows = pc.and_(pa.array(beyond), times.is_valid())
    return pc.if_else(rows, why, pa.scalar(None, pa.string()))


def improbable(us: Array, usable: Array, newest: int) -> Array:
    """The integers without a unit that are more likely seconds or milliseconds than microseconds.

    In the other unit they are between 2001 and 2100, and the stream has not reached them gradually:
    milliseconds if its largest timestamp is below a thousandth of them; seconds before any other
    row, unless they are a multiple of a million, which is a whole second in microseconds. The
    result for a row depends on the rows before it, not on the division into batches.

    Args:
        us: int64[n], in the order of arrival. usable: bool[n], rows that are good so far.
        newest: the largest timestamp of the stream before, BEGINNING if there is none.

    Returns:
        bool[n].
    """
    first, last = _PROBABLE_S
    as_seconds = (us >= first) & (us < last) & (us % 1_000_000 != 0)
    as_millis = (us >= first * 1_000) & (us < last * 1_000)
    if not (as_seconds | as_millis).any():
        return np.zeros(us.size, np.bool_)
    plain = usable & ~as_seconds & ~as_millis
    began = np.logical_or.accumulate(plain) | (newest > BEGINNING)
    reached = np.where(plain | (usable & as_seconds & began), us, BEGINNING)
    reached = np.maximum(np.maximum.accumulate(reached), newest)
    approached = reached >= us // _APPROACH
    approached = approached | np.logical_or.accumulate(usable & as_millis & approached)
    out: Array = usable & ((as_seconds & ~began) | (as_millis & ~approached))
    return out


def improbable_beside(
    values: pa.Array, column: pa.Array, times: pa.Array, name: str, advice: Advice
) -> pa.Array | None:
    """The reasons of integers in a column other than the event time that are improbable as
    microseconds: in seconds or milliseconds they are between 2001 and 2100, and so is the event
    time of their row.

    Args:
        values: as they came. column: the same as timestamps. times: the event times.
    """
    us, beside = (raw_values(a, np.dtype(np.int64)) for a in (column, times))
    first, last = _PROBABLE_S
    found = (us >= first) & (us < last * 1_000) & ((us < last) | (us >= first * 1_000))
    found &= (beside >= first * 1_000_000) & (beside < last * 1_000_000)
    if not found.any():
        return None
    rows = pc.and_(pa.array(found), pc.and_(column.is_valid(), times.is_valid()))
    texts = improbable_reasons(values, name, advice)
    return pc.if_else(rows, texts, pa.scalar(None, pa.string()))


def improbable_without_others(values: pa.Array, advice: Advice) -> str | None:
    """Why integers of a table are improbable as microseconds, without the name of their column: in
    seconds or in milliseconds all of them are between 2001 and 2100; None: they are not.
    """
    numbers = _integers(values.drop_null())
    first, last = _PROBABLE_S
    for per_second in (1, 1_000):
        low, high = first * per_second, last * per_second
        inside = pc.and_(pc.greater_equal(numbers, low), pc.less(numbers, high))
        if len(numbers) and pc.all(inside).as_py():
            reason = improbable_reasons(values.drop_null().slice(0, 1), "", advice)[0].as_py()
            return str(reason).removeprefix(": ")
    return None


def improbable_reasons(values: pa.Array, column: str, advice: Advice = declare) -> pa.Array:
    """The reasons of rows whose integers are improbable as microseconds."""
    text = values.cast(pa.string())
    why = " microseconds since 1970 is in the first weeks of that year"
    return pc.binary_join_element_wise(f"{column}: ", text, why, _hints(values, None, advice), "")


def _numbers(values: pa.Array, unit: TimeUnit | None) -> pa.Array | None:
    """The values as numbers, NULL for other text; None if the values cannot be numbers."""
    if pa.types.is_integer(values.type):
        return _integers(values)
    return None if unit is None else _as_numbers(values)


def _as_numbers(values: pa.Array) -> pa.Array | None:
    """Numbers of any type, also in text, as int64 or double; None for other types."""
    type_ = values.type
    if pa.types.is_integer(type_):
        return _integers(values)
    if pa.types.is_floating(type_) or pa.types.is_decimal(type_):
        return values.cast(pa.float64())
    return _parsed(values) if pa.types.is_string(type_) else None


def _integers(values: pa.Array) -> pa.Array:
    return values.cast(pa.float64() if pa.types.is_uint64(values.type) else pa.int64(), safe=False)


def _parsed(texts: pa.Array) -> pa.Array:
    """Numbers parsed from text; NULL for other text."""
    is_number = pc.match_substring_regex(texts, _NUMBER)
    words = pc.if_else(is_number, pc.utf8_trim_whitespace(texts), pa.scalar(None, pa.string()))
    words = pc.utf8_ltrim(words, "+")
    whole = pc.all(pc.match_substring_regex(words, _WHOLE)).as_py() is not False
    return words.cast(pa.int64() if whole else pa.float64())


def _scaled(numbers: pa.Array, unit: TimeUnit) -> pa.Array:
    """Numbers of a unit as timestamps, NULL beyond the years 1 to 9999."""
    raw = np.asarray(numbers.fill_null(0))
    per_second = _PER_SECOND[unit]
    first, end = (us // 1_000_000 * per_second for us in (FIRST_INSTANT, END_OF_TIME))
    inside = (raw >= first) & (raw < end)
    raw = np.where(inside, raw, 0)
    if raw.dtype == np.float64:
        us = np.rint(raw * (1e6 / per_second)).astype(np.int64)
    else:
        us = raw // 1_000 if unit == "ns" else raw * (1_000_000 // per_second)
    known = inside & np.asarray(numbers.is_valid())
    return pa.array(us, mask=~known).cast(TIMESTAMP)


def _hints(values: pa.Array, unit: TimeUnit | None, advice: Advice) -> pa.Array:
    """Advice on the unit that would make a number probable; "" without advice."""
    numbers = _as_numbers(values)
    hints = pa.scalar("")
    if numbers is None:
        return hints
    numbers = numbers.cast(pa.float64(), safe=False)
    first, last = _PROBABLE_S
    for other in _UNITS:
        if other != (unit or "us"):
            low, high = (float(s * _PER_SECOND[other]) for s in (first, last))
            fits = pc.and_(pc.greater_equal(numbers, low), pc.less(numbers, high)).fill_null(False)
            hints = pc.if_else(fits, f"; {_NAMES[other]}? {advice(other)}", hints)
    return hints
