"""Functions of PostgreSQL, DuckDB, Spark and Flink that are short for expressions over others."""

from __future__ import annotations

from functools import reduce
from typing import Final

import pyarrow as pa

from eddyline.algebra.expressions import Expr, Literal
from eddyline.algebra.functions.coercion import cast, implicit, kind, literal
from eddyline.algebra.functions.registry import FUNCTIONS, define, resolve
from eddyline.algebra.functions.strings import constant
from eddyline.algebra.functions.tolerant import tolerated
from eddyline.errors import SqlError

_INT, _BIGINT, _INTERVAL = pa.int32(), pa.int64(), pa.duration("us")
_SECOND_US: Final = 1_000_000
_UNITS_US: Final = (
    7 * 86_400 * _SECOND_US,
    86_400 * _SECOND_US,
    3_600 * _SECOND_US,
    60 * _SECOND_US,
)


@define(
    "Dates and times",
    "to_timestamp_ntz",
    ["to_timestamp_ntz(text)", "to_timestamp_ntz(text, 'pattern')"],
    "As to_timestamp.",
)
def _to_timestamp_ntz(args: tuple[Expr, ...]) -> Expr | None:
    return resolve("to_timestamp", args)


@define(
    "Dates and times",
    "try_make_timestamp",
    "try_make_timestamp(year, month, day, hour, minute, second)",
    "As make_timestamp; NULL of numbers that no timestamp has.",
)
def _try_make_timestamp(args: tuple[Expr, ...]) -> Expr | None:
    return tolerated(FUNCTIONS["make_timestamp"].rule(args)) if len(args) == 6 else None


@define(
    "Dates and times",
    "make_dt_interval",
    "make_dt_interval([days [, hours [, minutes [, seconds]]]])",
    "The INTERVAL of these numbers, of which the seconds may have a fraction.",
)
def _make_dt_interval(args: tuple[Expr, ...]) -> Expr | None:
    return _interval(args, _UNITS_US[1:]) if len(args) <= 4 else None


@define(
    "Dates and times",
    "make_interval",
    "make_interval(0, 0, [weeks [, days [, hours [, minutes [, seconds]]]]])",
    "The INTERVAL of these numbers; years and months, whose length is not fixed, are 0.",
)
def _make_interval(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) > 7:
        return None
    for months in args[:2]:
        if constant("make_interval", months) != 0:
            raise SqlError(
                "an INTERVAL of years or months has no fixed length: write timestampadd(MONTH, n, "
                "ts)"
            )
    return _interval(args[2:], _UNITS_US)


def _interval(args: tuple[Expr, ...], units: tuple[int, ...]) -> Expr | None:
    """The sum of numbers of units and, behind these, of seconds."""
    counts = [implicit(a, _BIGINT) for a in args[: len(units)]]
    us: list[Expr] = [literal(0, _BIGINT)]
    for count, unit in zip(counts, units, strict=False):
        if count is None:
            return None
        us.append(resolve("*", (count, literal(unit, _BIGINT))))
    for seconds in args[len(units) :]:
        found = implicit(seconds, pa.float64())
        if found is None:
            return None
        million = literal(float(_SECOND_US), pa.float64())
        us.append(cast(resolve("round", (resolve("*", (found, million)),)), _BIGINT))
    total = reduce(lambda a, b: resolve("+", (a, b)), us)
    return resolve("*", (literal_interval(1), total))


def literal_interval(us: int) -> Expr:
    """A constant INTERVAL of microseconds."""
    return Literal(_INTERVAL, pa.scalar(us, _INTERVAL).as_py())


@define(
    "Encodings",
    "try_url_decode",
    "try_url_decode(text)",
    "As url_decode; NULL where that fails.",
)
def _try_url_decode(args: tuple[Expr, ...]) -> Expr | None:
    return tolerated(FUNCTIONS["url_decode"].rule(args))


@define(
    "Encodings",
    "to_hex",
    "to_hex(integer)",
    "As in PostgreSQL: the integer in hexadecimal digits, in small letters.",
)
def _to_hex(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 1 or kind(args[0].type) != "integer":
        return None
    return resolve("lower", (resolve("hex", args),))


@define(
    "Conditional",
    "num_nulls",
    "num_nulls(value, ...)",
    "As in PostgreSQL: how many of the values are NULL.",
)
def _num_nulls(args: tuple[Expr, ...]) -> Expr | None:
    return _counted(args, "is_null")


@define(
    "Conditional",
    "num_nonnulls",
    "num_nonnulls(value, ...)",
    "As in PostgreSQL: how many of the values are not NULL.",
)
def _num_nonnulls(args: tuple[Expr, ...]) -> Expr | None:
    return _counted(args, "is_not_null")


def _counted(args: tuple[Expr, ...], test: str) -> Expr | None:
    one, zero = literal(1, _INT), literal(0, _INT)
    each = [resolve("if", (resolve(test, (a,)), one, zero)) for a in args]
    return reduce(lambda a, b: resolve("+", (a, b)), each) if each else None


@define(
    "Numbers",
    "isfinite",
    "isfinite(number)",
    "As in DuckDB: whether a number is neither infinite nor NaN.",
)
def _isfinite(args: tuple[Expr, ...]) -> Expr | None:
    number = implicit(args[0], pa.float64()) if len(args) == 1 else None
    if number is None or kind(args[0].type) == "timestamp":
        return None
    infinite = Literal(pa.float64(), float("inf"))
    return resolve("<", (resolve("abs", (number,)), infinite))
