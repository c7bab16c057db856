"""Compute the groups of windows below a join when the windows end, not with each row."""

from __future__ import annotations

from eddyline.algebra.expressions import ColumnRef, columns_of
from eddyline.algebra.plan import (
    AntiJoin,
    Distinct,
    Filter,
    FinalRows,
    GroupBy,
    Join,
    Negation,
    Over,
    Plan,
    Product,
    Project,
    SemiJoin,
    Union,
    Windowed,
)
from eddyline.optimizer.traversal import OncePerNode, Rule


def group_at_window_ends(plan: Plan) -> Plan:
    """Of what EMIT FINAL looks at when windows end, let the groups below come only then.

    ::

        FinalRows  at window_end                 FinalRows  at window_end
          Join  a.window_end = b.window_end        Join  a.window_end = b.window_end
            GroupBy  k, window_end: COUNT    ==>     FinalRows  just before window_end
              Windowed  TUMBLE 1 MINUTE                GroupBy  k, window_end: COUNT
                ...                                      Windowed  TUMBLE 1 MINUTE
                                                           ...

    Each row changes a group, and each change would be joined. All windows below a FinalRows end
    together, or it would have been refused.
    """
    return OncePerNode(_rewritten)(plan)


def _rewritten(below: Rule, plan: Plan) -> Plan:
    if isinstance(plan, FinalRows) and not plan.in_window:
        return plan if _is_of_groups(plan) else plan.with_inputs(OncePerNode(_ended)(plan.input))
    return plan.with_inputs(*map(below, plan.inputs))


def _is_of_groups(plan: FinalRows) -> bool:
    """Whether it is of nothing but groups of windows, which are computed when these end anyway."""
    below = plan.input
    while isinstance(below, (Filter, Project)):
        below = below.input
    return isinstance(below, GroupBy) and isinstance(below.input, Windowed)


def _ended(below: Rule, plan: Plan) -> Plan:
    match plan:
        case GroupBy() if isinstance(plan.input, Windowed):
            end = _end_of(plan, plan.input) if type(plan) is GroupBy else None
            return plan if end is None else FinalRows(plan, end, in_window=True)
        case Filter() | Project() | GroupBy() | Distinct() | Product() | Join() | Union() | Over():
            return plan.with_inputs(*map(below, plan.inputs))
        case SemiJoin() | AntiJoin() | Negation():  # windows on the right may end at other times
            return plan.with_inputs(below(plan.left), plan.right)
    return plan


def _end_of(plan: GroupBy, windowed: Windowed) -> int | None:
    """The key that is the end of the windows; None if something computes with their columns."""
    window = (windowed.start, windowed.start + 1)
    places = [i for i, k in enumerate(plan.keys) if _is_column(k, window[1])]
    computed = [k for k in plan.keys if not any(_is_column(k, c) for c in window)]
    computed += [a.value for a in plan.aggregates if a.value is not None]
    if any(columns_of(e) & set(window) for e in computed):
        return None
    return places[0] if places else None


def _is_column(expr: object, index: int) -> bool:
    return isinstance(expr, ColumnRef) and expr.index == index
