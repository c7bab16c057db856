"""Kernels for dates and timestamps: fields, rounding, formatting and arithmetic."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.expressions import Call
from eddyline.algebra.functions import datetime_patterns
from eddyline.algebra.functions.conversion import convert
from eddyline.physical.expressions.data import Datum, values_of
from eddyline.physical.expressions.kernel import Kernel, Maker, always, argument_constant
from eddyline.types import TIMESTAMP


def _utc(moments: pa.Array) -> pa.Array:
    """Without the zone: the same numbers, and Arrow does not look up the zone's rules."""
    return moments.cast(pa.timestamp("us"))


def _make_field(function: Any, **options: Any) -> Maker:
    return always(lambda moments: function(_utc(moments), **options).cast(pa.int32()))


def _make_floor(call: Call) -> Kernel:
    unit = argument_constant(call, 0)
    return lambda _, moments: pc.floor_temporal(_utc(moments), unit=unit).cast(TIMESTAMP)


def _epoch(moments: pa.Array, unit: str) -> pa.Array:
    return pc.floor_temporal(_utc(moments), unit=unit).cast(pa.int64())


def _from_nanoseconds(count: pa.Array) -> pa.Array:
    micros = np.asarray(count.fill_null(0)) // 1_000  # Arrow's division truncates
    return pa.array(micros, mask=np.asarray(count.is_null())).cast(TIMESTAMP)


def _days_between(end: Datum, start: Datum) -> pa.Array:
    return pc.subtract(end.cast(pa.int32()), start.cast(pa.int32()))


def _make_bucket(call: Call) -> Kernel:
    """Computed of remainders, which do not overflow where differences would."""
    length, origin = argument_constant(call, 1), argument_constant(call, 2)

    def kernel(moments: pa.Array, *_: Datum) -> pa.Array:
        us = values_of(moments.cast(pa.int64()))
        start = us - (us % length - origin) % length
        return pa.array(start, mask=np.asarray(moments.is_null())).cast(TIMESTAMP)

    return kernel


def _make_format(call: Call) -> Kernel:
    parts = datetime_patterns.parse(argument_constant(call, 1))

    def kernel(moments: pa.Array, _: Datum) -> pa.Array:
        utc = _utc(moments)
        texts = [_format_part(utc, p, n) if n else pa.scalar(p) for p, n in parts]
        blank = pc.if_else(utc.is_valid(), "", pa.scalar(None, pa.string()))
        return pc.binary_join_element_wise(blank, *texts, "")

    return kernel


def _format_part(utc: pa.Array, field: str, count: int) -> pa.Array:
    """One field as text; ``count``: number of its letters in the pattern."""
    if field == "fraction":
        micros = pc.utf8_lpad(_number(utc, _microseconds), 6, "0")
        return pc.utf8_slice_codeunits(pc.utf8_rpad(micros, count, "0"), 0, count)
    if field == "half":
        return pc.if_else(pc.less(pc.hour(utc), 12), "AM", "PM")
    if field == "weekday" or (field == "month" and count > 2):
        letter = "a" if field == "weekday" else "b"
        return pc.strftime(utc, f"%{letter.upper() if count > 3 else letter}", locale="C")
    text = _number(utc, _FIELDS[field])
    if field == "year" and count == 2:
        return pc.utf8_slice_codeunits(text, -2)
    return pc.utf8_lpad(text, count, "0")


def _number(utc: pa.Array, function: Any) -> pa.Array:
    return function(utc).cast(pa.string())


def _microseconds(utc: pa.Array) -> pa.Array:
    return pc.subtract(utc.cast(pa.int64()), pc.floor_temporal(utc, unit="second").cast(pa.int64()))


def _hour12(utc: pa.Array) -> pa.Array:
    hour = pc.hour(utc)
    hour = pc.if_else(pc.greater_equal(hour, 12), pc.subtract(hour, 12), hour)
    return pc.if_else(pc.equal(hour, 0), 12, hour)


_FIELDS: Final[dict[str, Any]] = {
    "year": pc.year,
    "quarter": pc.quarter,
    "month": pc.month,
    "day": pc.day,
    "dayofyear": pc.day_of_year,
    "hour": pc.hour,
    "hour12": _hour12,
    "minute": pc.minute,
    "second": pc.second,
}

DATE_KERNELS: Final[dict[str, Maker]] = {
    "year": _make_field(pc.year),
    "quarter": _make_field(pc.quarter),
    "month": _make_field(pc.month),
    "week": _make_field(pc.iso_week),
    "day": _make_field(pc.day),
    "dayofweek": _make_field(pc.day_of_week, count_from_zero=False, week_start=7),
    "weekday": _make_field(pc.day_of_week),
    "dayofyear": _make_field(pc.day_of_year),
    "hour": _make_field(pc.hour),
    "minute": _make_field(pc.minute),
    "second": _make_field(pc.second),
    "unix_seconds": always(lambda moments: convert(moments, pa.int64())),
    "unix_millis": always(lambda m: pc.divide(_epoch(m, "millisecond"), 1_000)),
    "unix_micros": always(lambda moments: moments.cast(pa.int64())),
    "timestamp_micros": always(lambda count: count.cast(TIMESTAMP)),
    "timestamp_nanos": always(_from_nanoseconds),
    "date_trunc": _make_floor,
    "time_bucket": _make_bucket,
    "date_format": _make_format,
    "datediff": always(_days_between),
}
