"""Logical plans to operators. Update patterns pick the stores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from eddyline.algebra.catalog import Emit
from eddyline.algebra.expressions import Aggregate, Call, ColumnRef, Expr, Literal, shift_columns
from eddyline.algebra.patterns import Pattern
from eddyline.algebra.plan import (
    Distinct,
    Filter,
    GroupBy,
    Join,
    Plan,
    Project,
    StreamScan,
    TableScan,
    Union,
    lifespan_us,
)
from eddyline.algebra.windows import PartitionRows, Range, Rows, Unbounded
from eddyline.physical.expressions import compile_expr, compile_predicate
from eddyline.physical.graph import Graph
from eddyline.physical.patterns import (
    base_scan,
    id_width_of,
    is_stored,
    replaced_by,
    takes_back,
)
from eddyline.runtime.aggregates import make_aggregate
from eddyline.runtime.batch import Batch, Evaluator, Predicate
from eddyline.runtime.columns import Array
from eddyline.runtime.expiry import ExpiryStore, make_expiry_store
from eddyline.runtime.keys import is_exact, same_keys
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.operators.distinct import Distinct as DistinctOperator
from eddyline.runtime.operators.expire import Expire
from eddyline.runtime.operators.filter import Filter as FilterOperator
from eddyline.runtime.operators.group import AggregateColumn
from eddyline.runtime.operators.group import GroupBy as GroupByOperator
from eddyline.runtime.operators.join import Join as JoinOperator
from eddyline.runtime.operators.project import Project as ProjectOperator
from eddyline.runtime.operators.scan import Scan
from eddyline.runtime.operators.snapshots import Snapshots
from eddyline.runtime.operators.spool import Spool
from eddyline.runtime.operators.union import Union as UnionOperator
from eddyline.runtime.sides import CompositeSide, Side, StemSide
from eddyline.runtime.stem import (
    CountWindow,
    EndlessWindow,
    PartitionWindow,
    Stem,
    StemWindow,
    TimeWindow,
)

#: How the planner gets at the SteM of a stream or table.
StemOf = Callable[[str], Stem]


class Planner:
    """Builds operators into a graph, sharing those that are already there."""

    def __init__(self, graph: Graph, stem_of: StemOf) -> None:
        self._graph = graph
        self._stem_of = stem_of

    def query(self, plan: Plan, emit: Emit) -> Operator:
        """The operator whose output is what the query emits."""
        if emit.mode == "inserts":
            return self._build_replacing(plan)
        source = self._build(plan, probed=True)
        if emit.mode == "snapshot":
            assert emit.every_us is not None
            source = self._spooled(plan, source)
            make = partial(Snapshots, source, emit.every_us)
            return self._graph.obtain(("snapshot", plan, emit.every_us), make)
        width = id_width_of(plan)
        if not is_stored(plan):
            source, width = self._spooled(plan, source), 1
        dtypes = [np.int64, np.int64, np.int8, *[np.int64] * width]
        make_expire = partial(Expire, source, _expiries(plan, dtypes))
        return self._graph.obtain(("changes", plan), make_expire)

    def _build_replacing(self, plan: Plan) -> Operator:
        """The operator of a whole query, spared the '-' rows that its output would leave out."""
        if replaced_by(plan) is None:
            return self._build(plan)
        if isinstance(plan, GroupBy):
            make = partial(self._group, plan, retract=False)
            return self._graph.obtain(("replacing", plan), make)
        if isinstance(plan, Project):
            source = self._build_replacing(plan.input)
            make_project = partial(ProjectOperator, source, [_output(e) for e in plan.exprs])
            return self._graph.obtain(("replacing", plan), make_project)
        return self._build(plan)

    def _build(self, plan: Plan, *, probed: bool = False) -> Operator:
        """The operator of a plan; ``probed``: its rows will be looked up while they are alive."""
        probed = probed and _is_endless(plan)  # other windows keep their rows anyway
        return self._graph.obtain((plan, probed), partial(self._make, plan, probed))

    def _make(self, plan: Plan, probed: bool) -> Operator:
        match plan:
            case StreamScan():
                stem = self._stem_of(plan.stream)
                key = (str(plan.window), probed)
                return Scan(stem, stem.open_window(key, partial(_window, plan, stem, probed)), key)
            case TableScan():
                stem = self._stem_of(plan.table)
                return Scan(stem, stem.open_window("all", partial(EndlessWindow, keep=True)), "all")
            case Filter():
                source = self._build(plan.input, probed=probed)
                return FilterOperator(source, compile_predicate(plan.predicate))
            case Project():
                source = self._build(plan.input, probed=probed)
                return ProjectOperator(source, [_output(e) for e in plan.exprs])
            case Join():
                return self._join(plan)
            case Union():
                return UnionOperator([self._build(p) for p in plan.parts])
            case GroupBy():
                return self._group(plan, retract=True)
            case Distinct():
                return self._distinct(plan)
        raise AssertionError(f"no operator for {type(plan).__name__}")

    def _join(self, plan: Join) -> Operator:
        keys = ([k for k, _ in plan.keys], [k for _, k in plan.keys])
        sources = [self._stored(p) for p in plan.inputs]
        sides = [
            self._side(p, source, [compile_expr(k) for k in ks])
            for p, source, ks in zip(plan.inputs, sources, keys, strict=True)
        ]
        return JoinOperator(sources[0], sources[1], (sides[0], sides[1]), _residual(plan))

    def _stored(self, plan: Plan) -> Operator:
        """The operator of a join input, with its rows in a store."""
        source = self._build(plan, probed=True)
        return source if is_stored(plan) else self._spooled(plan, source)

    def _spooled(self, plan: Plan, source: Operator) -> Operator:
        make = partial(Spool, source, plan.schema, id_width_of(plan))
        return self._graph.obtain(("spool", plan), make)

    def _side(self, plan: Plan, source: Operator, keys: Sequence[Evaluator]) -> Side:
        if base_scan(plan) is None:
            width = id_width_of(plan) if is_stored(plan) else 1
            return CompositeSide(keys, width, strict=takes_back(plan))
        while not isinstance(source, Scan):
            (source,) = source.inputs
        return StemSide(keys, source.stem, source.window)

    def _group(self, plan: GroupBy, *, retract: bool) -> Operator:
        source = self._build(plan.input)
        columns = [_aggregate_column(a) for a in plan.aggregates]
        return _grouping(plan.input, source, plan.keys, columns, retract=retract)

    def _distinct(self, plan: Distinct) -> Operator:
        source = self._build(plan.input)
        types = [f.type for f in plan.schema]
        if takes_back(plan.input):  # the classic form: count what is there
            keys = [ColumnRef(f.type, i, f.name) for i, f in enumerate(plan.schema)]
            return _grouping(plan.input, source, keys, [], retract=True)
        expiries = make_expiry_store([np.int64] * 3, lifespan_us(plan.input), fifo=False)
        return DistinctOperator(source, types, expiries)


def _is_endless(plan: Plan) -> bool:
    scan = base_scan(plan)
    return isinstance(scan, StreamScan) and isinstance(scan.window, Unbounded)


def _window(scan: StreamScan, stem: Stem, probed: bool) -> StemWindow:
    match scan.window:
        case Range(us):
            return TimeWindow(us)
        case Rows(count):
            return CountWindow(stem, str(scan.window), count)
        case PartitionRows(columns, _, count):
            return PartitionWindow(stem, str(scan.window), columns, count)
    return EndlessWindow(keep=probed)


def _output(expr: Expr) -> int | Evaluator:
    return expr.index if isinstance(expr, ColumnRef) else compile_expr(expr)


def _residual(plan: Join) -> Predicate | None:
    """What a matching pair must meet beyond equal keys; hashed keys are compared by value."""
    rest = None if plan.residual is None else compile_predicate(plan.residual)
    if not plan.keys or is_exact([k.type for k, _ in plan.keys]):
        return rest
    width = len(plan.left.schema)
    pairs = [(_output(a), _output(shift_columns(b, width))) for a, b in plan.keys]

    def meets(batch: Batch) -> Array:
        same: Array = np.logical_and.reduce([same_keys(batch, a, b) for a, b in pairs])
        return same if rest is None else same & rest(batch)

    return meets


def _grouping(
    source_plan: Plan,
    source: Operator,
    keys: Sequence[Expr],
    columns: list[AggregateColumn],
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
        _expiries(source_plan, dtypes),
        id_width=id_width,
        retract=retract,
    )


def _expiries(plan: Plan, dtypes: Sequence[Any]) -> ExpiryStore:
    return make_expiry_store(dtypes, lifespan_us(plan), fifo=plan.pattern == Pattern.WKS)


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
