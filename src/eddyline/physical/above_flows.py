"""The operators above a flow, of which the output is read by nothing but the result tables of the
queries: groups are emitted only if HAVING accepts them, and for EMIT SNAPSHOT once per period.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import pyarrow.types as pt

from eddyline.algebra.catalog import Emit
from eddyline.algebra.expressions import (
    Call,
    ColumnRef,
    Expr,
    Parameter,
    columns_of,
    conjunction,
    conjuncts,
)
from eddyline.algebra.functions.fallibility import can_fail
from eddyline.algebra.plan import (
    AntiJoin,
    Filter,
    GroupBy,
    MatchedRows,
    Plan,
    Project,
    SemiJoin,
    SharedRows,
)
from eddyline.physical.compiled import aggregate_column, group_keys, with_row
from eddyline.physical.expressions import compile_predicate
from eddyline.physical.node_planner import StemOf
from eddyline.physical.patterns import row_ids_of
from eddyline.physical.planner import Planner
from eddyline.physical.strategy import Strategy
from eddyline.runtime.aggregates.base import ByRow
from eddyline.runtime.batch import Evaluator
from eddyline.runtime.constants import Constants
from eddyline.runtime.eddy.filter_flow import FilterFlow
from eddyline.runtime.eddy.flow import Flow
from eddyline.runtime.eddy.numbered_matching import NumberedMatching
from eddyline.runtime.eddy.right_rows import RightRows
from eddyline.runtime.eddy.shared_groups import Comparison, Kind, SharedGroups
from eddyline.runtime.eddy.shared_matching import SharedMatching
from eddyline.runtime.eddy.shared_outer_join import SharedOuterJoin
from eddyline.runtime.eddy.shared_snapshots import SharedSnapshots
from eddyline.runtime.eddy.takes_flow import TakesFlow
from eddyline.runtime.graph import Graph, in_order
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.operators.group_values import ALL_GROUPS, GroupValues, ShownGroups
from eddyline.runtime.operators.spool import Spool
from eddyline.runtime.operators.stateless import Filter as FilterOperator
from eddyline.runtime.operators.supplied_input import SuppliedInput


@dataclass(frozen=True, slots=True)
class SharedSource:
    """What operators above a flow are made over.

    Attributes:
        outputs: the columns of SharedRows behind the number of the query.
        constants: the values of Parameters, by that number.
        replaces: whether a new row of a group replaces its previous one, which is not taken back.
        is_late: whether there are other columns, that are computed for each query.
        rights: the right rows of what matches with a stream, in windows of each query.
        others: which input supplies the right rows of EXISTS above a grouping: by the EXISTS, if
            they are those of ``rights``, else by their plan.
    """

    flow: Flow
    outputs: Sequence[int | Evaluator]
    constants: Constants
    replaces: bool
    is_late: bool
    rights: Mapping[Plan, RightRows]
    others: Mapping[Plan, int]


def operators_above(
    plan: Plan,
    emit: Emit,
    stem_of: StemOf,
    strategy: Strategy,
    source: SharedSource,
    groups: TakesFlow | None = None,
) -> list[Operator]:
    """The operators of a plan over SharedRows, from there upwards; in no other graph.

    The first input of each is the one before it; others are those of ``source``.

    Args:
        groups: the lowest operator, if it was made before; the others are new.
    """
    top = _Planner(emit, stem_of, strategy, source, groups).query(plan, emit)
    return [o for o in in_order([top]) if not isinstance(o, SuppliedInput)]


class _Planner(Planner):
    def __init__(
        self,
        emit: Emit,
        stem_of: StemOf,
        strategy: Strategy,
        source: SharedSource,
        groups: TakesFlow | None,
    ) -> None:
        super().__init__(Graph(), stem_of, strategy)
        self._period = (emit.every_us or 0, emit.offset_us) if emit.is_periodic else (0, 0)
        self._source = source
        self._groups = groups
        self._at_ticks: Plan | None = None

    def build(self, plan: Plan, *, probed: bool = False) -> Operator:
        place = self._source.others.get(plan)
        if place is None or isinstance(plan, (SemiJoin, AntiJoin)):
            return super().build(plan, probed=probed)
        return self._supplied(place)

    def _supplied(self, place: int) -> Operator:
        return self._graph.obtain(("supplied", place), partial(SuppliedInput, place))

    def query(self, plan: Plan, emit: Emit, *, all_changes: bool | None = None) -> Operator:
        if emit.is_periodic:
            below = plan
            while isinstance(below, (Filter, Project)):
                below = below.input
            self._at_ticks = below  # nothing reads it in between
            top = self.build(plan, probed=True)
            if any(isinstance(o, SharedSnapshots) for o in in_order([top])):
                return top
        # groups report what their period asks for
        return super().query(plan, emit, all_changes=True)

    def _answer(self, plan: Plan, source: Operator, width: int) -> tuple[Operator, bool]:
        if isinstance(source, Spool):  # its rows are the answer
            return source, False
        return super()._answer(plan, source, width)

    def longest_life(self, plan: Plan) -> int | None:
        return None  # queries with longer windows may come

    def _replacing(self, plan: Plan) -> Operator:
        return super()._replacing(plan) if self._source.replaces else self.build(plan)

    def _make(self, plan: Plan, probed: bool) -> Operator:
        if isinstance(plan, MatchedRows):
            return self._matched(plan)
        if isinstance(plan, (SemiJoin, AntiJoin)) and plan in self._source.rights:
            return self._numbered_matching(plan)
        if isinstance(plan, Filter) and type(plan.input) is GroupBy:
            return self._filtered_groups(plan, plan.input)
        return super()._make(plan, probed)

    def _matched(self, plan: MatchedRows) -> Operator:
        source, flow = self._source, self._source.flow
        assert isinstance(flow, FilterFlow), "made for such a plan"
        if self._groups is None:
            rows = flow, source.outputs, source.rights[plan]
            if plan.joined:
                self._groups = SharedOuterJoin(*rows)
            else:
                self._groups = SharedMatching(*rows, shows_matched=plan.shows_matched)
        return self._groups

    def _numbered_matching(self, plan: SemiJoin | AntiJoin) -> Operator:
        return NumberedMatching(
            self._stored(plan.left),
            self._supplied(self._source.others[plan]),
            self._source.rights[plan],
            width=row_ids_of(plan.left).stored_width,
            takes_back=plan.left.takes_back,
            shows_matched=isinstance(plan, SemiJoin),
        )

    def _filtered_groups(self, plan: Filter, group: GroupBy) -> Operator:
        """Groups that HAVING accepts; terms that read keys, or can fail, are applied above."""
        terms = conjuncts(plan.predicate)
        own = [
            t for t in terms if not can_fail(t) and min(columns_of(t), default=0) >= len(group.keys)
        ]
        condition = conjunction(with_row(own, len(group.schema)))
        having = None if condition is None else compile_predicate(condition)
        constants = self._source.constants if self._source.constants.types else None
        shown = ShownGroups(having, constants)
        make = partial(self._shown_groups, group, shown, own)
        rest = conjunction(tuple(t for t in terms if t not in own))
        if rest is None:
            return make()
        return FilterOperator(self._graph.obtain(("shown", group), make), compile_predicate(rest))

    def _group(self, plan: GroupBy, *, retract: bool, shown: ShownGroups = ALL_GROUPS) -> Operator:
        return self._shown_groups(plan, shown, (), retract=retract)

    def _shown_groups(
        self, plan: GroupBy, shown: ShownGroups, having: Sequence[Expr], *, retract: bool = True
    ) -> Operator:
        """The operator of GROUP BY; ``having``: terms that are true of what is shown."""
        shown = ShownGroups(shown.having, shown.constants, *self._period)
        flow = self._source.flow
        columns = [aggregate_column(a, in_order=True) for a in plan.aggregates]
        if not (
            type(plan.input) is SharedRows
            and isinstance(flow, FilterFlow)
            and flow.has_windows
            and not self._source.is_late
            and all(isinstance(c.aggregate, ByRow) for c in columns)
        ):
            return super()._group(plan, retract=retract, shown=shown)
        if self._groups is None:
            keys = group_keys(plan.keys)
            values = GroupValues(keys, columns, retract=retract, shown=shown)
            if plan is self._at_ticks:
                rows = flow, self._source.outputs
                self._groups = SharedSnapshots(*rows, keys, values, *self._period)
                return self._groups
            compared = comparison_of(having, plan, self._source.constants)
            self._groups = SharedGroups(flow, self._source.outputs, keys, values, compared)
        return self._groups


#: By comparison: whether it holds of values above the constant.
_ABOVE: Final = {">": True, ">=": True, "<": False, "<=": False}
_KINDS: Final[dict[str, Kind]] = {
    **dict.fromkeys(("sum", "try_sum"), "sum"),
    **dict.fromkeys(("avg", "try_avg"), "mean"),
    "count": "count",
}


def comparison_of(terms: Sequence[Expr], plan: GroupBy, constants: Constants) -> Comparison | None:
    """A term that compares a sum, mean or count with a constant; None if there is none."""
    for term in terms:
        if not (isinstance(term, Call) and term.function in _ABOVE):
            continue
        value, bound = term.arguments
        above = _ABOVE[term.function]
        if isinstance(value, Parameter):
            value, bound, above = bound, value, not above
        if isinstance(value, Call) and value.function == "cast" and pt.is_floating(value.type):
            (value,) = value.arguments  # of a number, then: the difference is rounding
        if not (isinstance(value, ColumnRef) and isinstance(bound, Parameter)):
            continue
        column = value.index - len(plan.keys)
        kind = _KINDS.get(plan.aggregates[column].function)
        if kind is not None:
            return Comparison(column, kind, above, constants, bound.index)
    return None
