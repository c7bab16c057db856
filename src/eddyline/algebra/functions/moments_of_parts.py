"""Timestamps and dates that are made of numbers or found from others, and months between two."""

from __future__ import annotations

from functools import partial
from typing import Final

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, Expr, Literal
from eddyline.algebra.functions.calendar import of_day
from eddyline.algebra.functions.coercion import cast, implicit, is_number, kind
from eddyline.algebra.functions.registry import define, resolve, takes
from eddyline.algebra.functions.strings import constant
from eddyline.errors import SqlError
from eddyline.types import TIMESTAMP, sql_type

_FAMILY: Final = "Dates and times"
_BIGINT, _DOUBLE, _DATE, _STRING = pa.int64(), pa.float64(), pa.date32(), pa.string()
_SECONDS: Final = pa.decimal128(16, 6)
_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@define(
    _FAMILY,
    "make_timestamp make_timestamp_ntz make_timestamp_ltz",
    [
        "make_timestamp(year, month, day, hour, minute, second)",
        "make_timestamp(year, month, day, hour, minute, second, 'zone')",
    ],
    "The timestamp of these numbers, of which the second may have a fraction; in UTC, or the local "
    "time of a zone.",
)
def _make_timestamp(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) not in (6, 7) or not (is_number(args[5].type) or pt.is_null(args[5].type)):
        return None
    numbers = [implicit(a, _BIGINT) for a in args[:5]]
    if any(n is None for n in numbers):
        return None
    parts = tuple(n for n in numbers if n is not None)
    million = Literal(pa.int32(), 1_000_000)
    micros = cast(resolve("*", (cast(args[5], _SECONDS), million)), _BIGINT)
    made = Call(TIMESTAMP, "make_timestamp", (*parts, micros))
    return made if len(args) == 6 else resolve("to_utc_timestamp", (made, args[6]))


@define(
    _FAMILY,
    "months_between",
    ["months_between(end, start)", "months_between(end, start, round)"],
    "Months from start to end, a DOUBLE: whole ones between equal days of the month or last "
    "days, else with the rest in 31sts; rounded to 8 digits unless round is FALSE.",
)
def _months_between(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) not in (2, 3) or (len(args) == 3 and not pt.is_boolean(args[2].type)):
        return None
    end, start = implicit(args[0], TIMESTAMP), implicit(args[1], TIMESTAMP)
    rounds = args[2] if len(args) == 3 else Literal(pa.bool_(), True)
    if end is None or start is None:
        return None
    if not isinstance(rounds, Literal) or rounds.value is None:
        raise SqlError("the third argument of months_between is TRUE or FALSE")
    return Call(_DOUBLE, "months_between", (end, start, rounds))


@define(
    _FAMILY,
    "next_day",
    "next_day(date, 'day of the week')",
    "The first date behind this one that is a Monday, Tuesday, ...",
)
def _next_day(args: tuple[Expr, ...]) -> Expr | None:
    call = of_day(takes("next_day", (_DATE, _STRING), _DATE))(args)
    if call is None:
        return None
    name = constant("next_day", call.args[1])
    if name is None:
        return Literal(_DATE, None)
    place = next((i for i, d in enumerate(_DAYS) if name.lower() in (d, d[:3], d[:2])), None)
    if place is None:
        raise SqlError(f"next_day has no day '{name}'; valid: {', '.join(_DAYS)}")
    day = call.args[0]
    since = resolve("+", (resolve("weekday", (day,)), Literal(pa.int32(), 7 - place)))
    days = resolve("-", (Literal(pa.int32(), 7), resolve("%", (since, Literal(pa.int32(), 7)))))
    return resolve("date_add", (day, days))


def _formatted(letters: str, args: tuple[Expr, ...]) -> Expr | None:
    """A timestamp as text in a pattern."""
    return resolve("date_format", (*args, Literal(_STRING, letters))) if len(args) == 1 else None


for _name, _letters, _help in (
    ("dayname", "EEE", "The day of the week: Mon, Tue, ..."),
    ("monthname", "MMM", "The month: Jan, Feb, ..."),
):
    define(
        _FAMILY,
        _name,
        f"{_name}(timestamp)",
        _help,
        partial(_formatted, _letters),
    )


@define(
    "Numbers",
    "width_bucket",
    "width_bucket(number, low, high, count)",
    "The number of the equal parts between low and high into which the number falls, from 1; 0 "
    "below low, count + 1 from high on. NULL for no parts, or where a bound is no "
    "number.",
)
def _width_bucket(args: tuple[Expr, ...]) -> Expr | None:
    return takes("width_bucket", (_DOUBLE, _DOUBLE, _DOUBLE, _BIGINT), _BIGINT)(args)


@define("Conditional", "typeof", "typeof(value)", "The name of the value's type, a text.")
def _typeof(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 1:
        return None
    name = _type_name(args[0].type)
    return Literal(_STRING, name)


def _type_name(type_: pa.DataType) -> str:
    """The name that Spark gives to a type."""
    if pt.is_list(type_):
        return f"array<{_type_name(type_.value_type)}>"
    if pt.is_map(type_):
        return f"map<{_type_name(type_.key_type)},{_type_name(type_.item_type)}>"
    if pt.is_struct(type_):
        fields = (type_.field(i) for i in range(type_.num_fields))
        return f"struct<{','.join(f'{f.name}:{_type_name(f.type)}' for f in fields)}>"
    names = {"null": "void", "duration": "interval day to second"}
    return names.get(kind(type_)) or sql_type(type_).lower()
