"""The NEGATIVE TUPLE strategy: every row leaves by a '-', also when it expires.

Each time window emits a '-' for a row that expires, and each operator finds the row by key. So no
operator keeps rows in the order of their expiry.

Source: Golab and Ozsu 2005, section 2.3.1.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from eddyline.algebra.catalog import Emit
from eddyline.algebra.plan import (
    AsofJoin,
    Distinct,
    FinalRows,
    Join,
    Lookup,
    Plan,
    StreamScan,
    TableScan,
    Windowed,
)
from eddyline.algebra.windows import Range
from eddyline.physical.node_planner import StemOf
from eddyline.physical.patterns import base_scan, row_ids_of
from eddyline.physical.planner import Planner
from eddyline.physical.strategy import Strategy, decides_by_matches
from eddyline.runtime.batch import Evaluator
from eddyline.runtime.graph import Graph
from eddyline.runtime.join_inputs.join_input import InputRows
from eddyline.runtime.join_inputs.table_input import TableInput
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.operators.explicit_join import ExplicitJoin
from eddyline.runtime.operators.join import Join as JoinOperator
from eddyline.runtime.operators.windowed import RepeatedIds
from eddyline.runtime.stores.expiry import ExpiryStore
from eddyline.runtime.stores.table import TableStem


class NegativeTuplePlanner(Planner):
    """Builds operators whose rows leave by '-' alone."""

    _join_operator = ExplicitJoin

    def __init__(self, graph: Graph, stem_of: StemOf, strategy: Strategy) -> None:
        super().__init__(graph, stem_of, replace(strategy, feedback="off"))
        self._timed = Planner(graph, stem_of, strategy)

    def build(self, plan: Plan, *, probed: bool = False) -> Operator:
        """The operator of a plan; windows are timed operators that emit a '-' per expiry."""
        if not self._begins(plan):
            return super().build(plan, probed=probed)
        source = self._timed.build(plan, probed=True)
        width = row_ids_of(plan).width
        if row_ids_of(plan).stored:
            return self.with_expiries(plan, source, width)
        source, stored_width = self._output_stored(plan, source)
        expiring = self.with_expiries(plan, source, stored_width)
        return self._graph.obtain(("ids", expiring), partial(RepeatedIds, expiring, width))

    def _begins(self, plan: Plan) -> bool:
        """Whether a '-' per expiry is added to the rows of the plan's timed operator."""
        if isinstance(plan, (Windowed, AsofJoin)):
            return True
        if isinstance(plan, FinalRows):
            return plan.in_window
        return isinstance(plan, StreamScan) and isinstance(plan.window, Range)

    def _rows_of_windows(self, plan: Plan) -> Operator:
        return self._timed.build(plan)

    def _with_every_expiry(self, plan: Plan) -> Operator:
        return self.build(plan, probed=True)

    def _key(self, plan: Plan, probed: bool) -> Hashable:
        return "negative tuples", plan, probed

    def _inserts(self, plan: Plan) -> Operator:
        source = self._replacing(plan)
        if self.is_materialised(plan):
            source, _ = self._answer(plan, *self._output_stored(plan, source))
        return self._without_expiries(source)

    def _answer(self, plan: Plan, source: Operator, width: int) -> tuple[Operator, bool]:
        if not self.is_materialised(plan):
            return source, True
        return self._keyed_answer(source, width), True

    def _enriched(self, plan: Lookup, probed: bool, left: Operator) -> Operator:
        return super()._enriched(plan, True, left)

    def _table_input(
        self, table: TableStem, keys: Sequence[Evaluator], remember: int
    ) -> TableInput:
        return TableInput(table, keys, remember=remember, history=True)

    def _input_rows(self, plan: Plan, source: Operator) -> InputRows:
        if isinstance(base_scan(plan), TableScan):
            return super()._input_rows(plan, source)
        return self._result_rows(plan, explicit=True)

    def _distinct(self, plan: Distinct) -> Operator:
        return self._counted_distinct(plan)

    def expiries(self, plan: Plan, dtypes: Sequence[Any]) -> ExpiryStore | None:
        return None


class _AboveNegation(NegativeTuplePlanner):
    """Builds the operators above negations and existence tests, whose rows leave by '-' alone."""

    def _begins(self, plan: Plan) -> bool:
        return super()._begins(plan) or decides_by_matches(plan)


class MixedPlanner(Planner):
    """UPA, but with negative tuples above a negation of which many results are taken back early.

    Source: Golab and Ozsu 2005, section 5.4.3.
    """

    def __init__(self, graph: Graph, stem_of: StemOf, strategy: Strategy) -> None:
        super().__init__(graph, stem_of, strategy)
        self._above_negation = _AboveNegation(graph, stem_of, strategy)

    def query(self, plan: Plan, emit: Emit, *, all_changes: bool | None = None) -> Operator:
        if self._strategy.explicit_above_negation(plan):
            return self._above_negation.query(plan, emit, all_changes=all_changes)
        return super().query(plan, emit, all_changes=all_changes)

    def reads_all_changes(self, plan: Plan) -> bool:
        if self._strategy.explicit_above_negation(plan):
            return self._above_negation.reads_all_changes(plan)
        return super().reads_all_changes(plan)

    def join(self, plan: Join) -> JoinOperator | None:
        return super().join(plan) or self._above_negation.join(plan)
