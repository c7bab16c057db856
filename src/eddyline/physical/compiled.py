"""Expressions, windows and aggregates of plan nodes in the form that operators take."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from eddyline.algebra.expressions import (
    Aggregate,
    ColumnRef,
    Expr,
    Parameter,
    rewrite,
    shift_columns,
)
from eddyline.algebra.plan import AntiJoin, Join, SemiJoin, StreamScan
from eddyline.algebra.windows import PartitionRows, Range, Rows
from eddyline.physical.expressions import compile_expr, compile_predicate
from eddyline.runtime.aggregates import Aggregate as AggregateState
from eddyline.runtime.aggregates import Wanted, make_aggregate
from eddyline.runtime.batch import Batch, Evaluator, Predicate
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.operators.group_aggregates import AggregateColumn, GroupKeys
from eddyline.runtime.operators.stateless import Scan
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.keys import is_exact, same_keys
from eddyline.runtime.stores.stem import (
    CountWindow,
    EndlessWindow,
    PartitionWindow,
    Stem,
    StemWindow,
    TimeWindow,
)
from eddyline.sharing.grouping import is_query_number


def output(expr: Expr) -> int | Evaluator:
    """A column of the output: the number of one of the input's, or how to compute it."""
    return expr.index if isinstance(expr, ColumnRef) else compile_expr(expr)


def residual(plan: Join | SemiJoin | AntiJoin) -> Predicate | None:
    """What a matching pair must meet beyond equal keys; hashed keys are compared by value."""
    rest = None if plan.residual is None else compile_predicate(plan.residual)
    if not plan.keys or is_exact([k.type for k, _ in plan.keys]):
        return rest
    width = len(plan.left.schema)
    pairs = [(output(a), output(shift_columns(b, width))) for a, b in plan.keys]

    def meets(batch: Batch) -> Array:
        same: Array = np.logical_and.reduce([same_keys(batch, a, b) for a, b in pairs])
        return same if rest is None else same & rest(batch)

    return meets


def scan_below(operator: Operator) -> Scan:
    """The scan whose rows an operator filters or renames."""
    while not isinstance(operator, Scan):
        (operator,) = operator.inputs
    return operator


def row_id(number: int, batch: Batch) -> pa.Array:
    """Row ids of a batch as a key column."""
    return pa.array(batch.ids[number])


def stem_window(scan: StreamScan, stem: Stem, probed: bool) -> StemWindow:
    """The window of a scan over its SteM; ``probed``: its rows are kept while they are alive."""
    match scan.window:
        case Range(us):
            return TimeWindow(us, keep=probed)
        case Rows(count):
            return CountWindow(stem, str(scan.window), count)
        case PartitionRows(columns, _, count):
            return PartitionWindow(stem, str(scan.window), columns, count)
    return EndlessWindow(keep=probed)


def with_row(exprs: Sequence[Expr], width: int) -> tuple[Expr, ...]:
    """The expressions with Parameters as columns behind ``width`` others."""

    def change(e: Expr) -> Expr | None:
        return ColumnRef(e.type, width + e.index, e.name) if isinstance(e, Parameter) else None

    return tuple(rewrite(e, change) for e in exprs)


def group_keys(keys: Sequence[Expr]) -> GroupKeys:
    """The keys of a grouping. In reports of groups the number of a query is left out."""
    return GroupKeys(
        tuple(compile_expr(k) for k in keys),
        tuple(k.type for k in keys),
        tuple((str(k), i) for i, k in enumerate(keys) if not is_query_number(k)),
    )


def aggregate_column(aggregate: Aggregate, *, in_order: bool) -> AggregateColumn:
    """An aggregate with its argument, which is NULL for rows that its FILTER leaves out."""
    argument, state = aggregate.value, aggregate_state(aggregate, in_order=in_order)
    return AggregateColumn(
        state,
        None if argument is None else compile_expr(argument),
        (state.remembers, argument) if state.remembers else None,
    )


def aggregate_state(
    aggregate: Aggregate, *, endless: bool = False, in_order: bool = False
) -> AggregateState:
    """The state of an aggregate; ``endless`` and ``in_order`` as of ``Wanted``."""
    type_ = None if aggregate.value is None else aggregate.value.type
    wanted = Wanted(
        type_, aggregate.type, aggregate.distinct, aggregate.parameters, endless, in_order
    )
    return make_aggregate(aggregate.function, wanted)
