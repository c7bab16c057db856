"""One Filter instead of several, without the terms that say nothing."""

from __future__ import annotations

from eddyline.algebra.expressions import Call, Expr, Literal, conjuncts
from eddyline.algebra.functions.fallibility import can_fail
from eddyline.algebra.plan import Filter, Plan, filtered
from eddyline.optimizer.traversal import bottom_up


def simplify_filters(plan: Plan) -> Plan:
    """Merge adjacent Filters; drop TRUE and duplicate terms, and Filters without terms."""
    return bottom_up(plan, _simplified)


def _simplified(plan: Plan) -> Plan:
    if not isinstance(plan, Filter):
        return plan
    below: tuple[Expr, ...] = ()
    input_ = plan.input
    if isinstance(input_, Filter):
        below, input_ = conjuncts(input_.predicate), input_.input
    terms = dict.fromkeys((*below, *conjuncts(plan.predicate)))  # in order, each once
    return filtered(input_, [t for t in terms if not _is_true(t)])


def _is_true(expr: Expr) -> bool:
    """Whether a term is TRUE for every row: also as part of OR, if no other part can fail."""
    if isinstance(expr, Call) and expr.function == "or":
        return any(map(_is_true, expr.args)) and not can_fail(expr)
    return isinstance(expr, Literal) and expr.value is True
