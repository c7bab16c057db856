"""Sub-queries in ON of an outer join, as columns of the input that they read.

::

    a LEFT JOIN b ON a.k = b.k AND        Project  a.k, b.k
      EXISTS (SELECT 1 FROM c WHERE         a LEFT JOIN (b, exists) ON a.k = b.k AND exists
        c.k = b.k)
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from eddyline.algebra.expressions import ColumnRef, Expr, columns_of, rewrite, shift_columns
from eddyline.algebra.plan import Plan, Project
from eddyline.sql.binder.context import Context
from eddyline.sql.binder.joins import OuterSide, outer_join
from eddyline.sql.binder.scope import Scope
from eddyline.sql.binder.sub_query_calls import SubQueryCall, has_sub_query, sub_query_calls
from eddyline.sql.binder.sub_query_joins import Reading, unsupported


def outer_join_with_values(
    side: OuterSide,
    inputs: tuple[Plan, Plan],
    readings: Sequence[Reading],
    conditions: Sequence[Expr],
    scope: Scope,
    node: exp.Expr,
    context: Context,
) -> Plan:
    """The outer join of two inputs.

    Args:
        readings: of each, with its items, which read sub-queries.
        conditions: over the columns of both, with sub-queries. scope: these columns.

    Raises:
        UnsupportedError: a sub-query reads columns of both.
    """
    if not any(map(has_sub_query, conditions)):
        return outer_join(side, *inputs, conditions, scope)
    left, right = inputs
    width = len(left.schema)
    calls = list(dict.fromkeys(c for e in conditions for c in sub_query_calls(e)))
    of_right = [c for c in calls if _is_of_right(c, width, node, context)]
    of_left = [c for c in calls if c not in of_right]
    wide_left, left_values = readings[0].joined(left, tuple(of_left))
    moved = tuple(shift_columns(c, -width) for c in of_right)
    wide_right, right_values = readings[1].joined(right, moved)
    start = len(wide_left.schema)
    values: dict[Expr, Expr] = dict(zip(of_left, left_values, strict=True))
    values |= {c: shift_columns(v, start) for c, v in zip(of_right, right_values, strict=True)}

    def change(e: Expr) -> Expr | None:
        if e in values:
            return values[e]
        if isinstance(e, ColumnRef) and e.index >= width:
            return shift_columns(e, start - width)
        return None

    on = [rewrite(c, change) for c in conditions]
    both = Scope().joined_with("", wide_left.schema).joined_with("", wide_right.schema)
    joined = outer_join(side, wide_left, wide_right, on, both)
    own = [*range(width), *range(start, start + len(right.schema))]
    columns = scope.columns()
    exprs = tuple(ColumnRef(c.type, i, c.name) for c, i in zip(columns, own, strict=True))
    return Project(joined, exprs, tuple(scope.column_names()))


def _is_of_right(call: SubQueryCall, width: int, node: exp.Expr, context: Context) -> bool:
    """Whether a sub-query reads columns of the right input, or none."""
    read = columns_of(call)
    if read and min(read) < width <= max(read):
        raise unsupported("ON of an outer join, that reads both sides,", node, context)
    return not read or min(read) >= width
