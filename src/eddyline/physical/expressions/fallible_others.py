"""Other operations that can fail: casts and parsers of text, instants out of range, split_part."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from eddyline.algebra.expressions import Call
from eddyline.algebra.functions import conversion
from eddyline.algebra.functions.datetime_text import parse_dates, parse_timestamps
from eddyline.algebra.functions.strings import LONGEST_TEXT
from eddyline.physical.expressions.data import Datum, as_arrays, null_where_not, values_of
from eddyline.physical.expressions.evaluation import LENIENT, Evaluation, without
from eddyline.physical.expressions.kernel import Kernel, Maker, argument_constant
from eddyline.physical.expressions.text import split_part
from eddyline.types import TIMESTAMP, sql_type

_MOST: Final = 2**63 - 1
_DAYS: Final = np.iinfo(np.int32)


def _make_cast(call: Call) -> Kernel:
    type_ = call.type

    def kernel(evaluation: Evaluation, values: pa.Array) -> pa.Array:
        result = conversion.convert(values, type_)
        bad = conversion.failed(values, result)
        if bad is None or (evaluation is LENIENT and pt.is_nested(type_)):
            return result  # parts of nested values are NULL, then
        return without(evaluation, bad, result, "cannot cast ", values, f" to {sql_type(type_)}")

    return kernel


def _make_reader(parse: Any) -> Maker:
    """``to_date`` and ``to_timestamp`` with a pattern, given as a regular expression."""

    def make(call: Call) -> Kernel:
        pattern, type_ = argument_constant(call, 1), call.type

        def kernel(evaluation: Evaluation, texts: pa.Array, _: Datum) -> pa.Array:
            result = parse(texts, pattern)
            bad = conversion.failed(texts, result)
            if bad is None:
                return result
            reason = ("cannot read ", texts, f" as a {sql_type(type_)} by the pattern")
            return without(evaluation, bad, result, *reason)

        return kernel

    return make


def _make_since_epoch(unit_us: int) -> Maker:
    """``timestamp_seconds`` and ``timestamp_millis`` of integers."""

    def kernel(evaluation: Evaluation, counts: pa.Array) -> pa.Array:
        limit = pa.scalar(_MOST // unit_us)
        size = pc.abs(pc.max_element_wise(counts, -_MOST, skip_nulls=False))
        bad = pc.fill_null(pc.greater(size, limit), False)
        if not bad.true_count:
            return pc.multiply(counts, unit_us).cast(TIMESTAMP)
        known = null_where_not(pc.invert(bad), counts)
        result = pc.multiply(known, unit_us).cast(TIMESTAMP)
        return without(evaluation, bad, result, "timestamp out of range: ", counts, " since 1970")

    return lambda call: kernel


def _add_days(evaluation: Evaluation, days: Datum, count: Datum) -> pa.Array:
    """Computed in 64 bits: dates are 32-bit day numbers."""
    start, more = as_arrays(days.cast(pa.int32()).cast(pa.int64()), count)
    known = pc.and_(start.is_valid(), more.is_valid())
    far = np.clip(values_of(more), -(2**40), 2**40)
    total = values_of(start) + far
    good = (total >= _DAYS.min) & (total <= _DAYS.max)
    result = null_where_not(known, pa.array(np.where(good, total, 0).astype(np.int32)))
    if good.all():
        return result.cast(pa.date32())
    bad = ~good & np.asarray(known)
    reason = ("date out of range: ", days, " and ", count, " days")
    return without(evaluation, bad, result.cast(pa.date32()), *reason)


def _make_split_part(call: Call) -> Kernel:
    separator = argument_constant(call, 1)

    def kernel(evaluation: Evaluation, text: Datum, _: Datum, number: Datum) -> pa.Array:
        texts, numbers = as_arrays(text, number)
        result = split_part(texts, separator, numbers)
        bad = pc.and_(texts.is_valid(), pc.fill_null(pc.equal(numbers, 0), False))
        if not bad.true_count:
            return result
        return without(
            evaluation, bad, result, "split_part counts from 1, or from -1: 0 is not valid"
        )

    return kernel


def _repeat(evaluation: Evaluation, text: Datum, times: Datum) -> pa.Array:
    texts, counts = as_arrays(text, pc.max_element_wise(times, 0, skip_nulls=False))
    lengths = values_of(pc.utf8_length(texts)).astype(np.int64)
    bad = lengths * np.clip(values_of(counts), 0, LONGEST_TEXT + 1) > LONGEST_TEXT
    if not bad.any():
        return pc.binary_repeat(texts, counts)
    result = pc.binary_repeat(texts, pc.if_else(pa.array(bad), 0, counts))
    too_long = f" times makes a text of more than {LONGEST_TEXT} characters"
    return without(evaluation, bad, result, "repeat ", times, too_long)


FALLIBLE_OTHERS: Final[dict[str, Maker]] = {
    "cast": _make_cast,
    "to_timestamp": _make_reader(parse_timestamps),
    "to_date": _make_reader(parse_dates),
    "timestamp_seconds": _make_since_epoch(1_000_000),
    "timestamp_millis": _make_since_epoch(1_000),
    "date_add": lambda call: _add_days,
    "split_part": _make_split_part,
    "repeat": lambda call: _repeat,
}
