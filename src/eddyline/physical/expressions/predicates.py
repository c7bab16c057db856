"""Conditions as functions of columns.

Numbers and times are compared with constants by NumPy: for few rows Arrow takes most of the time to
choose a kernel, for many to write and read bitmaps.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, ColumnRef, Expr, Literal
from eddyline.algebra.functions.fallibility import can_fail
from eddyline.physical.expressions.comparison import MIRRORED
from eddyline.physical.expressions.compile import compile_expr
from eddyline.physical.expressions.evaluation import Columns
from eddyline.runtime.stores.columns import raw_values, validity_of

Truths = npt.NDArray[np.bool_]
Predicate = Callable[[Columns], Truths]

#: NaN is larger than any number: so for floats ``>`` and ``>=`` are the opposites of these.
_OPPOSITE: Final[dict[str, Callable[[Any, Any], Any]]] = {">": operator.le, ">=": operator.lt}
_PLAIN: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_JUNCTIONS: Final = {"and": np.logical_and, "or": np.logical_or}


def compile_predicate(expr: Expr) -> Predicate:
    """The condition as a function of columns: true where it is TRUE, false where FALSE or NULL.

    As FALSE and NULL are equivalent here, NULL AND an error is not an error either: so the terms of
    a condition may be evaluated together or one after the other.
    """
    assert pt.is_boolean(expr.type), f"not a condition: {expr}"
    compared = _compared(expr)
    if compared is not None:
        return compared
    evaluate = compile_expr(_has_truth(expr, True) if can_fail(expr) else expr)

    def predicate(columns: Columns) -> Truths:
        answer = evaluate(columns)
        if answer.null_count:
            answer = answer.fill_null(False)
        result: Truths = answer.to_numpy(zero_copy_only=False)
        return result

    return predicate


def _has_truth(expr: Expr, truth: bool) -> Expr:
    """An expression, never NULL, for whether a condition has this truth value."""
    match expr:
        case Call(function="not", arguments=(operand,)):
            return _has_truth(operand, not truth)
        case Call(function="and" | "or", arguments=operands):
            function = expr.function if truth else {"and": "or", "or": "and"}[expr.function]
            return Call(expr.type, function, tuple(_has_truth(o, truth) for o in operands))
    return Call(expr.type, "is_true" if truth else "is_false", (expr,))


def _compared(expr: Expr) -> Predicate | None:
    """The predicate of comparisons of columns with constants, joined by AND and OR; None: the
    condition has other parts.
    """
    match expr:
        case Call(function="and" | "or", arguments=operands):
            parts = [part for o in operands if (part := _compared(o)) is not None]
            if len(parts) < len(operands):
                return None
            join = _JUNCTIONS[expr.function]
            return lambda columns: reduce(join, [part(columns) for part in parts])
        case Call(function=function, arguments=(ColumnRef() as column, Literal() as constant)):
            return _with_constant(function, column, constant) if function in _PLAIN else None
        case Call(function=function, arguments=(Literal() as constant, ColumnRef() as column)):
            mirrored = MIRRORED.get(function)
            return None if mirrored is None else _with_constant(mirrored, column, constant)
    return None


def _with_constant(function: str, column: ColumnRef, constant: Literal) -> Predicate | None:
    """``column function constant``; None for other types, and for NULL and NaN."""
    number = _number(constant)
    if number is None or column.type != constant.type:
        return None
    dtype, index = number.dtype, column.index
    inverted = pt.is_floating(column.type) and function in _OPPOSITE
    compare = _OPPOSITE[function] if inverted else _PLAIN[function]

    def predicate(columns: Columns) -> Truths:
        values = columns.column(index)
        found: Truths = compare(raw_values(values, dtype), number)
        if inverted:
            found = ~found
        valid = validity_of(values)
        return found if valid is None else found & valid

    return predicate


def _number(constant: Literal) -> np.generic | None:
    """The constant as it is stored in columns of its type."""
    type_ = constant.type
    scalar = pa.scalar(constant.value, type_)
    if not scalar.is_valid:
        return None
    if pt.is_floating(type_) or pt.is_integer(type_):
        number: np.generic = type_.to_pandas_dtype()(scalar.as_py())
        return number if number == number else None
    if pt.is_timestamp(type_) or pt.is_duration(type_):
        return np.int64(scalar.value)
    return np.int32(scalar.value) if pt.is_date32(type_) else None
