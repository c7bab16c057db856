"""INTERVALs as constants, and months that are added to timestamps and dates."""

from __future__ import annotations

from datetime import timedelta

import pyarrow as pa
from sqlglot import exp

from eddyline.algebra import functions
from eddyline.algebra.expressions import Expr, Literal
from eddyline.errors import SqlError
from eddyline.sql.durations import Interval, interval, parse_interval, parse_span


def interval_of(node: exp.Expr) -> Interval | None:
    """The length of an INTERVAL, or of a sum of INTERVALs as ``INTERVAL 1 YEAR 2 MONTHS`` is; None
    for another expression.

    Raises:
        SqlError: the syntax or a unit is wrong; without a position.
    """
    node = node.unnest()
    if isinstance(node, exp.Interval):
        return _single(node)
    if isinstance(node, exp.Neg):
        inner = interval_of(node.this)
        return None if inner is None else Interval().plus(inner, -1)
    if isinstance(node, (exp.Add, exp.Sub)):
        right = interval_of(node.expression)
        left = None if right is None else interval_of(node.this)
        if left is None or right is None:
            return None
        return left.plus(right, 1 if isinstance(node, exp.Add) else -1)
    return None


def _single(node: exp.Interval) -> Interval:
    amount, unit = node.this, node.args.get("unit")
    if not isinstance(amount, exp.Literal):
        raise SqlError(
            "an INTERVAL is a constant, as in INTERVAL 5 MINUTES; for a number of units in a "
            "column write timestampadd(MINUTE, x, ts), or x * INTERVAL 1 MINUTE"
        )
    try:
        if unit is None:
            return parse_interval(amount.name)
        if isinstance(unit, exp.IntervalSpan):
            return parse_span(amount.name, unit.this.name, unit.expression.name)
        return interval(amount.name, unit.name)
    except ValueError as e:
        raise SqlError(str(e)) from None


def interval_literal(node: exp.Expr) -> Literal:
    """The constant of an INTERVAL of fixed length.

    Raises:
        SqlError: it has months; without a position.
    """
    length = interval_of(node)
    assert length is not None, "the node is an INTERVAL"
    if length.months:
        raise SqlError(
            "an INTERVAL of months has no fixed length: add it to a timestamp or a date, or "
            "subtract it (ts + INTERVAL 1 MONTH), or write a number of DAYS; for a number of "
            "months in a column write timestampadd(MONTH, x, ts)"
        )
    return _literal(length.us)


def shifted(moment: Expr, length: Interval, sign: int) -> Expr:
    """A timestamp or date plus or minus an INTERVAL: first its months, then the rest.

    Raises:
        SqlError: the moment is something else; without a position.
    """
    months = functions.calendar.plus_months(moment, sign * length.months)
    if not length.us:
        return months
    return functions.resolve("+" if sign > 0 else "-", (months, _literal(length.us)))


def _literal(us: int) -> Literal:
    return functions.literal(timedelta(microseconds=us), pa.duration("us"))
