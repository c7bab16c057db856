"""Functions of dates and timestamps (UTC)."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, Expr, Literal
from eddyline.algebra.functions import datetime_patterns
from eddyline.algebra.functions.coercion import cast, implicit, kind, try_cast
from eddyline.algebra.functions.registry import define, define_plain, takes
from eddyline.algebra.functions.strings import constant
from eddyline.algebra.functions.tolerant import tolerated
from eddyline.errors import SqlError
from eddyline.types import TIMESTAMP

_FAMILY = "Dates and times"
_INT, _BIGINT, _DATE, _STRING = pa.int32(), pa.int64(), pa.date32(), pa.string()

#: Units of date_trunc, as Arrow names them.
TRUNC_UNITS = {
    "year": "year",
    "yyyy": "year",
    "yy": "year",
    "quarter": "quarter",
    "month": "month",
    "mon": "month",
    "mm": "month",
    "week": "week",
    "day": "day",
    "dd": "day",
    "hour": "hour",
    "minute": "minute",
    "second": "second",
    "millisecond": "millisecond",
    "microsecond": "microsecond",
}


def _field(names: str, help_: str) -> None:
    name = names.split()[0]
    define(_FAMILY, names, f"{name}(timestamp)", help_, takes(name, (TIMESTAMP,), _INT))


_field("year", "The year.")
_field("quarter", "The quarter, 1 to 4.")
_field("month", "The month, 1 to 12.")
_field("week weekofyear", "The ISO week, 1 to 53.")
_field("day dayofmonth", "The day of the month, 1 to 31.")
_field("dayofweek", "The day of the week: 1 is Sunday, 7 is Saturday.")
_field("weekday", "The day of the week: 0 is Monday, 6 is Sunday.")
_field("dayofyear", "The day of the year, 1 to 366.")
_field("hour", "The hour, 0 to 23.")
_field("minute", "The minute, 0 to 59.")
_field("second", "The second, 0 to 59.")

for _name, _unit in {
    "unix_seconds": "seconds",
    "unix_millis": "milliseconds",
    "unix_micros": "microseconds",
}.items():
    _help = f"Whole {_unit} since 1970-01-01 00:00:00 UTC."
    define_plain(_FAMILY, f"{_name}(timestamp)", (TIMESTAMP,), _BIGINT, _help)

for _short, _unit in {
    "nanos": "nanoseconds",
    "micros": "microseconds",
    "millis": "milliseconds",
}.items():
    define_plain(
        _FAMILY,
        f"timestamp_{_short}(integer)",
        (_BIGINT,),
        TIMESTAMP,
        f"The timestamp this number of {_unit} after the epoch.",
        aliases=f"to_timestamp_{_short}",
    )


@define(
    _FAMILY,
    "timestamp_seconds to_timestamp_seconds",
    "timestamp_seconds(number)",
    "The timestamp this number of seconds after the epoch, as CAST(number AS TIMESTAMP).",
)
def _timestamp_seconds(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 1 or kind(args[0].type) not in ("integer", "float", "null"):
        return None
    if kind(args[0].type) == "float":
        return cast(args[0], TIMESTAMP)
    return Call(TIMESTAMP, "timestamp_seconds", (cast(args[0], _BIGINT),))


@define(
    _FAMILY,
    "date_trunc",
    "date_trunc('unit', timestamp)",
    "The start of the year, quarter, month, week (Monday), day, hour, minute, second, "
    "millisecond or microsecond.",
)
def _date_trunc(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 2 or not pt.is_string(args[0].type):
        return None
    moment = implicit(args[1], TIMESTAMP)
    unit = constant("date_trunc", args[0])
    if moment is None:
        return None
    if unit is None or unit.lower() not in TRUNC_UNITS:
        raise SqlError(f"date_trunc has no unit {args[0]}; valid: {', '.join(TRUNC_UNITS)}")
    return Call(TIMESTAMP, "date_trunc", (Literal(_STRING, TRUNC_UNITS[unit.lower()]), moment))


@define(
    _FAMILY,
    "date_format to_char",
    "date_format(timestamp, 'pattern')",
    "As text by a pattern of yyyy, MM, dd, HH, mm, ss, SSS, EEE, MMM, a, hh and others.",
)
def _date_format(args: tuple[Expr, ...]) -> Expr | None:
    moment = implicit(args[0], TIMESTAMP) if len(args) == 2 else None
    if moment is None or kind(args[1].type) not in ("string", "null"):
        return None
    pattern = constant("date_format", args[1])
    if pattern is None:
        return Literal(_STRING, None)
    datetime_patterns.parse(pattern)
    return Call(_STRING, "date_format", (moment, args[1]))


def _reader(name: str, type_: pa.DataType) -> None:
    """``to_date`` or ``to_timestamp``: a CAST, or with a pattern a parser of text."""

    def rule(args: tuple[Expr, ...]) -> Expr | None:
        allowed = ("string", "null", "date", "timestamp")
        if len(args) not in (1, 2) or kind(args[0].type) not in allowed:
            return None
        if len(args) == 1:
            return cast(args[0], type_)
        if not all(kind(a.type) in ("string", "null") for a in args):
            return None
        pattern = constant(name, args[1])
        if pattern is None:
            return Literal(type_, None)
        expression = Literal(_STRING, datetime_patterns.regex(pattern))
        return Call(type_, name, (cast(args[0], _STRING), expression))

    def try_rule(args: tuple[Expr, ...]) -> Expr | None:
        if len(args) == 1:
            return (
                None if rule((Literal(args[0].type, None),)) is None else try_cast(args[0], type_)
            )
        return tolerated(rule(args))

    forms = [f"{name}(text)", f"{name}(text, 'pattern')"]
    define(_FAMILY, name, forms, "Text read as CAST does, or by a pattern.", rule)
    tries = [f"try_{form}" for form in forms]
    define(_FAMILY, f"try_{name}", tries, "The same; NULL where the text does not fit.", try_rule)


_reader("to_timestamp", TIMESTAMP)
_reader("to_date", _DATE)
