"""Logical plans to operators. Update patterns pick the stores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa

from eddyline.algebra.catalog import Emit
from eddyline.algebra.expressions import Aggregate, Call, ColumnRef, Expr, Literal
from eddyline.algebra.plan import (
    AntiJoin,
    Distinct,
    Filter,
    GroupBy,
    Join,
    Negation,
    Plan,
    Project,
    SemiJoin,
    SharedRows,
    StreamScan,
    TableScan,
    Union,
    lifespan_us,
    looks_up,
    takes_back,
)
from eddyline.algebra.windows import PartitionRows, Range, Rows
from eddyline.kernels import matching
from eddyline.physical.compiled import output, residual, scan_below
from eddyline.physical.expressions import compile_expr, compile_predicate
from eddyline.physical.feedback.tree import FeedbackTree, feeds_back, takes_feedback
from eddyline.physical.patterns import (
    asks_as_it_is,
    base_scan,
    forgotten,
    id_width_of,
    is_endless,
    is_stored,
    keeps_output,
    passes_rows,
    replaced_by,
)
from eddyline.physical.strategy import Strategy
from eddyline.runtime.aggregates import make_aggregate
from eddyline.runtime.batch import Batch, Evaluator
from eddyline.runtime.graph import Graph, in_order
from eddyline.runtime.join_inputs.join_input import InputRows, JoinInput, StemRows
from eddyline.runtime.join_inputs.table_input import StaticInput, TableInput
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.operators.distinct import ClassicDistinct
from eddyline.runtime.operators.distinct import Distinct as DistinctOperator
from eddyline.runtime.operators.expire import Expire, Foretold
from eddyline.runtime.operators.filter import Filter as FilterOperator
from eddyline.runtime.operators.given import Given
from eddyline.runtime.operators.group import AggregateColumn
from eddyline.runtime.operators.group import GroupBy as GroupByOperator
from eddyline.runtime.operators.join import Join as JoinOperator
from eddyline.runtime.operators.lookup import Kind, Lookup
from eddyline.runtime.operators.matching import Matching, MatchInput, MatchKeys
from eddyline.runtime.operators.project import Project as ProjectOperator
from eddyline.runtime.operators.scan import Scan
from eddyline.runtime.operators.scan import TableScan as TableScanOperator
from eddyline.runtime.operators.snapshots import Snapshots
from eddyline.runtime.operators.spool import Spool
from eddyline.runtime.operators.union import Union as UnionOperator
from eddyline.runtime.operators.view import ExpiringView, KeyedView, View
from eddyline.runtime.stores.expiry import ExpiryStore
from eddyline.runtime.stores.intermediates import ResultRows
from eddyline.runtime.stores.stem import (
    CountWindow,
    EndlessWindow,
    PartitionWindow,
    Stem,
    StemWindow,
    TimeWindow,
)
from eddyline.runtime.stores.table import TableStem
from eddyline.sharing.grouping import is_query_number
from eddyline.types import FOREVER

#: How the planner gets at the SteM of a stream or table.
StemOf = Callable[[str], Stem]


#: A key that all rows have in common.
_ANYTHING: Final = Literal(pa.bool_(), True)
#: Kinds of plans that one operator runs, by rule.
_RULES: Final = {Negation: matching.NEGATION, SemiJoin: matching.SEMI, AntiJoin: matching.ANTI}
_LOOKUPS: Final[dict[type[Plan], Kind]] = {Join: "inner", SemiJoin: "semi", AntiJoin: "anti"}


class Planner:
    """Builds operators into a graph, sharing those that are already there.

    ``explicit`` operators emit a '-' for every row that leaves, also when it expires: those of the
    NEGATIVE TUPLE strategy. The others leave it to ``exp`` where that can tell.
    """

    def __init__(self, graph: Graph, stem_of: StemOf, strategy: Strategy) -> None:
        self._graph = graph
        self._stem_of = stem_of
        self._strategy = strategy

    def query(self, plan: Plan, emit: Emit) -> Operator:
        """The operator whose output is what the query emits."""
        explicit = self._strategy.explicit or self._strategy.explicit_above_negation(plan)
        if emit.mode == "inserts":
            return self._inserts(plan, explicit)
        source = self._build(plan, probed=True, explicit=explicit)
        if emit.mode == "snapshot":
            assert emit.every_us is not None
            source = self._spooled(plan, source)
            make = partial(Snapshots, source, emit.every_us)
            return self._graph.obtain(("snapshot", plan, emit.every_us), make)
        source, width = self._output_stored(plan, source)
        if self._is_viewed(plan):
            source, explicit = self._viewed(plan, source, width, explicit)
        return source if explicit else self._with_expiries(plan, source, width)

    def source(self, plan: Plan) -> Operator:
        """The operator of a plan whose rows a flow reads."""
        return self._build(plan, probed=not is_endless(plan))

    def join(self, plan: Join) -> JoinOperator | None:
        """The operator of a join that runs in a tree."""
        ways = ((plan, probed, explicit) for probed in (True, False) for explicit in (False, True))
        found = (self._graph.find(key) for key in (("join", plan), *ways))
        return next((o for o in found if isinstance(o, JoinOperator)), None)

    def runs(self, grouping: Plan) -> bool:
        """Whether there is an operator of this GROUP BY or DISTINCT already."""
        return ("replacing", grouping) in self._graph or (grouping, True, False) in self._graph

    def above(self, plan: Plan) -> list[Operator]:
        """The operators of a plan that stands on SharedRows, from there upwards; not in the graph.

        Each of them has one input.
        """
        apart = Planner(Graph(), self._stem_of, self._strategy)
        return in_order([apart._inserts(plan, explicit=False)])[1:]

    def _inserts(self, plan: Plan, explicit: bool) -> Operator:
        source = self._build_replacing(plan, explicit)
        if self._is_viewed(plan):
            source, width = self._output_stored(plan, source)
            source, explicit = self._viewed(plan, source, width, explicit)
        if not explicit:
            return source
        return self._graph.obtain(("foretold", source), partial(Foretold, source))

    def _with_expiries(self, plan: Plan, source: Operator, width: int) -> Operator:
        """The source, whose rows are stored, with a '-' for every row that expires."""
        dtypes = [np.int64, np.int64, np.int8, *[np.int64] * width]
        make = partial(Expire, source, self._strategy.expiries(plan, dtypes))
        return self._graph.obtain(("expiring", source), make)

    def _is_viewed(self, plan: Plan) -> bool:
        """Whether the answer is to be materialised, and is not so already."""
        return self._strategy.views and not keeps_output(plan) and not forgotten(plan)

    def _viewed(
        self, plan: Plan, source: Operator, width: int, explicit: bool
    ) -> tuple[Operator, bool]:
        """The source, whose rows are stored, with its answer; and whether it is explicit now."""
        if takes_back(plan) and not explicit and self._strategy.by_key(plan):
            source, explicit = self._with_expiries(plan, source, width), True
        make = partial(self._view, plan, source, width, explicit)
        return self._graph.obtain(("view", source), make), explicit

    def _view(self, plan: Plan, source: Operator, width: int, explicit: bool) -> View:
        if explicit:
            return KeyedView(source, width)
        strict = takes_back(plan)
        store = self._strategy.answers(plan, 3 + width + strict)
        return ExpiringView(source, store, width, strict=strict)

    def _build_replacing(self, plan: Plan, explicit: bool) -> Operator:
        """The operator of a whole query, spared the '-' rows that its output would leave out."""
        if replaced_by(plan) is None:
            return self._build(plan, probed=not is_endless(plan), explicit=explicit)
        if isinstance(plan, GroupBy):
            make = partial(self._group, plan, explicit, retract=False)
            return self._graph.obtain(("replacing", plan), make)
        if isinstance(plan, Project):
            source = self._build_replacing(plan.input, explicit)
            make_project = partial(ProjectOperator, source, [output(e) for e in plan.exprs])
            return self._graph.obtain(("replacing", plan), make_project)
        return self._build(plan, explicit=explicit)

    def _build(self, plan: Plan, *, probed: bool = False, explicit: bool = False) -> Operator:
        """The operator of a plan; ``probed``: its rows will be looked up while they are alive."""
        if explicit and self._strategy.begins_explicit(plan):
            source = self._build(plan, probed=True)
            return self._with_expiries(plan, source, id_width_of(plan))
        probed = probed or not passes_rows(plan)  # others keep what they need: one for all queries
        return self._graph.obtain(
            (plan, probed, explicit), partial(self._make, plan, probed, explicit)
        )

    def _make(self, plan: Plan, probed: bool, explicit: bool) -> Operator:
        match plan:
            case StreamScan():
                stem, key = self._stem_of(plan.stream), (str(plan.window), probed)
                return Scan(stem, stem.open_window(key, partial(_window, plan, stem, probed)), key)
            case TableScan():
                return self._table_scan(plan)
            case SharedRows():
                return Given()
            case Filter():
                source = self._build(plan.input, probed=probed, explicit=explicit)
                return FilterOperator(source, compile_predicate(plan.predicate))
            case Project():
                source = self._build(plan.input, probed=probed, explicit=explicit)
                return ProjectOperator(source, [output(e) for e in plan.exprs])
            case Join() | SemiJoin() | AntiJoin() if looks_up(plan):
                return self._lookup(plan, probed, explicit)
            case Join():
                return self._join(plan, explicit)
            case Negation() | SemiJoin() | AntiJoin():
                return self._matching(plan, explicit)
            case Union():
                parts = [
                    self._build(p, probed=not is_endless(p), explicit=explicit) for p in plan.parts
                ]
                return UnionOperator(parts)
            case GroupBy():
                return self._group(plan, explicit, retract=True)
            case Distinct():
                return self._distinct(plan, explicit)
        raise AssertionError(f"no operator for {type(plan).__name__}")

    def _table_scan(self, plan: TableScan) -> Operator:
        stem = self._stem_of(plan.table)
        if isinstance(stem, TableStem):
            return TableScanOperator(stem, deletions=plan.updates == "retroactive")
        return Scan(stem, stem.open_window("all", partial(EndlessWindow, keep=True)), "all")

    def _lookup(self, plan: Join | SemiJoin | AntiJoin, probed: bool, explicit: bool) -> Operator:
        assert isinstance(plan, Join) or not plan.nulls_match, "no set operation looks up"
        make = partial(self._looking_up, plan, probed, explicit)
        if not explicit and feeds_back(plan, self._strategy):
            assert not isinstance(plan, AntiJoin), "it wants rows without a match"
            return self._feedback_tree(plan).looking_up(make)
        return make(self._build(plan.left, probed=probed, explicit=explicit))

    def _looking_up(
        self, plan: Join | SemiJoin | AntiJoin, probed: bool, explicit: bool, left: Operator
    ) -> Operator:
        scan = base_scan(plan.right)
        assert isinstance(scan, TableScan), "columns of a table are not computed below the look-up"
        left_keys, right_keys = ([compile_expr(p[i]) for p in plan.keys] for i in (0, 1))
        right = self._build(plan.right)
        table = self._stem_of(scan.table)
        rows: StaticInput | TableInput
        if isinstance(table, TableStem):
            assert not takes_back(plan.left), "an NRR is not joined with a strict input"
            remember = _remembered_us(plan.left) if probed or explicit else 0
            rows = TableInput(table, right_keys, remember=remember, history=explicit)
        else:
            rows = StaticInput(table, right_keys)
        if not asks_as_it_is(plan) and not is_stored(plan.left):
            left = self._spooled(plan.left, left, keep=probed or explicit)
        return Lookup(
            left,
            right,
            left_keys,
            rows,
            residual(plan),
            _LOOKUPS[type(plan)],
        )

    def _join(self, plan: Join, explicit: bool) -> Operator:
        if not explicit and takes_feedback(plan, self._strategy):
            return self._feedback_tree(plan).join()
        keys = ([k for k, _ in plan.keys], [k for _, k in plan.keys])
        sources = [self._stored(p, explicit) for p in plan.inputs]
        left, right = (
            self._join_input(p, source, [compile_expr(k) for k in ks], explicit)
            for p, source, ks in zip(plan.inputs, sources, keys, strict=True)
        )
        return JoinOperator(sources[0], sources[1], (left, right), residual(plan))

    def _feedback_tree(self, plan: Join | SemiJoin) -> FeedbackTree:
        leaf = partial(self._stored, explicit=False)
        return FeedbackTree(plan, self._graph, self._strategy, leaf)

    def _stored(self, plan: Plan, explicit: bool) -> Operator:
        """The operator of a plan, with its rows in a store."""
        source = self._build(plan, probed=True, explicit=explicit)
        return source if is_stored(plan) else self._spooled(plan, source)

    def _output_stored(self, plan: Plan, source: Operator) -> tuple[Operator, int]:
        """The source with its rows in a store, and how many ids a row has there."""
        if is_stored(plan):
            return source, id_width_of(plan)
        if isinstance(source, View):  # of rows that were put into a store for it
            return source, 1
        return self._spooled(plan, source), 1

    def _spooled(self, plan: Plan, source: Operator, *, keep: bool = True) -> Operator:
        width, lazy_us = id_width_of(plan), self._strategy.lazy_us
        make = partial(Spool, source, plan.schema, width, lazy_us, keep=keep)
        return self._graph.obtain(("spool", source, keep), make)

    def _join_input(
        self, plan: Plan, source: Operator, keys: Sequence[Evaluator], explicit: bool
    ) -> JoinInput:
        rows: InputRows
        scan = base_scan(plan)
        if scan is None or (explicit and isinstance(scan, StreamScan)):
            rows = ResultRows(
                id_width_of(plan) if is_stored(plan) else 1,
                strict=takes_back(plan),
                explicit=explicit,
                lazy_us=self._strategy.lazy_us,
            )
        else:
            below = scan_below(source)
            rows = StemRows(below.stem, below.window)
        return JoinInput(rows, keys, scanned=self._strategy.nested_loops)

    def _matching(self, plan: Negation | SemiJoin | AntiJoin, explicit: bool) -> Operator:
        left = self._stored(plan.left, explicit)
        width = id_width_of(plan.left) if is_stored(plan.left) else 1
        right_plan = plan.right
        if isinstance(plan, Negation) or plan.residual is None:
            nulls_match = isinstance(plan, Negation) or plan.nulls_match
            left_keys, right_keys = ([compile_expr(p[i]) for p in plan.keys] for i in (0, 1))
            types = tuple(k.type for k, _ in plan.keys)
            keys = MatchKeys(types, tuple(left_keys), tuple(right_keys), nulls_match)
        else:  # pairs of a join, matched to their left rows
            right_plan = Join(plan.left, plan.right, plan.keys, plan.residual)
            ids = tuple(partial(_row_id, i) for i in range(width))
            keys = MatchKeys((pa.int64(),) * width, ids, ids, nulls_match=True)
        right = self._build(right_plan, probed=not is_endless(right_plan), explicit=explicit)
        left_ids = width if takes_back(plan.left) or explicit else 0
        right_ids = id_width_of(right_plan) if takes_back(right_plan) else 0
        left_lanes = [np.int64, np.int64, np.int64]
        right_lanes = [np.int64, np.int64, np.int64, np.int8, *[np.int64] * right_ids]
        inputs = (
            MatchInput(self._expiries(plan.left, left_lanes, explicit), left_ids),
            MatchInput(self._expiries(right_plan, right_lanes, explicit), right_ids),
        )
        return Matching(left, right, _RULES[type(plan)], keys, inputs, width)

    def _expiries(self, plan: Plan, dtypes: Sequence[Any], explicit: bool) -> ExpiryStore | None:
        """Where rows of a plan wait for their expiry; None where they leave by '-' alone."""
        return None if explicit else self._strategy.expiries(plan, dtypes)

    def _group(self, plan: GroupBy, explicit: bool, *, retract: bool) -> Operator:
        source = self._build(plan.input, probed=not is_endless(plan.input), explicit=explicit)
        columns = [_aggregate_column(a) for a in plan.aggregates]
        return self._grouping(plan.input, source, plan.keys, columns, explicit, retract=retract)

    def _distinct(self, plan: Distinct, explicit: bool) -> Operator:
        if takes_back(plan.input) or explicit:  # count what is there
            source = self._build(plan.input, probed=not is_endless(plan.input), explicit=explicit)
            if not plan.schema:  # no keys would make the one group that exists even for no row
                make = partial(self._distinct_by, plan, source, (_ANYTHING,), explicit)
                return ProjectOperator(self._graph.obtain(("one", plan, explicit), make), [])
            columns = (ColumnRef(f.type, i, f.name) for i, f in enumerate(plan.schema))
            return self._distinct_by(plan, source, tuple(columns), explicit)
        source = self._build(plan.input)
        types = [f.type for f in plan.schema]
        expiries = self._strategy.expiries(plan, [np.int64] * 3)
        if self._strategy.state == "direct":
            return ClassicDistinct(source, types, expiries)
        return DistinctOperator(source, types, expiries)

    def _distinct_by(
        self, plan: Distinct, source: Operator, keys: tuple[Expr, ...], explicit: bool
    ) -> Operator:
        return self._grouping(plan.input, source, keys, [], explicit, retract=True)

    def _grouping(
        self,
        source_plan: Plan,
        source: Operator,
        keys: Sequence[Expr],
        columns: list[AggregateColumn],
        explicit: bool,
        *,
        retract: bool,
    ) -> Operator:
        id_width = id_width_of(source_plan) if takes_back(source_plan) else 0
        dtypes = [np.int64, np.int64, np.int64, np.int8, *[np.int64] * id_width]
        dtypes += [d for c in columns for d in c.aggregate.dtypes]
        return GroupByOperator(
            source,
            [compile_expr(k) for k in keys],
            [k.type for k in keys],
            columns,
            self._expiries(source_plan, dtypes, explicit),
            key_names={i: str(k) for i, k in enumerate(keys) if not is_query_number(k)},
            id_width=id_width,
            retract=retract,
        )


def _remembered_us(left: Plan) -> int:
    """For how long rows of ``left``, and results made of them, may refer to what they looked up."""
    lifespan = lifespan_us(left)
    return FOREVER if lifespan is None else lifespan


def _row_id(number: int, batch: Batch) -> pa.Array:
    return pa.array(batch.ids[number])


def _window(scan: StreamScan, stem: Stem, probed: bool) -> StemWindow:
    match scan.window:
        case Range(us):
            return TimeWindow(us, keep=probed)
        case Rows(count):
            return CountWindow(stem, str(scan.window), count)
        case PartitionRows(columns, _, count):
            return PartitionWindow(stem, str(scan.window), columns, count)
    return EndlessWindow(keep=probed)


def _aggregate_column(aggregate: Aggregate) -> AggregateColumn:
    argument = aggregate.argument
    if aggregate.where is not None:
        counted = argument if argument is not None else Literal(pa.bool_(), True)
        nothing = Literal(counted.type, None)
        argument = Call(counted.type, "case", (aggregate.where, counted, nothing))
    implementation = make_aggregate(
        aggregate.function,
        aggregate.type,
        None if argument is None else argument.type,
        distinct=aggregate.distinct,
    )
    return AggregateColumn(implementation, None if argument is None else compile_expr(argument))
