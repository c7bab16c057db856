"""Operators of GROUP BY and DISTINCT."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from functools import partial
from typing import Final, NamedTuple

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


class _Grouping(NamedTuple):
    """What is grouped, and how; without aggregates it counts the rows of each key.

    Attributes:
        rows: the input. keys, arguments: expressions over it, of groups and of aggregates.
        retract: whether a new value of a group takes the last one back.
        by_instant: whether values are emitted by instant instead of by change.
        shown: the groups whose values are read.
    """

    rows: Plan
    keys: Sequence[Expr]
    columns: Sequence[AggregateColumn] = ()
    arguments: Sequence[Expr] = ()
    retract: bool = True
    by_instant: bool = False
    shown: ShownGroups = ALL_GROUPS


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
        arguments = [a.value for a in plan.aggregates if a.value is not None]
        by_instant = isinstance(plan, (PartialGroupBy, MergedGroupBy))
        keys = plan.keys
        return self._grouping(
            source, _Grouping(rows, keys, columns, arguments, retract, by_instant, shown)
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
            make = partial(self._grouping, source, _Grouping(plan.input, (_CONSTANT_KEY,)))
            key = "one", self._key(plan, True)
            return ProjectOperator(self._graph.obtain(key, make), [])
        columns = [ColumnRef(f.type, i, f.name) for i, f in enumerate(plan.schema)]
        return self._grouping(source, _Grouping(plan.input, columns))

    def _grouping(self, source: Operator, of: _Grouping) -> Operator:
        keys, columns = group_keys(of.keys), list(of.columns)
        shared = not of.by_instant and not any(map(can_fail, [*of.keys, *of.arguments]))
        return GroupByOperator(
            source,
            keys,
            GroupValues(keys, columns, retract=of.retract, shown=of.shown),
            self.timeline(of.rows, source, of.keys, columns, shared=shared),
            by_instant=of.by_instant,
        )
