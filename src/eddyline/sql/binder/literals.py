"""Constants in SQL text to typed literals."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

import pyarrow as pa
from sqlglot import exp

from eddyline.algebra import functions
from eddyline.algebra.expressions import Literal
from eddyline.errors import SqlError
from eddyline.sql.durations import duration_us, parse_duration

_INT32_LIMIT: Final = 1 << 31
_INT64_LIMIT: Final = 1 << 63


def constant(node: exp.Literal) -> Literal:
    """A string, an INT or BIGINT, or (with a point or exponent) a DOUBLE.

    Raises:
        SqlError: an integer does not fit BIGINT. It carries no position.
    """
    if node.is_string:
        return functions.literal(node.name, pa.string())
    if not node.name.isdigit():
        return functions.literal(float(node.name), pa.float64())
    value = int(node.name)
    if value >= _INT64_LIMIT:
        raise SqlError(f"{value} does not fit BIGINT; write {value}.0 for a DOUBLE")
    return functions.literal(value, pa.int32() if value < _INT32_LIMIT else pa.int64())


def interval(node: exp.Interval) -> Literal:
    """``INTERVAL 5 MINUTES`` or ``INTERVAL '5 minutes'``: a duration of fixed length.

    Raises:
        SqlError: it is none. It carries no position.
    """
    amount, unit = node.this, node.args.get("unit")
    if not isinstance(amount, exp.Literal) or not (unit is None or isinstance(unit, exp.Var)):
        raise SqlError("an INTERVAL is a number and one unit, as in INTERVAL 5 MINUTES")
    try:
        us = parse_duration(amount.name) if unit is None else duration_us(amount.name, unit.name)
    except ValueError as e:
        raise SqlError(str(e)) from None
    return functions.literal(timedelta(microseconds=us), pa.duration("us"))
