"""Which operations may have no value for a row: by their types and constants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, Expr, Literal
from eddyline.algebra.functions import conversion
from eddyline.algebra.functions.user_defined import UserCall


def can_fail(expr: Expr) -> bool:
    """Whether there may be rows for which an expression has no value."""
    return call_can_fail(expr) or any(map(can_fail, expr.args))


def call_can_fail(expr: Expr) -> bool:
    """The same of the operation itself, whatever becomes of its arguments."""
    if isinstance(expr, UserCall):
        return True
    return isinstance(expr, Call) and expr.function in _TESTS and _TESTS[expr.function](expr)


def _overflows(call: Call) -> bool:
    """Integers do, and timestamps and intervals, which are such."""
    return any(test(call.type) for test in (pt.is_integer, pt.is_duration, pt.is_timestamp))


def _argument_may_be(place: int, *numbers: int) -> Callable[[Call], bool]:
    def test(call: Call) -> bool:
        argument = call.args[place]
        return not isinstance(argument, Literal) or argument.value in numbers

    return test


def _rounds_up(call: Call) -> bool:
    """Whether rounding may need one digit more than the type has."""
    type_: pa.DataType = call.type
    digits = call.args[1]
    assert isinstance(digits, Literal), "the binder makes sure of it"
    if pt.is_floating(type_):
        return False
    return bool(digits.value < (type_.scale if pt.is_decimal(type_) else 0))


def _always(call: Call) -> bool:
    return True


_TESTS: Final[dict[str, Callable[[Call], bool]]] = {
    **dict.fromkeys(("+", "-", "*", "negative", "abs"), _overflows),
    **dict.fromkeys(("/", "div"), _argument_may_be(1, 0, -1)),
    "%": _argument_may_be(1, 0),
    "round": _rounds_up,
    "cast": lambda call: conversion.can_fail(call.args[0].type, call.type),
    "split_part": _argument_may_be(2, 0),
    **dict.fromkeys(("floor", "ceil", "to_timestamp", "to_date", "date_add"), _always),
    **dict.fromkeys(("timestamp_seconds", "timestamp_millis", "repeat"), _always),
}
#: The functions of calls that may have no value.
FALLIBLE: Final = frozenset(_TESTS)
