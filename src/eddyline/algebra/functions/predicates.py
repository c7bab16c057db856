"""Comparison and boolean operators."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, Expr
from eddyline.algebra.functions.coercion import cast, kind, unify
from eddyline.algebra.functions.registry import define, takes

_BOOL = pa.bool_()


def _comparison(function: str, names: str, help_: str) -> None:
    def rule(args: tuple[Expr, ...]) -> Expr | None:
        if len(args) != 2:
            return None
        left, right = unify(args)
        if pt.is_nested(left.type):
            return _of_nested(function, left, right)
        if pt.is_null(left.type):
            left, right = cast(left, _BOOL), cast(right, _BOOL)
        return Call(_BOOL, function, (left, right))

    define("Comparison", names, f"value {function} value", help_, rule)


def _of_nested(function: str, left: Expr, right: Expr) -> Expr | None:
    """Lists and structures are equal or not, parts that are NULL being equal; maps are not
    compared.
    """
    if function not in ("=", "<>", "<=>") or _has_map(left.type):
        return None
    same = Call(_BOOL, "same_parts", (left, right))
    if function == "=":
        return same
    if function == "<>":
        return Call(_BOOL, "not", (same,))
    missing = (Call(_BOOL, "is_null", (side,)) for side in (left, right))
    return Call(_BOOL, "coalesce", (same, Call(_BOOL, "and", tuple(missing))))


def _has_map(type_: pa.DataType) -> bool:
    parts = [type_.field(i).type for i in range(type_.num_fields)]
    return pt.is_map(type_) or any(map(_has_map, parts))


_comparison("=", "= ==", "Equal; NULL if either is NULL.")
_comparison("<>", "<> !=", "Not equal; NULL if either is NULL.")
_comparison("<", "<", "Less.")
_comparison("<=", "<=", "Less or equal.")
_comparison(">", ">", "Greater.")
_comparison(">=", ">=", "Greater or equal.")
_comparison("<=>", "<=>", "Equal, with NULL equal to NULL; never NULL.")


@define("Comparison", "between", "value BETWEEN low AND high", "low <= value AND value <= high.")
def _between(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 3:
        return None
    low, high = unify((args[0], args[1])), unify((args[0], args[2]))
    if pt.is_nested(low[0].type):
        return None
    return Call(_BOOL, "and", (Call(_BOOL, ">=", low), Call(_BOOL, "<=", high)))


@define(
    "Comparison",
    "in",
    "value IN (value, ...)",
    "Equal to one of the list; NULL if no element is equal and one is NULL.",
)
def _in(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) < 2:
        return None
    needle, *choices = unify(args)
    if pt.is_nested(needle.type):
        found = [_of_nested("=", needle, c) for c in choices]
        parts = tuple(f for f in found if f is not None)
        return None if not parts else parts[0] if not parts[1:] else Call(_BOOL, "or", parts)
    if not choices[1:]:
        return Call(_BOOL, "=", (needle, choices[0]))
    return Call(_BOOL, "in", (needle, *choices))


def _logical(function: str, help_: str) -> None:
    def rule(args: tuple[Expr, ...]) -> Expr | None:
        operands = _booleans(args)
        if operands is None or len(operands) < 2:
            return None
        # flat: (a AND b) AND c is a AND b AND c
        return Call(_BOOL, function, tuple(p for o in operands for p in _parts(o, function)))

    define("Boolean", function, f"condition {function.upper()} condition", help_, rule)


def _parts(operand: Expr, function: str) -> tuple[Expr, ...]:
    """The operands of a call of the same function; else the operand itself."""
    is_same = isinstance(operand, Call) and operand.function == function
    return operand.args if is_same else (operand,)


def _booleans(args: tuple[Expr, ...]) -> tuple[Expr, ...] | None:
    if any(kind(a.type) not in ("bool", "null") for a in args):
        return None
    return tuple(cast(a, _BOOL) for a in args)


_logical("and", "True if all are true; false if any is false; otherwise NULL.")
_logical("or", "True if any is true; false if all are false; otherwise NULL.")

#: Tests that are never NULL, and their negations, so that both spellings are one expression.
_OPPOSITES: Final = {
    "is_null": "is_not_null",
    "is_not_null": "is_null",
    "is_true": "is_not_true",
    "is_not_true": "is_true",
    "is_false": "is_not_false",
    "is_not_false": "is_false",
}


@define("Boolean", "not", "NOT condition", "The opposite; NULL for NULL.")
def _not(args: tuple[Expr, ...]) -> Expr | None:
    operands = _booleans(args)
    if operands is None or len(operands) != 1:
        return None
    (condition,) = operands
    if isinstance(condition, Call) and condition.function in _OPPOSITES:
        return Call(_BOOL, _OPPOSITES[condition.function], condition.arguments)
    return Call(_BOOL, "not", operands)


def _test_of_null(function: str, form: str, help_: str) -> None:
    def rule(args: tuple[Expr, ...]) -> Expr | None:
        return Call(_BOOL, function, args) if len(args) == 1 else None

    define(
        "Boolean", f"{function} {function.replace('is_', 'is').replace('_', '')}", form, help_, rule
    )


_test_of_null("is_null", "value IS NULL", "Whether the value is NULL; never NULL itself.")
_test_of_null("is_not_null", "value IS NOT NULL", "Whether the value is not NULL.")

for _name in ("is_true", "is_false", "is_not_true", "is_not_false"):
    _words = _name.upper().replace("_", " ")
    define(
        "Boolean",
        _name,
        f"condition {_words}",
        "Never NULL: NULL is neither true nor false.",
        takes(_name, (_BOOL,), _BOOL),
    )
