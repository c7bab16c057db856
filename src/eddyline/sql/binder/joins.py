"""LEFT, RIGHT and FULL JOIN: a union of the matching pairs and of the unmatched rows with NULLs.

::

    Union                      a LEFT JOIN b ON a.x = b.x AND b.y > 1
      Join  a.x = b.x
        a
        Filter  (b.y > 1)
          b
      Project  a.x, NULL AS y
        AntiJoin  a.x = b.x
          a
          Filter  (b.y > 1)
            b
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal as OneOf

from eddyline.algebra.expressions import ColumnRef, Expr, Literal, conjunction, rewrite
from eddyline.algebra.plan import Plan, Project, Union, anti_join, filtered, join
from eddyline.sql.binder.matching import EqualityKeys, matched
from eddyline.sql.binder.scope import Scope

#: The side or sides whose unmatched rows are kept.
OuterSide = OneOf["LEFT", "RIGHT", "FULL"]


def outer_join(
    side: OuterSide, left: Plan, right: Plan, conditions: Iterable[Expr], scope: Scope
) -> Plan:
    """The outer join as a union.

    Args:
        side: the side or sides whose unmatched rows are kept.
        left, right: the inputs.
        conditions: those of ON and USING, over left + right columns.
        scope: left + right columns, with the names that EXPLAIN shows.
    """
    match = matched(conditions, len(left.schema))
    residual = match.both
    if side == "LEFT":  # a right row that fails its own terms matches no left row
        right = filtered(right, match.on_right)
    else:
        residual = match.right + residual
    if side == "RIGHT":
        left = filtered(left, match.left)
    else:
        residual = match.left + residual
    on = conjunction(residual)
    parts: list[Plan] = [join(left, right, match.keys, on)]
    if side != "RIGHT":
        alone = anti_join(left, right, match.keys, on)
        parts.append(beside_nulls(alone, 0, scope))
    if side != "LEFT":
        alone = anti_join(right, left, *swapped(match.keys, on, left, right))
        parts.append(beside_nulls(alone, match.width, scope))
    return Union(tuple(parts))


def swapped(
    keys: EqualityKeys, residual: Expr | None, left: Plan, right: Plan
) -> tuple[EqualityKeys, Expr | None]:
    """EqualityKeys and residual after exchanging the two inputs."""
    widths = len(left.schema), len(right.schema)

    def change(e: Expr) -> Expr | None:
        if not isinstance(e, ColumnRef):
            return None
        return replace(e, index=e.index + (widths[1] if e.index < widths[0] else -widths[0]))

    on = None if residual is None else rewrite(residual, change)
    return tuple((b, a) for a, b in keys), on


def beside_nulls(alone: Plan, start: int, scope: Scope) -> Plan:
    """Unmatched rows: their columns, which begin at ``start``, and NULL for the others."""
    own = range(start, start + len(alone.schema))
    exprs = tuple(
        replace(c, index=c.index - start) if c.index in own else Literal(c.type, None)
        for c in scope.columns()
    )
    return Project(alone, exprs, tuple(scope.column_names()))
