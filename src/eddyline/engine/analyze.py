"""EXPLAIN ANALYZE: the operators that run a query, with what was counted so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eddyline.engine.execution.subscriptions import FlowSubscription, Subscription
from eddyline.engine.explain import busy
from eddyline.runtime.eddy.eddy_flow import EddyFlow
from eddyline.runtime.graph import in_order
from eddyline.runtime.operators.base import Operator


def analyzed(subscription: Subscription, why: str) -> list[str]:
    """The lines behind the text of EXPLAIN; ``why``: the reason for the query's placement."""
    operators = in_order([subscription.operator])
    lines = [f"{'operator':<12}{'rows in':>14}{'rows out':>14}{'rows kept':>14}"]
    gates = []
    for operator in operators:
        stats = operator.stats()
        del stats["seconds"]
        gates += stats.pop("feedback", [])
        stats.pop("mns_by_level", None)
        stats.pop("bloom_filters", None)
        name, *counts = stats.values()
        lines.append(f"{name:<12}" + "".join(f"{c:>14,}" for c in counts))
    placement = f"{_placement(subscription)}: {why}"
    more = (*_stores(operators), *_answer(subscription), *_feedback(gates))
    return [*busy(operators), "", placement, "", *lines, *more, *_filters(subscription)]


def _stores(operators: Sequence[Operator]) -> list[str]:
    """Where the operators that keep rows keep them."""
    lines = [f"{type(o).__name__:<12}{o.kept_in}" for o in operators if o.kept_in]
    return ["", f"{'operator':<12}keeps rows in", *lines] if lines else []


def _answer(subscription: Subscription) -> list[str]:
    """Where the answer is kept, if that is not an operator."""
    view = subscription.view
    if view is None:
        return []
    return [
        "",
        f"answer: among {len(view):,} results of {view.members:,} queries in {view.kept_in}",
    ]


def _placement(subscription: Subscription) -> str:
    if not isinstance(subscription, FlowSubscription):
        return "runs as a tree"
    flow = subscription.shared.flow
    members = flow.eddy.members if isinstance(flow, EddyFlow) else flow.members
    others = members - len(subscription.bits)
    grouped = subscription.grouped
    with_it = (
        "" if grouped is None else f" ({grouped - 1:,} of them read the same operators above it)"
    )
    return f"runs in an eddy, with {others:,} other queries{with_it}"


def _filters(subscription: Subscription) -> list[str]:
    """The grouped filters of a flow."""
    filters = () if subscription.shared is None else subscription.shared.flow.filters
    if not filters:
        return []
    head = f"{'grouped filter':<26}{'predicates':>14}{'rows in':>14}{'rows out':>14}"
    return ["", head] + [
        f"{f.name[:25]:<26}{f.predicates:>14,}{f.visited:>14,}{f.returned:>14,}" for f in filters
    ]


def _feedback(gates: Sequence[Mapping[str, Any]]) -> list[str]:
    """The rows that are suspended until a consumer needs them."""
    if not gates:
        return []
    counters = ("asked", "refused", "resumed", "waiting", "waited_for")
    heads = ("asked", "refused", "resumed", "waiting", "for keys")
    lines = ["", f"{'feedback: rows of':<26}{'to join':<26}" + "".join(f"{h:>12}" for h in heads)]
    for gate in gates:
        names = f"{gate['rows_of'][:25]:<26}{gate['joined_with'][:25]:<26}"
        lines.append(names + "".join(f"{gate[c]:>12,}" for c in counters))
    return lines
