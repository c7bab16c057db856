"""CASE and its short forms, and functions that choose among several values."""

from __future__ import annotations

import pyarrow as pa

from eddyline.algebra.expressions import Call, Expr, Literal
from eddyline.algebra.functions.coercion import cast, kind, unify
from eddyline.algebra.functions.registry import define, resolve

_BOOL = pa.bool_()


@define(
    "Conditional",
    "case",
    ["CASE WHEN condition THEN value ... [ELSE value] END"],
    "The value of the first true condition; ELSE, or NULL, if there is none.",
)
def _case(args: tuple[Expr, ...]) -> Expr | None:
    """Arguments: condition, value, condition, value, ..., and ELSE if their count is odd."""
    if len(args) < 2:
        return None
    if len(args) % 2 == 0:
        args = (*args, Literal(pa.null(), None))
    conditions, values = args[:-1:2], (*args[1::2], args[-1])
    if any(kind(c.type) not in ("bool", "null") for c in conditions):
        return None
    *chosen, otherwise = unify(values)
    pairs = zip((cast(c, _BOOL) for c in conditions), chosen, strict=True)
    return Call(otherwise.type, "case", (*(e for pair in pairs for e in pair), otherwise))


@define(
    "Conditional",
    "if iff iif",
    "if(condition, then, else)",
    "``then`` if the condition is true, otherwise ``else``.",
)
def _if(args: tuple[Expr, ...]) -> Expr | None:
    return _case(args) if len(args) == 3 else None


@define(
    "Conditional",
    "coalesce ifnull nvl",
    ["coalesce(value, ...)", "ifnull(value, value)"],
    "The first value that is not NULL.",
)
def _coalesce(args: tuple[Expr, ...]) -> Expr | None:
    if not args:
        return None
    values = unify(args)
    return values[0] if len(values) == 1 else Call(values[0].type, "coalesce", values)


@define(
    "Conditional",
    "nullif",
    "nullif(value, value)",
    "NULL if the two are equal, otherwise the first.",
)
def _nullif(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 2:
        return None
    return _case((resolve("=", args), Literal(pa.null(), None), args[0]))


@define(
    "Conditional",
    "nvl2",
    "nvl2(value, then, else)",
    "``then`` if the value is not NULL, otherwise ``else``.",
)
def _nvl2(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 3:
        return None
    return _case((resolve("is_not_null", args[:1]), *args[1:]))


def _extreme(function: str, word: str) -> None:
    def rule(args: tuple[Expr, ...]) -> Expr | None:
        if len(args) < 2:
            return None
        values = unify(args)
        is_ordered = kind(values[0].type) not in ("nested", "other")
        return Call(values[0].type, function, values) if is_ordered else None

    define(
        "Conditional",
        function,
        f"{function}(value, value, ...)",
        f"The {word} of the values that are not NULL.",
        rule,
    )


_extreme("greatest", "largest")
_extreme("least", "smallest")


@define(
    "Conditional",
    "cast",
    ["CAST(value AS type)", "value :: type"],
    "The value as another type.",
)
def _cast(args: tuple[Expr, ...]) -> Expr | None:
    return None  # the target is a type, not an argument: the binder calls coercion.cast


define(
    "Conditional",
    "try_cast",
    "TRY_CAST(value AS type)",
    "The value as another type; NULL where it cannot be converted.",
    _cast,
)
