"""Functions that are short for expressions over others, and operators on bits."""

from __future__ import annotations

from datetime import date
from typing import Final

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, Expr, Literal
from eddyline.algebra.functions.coercion import cast, implicit, is_number, kind, literal, unify
from eddyline.algebra.functions.registry import define, resolve
from eddyline.errors import SqlError

_INT, _BIGINT, _DOUBLE, _TEXT = pa.int32(), pa.int64(), pa.float64(), pa.string()
_EPOCH: Final = date(1970, 1, 1)
_DATE_UNITS: Final = {
    **dict.fromkeys(("year", "yyyy", "yy"), "year"),
    **dict.fromkeys(("month", "mon", "mm"), "month"),
    "quarter": "quarter",
    "week": "week",
}


@define(
    "Arithmetic",
    "pmod",
    "pmod(number, number)",
    "Remainder that is not negative for a positive divisor.",
)
def _pmod(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 2 or not all(is_number(a.type) for a in args):
        return None
    rest = resolve("%", args)
    divisor = cast(args[1], rest.type)
    positive = resolve("%", (resolve("+", (rest, divisor)), divisor))
    return resolve("if", (resolve("<", (rest, literal(0, _INT))), positive, rest))


@define("Numbers", "isnan", "isnan(number)", "Whether a number is NaN; never NULL.")
def _isnan(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 1 or not is_number(args[0].type):
        return None
    found = resolve("=", (cast(args[0], _DOUBLE), Literal(_DOUBLE, float("nan"))))
    return resolve("coalesce", (found, literal(False, pa.bool_())))


@define("Numbers", "nanvl", "nanvl(number, number)", "The first number, the second if that is NaN.")
def _nanvl(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 2 or not all(is_number(a.type) for a in args):
        return None
    return resolve("if", (resolve("isnan", args[:1]), args[1], args[0]))


@define(
    "Numbers",
    "trunc truncate",
    ["trunc(date, 'unit')", "trunc(number)", "truncate(number, digits)"],
    "The first day of the year, quarter, month or week; or a number cut to digits after the point "
    "(default 0), a constant.",
)
def _trunc(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) not in (1, 2):
        return None
    if is_number(args[0].type):
        digits = args[1] if len(args) == 2 else literal(0, _INT)
        if not isinstance(digits, Literal) or type(digits.value) is not int:
            raise SqlError(f"the digits of truncate must be an integer constant, not {digits}")
        if kind(args[0].type) == "integer" and digits.value >= 0:
            return args[0]
        number = args[0] if kind(args[0].type) == "decimal" else cast(args[0], _DOUBLE)
        return Call(number.type, "truncate", (number, digits))
    if len(args) != 2 or kind(args[0].type) not in ("date", "timestamp"):
        return None
    unit = args[1].value if isinstance(args[1], Literal) else None
    if not isinstance(unit, str) or unit.lower() not in _DATE_UNITS:
        raise SqlError("the unit of trunc is a constant: 'year', 'quarter', 'month' or 'week'")
    start = resolve("date_trunc", (literal(_DATE_UNITS[unit.lower()], _TEXT), args[0]))
    return cast(start, pa.date32())


@define("Dates and times", "unix_date", "unix_date(date)", "Days since 1970-01-01.")
def _unix_date(args: tuple[Expr, ...]) -> Expr | None:
    found = implicit(args[0], pa.date32()) if len(args) == 1 else None
    return found and resolve("datediff", (found, literal(_EPOCH, pa.date32())))


@define(
    "Dates and times",
    "date_from_unix_date",
    "date_from_unix_date(days)",
    "The date this number of days after 1970-01-01.",
)
def _date_from_unix_date(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 1 or kind(args[0].type) != "integer":
        return None
    return resolve("date_add", (literal(_EPOCH, pa.date32()), args[0]))


@define("Comparison", "equal_null", "equal_null(value, value)", "As `<=>`.")
def _equal_null(args: tuple[Expr, ...]) -> Expr | None:
    return resolve("<=>", args) if len(args) == 2 else None


@define("Conditional", "nullifzero", "nullifzero(number)", "The number; NULL if it is 0.")
def _nullifzero(args: tuple[Expr, ...]) -> Expr | None:
    return resolve("nullif", (*args, literal(0, _INT))) if len(args) == 1 else None


@define("Conditional", "zeroifnull", "zeroifnull(number)", "The number; 0 if it is NULL.")
def _zeroifnull(args: tuple[Expr, ...]) -> Expr | None:
    return resolve("coalesce", (*args, literal(0, _INT))) if len(args) == 1 else None


@define("Text", "space", "space(count)", "So many blanks.")
def _space(args: tuple[Expr, ...]) -> Expr | None:
    return resolve("repeat", (literal(" ", _TEXT), *args)) if len(args) == 1 else None


@define(
    "Text",
    "substring_index",
    "substring_index(text, separator, count)",
    "The text before the count-th separator, or with a negative count behind it, counted from the "
    "end; the separator and the count are constants.",
)
def _substring_index(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 3 or kind(args[2].type) != "integer":
        return None
    text, separator = (implicit(a, _TEXT) for a in args[:2])
    if text is None or separator is None:
        return None
    for part in (separator, args[2]):
        if not isinstance(part, Literal) or part.value is None:
            raise SqlError("the separator and the count of substring_index are constants")
    return Call(_TEXT, "substring_index", (text, separator, args[2]))


@define(
    "JSON in texts",
    "json_exists",
    "json_exists(text, '$.path')",
    "Whether there is a value at a path, which may be null.",
)
def _json_exists(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 2:
        return None
    found = resolve("is_not_null", (resolve("->", args),))
    unknown = resolve("is_null", args[:1])
    return resolve("if", (unknown, Literal(pa.bool_(), None), found))


@define(
    "Structures, lists and maps",
    "array_length",
    ["array_length(list)", "array_length(list, 1)"],
    "The number of elements, as in PostgreSQL NULL of an empty list.",
)
def _array_length(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) not in (1, 2) or not pt.is_list(args[0].type):
        return None
    if len(args) == 2 and not (isinstance(args[1], Literal) and args[1].value == 1):
        raise SqlError("array_length counts the elements of the first dimension: write 1")
    return resolve("nullif", (resolve("size", args[:1]), literal(0, _INT)))


# -- bits --------------------------------------------------------------


def _of_bits(sign: str, help_: str) -> None:
    def rule(args: tuple[Expr, ...]) -> Expr | None:
        if len(args) != 2 or any(kind(a.type) not in ("integer", "null") for a in args):
            return None
        left, right = unify(args)
        return None if pt.is_null(left.type) else Call(left.type, sign, (left, right))

    define("Bits", sign, f"integer {sign} integer", help_, rule)


_of_bits("&", "The bits that both have.")
_of_bits("|", "The bits that one of them has.")


@define("Bits", "~", "~ integer", "The bits that it has not.")
def _not_bits(args: tuple[Expr, ...]) -> Expr | None:
    return Call(args[0].type, "~", args) if kind(args[0].type) == "integer" else None


def _shift(name: str, sign: str, help_: str) -> None:
    def rule(args: tuple[Expr, ...]) -> Expr | None:
        if len(args) != 2 or any(kind(a.type) != "integer" for a in args):
            return None
        type_ = args[0].type if args[0].type == _BIGINT else _INT
        return Call(type_, name, (cast(args[0], type_), cast(args[1], type_)))

    define(
        "Bits", f"{name} {sign}", [f"{name}(integer, bits)", f"integer {sign} bits"], help_, rule
    )


_shift("shiftleft", "<<", "The bits moved to the left, by the rest of the count by 32, or 64.")
_shift("shiftright", ">>", "The bits moved to the right; the sign stays.")


@define("Bits", "bit_count", "bit_count(integer)", "The number of bits that are set, an INT.")
def _bit_count(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 1 or kind(args[0].type) != "integer":
        return None
    return Call(_INT, "bit_count", (cast(args[0], _BIGINT),))
