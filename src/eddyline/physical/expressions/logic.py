"""Kernels of three-valued logic, CASE, COALESCE and CAST."""

from __future__ import annotations

from functools import reduce
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.expressions import Call
from eddyline.algebra.functions.conversion import convert
from eddyline.physical.expressions.data import Datum, as_arrays
from eddyline.physical.expressions.kernel import Kernel, Maker, always


def _make_chain(function: Any) -> Maker:
    return always(lambda *operands: reduce(function, operands))


def _make_null_as(value: bool, *, inverted: bool) -> Maker:
    """IS [NOT] TRUE / FALSE: NULL counts as ``value``; the result may be inverted."""

    def kernel(condition: pa.Array) -> pa.Array:
        known = pc.fill_null(condition, value)
        return pc.invert(known) if inverted else known

    return always(kernel)


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
    assert isinstance(result, pa.Array), "at least one argument is an array"
    return result


def _make_cast(call: Call) -> Kernel:
    type_ = call.type
    return lambda values: convert(values, type_)


LOGIC_KERNELS: Final[dict[str, Maker]] = {
    "and": _make_chain(pc.and_kleene),
    "or": _make_chain(pc.or_kleene),
    "not": always(pc.invert),
    "is_null": always(pc.is_null),
    "is_not_null": always(pc.is_valid),
    "is_true": _make_null_as(False, inverted=False),
    "is_not_true": _make_null_as(False, inverted=True),
    "is_false": _make_null_as(True, inverted=True),
    "is_not_false": _make_null_as(True, inverted=False),
    "case": always(_case),
    "coalesce": always(pc.coalesce),
    "cast": _make_cast,
}
