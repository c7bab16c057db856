"""The optimizer: an ordered list of rules, each a plain function from plan to plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from eddyline.algebra.plan import Plan
from eddyline.optimizer.prices import TYPICAL, Prices
from eddyline.optimizer.rules.distinct_below_joins import distinct_below_joins
from eddyline.optimizer.rules.existence_below_groups import existence_below_groups
from eddyline.optimizer.rules.flatten_unions import flatten_unions
from eddyline.optimizer.rules.group_at_window_ends import group_at_window_ends
from eddyline.optimizer.rules.joins_below_unions import joins_below_unions
from eddyline.optimizer.rules.limit_ranks import limit_ranks
from eddyline.optimizer.rules.merge_projects import merge_projects
from eddyline.optimizer.rules.order_joins import order_joins
from eddyline.optimizer.rules.pull_up_negation import pull_up_negation
from eddyline.optimizer.rules.push_filters import push_filters
from eddyline.optimizer.rules.simplify_filters import simplify_filters
from eddyline.optimizer.statistics import UNKNOWN, Statistics
from eddyline.sql.stack import with_stack

#: A function from plan to plan; :data:`INFORMED_RULES` also take statistics and prices.
AnyRule = Callable[..., Plan]

#: The whole pipeline, in order. Its result contains no Product.
RULES: Final[tuple[AnyRule, ...]] = (
    flatten_unions,
    push_filters,
    existence_below_groups,
    order_joins,
    joins_below_unions,
    pull_up_negation,
    distinct_below_joins,
    simplify_filters,
    merge_projects,
    limit_ranks,
    group_at_window_ends,
)

#: The rules that choose by cost among plans without Products.
COST_RULES: Final[tuple[AnyRule, ...]] = (
    joins_below_unions,
    pull_up_negation,
    distinct_below_joins,
)

#: The rules that take statistics and prices.
INFORMED_RULES: Final[tuple[AnyRule, ...]] = (order_joins, *COST_RULES)

#: The rules without which a plan cannot run: no operator computes a Product.
REQUIRED_RULES: Final[tuple[AnyRule, ...]] = (order_joins,)


def optimize(
    plan: Plan,
    rules: tuple[AnyRule, ...] = RULES,
    statistics: Statistics = UNKNOWN,
    prices: Prices = TYPICAL,
) -> Plan:
    """An equivalent plan, rewritten by the rules in order."""
    return with_stack(lambda: _rewritten(plan, rules, statistics, prices))


def _rewritten(
    plan: Plan, rules: tuple[AnyRule, ...], statistics: Statistics, prices: Prices
) -> Plan:
    schema = plan.schema
    for rule in rules:
        plan = rule(plan, statistics, prices) if rule in INFORMED_RULES else rule(plan)
        assert plan.schema == schema, f"{rule.__name__} changed the schema"
    return plan
