"""Operators of plan nodes: one function per kind of node (:meth:`NodePlanner._make`)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, assert_never
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa

from eddyline.algebra.patterns import Pattern
from eddyline.algebra.plan import (
    Admitted,
    AntiJoin,
    AsofJoin,
    Distinct,
    Filter,
    FinalRows,
    GroupBy,
    Join,
    Lookup,
    LookupAntiJoin,
    LookupJoin,
    LookupSemiJoin,
    MatchRecognize,
    Negation,
    Over,
    Plan,
    Product,
    Project,
    RunningOver,
    SemiJoin,
    SessionGroups,
    SessionRows,
    SharedRows,
    StreamScan,
    TableScan,
    Union,
    Unnest,
    Windowed,
    join,
    sealed,
)
from eddyline.kernels import matching
from eddyline.physical.asof_forms import asof_form
from eddyline.physical.clauses import screen_of
from eddyline.physical.compiled import (
    output,
    residual,
    row_id,
    scan_below,
    stem_window,
)
from eddyline.physical.evictions import evicting_scans, without_evictions
from eddyline.physical.expressions import compile_expr, compile_predicate
from eddyline.physical.feedback.relay import relayed
from eddyline.physical.feedback.tree import FeedbackTree, feeds_back, takes_feedback
from eddyline.physical.group_planner import GroupPlanner
from eddyline.physical.match_recognize import matching as compiled_matching
from eddyline.physical.over import framed_of, partitions_of
from eddyline.physical.patterns import base_scan, is_endless, passes_rows, row_ids_of
from eddyline.physical.running_over import running_form
from eddyline.physical.session_groups import session_form, session_grouping
from eddyline.physical.strategy import JoinTreeBuilder, Strategy, TreeInputs
from eddyline.physical.window_groups import window_groups
from eddyline.runtime.batch import Evaluator
from eddyline.runtime.graph import Graph
from eddyline.runtime.join_inputs.evictions import EvictedResults, EvictingWindow
from eddyline.runtime.join_inputs.join_input import InputRows, JoinInput, StemRows
from eddyline.runtime.join_inputs.table_input import StaticInput, TableInput
from eddyline.runtime.operators.asof import AsofJoin as AsofOperator
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.operators.first_rows import FirstRows
from eddyline.runtime.operators.join import Join as JoinOperator
from eddyline.runtime.operators.lookup import Kind
from eddyline.runtime.operators.lookup import Lookup as LookupOperator
from eddyline.runtime.operators.match_recognize import MatchRecognize as MatchOperator
from eddyline.runtime.operators.matching import Matching, MatchInput, MatchKeys
from eddyline.runtime.operators.over import Over as OverOperator
from eddyline.runtime.operators.over_frames import OverFrames
from eddyline.runtime.operators.row_conditions import RowConditions
from eddyline.runtime.operators.running_over import RunningOver as RunningOperator
from eddyline.runtime.operators.session_group import SessionGroup
from eddyline.runtime.operators.session_rows import SessionRows as SessionRowsOperator
from eddyline.runtime.operators.spool import Spool
from eddyline.runtime.operators.stateless import Filter as FilterOperator
from eddyline.runtime.operators.stateless import Project as ProjectOperator
from eddyline.runtime.operators.stateless import Scan
from eddyline.runtime.operators.stateless import TableScan as TableScanOperator
from eddyline.runtime.operators.supplied_input import SuppliedInput
from eddyline.runtime.operators.union import Union as UnionOperator
from eddyline.runtime.operators.unnest import Unnest as UnnestOperator
from eddyline.runtime.operators.window_group import WindowGroup
from eddyline.runtime.operators.windowed import Final as FinalOperator
from eddyline.runtime.operators.windowed import LastInstant
from eddyline.runtime.operators.windowed import Windowed as WindowedOperator
from eddyline.runtime.stores.intermediates import ResultRows
from eddyline.runtime.stores.stem import EndlessWindow, Stem
from eddyline.runtime.stores.table import TableStem
from eddyline.types import FOREVER

#: The SteM of a stream or table, by its name.
StemOf = Callable[[str], Stem]

_RULES: Final = {Negation: matching.NEGATION, SemiJoin: matching.SEMI, AntiJoin: matching.ANTI}
_LOOKUPS: Final[dict[type[Plan], Kind]] = {
    LookupJoin: "inner",
    LookupSemiJoin: "semi",
    LookupAntiJoin: "anti",
}


class NodePlanner(GroupPlanner):
    """Builds operators of plan nodes into a graph; equal sub-plans share one operator."""

    _join_operator: type[JoinOperator] = JoinOperator

    def __init__(self, graph: Graph, stem_of: StemOf, strategy: Strategy) -> None:
        super().__init__(graph, strategy)
        self._stem_of = stem_of
        self._relayed: WeakKeyDictionary[Plan, Plan] = WeakKeyDictionary()  # inputs, as they run

    # -- plan nodes ----------------------------------------------------

    def build(self, plan: Plan, *, probed: bool = False) -> Operator:
        """The operator of a plan; ``probed``: its rows will be probed while they are alive."""
        if isinstance(plan, FinalRows):
            return self._final(plan)
        probed = probed or not passes_rows(plan)  # others keep what they need: one for all queries
        return self._graph.obtain(self._key(plan, probed), partial(self._make, plan, probed))

    def _key(self, plan: Plan, probed: bool) -> Hashable:
        """The key in the graph of a plan's operator."""
        return plan, probed

    def _make(self, plan: Plan, probed: bool) -> Operator:
        node = sealed(plan)
        match node:
            case StreamScan():
                return self._scan(node, probed)
            case TableScan():
                return self._table_scan(node)
            case SharedRows():
                return SuppliedInput()
            case Admitted():
                return self._admitted(node)
            case Filter() | Project():
                return self._above(node, self.build(node.input, probed=probed))
            case Unnest():
                return UnnestOperator(
                    self.build(node.input, probed=probed),
                    compile_expr(node.listed),
                    node.fields,
                    outer=node.outer,
                    numbered=node.numbered,
                )
            case Windowed():
                return WindowedOperator(self.build(node.input), node.windows)
            case LookupJoin() | LookupSemiJoin() | LookupAntiJoin():
                return self._lookup(node, probed)
            case Join():
                return self._join(node)
            case Negation() | SemiJoin() | AntiJoin():
                return self._matching(node)
            case AsofJoin():
                return self._asof(node, probed)
            case Union():
                return UnionOperator([self.build(p, probed=not is_endless(p)) for p in node.parts])
            case GroupBy():
                return self._group(node, retract=True)
            case SessionGroups():
                return SessionGroup(self._rows_of_windows(node.input), session_grouping(node))
            case SessionRows():
                return SessionRowsOperator(self._rows_of_windows(node.input), session_form(node))
            case Over():
                return self._over(node)
            case RunningOver():
                return RunningOperator(self._rows_of_windows(node.input), running_form(node))
            case MatchRecognize():
                source = self._rows_of_windows(node.input)
                shared = self._graph.obtain(
                    ("row conditions", source), partial(RowConditions, source)
                )
                assert isinstance(shared, RowConditions), "the key of row conditions"
                return MatchOperator(shared, compiled_matching(node))
            case Distinct():
                return self._distinct(node)
            case Product():
                raise AssertionError("the optimizer makes joins of products")
            case FinalRows():
                raise AssertionError("it is built of several operators")
        assert_never(node)

    def _above(self, plan: Filter | Project, source: Operator) -> Operator:
        """The operator of a plan over that of its input."""
        if isinstance(plan, Project):
            return ProjectOperator(source, [output(e) for e in plan.exprs])
        screen = screen_of(plan.predicate) if type(plan.input) is GroupBy else None
        return FilterOperator(source, compile_predicate(plan.predicate), screen)

    def _scan(self, node: StreamScan, probed: bool) -> Operator:
        stem, key = self._stem_of(node.stream), (str(node.window), probed)
        window = stem.open_window(key, partial(stem_window, node, stem, probed))
        return Scan(stem, window, key, evicts=node.evicts)

    def _final(self, plan: FinalRows) -> Operator:
        """Operators of several Finals share the groups of their windows."""
        found = window_groups(plan)
        if found is None:
            at_end = replace(plan, in_window=False)
            make = partial(FinalOperator, self._with_every_expiry(plan.input), plan.end)
            return self._in_window(plan, self._graph.obtain(("final", at_end), make))
        source = self._rows_of_windows(found.windowed.input)
        made = partial(WindowGroup, source, found.windowed.windows, found.grouping)
        operator = self._graph.obtain(("window groups", found.group), made)
        operator = self._in_window(plan, operator)
        for step in found.above:
            if isinstance(step, Filter):
                above = partial(FilterOperator, operator, compile_predicate(step.predicate))
                operator = self._graph.obtain(("final", step), above)
            else:
                project = partial(ProjectOperator, operator, [output(e) for e in step.exprs])
                operator = self._graph.obtain(("final", step), project)
        return operator

    def _in_window(self, plan: FinalRows, operator: Operator) -> Operator:
        if not plan.in_window:
            return operator
        return self._graph.obtain(("last instant", operator), partial(LastInstant, operator))

    def _rows_of_windows(self, plan: Plan) -> Operator:
        """The operator of a plan whose rows windows get; it has no '-'."""
        return self.build(plan)

    def _with_every_expiry(self, plan: Plan) -> Operator:
        """The operator of a plan with a '-' for every row that leaves it."""
        source, width = self._output_stored(plan, self.build(plan, probed=True))
        return self.with_expiries(plan, source, width)

    def _table_scan(self, plan: TableScan) -> Operator:
        stem = self._stem_of(plan.table)
        if isinstance(stem, TableStem):
            return TableScanOperator(stem, deletions=plan.updates == "retroactive")
        return Scan(stem, stem.open_window("all", partial(EndlessWindow, keep=True)), "all")

    def _asof(self, plan: AsofJoin, probed: bool) -> Operator:
        left, right = (self._rows_of_windows(p) for p in plan.inputs)
        form, lazy_us = asof_form(plan), self._strategy.lazy_us
        operator = self._graph.obtain(("asof", plan), partial(AsofOperator, left, right, form))
        make = partial(
            Spool,
            operator,
            plan.schema,
            form.width,
            lazy_us,
            strict=plan.takes_back,
            keep=probed,
        )
        return self._graph.obtain(("spool", operator, probed), make)

    def _lookup(self, plan: Lookup, probed: bool) -> Operator:
        make = partial(self._enriched, plan, probed)
        if feeds_back(plan, self._strategy):
            assert not isinstance(plan, LookupAntiJoin), "it reads rows without a match"
            return self._feedback_tree(plan).looking_up(make)
        return make(self.build(plan.left, probed=probed))

    def _enriched(self, plan: Lookup, probed: bool, left: Operator) -> Operator:
        left_keys, right_keys = ([compile_expr(p[i]) for p in plan.keys] for i in (0, 1))
        right = self.build(plan.right)
        table = self._stem_of(plan.table.table)
        rows: StaticInput | TableInput
        if isinstance(table, TableStem):
            assert not plan.left.takes_back, "an NRR is not joined with a strict input"
            rows = self._table_input(table, right_keys, _remembered_us(plan.left) if probed else 0)
        else:
            rows = StaticInput(table, right_keys)
        if not plan.is_static and not row_ids_of(plan.left).stored:
            left = self._spooled(plan.left, left, keep=probed)
        return LookupOperator(left, right, left_keys, rows, residual(plan), _LOOKUPS[type(plan)])

    def _table_input(
        self, table: TableStem, keys: Sequence[Evaluator], remember: int
    ) -> TableInput:
        return TableInput(table, keys, remember=remember, history=False)

    def _join(self, plan: Join) -> Operator:
        tree = without_evictions(plan) if plan.takes_back and self._may_evict else plan
        if isinstance(tree, Join) and takes_feedback(tree, self._strategy):
            return self._feedback_tree(tree).join()
        needed = relayed(plan, self._strategy)
        self._relayed.update(zip(plan.inputs, needed.inputs, strict=True))
        plan = needed
        keys = ([k for k, _ in plan.keys], [k for _, k in plan.keys])
        sources = [self._stored(p) for p in plan.inputs]
        scanned = self._strategy.nested_loops
        left, right = (
            JoinInput(self._input_rows(p, source), [compile_expr(k) for k in ks], scanned=scanned)
            for p, source, ks in zip(plan.inputs, sources, keys, strict=True)
        )
        return self._join_operator(sources[0], sources[1], (left, right), residual(plan))

    @property
    def _may_evict(self) -> bool:
        """Whether feedback knows rows that are evicted: pairs are kept by the expiry of rows."""
        return self._strategy.feedback_form is None and not self._strategy.combinations

    def _admitted(self, plan: Admitted) -> Operator:
        scans = [self.build(scan, probed=True) for scan in plan.beside]
        return self._feedback_tree(plan).admitted(scans)

    def _feedback_tree(self, plan: Join | LookupSemiJoin | Admitted) -> JoinTreeBuilder:
        form = self._strategy.feedback_form
        make = FeedbackTree if form is None else form.tree
        inputs = TreeInputs(self._stored, self._distinct_over, self._spooled, self.results_of)
        return make(plan, self._graph, self._strategy, inputs)

    def results_of(self, plan: Plan) -> ResultRows:
        """Where the results of a join of a tree with feedback are stored."""
        width, lazy_us = row_ids_of(plan).stored_width, self._strategy.lazy_us
        windows = []
        for number, leaf in evicting_scans(plan):
            scan = scan_below(self.build(leaf, probed=True))
            windows.append(EvictingWindow(number, scan.stem, scan.window))
        return EvictedResults(width, windows, lazy_us) if windows else ResultRows(width)

    def _input_rows(self, plan: Plan, source: Operator) -> InputRows:
        """Where the rows of a join's input are stored."""
        if base_scan(plan) is None:
            return self._result_rows(plan, explicit=False)
        scan = scan_below(source)
        return StemRows(scan.stem, scan.window)

    def _result_rows(self, plan: Plan, *, explicit: bool) -> ResultRows:
        return ResultRows(
            row_ids_of(plan).stored_width,
            strict=plan.takes_back,
            explicit=explicit,
            by_ids=explicit or plan.takes_back,
            lazy_us=self._strategy.lazy_us,
        )

    def _matching(self, plan: Negation | SemiJoin | AntiJoin) -> Operator:
        left = self._stored(plan.left)
        width = row_ids_of(plan.left).stored_width
        right_plan = plan.right
        if isinstance(plan, Negation) or plan.residual is None:
            nulls_match = isinstance(plan, Negation) or plan.nulls_match
            left_keys, right_keys = ([compile_expr(p[i]) for p in plan.keys] for i in (0, 1))
            types = tuple(k.type for k, _ in plan.keys)
            keys = MatchKeys(types, tuple(left_keys), tuple(right_keys), nulls_match)
        else:  # pairs of a join, matched to their left rows
            right_plan = join(plan.left, plan.right, plan.keys, plan.residual)
            if plan.left.takes_back or not row_ids_of(plan.left).stored:
                right_plan = replace(right_plan, feeds_back=False)  # of the rows of ``left`` itself
            ids = tuple(partial(row_id, i) for i in range(width))
            keys = MatchKeys((pa.int64(),) * width, ids, ids, nulls_match=True)
        right = self.build(right_plan, probed=not is_endless(right_plan))
        left_expiries = self.expiries(plan.left, [np.int64] * 3)
        left_ids = width if plan.left.takes_back or left_expiries is None else 0
        right_ids = row_ids_of(right_plan).width if right_plan.takes_back else 0
        right_lanes = [np.int64, np.int64, np.int64, np.int8, *[np.int64] * right_ids]
        inputs = (
            MatchInput(left_expiries, left_ids),
            MatchInput(self.expiries(right_plan, right_lanes), right_ids),
        )
        return Matching(left, right, _RULES[type(plan)], keys, inputs, width)

    def _over(self, plan: Over) -> Operator:
        if plan.forgets:
            types = tuple(f.type for f in plan.input.schema)
            rows = self._rows_of_windows(plan.input)
            return FirstRows(rows, *partitions_of(plan, in_time=True), types)
        source = self._stored(plan.input)
        expiries = self.expiries(plan.input, [np.int64] * 3)
        taken_back = plan.input.takes_back or expiries is None
        width = row_ids_of(plan.input).stored_width
        if plan.frames:
            framed = framed_of(plan)
            return OverFrames(source, *framed, expiries, width=width, taken_back=taken_back)
        in_time = plan.input.pattern is Pattern.WKS and not taken_back
        form = partitions_of(plan, in_time=in_time)
        return OverOperator(source, *form, expiries, width=width, taken_back=taken_back)


def _remembered_us(left: Plan) -> int:
    """For how long rows of ``left``, and results made of them, may refer to what they looked up."""
    lifespan = left.lifespan_us
    return FOREVER if lifespan is None else lifespan
