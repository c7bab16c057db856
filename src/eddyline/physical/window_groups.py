"""EMIT FINAL over GROUP BY over windows, computed when the windows end.

Final  at window_end                       WindowGroup  k, HOP 5 MINUTES EVERY 1 MINUTE
  GroupBy  k, window_end: SUM(x)     ->      per slice of 1 minute PARTIAL_SUM(x),
    Windowed  HOP 5 MINUTES EVERY ..         per window the MERGED_SUM of its slices
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from eddyline.algebra.expressions import Aggregate, ColumnRef, Expr, columns_of
from eddyline.algebra.functions.aggregates import (
    is_by_value,
    merged_aggregate,
    partial_aggregate,
)
from eddyline.algebra.plan import Filter, FinalRows, GroupBy, Plan, Project, Windowed
from eddyline.physical.expressions import compile_expr
from eddyline.runtime import aggregates as runtime
from eddyline.runtime.operators.final_groups import Source
from eddyline.runtime.operators.window_group import Grouping


@dataclass(frozen=True)
class WindowGroupPlan:
    """The parts of FinalRows of which the groups are made when windows end.

    Attributes:
        above: filters and projections over the groups, the lowest first.
    """

    windowed: Windowed
    group: GroupBy
    above: tuple[Filter | Project, ...]
    grouping: Grouping


def window_groups(plan: FinalRows) -> WindowGroupPlan | None:
    """The parts of FinalRows; None if its input is anything else."""
    above: list[Filter | Project] = []
    below: Plan = plan.input
    end = plan.end
    while isinstance(below, (Filter, Project)):
        above.insert(0, below)
        if isinstance(below, Project):
            column = below.exprs[end]
            if not isinstance(column, ColumnRef):
                return None
            end = column.index
        below = below.input
    if type(below) is not GroupBy or not isinstance(below.input, Windowed):
        return None
    windowed = below.input
    if end >= len(below.keys) or not _is_column(below.keys[end], windowed.start + 1):
        return None
    grouping = _grouping(below, windowed)
    return None if grouping is None else WindowGroupPlan(windowed, below, tuple(above), grouping)


def _is_column(expr: Expr, index: int) -> bool:
    return isinstance(expr, ColumnRef) and expr.index == index


def _grouping(group: GroupBy, windowed: Windowed) -> Grouping | None:
    """None if more than the keys start and end reads the windows' columns."""
    keys: list[Expr] = []
    outputs: list[Source] = []
    for key in group.keys:
        if _is_column(key, windowed.start):
            outputs.append(("start", 0))
        elif _is_column(key, windowed.start + 1):
            outputs.append(("end", 0))
        else:
            outputs.append(("key", len(keys)))
            keys.append(key)
    outputs += [("aggregate", i) for i in range(len(group.aggregates))]
    values = [a.value for a in group.aggregates]
    read = [*keys, *(v for v in values if v is not None)]
    if any(max(columns_of(e), default=0) >= windowed.start for e in read):
        return None
    own, merged = list(group.aggregates), None
    if not windowed.windows.single and not any(map(is_by_value, own)):
        own = [partial_aggregate(a, v) for a, v in zip(group.aggregates, values, strict=True)]
        columns = [ColumnRef(a.type, i, str(a)) for i, a in enumerate(own)]
        merging = map(merged_aggregate, group.aggregates, columns)
        merged = partial(_new, [(a, a.argument.type if a.argument else None) for a in merging])
    types = [None if v is None else v.type for v in values]
    return Grouping(
        tuple(map(compile_expr, keys)),
        tuple(k.type for k in keys),
        tuple(map(str, group.keys)),
        tuple(None if v is None else compile_expr(v) for v in values),
        partial(_new, list(zip(own, types, strict=True))),
        merged,
        tuple(outputs),
    )


def _new(aggregates: list[tuple[Aggregate, pa.DataType | None]]) -> list[runtime.Aggregate]:
    return [
        runtime.make_aggregate(a.function, runtime.Wanted(type_, a.type, a.distinct, a.parameters))
        for a, type_ in aggregates
    ]
