"""Operators of GROUP BY and DISTINCT."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from functools import partial
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.algebra.expressions import ColumnRef, Expr, Literal
from eddyline.algebra.functions.fallibility import can_fail
from eddyline.algebra.patterns import Pattern
from eddyline.algebra.plan import Distinct, GroupBy, MergedGroupBy, PartialGroupBy, Plan
from eddyline.physical.compiled import aggregate_column, group_keys
from eddyline.physical.patterns import is_endless
from eddyline.physical.store_planner import StorePlanner
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.operators.distinct import Distinct as DistinctOperator
from eddyline.runtime.operators.group import GroupBy as GroupByOperator
from eddyline.runtime.operators.group_aggregates import AggregateColumn
from eddyline.runtime.operators.group_values import ALL_GROUPS, GroupValues, ShownGroups
from eddyline.runtime.operators.stateless import Project as ProjectOperator
from eddyline.runtime.stores.expiry import ExpiryStore

#: A key on which all rows agree.
_CONSTANT_KEY: Final = Literal(pa.bool_(), True)


class GroupPlanner(StorePlanner):
    """Builds operators that group rows."""

    @abstractmethod
    def _key(self, plan: Plan, probed: bool) -> Hashable:
        """What the operator of a plan is found by in the graph."""

    def _group(self, plan: GroupBy, *, retract: bool, shown: ShownGroups = ALL_GROUPS) -> Operator:
        source = self.build(plan.input, probed=not is_endless(plan.input))
        rows = plan.input
        in_order = rows.pattern <= Pattern.WKS and not rows.takes_back
        in_order &= type(plan) is GroupBy and self.expiries(rows, [np.int64]) is not None
        columns = [aggregate_column(a, in_order=in_order) for a in plan.aggregates]
        return self._grouping(
            plan.input,
            source,
            plan.keys,
            columns,
            retract=retract,
            arguments=[a.value for a in plan.aggregates if a.value is not None],
            by_instant=isinstance(plan, (PartialGroupBy, MergedGroupBy)),
            shown=shown,
        )

    def _distinct(self, plan: Distinct) -> Operator:
        if plan.input.takes_back:
            return self._counted_distinct(plan)
        return self._distinct_over(plan, self.build(plan.input))

    def _distinct_over(self, plan: Distinct, source: Operator) -> Operator:
        """Duplicate elimination of a plan whose input takes no row back."""
        types = [f.type for f in plan.schema]
        return self._delta(source, types, self.timed_expiries(plan, [np.int64] * 3))

    def _delta(
        self, source: Operator, types: Sequence[pa.DataType], expiries: ExpiryStore
    ) -> Operator:
        """Duplicate elimination over rows of which none is taken back."""
        return DistinctOperator(source, types, expiries)

    def _counted_distinct(self, plan: Distinct) -> Operator:
        """Duplicate elimination that counts the rows of each value."""
        source = self.build(plan.input, probed=not is_endless(plan.input))
        if not plan.schema:  # no keys would make the one group that exists even for no row
            make = partial(self._grouping, plan.input, source, (_CONSTANT_KEY,), [], retract=True)
            key = "one", self._key(plan, True)
            return ProjectOperator(self._graph.obtain(key, make), [])
        columns = [ColumnRef(f.type, i, f.name) for i, f in enumerate(plan.schema)]
        return self._grouping(plan.input, source, columns, [], retract=True)

    def _grouping(
        self,
        source_plan: Plan,
        source: Operator,
        keys: Sequence[Expr],
        columns: list[AggregateColumn],
        *,
        retract: bool,
        arguments: Sequence[Expr] = (),
        by_instant: bool = False,
        shown: ShownGroups = ALL_GROUPS,
    ) -> Operator:
        grouped = group_keys(keys)
        shared = not by_instant and not any(map(can_fail, [*keys, *arguments]))
        return GroupByOperator(
            source,
            grouped,
            GroupValues(grouped, columns, retract=retract, shown=shown),
            self.timeline(source_plan, source, keys, columns, shared=shared),
            by_instant=by_instant,
        )
