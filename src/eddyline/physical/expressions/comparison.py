"""Comparison. Floats have one total order: NaN equals itself and is larger than any number.

Arrow's kernels follow IEEE 754, where every comparison with NaN is false. So ``>`` with a constant
is computed as NOT ``<=``, and for two columns NaNs are tested.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, Literal
from eddyline.physical.expressions.data import Datum, as_arrays, null_where_not
from eddyline.physical.expressions.kernel import Kernel, Maker

_PLAIN: Final[dict[str, Callable[[Datum, Datum], Any]]] = {
    "=": pc.equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}
MIRRORED: Final = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_OPPOSITE: Final = {">": "<=", ">=": "<", "<>": "="}


def comparison(function: str, type_: pa.DataType) -> Kernel:
    """The kernel of ``= <> < <= > >=`` for arguments of a type."""
    if not pt.is_floating(type_):
        return _PLAIN[function]

    def kernel(left: Datum, right: Datum) -> pa.Array:
        if isinstance(right, pa.Scalar):
            return _with_constant(function, left, right)
        if isinstance(left, pa.Scalar):
            return _with_constant(MIRRORED[function], right, left)
        if function in (">", ">="):
            return _of_columns(MIRRORED[function], right, left)
        return _of_columns(function, left, right)

    return kernel


def _with_constant(function: str, values: pa.Array, constant: pa.Scalar) -> pa.Array:
    number = constant.as_py()
    if number is None:
        return _PLAIN[function](values, constant)
    if function in _OPPOSITE:
        return pc.invert(_with_constant(_OPPOSITE[function], values, constant))
    if number == number:
        return _PLAIN[function](values, constant)
    is_nan = pc.is_nan(values)
    if function == "=":
        return is_nan
    return pc.invert(is_nan) if function == "<" else pc.or_(is_nan, pc.invert(is_nan))


def _of_columns(function: str, left: pa.Array, right: pa.Array) -> pa.Array:
    """``= <> < <=``."""
    plain = _PLAIN[function](left, right)
    left_nan, right_nan = pc.is_nan(left), pc.is_nan(right)
    if not (left_nan.true_count or right_nan.true_count):
        return plain
    if function == "<":
        return pc.or_(plain, pc.and_(pc.invert(left_nan), right_nan))
    if function == "<=":
        return pc.or_(plain, right_nan)
    both = pc.and_(left_nan, right_nan)
    return pc.or_(plain, both) if function == "=" else pc.and_(plain, pc.invert(both))


def _make_comparison(function: str) -> Maker:
    return lambda call: comparison(function, call.args[0].type)


def _make_same(call: Call) -> Kernel:
    """``<=>``: NULL equals NULL."""
    equal = comparison("=", call.args[0].type)

    def kernel(left: Datum, right: Datum) -> pa.Array:
        return pc.coalesce(equal(left, right), pc.and_(pc.is_null(left), pc.is_null(right)))

    return kernel


def _make_in(call: Call) -> Kernel:
    """Constant choices use a hash table of any size."""
    needle, *choices = call.args
    constants = [c for c in choices if isinstance(c, Literal)]
    if len(constants) < len(choices) or isinstance(needle, Literal):
        return _make_in_any(needle.type)
    values = pa.array([c.value for c in constants if c.value is not None], needle.type)
    has_null = len(values) < len(constants)
    if pt.is_floating(needle.type):
        find = _finder_of_floats(values)
    else:

        def find(sought: pa.Array) -> pa.Array:
            return pc.is_in(sought, value_set=values, skip_nulls=True)

    def kernel(sought: pa.Array, *_: Datum) -> pa.Array:
        found = find(sought)
        if has_null:
            return null_where_not(found, found)
        return null_where_not(sought.is_valid(), found) if sought.null_count else found

    return kernel


def _finder_of_floats(values: pa.Array) -> Kernel:
    """The hash table compares bits: -0.0 is normalized to 0.0, and NaN is tested separately."""
    zero = pa.scalar(0.0, values.type)
    is_nan = pc.is_nan(values)
    numbers = pc.add(values.filter(pc.invert(is_nan)), zero)

    def find(sought: pa.Array) -> pa.Array:
        found = pc.is_in(pc.add(sought, zero), value_set=numbers, skip_nulls=True)
        return pc.or_(found, pc.is_nan(sought).fill_null(False)) if is_nan.true_count else found

    return find


def _make_in_any(type_: pa.DataType) -> Kernel:
    equal = comparison("=", type_)
    return lambda needle, *choices: reduce(pc.or_kleene, [equal(needle, c) for c in choices])


def _make_extreme(function: Any) -> Maker:
    """``greatest`` and ``least``, which ignore NULL."""

    def make(call: Call) -> Kernel:
        type_ = call.type
        if pt.is_floating(type_) and function is pc.max_element_wise:
            return _greatest_float
        if pt.is_boolean(type_):  # Arrow orders these only as integers
            number = pa.int8()
        elif pt.is_timestamp(type_):
            number = pa.int64()
        else:
            return lambda *data: function(*data)
        return lambda *data: function(*(d.cast(number) for d in data)).cast(type_)

    return make


def _greatest_float(*data: Datum) -> pa.Array:
    """Arrow ignores NaN, which is right for ``least`` only."""
    arrays = as_arrays(*data)
    is_nan = reduce(pc.or_, [pc.is_nan(a).fill_null(False) for a in arrays])
    largest = pc.max_element_wise(*arrays)
    if not is_nan.true_count:
        return largest
    return pc.if_else(is_nan, pa.scalar(float("nan"), largest.type), largest)


COMPARISON_KERNELS: Final[dict[str, Maker]] = {
    **{function: _make_comparison(function) for function in _PLAIN},
    "<=>": _make_same,
    "in": _make_in,
    "greatest": _make_extreme(pc.max_element_wise),
    "least": _make_extreme(pc.min_element_wise),
}
