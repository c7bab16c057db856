"""The operators above a flow, of which the output is read by nothing but the result tables of the
queries: groups are emitted only if HAVING accepts them, and for EMIT SNAPSHOT once per period.
"""

from __future__ import annotations

from eddyline.algebra.catalog import Emit
from eddyline.algebra.expressions import columns_of, conjunction, conjuncts
from eddyline.algebra.functions.fallibility import can_fail
from eddyline.algebra.plan import Filter, GroupBy, Plan
from eddyline.physical.expressions import compile_predicate
from eddyline.physical.node_planner import StemOf
from eddyline.physical.planner import Planner
from eddyline.physical.strategy import Strategy
from eddyline.runtime.graph import Graph, in_order
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.operators.filter import Filter as FilterOperator
from eddyline.runtime.operators.group_values import ALL_GROUPS, ShownGroups


def operators_above(plan: Plan, emit: Emit, stem_of: StemOf, strategy: Strategy) -> list[Operator]:
    """The operators of a plan over SharedRows, from there upwards; in no other graph.

    Each of them has one input.
    """
    return in_order([_Planner(emit, stem_of, strategy).query(plan, emit)])[1:]


class _Planner(Planner):
    def __init__(self, emit: Emit, stem_of: StemOf, strategy: Strategy) -> None:
        super().__init__(Graph(), stem_of, strategy)
        self._period = (emit.every_us or 0, emit.offset_us) if emit.is_periodic else (0, 0)

    def _make(self, plan: Plan, probed: bool) -> Operator:
        if isinstance(plan, Filter) and type(plan.input) is GroupBy:
            return self._filtered_groups(plan, plan.input)
        return super()._make(plan, probed)

    def _filtered_groups(self, plan: Filter, group: GroupBy) -> Operator:
        """Groups that HAVING accepts; terms that read keys, or can fail, are applied above."""
        terms = conjuncts(plan.predicate)
        own = [
            t for t in terms if not can_fail(t) and min(columns_of(t), default=0) >= len(group.keys)
        ]
        condition = conjunction(tuple(own))
        having = None if condition is None else compile_predicate(condition)
        shown = ShownGroups(having)
        rest = conjunction(tuple(t for t in terms if t not in own))
        if rest is None:
            return self._group(group, retract=True, shown=shown)
        groups = self._graph.obtain(
            ("shown", group), lambda: self._group(group, retract=True, shown=shown)
        )
        return FilterOperator(groups, compile_predicate(rest))

    def _group(self, plan: GroupBy, *, retract: bool, shown: ShownGroups = ALL_GROUPS) -> Operator:
        shown = ShownGroups(shown.having, *self._period)
        return super()._group(plan, retract=retract, shown=shown)
