"""Selectivity: the share of rows that satisfy a predicate, from the columns' numbers of values.

System R's rules: 1 / values for an equality, a third for a range; terms are independent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import pyarrow as pa

from eddyline.algebra.expressions import Call, ColumnRef, Expr, Literal, columns_of

#: Of an inequality, a LIKE, or any other condition.
RANGE_SHARE: Final = 1 / 3
#: Of IS NULL.
NULL_SHARE: Final = 0.05

_NEGATED: Final = {"<>": "=", "is_not_null": "is_null"}


def selectivity(predicate: Expr | None, values: Sequence[float]) -> float:
    """The expected share of rows for which a predicate is true, between 0 and 1.

    Args:
        predicate: over columns with ``values[i]`` distinct values; None is TRUE.
    """
    if predicate is None:
        return 1.0
    if isinstance(predicate, Literal):
        return 1.0 if predicate.value is True else 0.0
    if not isinstance(predicate, Call):
        return 1 / 2  # a boolean column or parameter
    shares = [selectivity(a, values) for a in predicate.args if a.type == predicate.type]
    match predicate.function:
        case "and":
            return math.prod(shares)
        case "or":
            return 1 - math.prod(1 - s for s in shares)
        case "not":
            return 1 - shares[0]
        case "=" | "<=>":
            a, b = predicate.args
            return equality_share(values_of(a, values), values_of(b, values))
        case "in":
            needle, *choices = predicate.args
            return min(1.0, len(choices) / values_of(needle, values))
        case "is_null":
            return NULL_SHARE
        case "<>" | "is_not_null":
            opposite = Call(predicate.type, _NEGATED[predicate.function], predicate.args)
            return 1 - selectivity(opposite, values)
    return RANGE_SHARE


def equality_share(left: float, right: float) -> float:
    """The share of pairs that are equal, if the smaller set of values is within the larger one."""
    largest = max(left, right)
    return 0.0 if math.isinf(largest) else 1 / largest


def values_of(expr: Expr, values: Sequence[float]) -> float:
    """The number of values of an expression: at most one per combination of its columns' values."""
    if isinstance(expr, ColumnRef):
        return values[expr.index]
    if isinstance(expr, Literal):
        return 1.0
    read = math.prod(values[i] for i in columns_of(expr))
    return min(read, 2.0) if pa.types.is_boolean(expr.type) else read
