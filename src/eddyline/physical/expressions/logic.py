"""Comparison, three-valued logic, choices between values, and CAST."""

from __future__ import annotations

from functools import reduce
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, Literal
from eddyline.algebra.functions.conversion import convert
from eddyline.physical.expressions.kernel import (
    Datum,
    Kernel,
    Maker,
    always,
    as_arrays,
    null_where_not,
)


def _same(left: Datum, right: Datum) -> pa.Array:
    """``<=>``: NULL equals NULL."""
    return pc.coalesce(pc.equal(left, right), pc.and_(pc.is_null(left), pc.is_null(right)))


def _make_chain(function: Any) -> Maker:
    return always(lambda *operands: reduce(function, operands))


def _make_null_as(value: bool, *, inverted: bool) -> Maker:
    """IS [NOT] TRUE / FALSE: NULL counts as ``value``; then perhaps the opposite."""

    def kernel(condition: pa.Array) -> pa.Array:
        known = pc.fill_null(condition, value)
        return pc.invert(known) if inverted else known

    return always(kernel)


def _make_in(call: Call) -> Kernel:
    """Constants are looked up in a hash table, however many they are."""
    needle, *choices = call.args
    constants = [c for c in choices if isinstance(c, Literal)]
    if len(constants) < len(choices) or isinstance(needle, Literal):
        return _in_any
    values = pa.array([c.value for c in constants if c.value is not None], needle.type)
    has_null = len(values) < len(constants)
    is_float = pt.is_floating(needle.type)
    if is_float:  # the hash table tells -0.0 from 0.0 and finds NaN: '=' does neither
        values = pc.add(values.filter(pc.invert(pc.is_nan(values))), _positive_zero(needle.type))

    def kernel(sought: pa.Array, *_: Datum) -> pa.Array:
        if is_float:
            sought = pc.add(sought, _positive_zero(sought.type))
        found = pc.is_in(sought, value_set=values, skip_nulls=True)
        if has_null:
            return null_where_not(found, found)
        return null_where_not(sought.is_valid(), found) if sought.null_count else found

    return kernel


def _positive_zero(type_: pa.DataType) -> pa.Scalar:
    return pa.scalar(0.0, type_)


def _in_any(needle: Datum, *choices: Datum) -> pa.Array:
    return reduce(pc.or_kleene, [pc.equal(needle, c) for c in choices])


def _case(*data: Datum) -> pa.Array:
    """Arguments: condition, value, condition, value, ..., else."""
    if len(data) == 3:
        condition, chosen, otherwise = data
        return _broadcast_if_else(pc.fill_null(condition, False), chosen, otherwise)
    arrays = as_arrays(*data)
    conditions, values = arrays[:-1:2], (*arrays[1::2], arrays[-1])
    names = [str(i) for i in range(len(conditions))]
    return pc.case_when(pc.make_struct(*conditions, field_names=names), *values)


def _broadcast_if_else(condition: Datum, chosen: Datum, otherwise: Datum) -> pa.Array:
    result = pc.if_else(condition, chosen, otherwise)
    assert isinstance(result, pa.Array), "one of three arrays makes an array"
    return result


def _make_extreme(function: Any) -> Maker:
    def make(call: Call) -> Kernel:
        type_ = call.type
        if pt.is_boolean(type_):  # Arrow orders these only as the numbers behind them
            number = pa.int8()
        elif pt.is_timestamp(type_):
            number = pa.int64()
        else:
            return lambda *data: function(*data)
        return lambda *data: function(*(d.cast(number) for d in data)).cast(type_)

    return make


def _make_cast(call: Call) -> Kernel:
    type_ = call.type
    return lambda values: convert(values, type_)


LOGIC_KERNELS: Final[dict[str, Maker]] = {
    "=": always(pc.equal),
    "<>": always(pc.not_equal),
    "<": always(pc.less),
    "<=": always(pc.less_equal),
    ">": always(pc.greater),
    ">=": always(pc.greater_equal),
    "<=>": always(_same),
    "and": _make_chain(pc.and_kleene),
    "or": _make_chain(pc.or_kleene),
    "not": always(pc.invert),
    "is_null": always(pc.is_null),
    "is_not_null": always(pc.is_valid),
    "is_true": _make_null_as(False, inverted=False),
    "is_not_true": _make_null_as(False, inverted=True),
    "is_false": _make_null_as(True, inverted=True),
    "is_not_false": _make_null_as(True, inverted=False),
    "in": _make_in,
    "case": always(_case),
    "coalesce": always(pc.coalesce),
    "greatest": _make_extreme(pc.max_element_wise),
    "least": _make_extreme(pc.min_element_wise),
    "cast": _make_cast,
}
