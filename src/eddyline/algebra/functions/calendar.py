"""Functions that count in units of the calendar: months, parts and differences of dates."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Final

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, Expr, Literal
from eddyline.algebra.functions.coercion import cast, implicit, kind, literal
from eddyline.algebra.functions.registry import FUNCTIONS, TypingRule, define, resolve, takes
from eddyline.algebra.functions.strings import constant
from eddyline.errors import SqlError, did_you_mean
from eddyline.types import TIMESTAMP, sql_type

_FAMILY: Final = "Dates and times"
_INT, _BIGINT, _DOUBLE = pa.int32(), pa.int64(), pa.float64()
_DATE, _STRING, _INTERVAL = pa.date32(), pa.string(), pa.duration("us")

#: Units of fixed length, in microseconds, and others in months.
_US: Final = {
    "microsecond": 1,
    "millisecond": 1_000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": 86_400_000_000,
    "week": 7 * 86_400_000_000,
}
_MONTHS: Final = {"month": 1, "quarter": 3, "year": 12}
UNITS: Final = (*_US, *_MONTHS)
#: Functions whose first of three arguments is a unit, written without quotes.
WITH_UNITS: Final = frozenset(
    ("timestampadd", "dateadd", "date_add", "timestampdiff", "datediff", "date_diff")
)

_PART_NAMES: Final = {
    "year": "y years yr yrs",
    "quarter": "qtr",
    "month": "mon mons months",
    "week": "w weeks weekofyear",
    "day": "d days dayofmonth",
    "dayofweek": "dow",
    "weekday": "",
    "dayofyear": "doy",
    "hour": "h hours hr hrs",
    "minute": "m min mins minutes",
    "second": "s sec secs seconds",
}


_ADD_DAYS: Final = takes("date_add", (_DATE, _BIGINT), _DATE)


def of_day(rule: TypingRule) -> TypingRule:
    """The rule of a function whose first argument is a date, or the day of a timestamp."""

    def with_day(args: tuple[Expr, ...]) -> Expr | None:
        if args and kind(args[0].type) == "timestamp":
            args = (cast(args[0], _DATE), *args[1:])
        return rule(args)

    return with_day


def _field(function: str, moment: Expr) -> Expr:
    return resolve(function, (moment,))


def _iso_weekday(moment: Expr) -> Expr:
    return resolve("+", (resolve("weekday", (moment,)), Literal(_INT, 1)))


def _iso_year(moment: Expr) -> Expr:
    """The year of the Thursday of the week."""
    day = cast(moment, _DATE)
    days = resolve("-", (Literal(_INT, 3), resolve("weekday", (moment,))))
    return resolve("year", (resolve("date_add", (day, days)),))


def _epoch(moment: Expr) -> Expr:
    micros = cast(resolve("unix_micros", (moment,)), _DOUBLE)
    return resolve("/", (micros, Literal(_DOUBLE, 1e6)))


#: The parts of EXTRACT and date_part, by name.
PARTS: Final[dict[str, Callable[[Expr], Expr]]] = {
    **{
        name: partial(_field, function)
        for function, others in _PART_NAMES.items()
        for name in (function, *others.split())
    },
    **dict.fromkeys(("dayofweek_iso", "dow_iso", "isodow"), _iso_weekday),
    **dict.fromkeys(("yearofweek", "isoyear"), _iso_year),
    "epoch": _epoch,
}


def part(name: str, moment: Expr) -> Expr:
    """A part of a timestamp, as of EXTRACT.

    Raises:
        SqlError: there is no such part.
    """
    if name.lower() not in PARTS:
        raise SqlError(f"there is no part '{name}'; {did_you_mean(name.lower(), PARTS)}")
    return PARTS[name.lower()](moment)


@define(
    _FAMILY,
    "date_part datepart",
    "date_part('part', timestamp)",
    "As EXTRACT(part FROM timestamp): a year, quarter, month, week, day, hour, minute, second, "
    "dow (1 is Sunday), isodow (1 is Monday), doy, isoyear, or the epoch in seconds, a DOUBLE.",
)
def _date_part(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 2 or not pt.is_string(args[0].type):
        return None
    moment, name = implicit(args[1], TIMESTAMP), constant("date_part", args[0])
    return None if moment is None or name is None else part(name, moment)


def _unit(name: str, expr: Expr) -> str | None:
    """The unit that is the first argument."""
    if not pt.is_string(expr.type):
        return None
    unit = str(constant(name, expr)).lower()
    if unit not in UNITS:
        raise SqlError(f"{name} has no unit {unit}; valid: {', '.join(UNITS)}")
    return unit


@define(
    _FAMILY,
    "timestampadd dateadd",
    "timestampadd(unit, count, timestamp)",
    "The timestamp this number of microseconds, milliseconds, seconds, minutes, hours, days, "
    "weeks, months, quarters or years later. A day that a month does not have becomes its last.",
)
def timestampadd(args: tuple[Expr, ...]) -> Expr | None:
    """The typing rule, also of ``date_add`` with a unit."""
    unit = _unit("timestampadd", args[0]) if len(args) == 3 else None
    if unit is None:
        return None
    count, moment = implicit(args[1], _BIGINT), implicit(args[2], TIMESTAMP)
    if count is None or moment is None:
        return None
    if unit in _US:
        length = literal(timedelta(microseconds=_US[unit]), _INTERVAL)
        return resolve("+", (moment, resolve("*", (count, length))))
    months = resolve("*", (count, Literal(_BIGINT, _MONTHS[unit])))
    return Call(TIMESTAMP, "add_months", (moment, months))


def plus_months(moment: Expr, months: int) -> Expr:
    """A timestamp or date a number of months later; a day that a month lacks becomes its last.

    Raises:
        SqlError: the moment is something else.
    """
    count = Literal(_BIGINT, months)
    if kind(moment.type) == "date":
        return Call(_DATE, "add_months", (moment, count))
    if kind(moment.type) not in ("timestamp", "null"):
        raise SqlError(f"months are added to a TIMESTAMP or DATE, not to {sql_type(moment.type)}")
    return Call(TIMESTAMP, "add_months", (cast(moment, TIMESTAMP), count))


@define(
    _FAMILY,
    "timestampdiff",
    "timestampdiff(unit, start, end)",
    "Whole units from start to end, a BIGINT; negative if the end is before the start.",
)
def timestampdiff(args: tuple[Expr, ...]) -> Expr | None:
    """The typing rule, also of ``datediff`` with a unit."""
    unit = _unit("timestampdiff", args[0]) if len(args) == 3 else None
    if unit is None:
        return None
    start, end = implicit(args[1], TIMESTAMP), implicit(args[2], TIMESTAMP)
    if start is None or end is None:
        return None
    if unit in _MONTHS:
        months = Call(_BIGINT, "whole_months", (end, start))
        return _by(months, _MONTHS[unit])
    micros = (resolve("unix_micros", (moment,)) for moment in (end, start))
    return _by(resolve("-", tuple(micros)), _US[unit])


def _by(count: Expr, length: int) -> Expr:
    return count if length == 1 else resolve("div", (count, Literal(_BIGINT, length)))


define(
    _FAMILY,
    "add_months",
    "add_months(date, months)",
    "The date this number of months later; a day that the month does not have becomes its last.",
    of_day(takes("add_months", (_DATE, _BIGINT), _DATE)),
)
define(
    _FAMILY,
    "last_day",
    "last_day(date)",
    "The last day of the month.",
    of_day(takes("last_day", (_DATE,), _DATE)),
)
define(
    _FAMILY,
    "make_date",
    "make_date(year, month, day)",
    "The date of these numbers.",
    takes("make_date", (_BIGINT, _BIGINT, _BIGINT), _DATE),
)


@define(
    _FAMILY,
    "to_unix_timestamp unix_timestamp",
    [
        "to_unix_timestamp(timestamp)",
        "to_unix_timestamp(text)",
        "to_unix_timestamp(text, 'pattern')",
    ],
    "Seconds since 1970-01-01 00:00:00 UTC, rounded towards 0; text is read as by to_timestamp.",
)
def _to_unix_timestamp(args: tuple[Expr, ...]) -> Expr | None:
    if not 1 <= len(args) <= 2:
        return None
    moment = FUNCTIONS["to_timestamp"].rule(args)
    return None if moment is None else _by(resolve("unix_micros", (moment,)), _US["second"])


@define(
    _FAMILY,
    "from_unixtime",
    ["from_unixtime(seconds)", "from_unixtime(seconds, 'pattern')"],
    "The timestamp this number of seconds after the epoch as text, by a pattern as of date_format; "
    "by default yyyy-MM-dd HH:mm:ss.",
)
def _from_unixtime(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) not in (1, 2) or kind(args[0].type) not in ("integer", "null"):
        return None
    pattern = args[1] if len(args) == 2 else Literal(_STRING, "yyyy-MM-dd HH:mm:ss")
    moment = resolve("timestamp_seconds", (args[0],))
    return FUNCTIONS["date_format"].rule((moment, pattern))


@define(
    _FAMILY,
    "date_add",
    ["date_add(date, days)", "date_add(unit, count, timestamp)"],
    "The date this number of days later; with a unit as timestampadd.",
)
def _date_add(args: tuple[Expr, ...]) -> Expr | None:
    return timestampadd(args) if len(args) == 3 else of_day(_ADD_DAYS)(args)


@define(_FAMILY, "date_sub", "date_sub(date, days)", "The date this number of days earlier.")
def _date_sub(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 2:
        return None
    day = cast(args[0], _DATE) if kind(args[0].type) == "timestamp" else implicit(args[0], _DATE)
    count = implicit(args[1], _BIGINT)
    if day is None or count is None:
        return None
    minus = Literal(_BIGINT, -count.value) if isinstance(count, Literal) and count.value else None
    return Call(_DATE, "date_add", (day, minus or Call(_BIGINT, "negative", (count,))))


@define(
    _FAMILY,
    "datediff date_diff",
    ["datediff(end, start)", "datediff(unit, start, end)"],
    "Days from start to end; with a unit as timestampdiff.",
)
def _datediff(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) == 3:
        return timestampdiff(args)
    if len(args) != 2:
        return None
    days = [a if kind(a.type) != "timestamp" else cast(a, _DATE) for a in args]
    return takes("datediff", (_DATE, _DATE), _INT)(tuple(days))
