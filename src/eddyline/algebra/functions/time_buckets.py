"""Functions that give the start of the part of time in which a timestamp is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, Expr, Literal
from eddyline.algebra.functions.coercion import implicit, literal
from eddyline.algebra.functions.registry import define
from eddyline.errors import SqlError
from eddyline.types import TIMESTAMP

_FAMILY: Final = "Dates and times"
_BIGINT: Final = pa.int64()
_US: Final = timedelta(microseconds=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
#: Where buckets begin by default, as in TimescaleDB and DuckDB: a Monday.
_MONDAY: Final = datetime(2000, 1, 3, tzinfo=UTC)


@define(
    _FAMILY,
    "date_bin",
    "date_bin(interval, timestamp, origin)",
    "As in PostgreSQL: the start of the part of time in which the timestamp is; parts are as long "
    "as the interval, and one begins at the origin. Both are constants.",
)
def _date_bin(args: tuple[Expr, ...]) -> Expr | None:
    return _bucket("date_bin", args) if len(args) == 3 else None


@define(
    _FAMILY,
    "time_bucket",
    [
        "time_bucket(interval, timestamp)",
        "time_bucket(interval, timestamp, origin)",
        "time_bucket(interval, timestamp, offset)",
    ],
    "As in TimescaleDB and DuckDB: the same with parts that begin on Monday, 2000-01-03, or an "
    "offset, an INTERVAL, later. GROUP BY over windows is `[TUMBLE 5 MINUTES]`.",
)
def _time_bucket(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) == 2:
        args = (*args, literal(_MONDAY, TIMESTAMP))
    return _bucket("time_bucket", args) if len(args) == 3 else None


def _bucket(name: str, args: tuple[Expr, ...]) -> Expr | None:
    time = implicit(args[1], TIMESTAMP)
    if time is None:
        return None
    length = _length(name, args[0])
    start = args[2]
    if name == "time_bucket" and pt.is_duration(start.type):
        first = _MONDAY + timedelta(microseconds=_length(name, start, least=None))
    else:
        converted = implicit(start, TIMESTAMP)
        start = start if converted is None else converted
        if not isinstance(start, Literal) or start.value is None:
            raise SqlError(f"the origin of {name} is a constant, as TIMESTAMP '2000-01-01 00:00'")
        first = start.value if start.value.tzinfo else start.value.replace(tzinfo=UTC)
    origin = (first - _EPOCH) // _US % length
    lengths = (literal(length, _BIGINT), literal(origin, _BIGINT))
    return Call(TIMESTAMP, "time_bucket", (time, *lengths))


def _length(name: str, arg: Expr, least: int | None = 1) -> int:
    """A constant INTERVAL in microseconds."""
    if not isinstance(arg, Literal) or not pt.is_duration(arg.type) or arg.value is None:
        raise SqlError(
            f"{name} takes a constant INTERVAL of a fixed length, as INTERVAL '5' MINUTE; for "
            "months write date_trunc('month', ts)"
        )
    us = int(arg.value // _US)
    if least is not None and us < least:
        raise SqlError(f"the interval of {name} is positive")
    return us
