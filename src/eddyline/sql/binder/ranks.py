"""Ranks of rows of streams without a window: of each partition the first rows are kept, so there
must be a condition that says how many.
"""

from __future__ import annotations

from collections.abc import Sequence

from eddyline.algebra.expressions import (
    ColumnRef,
    Expr,
    columns_of,
    conjuncts,
    rewrite,
    shift_columns,
)
from eddyline.algebra.nodes.over import OF_EARLIER, RANKS
from eddyline.algebra.patterns import Pattern
from eddyline.algebra.plan import Filter, Join, Over, Plan, Product, Project
from eddyline.algebra.rank_bounds import upper_bound
from eddyline.errors import UnsupportedError
from eddyline.sql.binder.context import BoundPlan
from eddyline.sql.binder.over_calls import OverCall
from eddyline.sql.window_syntax import WINDOW_FORMS


def can_be_limited(calls: Sequence[Expr], plan: Plan) -> bool:
    """Whether values of calls with OVER need no rows behind the first ones of each partition, if a
    condition limits their ranks; rows of the plan never leave.
    """
    if plan.takes_back or plan.pattern is not Pattern.MONOTONIC:
        return False
    return all(isinstance(c, OverCall) and c.computed.function in OF_EARLIER for c in calls)


def require_limits(bound: BoundPlan) -> None:
    """Check that conditions limit the ranks of rows of streams without a window.

    Raises:
        UnsupportedError: one has no limit.
    """
    ranked = [s for s in bound.open_streams if s.ranked]
    if ranked and not _are_limited(bound.plan, ()):
        stream = ranked[0]
        raise stream.context.error(
            stream.node,
            f"OVER needs a window on stream '{stream.name}', or a limit: write {stream.name} "
            f"{WINDOW_FORMS}, or QUALIFY ROW_NUMBER() OVER (...) <= 3 for the first rows of each "
            "partition",
            UnsupportedError,
        )


def _are_limited(plan: Plan, terms: Sequence[Expr]) -> bool:
    """Whether all ranks of rows that never leave are bounded, if terms hold for the rows."""
    if isinstance(plan, Filter):
        return _are_limited(plan.input, (*conjuncts(plan.predicate), *terms))
    if isinstance(plan, Project):
        exprs = plan.exprs

        def below(e: Expr) -> Expr | None:
            return exprs[e.index] if isinstance(e, ColumnRef) else None

        return _are_limited(plan.input, [rewrite(t, below) for t in terms])
    if isinstance(plan, (Join, Product)):
        found, start = True, 0
        for part in plan.inputs:
            end = start + len(part.schema)
            own = [t for t in terms if columns_of(t) and columns_of(t) <= set(range(start, end))]
            found &= _are_limited(part, [shift_columns(t, -start) for t in own])
            start = end
        return found
    if isinstance(plan, Over) and plan.is_endless and not plan.frames:
        return _is_limited(plan, terms) and all(_are_limited(p, ()) for p in plan.inputs)
    return all(_are_limited(p, ()) for p in plan.inputs)


def _is_limited(plan: Over, terms: Sequence[Expr]) -> bool:
    if plan.limit:
        return True
    bounds = filter(None, map(upper_bound, terms))
    first = len(plan.input.schema)
    return plan.functions[0].function in RANKS and any(
        column == first and limit > 0 for column, limit in bounds
    )
