"""Let OVER show only rows that a condition on their rank lets pass."""

from __future__ import annotations

from dataclasses import replace

from eddyline.algebra.expressions import columns_of, conjuncts
from eddyline.algebra.nodes.over import RANKS
from eddyline.algebra.plan import Filter, Over, Plan, Project, filtered
from eddyline.algebra.rank_bounds import upper_bound
from eddyline.optimizer.traversal import OncePerNode, Rule


def limit_ranks(plan: Plan) -> Plan:
    """Turn ``rank <= n`` above OVER into its limit, so that rows behind the first ones cost little.

    ::

        Filter  (row_number() <= 3)                      Over  PARTITION BY k: row_number() <= 3
          Over  PARTITION BY k: row_number()     ==>       ...
            ...

    ``rank < n`` and ``rank = 1`` alike. A rank that nothing above reads is not reported.
    """
    return OncePerNode(_rewritten)(plan)


def _rewritten(below: Rule, plan: Plan) -> Plan:
    plan = plan.with_inputs(*map(below, plan.inputs))
    if isinstance(plan, Filter) and isinstance(plan.input, Over) and not plan.input.limit:
        return _limited(plan, plan.input)
    if isinstance(plan, Project) and isinstance(plan.input, Over):
        return _silent(plan, plan.input)
    return plan


def _limited(plan: Filter, over: Over) -> Plan:
    width = len(over.input.schema) + len(over.frames)
    for term in conjuncts(plan.predicate):
        found = upper_bound(term)
        if found is None or found[0] < width:
            continue
        place, limit = found[0] - width, found[1]
        if over.frames or over.functions[place].function not in RANKS or limit < 1:
            continue
        if place:  # the rank is the first function
            continue
        rest = [t for t in conjuncts(plan.predicate) if t is not term]
        return filtered(replace(over, limit=limit), rest)
    return plan


def _silent(plan: Project, over: Over) -> Plan:
    rank = len(over.input.schema)
    if not over.limit or over.silent or any(rank in columns_of(e) for e in plan.exprs):
        return plan
    return plan.with_inputs(replace(over, silent=True))
