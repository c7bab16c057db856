"""Functions of numbers."""

from __future__ import annotations

import math

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, Expr, Literal
from eddyline.algebra.functions.coercion import cast, is_number, kind
from eddyline.algebra.functions.registry import define, define_plain, takes
from eddyline.errors import SqlError

_FAMILY = "Numbers"
_BIGINT, _DOUBLE = pa.int64(), pa.float64()


@define(_FAMILY, "abs", "abs(number)", "Absolute value, of the argument's type.")
def _abs(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 1 or not (is_number(args[0].type) or kind(args[0].type) == "duration"):
        return None
    return Call(args[0].type, "abs", args)


def _whole(name: str, names: str, help_: str) -> None:
    def rule(args: tuple[Expr, ...]) -> Expr | None:
        if len(args) != 1 or not (is_number(args[0].type) or pt.is_null(args[0].type)):
            return None
        if kind(args[0].type) == "integer":
            return cast(args[0], _BIGINT)
        return Call(_BIGINT, name, (cast(args[0], _DOUBLE),))

    define(_FAMILY, names, f"{name}(number)", help_, rule)


_whole("floor", "floor", "Largest whole number that is not larger, a BIGINT.")
_whole("ceil", "ceil ceiling", "Smallest whole number that is not smaller, a BIGINT.")


@define(
    _FAMILY,
    "round",
    ["round(number)", "round(number, digits)"],
    "Rounded to digits after the point (default 0), halves away from 0; digits is a constant.",
)
def _round(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) not in (1, 2) or not is_number(args[0].type):
        return None
    digits = 0 if len(args) == 1 else _constant_integer("round", args[1])
    if kind(args[0].type) == "integer" and digits >= 0:
        return args[0]
    return Call(args[0].type, "round", (args[0], Literal(pa.int32(), digits)))


def _constant_integer(function: str, expr: Expr) -> int:
    if not isinstance(expr, Literal) or type(expr.value) is not int:
        raise SqlError(f"the digits of {function} must be an integer constant, not {expr}")
    return expr.value


for _name, _help in {
    "sign signum": "-1.0, 0.0 or 1.0.",
    "sqrt": "Square root; NaN of negative numbers.",
    "exp": "e to the power of the number.",
    "log2": "Logarithm to base 2; NULL of numbers that are not positive.",
    "log10": "Logarithm to base 10; NULL of numbers that are not positive.",
    "cbrt": "Cube root.",
    "expm1": "e to the power of the number, minus 1.",
    "log1p": "Natural logarithm of the number plus 1; NULL of numbers up to -1.",
    "sinh": "Hyperbolic sine.",
    "cosh": "Hyperbolic cosine.",
    "tanh": "Hyperbolic tangent.",
    "asinh": "Inverse hyperbolic sine.",
    "acosh": "Inverse hyperbolic cosine; NaN below 1.",
    "atanh": "Inverse hyperbolic tangent; NaN outside -1 to 1.",
    "cot": "Cotangent of an angle in radians.",
    "sec": "Secant of an angle in radians.",
    "csc": "Cosecant of an angle in radians.",
    "rint": "Rounded to a whole number, halves to the even one.",
    "sin": "Sine of an angle in radians.",
    "cos": "Cosine of an angle in radians.",
    "tan": "Tangent of an angle in radians.",
    "asin": "Arc sine; NaN outside -1 to 1.",
    "acos": "Arc cosine; NaN outside -1 to 1.",
    "atan": "Arc tangent.",
    "degrees": "An angle in radians as degrees.",
    "radians": "An angle in degrees as radians.",
}.items():
    _first = _name.split()[0]
    define(_FAMILY, _name, f"{_first}(number)", _help, takes(_first, (_DOUBLE,), _DOUBLE))

define_plain(
    _FAMILY,
    "power(base, exponent)",
    (_DOUBLE, _DOUBLE),
    _DOUBLE,
    "The base to the power of the exponent.",
    aliases="pow",
)
define_plain(
    _FAMILY,
    "hypot(x, y)",
    (_DOUBLE, _DOUBLE),
    _DOUBLE,
    "The length of the hypotenuse with these legs.",
)
define_plain(
    _FAMILY, "atan2(y, x)", (_DOUBLE, _DOUBLE), _DOUBLE, "Angle of the point (x, y), in radians."
)


@define(
    _FAMILY,
    "ln log",
    ["ln(number)", "log(number)", "log(base, number)"],
    "Logarithm, natural unless a base is given; NULL of numbers that are not positive.",
)
def _log(args: tuple[Expr, ...]) -> Expr | None:
    natural = takes("ln", (_DOUBLE,), _DOUBLE)
    parts = [natural((a,)) for a in args]
    if len(parts) == 1:
        return parts[0]
    if len(parts) != 2 or parts[0] is None or parts[1] is None:
        return None
    base, number = (cast(a, _DOUBLE) for a in args)
    return Call(_DOUBLE, "log", (base, number))


@define(_FAMILY, "e", "e()", "The base of the natural logarithm.")
def _e(args: tuple[Expr, ...]) -> Expr | None:
    return None if args else Literal(_DOUBLE, math.e)


@define(_FAMILY, "pi", "pi()", "The ratio of a circle's circumference to its diameter.")
def _pi(args: tuple[Expr, ...]) -> Expr | None:
    return None if args else Literal(_DOUBLE, math.pi)
