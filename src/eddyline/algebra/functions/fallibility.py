"""Operations that fail for some rows, by their types and constants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, Expr, Literal
from eddyline.algebra.functions import conversion
from eddyline.algebra.functions.user_defined import UserCall


def can_fail(expr: Expr) -> bool:
    """Whether an expression can fail for a row."""
    return call_can_fail(expr) or any(map(can_fail, expr.args))


def call_can_fail(expr: Expr) -> bool:
    """Whether the operation itself, without its arguments, can fail for a row."""
    if isinstance(expr, UserCall):
        return True
    return isinstance(expr, Call) and expr.function in _TESTS and _TESTS[expr.function](expr)


def _overflows(call: Call) -> bool:
    """Integers overflow, and so do timestamps and intervals, which are integers."""
    return any(test(call.type) for test in (pt.is_integer, pt.is_duration, pt.is_timestamp))


def _argument_may_be(place: int, *numbers: int) -> Callable[[Call], bool]:
    def test(call: Call) -> bool:
        argument = call.args[place]
        return not isinstance(argument, Literal) or argument.value in numbers

    return test


def _rounds_up(call: Call) -> bool:
    """Whether rounding may need more digits than the type has."""
    type_: pa.DataType = call.type
    digits = call.args[1]
    assert isinstance(digits, Literal), "the binder checks it"
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
    **dict.fromkeys(("add_months", "last_day", "make_date", "make_timestamp"), _always),
    **dict.fromkeys(("timestamp_seconds", "timestamp_millis", "repeat"), _always),
    **dict.fromkeys(("element", "element_at", "unbase64", "url_decode", "parse_url"), _always),
    **dict.fromkeys(("map", "map_from_arrays", "map_from_entries", "map_concat"), _always),
    **dict.fromkeys(("str_to_map", "sequence", "sequence_of_months"), _always),
    "try_element_at": _argument_may_be(1, 0),
}
#: The functions of calls that can fail.
FALLIBLE: Final = frozenset(_TESTS)
