"""Constants of SQL text as typed literals."""

from __future__ import annotations

from math import isinf
from typing import Final

import pyarrow as pa
from sqlglot import exp

from eddyline.algebra import functions
from eddyline.algebra.expressions import Literal
from eddyline.errors import SqlError
from eddyline.sql.numbers import shortened, whole_number

_INT32_LIMIT: Final = 1 << 31
_INT64_LIMIT: Final = 1 << 63


def constant(node: exp.Literal) -> Literal:
    """A string, an INT or BIGINT, or (with a point or exponent) a DOUBLE.

    Raises:
        SqlError: the number does not fit BIGINT or DOUBLE; without a position.
    """
    if node.is_string:
        return functions.literal(node.name, pa.string())
    if not node.name.isdigit():
        number = float(node.name)
        if isinf(number):
            raise SqlError(f"{shortened(node.name)} does not fit DOUBLE, whose maximum is 1.8e308")
        return functions.literal(number, pa.float64())
    value = whole_number(node.name, _INT64_LIMIT)
    if value is None:
        shown = shortened(node.name)
        raise SqlError(f"{shown} does not fit BIGINT; for a DOUBLE write a point behind it")
    return functions.literal(value, pa.int32() if value < _INT32_LIMIT else pa.int64())
