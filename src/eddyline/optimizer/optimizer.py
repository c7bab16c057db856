"""The optimizer: an ordered list of rules, each a plain function from plan to plan."""

from __future__ import annotations

from typing import Final

from eddyline.algebra.plan import Plan
from eddyline.optimizer.rules.flatten_unions import flatten_unions
from eddyline.optimizer.rules.merge_projects import merge_projects
from eddyline.optimizer.rules.order_joins import order_joins
from eddyline.optimizer.rules.push_filters import push_filters
from eddyline.optimizer.rules.simplify_filters import simplify_filters
from eddyline.optimizer.traversal import Rule

#: The whole pipeline, in order. After it a plan holds no Product.
RULES: Final[tuple[Rule, ...]] = (
    flatten_unions,
    push_filters,
    order_joins,
    simplify_filters,
    merge_projects,
)


#: What no plan can run without: a Product has no operator.
REQUIRED_RULES: Final[tuple[Rule, ...]] = (order_joins,)


def optimize(plan: Plan, rules: tuple[Rule, ...] = RULES) -> Plan:
    """The plan that answers the same query, rewritten by the rules in order."""
    schema = plan.schema
    for rule in rules:
        plan = rule(plan)
        assert plan.schema == schema, f"{rule.__name__} changed the schema"
    return plan
