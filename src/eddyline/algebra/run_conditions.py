"""Conditions of MATCH_RECOGNIZE that read the rows matched so far.

They are computed row by row while a match is looked for, so they consist of what a kernel can
compute: numbers, times, and texts that are compared for equality.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, Expr, Literal
from eddyline.algebra.nodes.match_recognize import MatchedAggregate, Navigation, of_match
from eddyline.types import sql_type

COMPARISONS: Final = ("=", "<>", "<", "<=", ">", ">=", "<=>")
ARITHMETIC: Final = ("+", "-", "*", "/")
_OTHERS: Final = (
    *("and", "or", "not", "is_null", "is_not_null", "is_true", "is_not_true", "is_false"),
    *("is_not_false", "negative", "abs", "coalesce", "case", "between", "in", "cast"),
)
FUNCTIONS: Final = (*COMPARISONS, *ARITHMETIC, *_OTHERS)
#: Deepest nesting of calls.
MAX_DEPTH: Final = 20
AGGREGATES: Final = ("count", "sum", "avg", "min", "max")
_FORMS: Final = (
    "there are comparisons, AND, OR, NOT, IS NULL, BETWEEN, IN, + - * /, ABS, COALESCE and CASE, "
    "and COUNT, SUM, AVG, MIN and MAX"
)


def reads_match(expr: Expr) -> bool:
    """Whether a condition reads rows that have been matched, not only its own row."""
    return next(of_match(expr), None) is not None


def kind_of(type_: pa.DataType) -> str | None:
    """How values of a type are computed with: as int, float or text; None: not at all."""
    if pt.is_integer(type_) or pt.is_boolean(type_) or pt.is_null(type_):
        return "int"
    if pt.is_floating(type_):
        return "float"
    if pt.is_timestamp(type_) or pt.is_duration(type_) or pt.is_date32(type_):
        return "int"
    return "text" if pt.is_string(type_) else None


def why_not_computed(expr: Expr) -> str | None:
    """What of a condition cannot be computed while a match is looked for; None: it can."""
    if not isinstance(expr, Literal) and kind_of(expr.type) is None:
        return f"{expr} is of type {sql_type(expr.type)}: CAST it to DOUBLE or BIGINT"
    if isinstance(expr, MatchedAggregate):
        return _why_no_aggregate(expr)
    if isinstance(expr, Navigation) or not reads_match(expr):
        return None
    assert isinstance(expr, Call), f"a leaf that reads a match: {expr}"
    if expr.function not in FUNCTIONS:
        return f"{expr.function} of rows matched before is not supported in DEFINE: {_FORMS}"
    if expr.function == "cast" and not _is_cheap(expr.args[0].type, expr.type):
        return f"{expr} of a row matched before is not supported in DEFINE: {_FORMS}"
    if expr.function in (*ARITHMETIC, "negative", "abs") and not _is_plain_arithmetic(expr):
        return f"{expr} of rows matched before is not supported in DEFINE: CAST to DOUBLE or BIGINT"
    kinds = {kind_of(a.type) for a in expr.args}
    if "text" in kinds and expr.function not in ("=", "<>", "<=>", "in", "is_null", "is_not_null"):
        return f"texts of rows matched before are compared by = and <> only, not by {expr.function}"
    return next(filter(None, map(why_not_computed, expr.args)), None)


def _is_plain_arithmetic(call: Call) -> bool:
    """Whether it is of whole numbers, DOUBLEs, or of instants and intervals by + and -."""
    types = [call.type, *(a.type for a in call.args)]
    if all(t == pa.float64() for t in types):
        return True
    if all(map(pt.is_integer, types)):
        return call.function != "/" and len(set(types)) == 1
    is_time = all(pt.is_timestamp(t) or pt.is_duration(t) for t in types)
    return is_time and call.function in ("+", "-")


def depth(expr: Expr) -> int:
    """How deep calls are nested that read rows matched before."""
    return 1 + max(map(depth, expr.args), default=0)


def _is_cheap(source: pa.DataType, target: pa.DataType) -> bool:
    """Whether a conversion cannot fail and does not round."""
    if pt.is_null(source) or source == target:
        return True
    if pt.is_integer(source) and pt.is_integer(target):
        return bool(source.bit_width <= target.bit_width)
    numbers = pt.is_integer(source) or pt.is_floating(source)
    return bool(numbers and target == pa.float64())


def _why_no_aggregate(expr: MatchedAggregate) -> str | None:
    aggregate = expr.aggregate
    if aggregate.function not in AGGREGATES or aggregate.distinct:
        return f"{expr} is not supported in DEFINE: {_FORMS}"
    value = aggregate.value
    if value is None or aggregate.function == "count" or kind_of(value.type) in ("int", "float"):
        return None
    return f"{expr} is of {sql_type(value.type)}: {_FORMS} of numbers and times"
