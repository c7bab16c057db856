"""OVER in the form that its operator takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.algebra.expressions import ColumnRef, Expr, rewrite
from eddyline.algebra.functions.sort_keys import sort_key
from eddyline.algebra.nodes.over import ARRIVAL, Bounds, RowPlace
from eddyline.algebra.orderings import Ordering
from eddyline.algebra.plan import Over
from eddyline.kernels import framed_rows
from eddyline.kernels import ordered_rows as kernels
from eddyline.kernels.first_places import LONGEST, First
from eddyline.physical.compiled import aggregate_state
from eddyline.physical.expressions import compile_expr
from eddyline.runtime.batch import Batch, Evaluator
from eddyline.runtime.operators.framed_orders import FramedValue
from eddyline.runtime.operators.over import Computed, Partitions
from eddyline.runtime.operators.over_frames import FramedForm

_KINDS: Final = {
    "row_number": kernels.ROW_NUMBER,
    "rank": kernels.RANK,
    "dense_rank": kernels.DENSE_RANK,
    "ntile": kernels.NTILE,
    "rows": kernels.ROWS,
    "lag": kernels.BEFORE,
    "lead": kernels.BEHIND,
    "from": kernels.FROM,
    "first_value": kernels.FIRST,
    "last_value": kernels.LAST,
    "nth_value": kernels.NTH,
}
_UNITS: Final = {
    "rows": framed_rows.ROWS,
    "range": framed_rows.RANGE,
    "groups": framed_rows.GROUPS,
}
_EXCLUDED: Final = {
    "": framed_rows.NONE,
    "CURRENT ROW": framed_rows.CURRENT,
    "GROUP": framed_rows.GROUP,
    "TIES": framed_rows.TIES,
}


def partitions_of(plan: Over, *, in_time: bool) -> tuple[Partitions, Computed]:
    """How the operator divides and orders rows, and what it computes of them.

    Args:
        in_time: whether rows leave in the order in which they came, by their expiry, or never.
    """
    tied = any(f.function in ("rank", "dense_rank") for f in plan.functions) or plan.frames
    partitions = Partitions(
        tuple(compile_expr(k) for k in plan.partition),
        tuple(k.type for k in plan.partition),
        compile_expr(sort_key("ORDER BY", *plan.order, *plan.ties)),
        compile_expr(sort_key("ORDER BY", *plan.order)) if plan.ties and tied else None,
    )
    arrival = _has_arrival(plan)
    own = plan.functions[:-1] if arrival else plan.functions
    read = dict.fromkeys(f.argument for f in own if f.argument is not None)
    numbers = {argument: number for number, argument in enumerate(read)}
    functions = kernels.Functions(
        np.array([_KINDS[f.function] for f in own], np.int64),
        np.array([-1 if f.argument is None else numbers[f.argument] for f in own], np.int64),
        np.array([f.offset for f in own], np.int64),
        plan.limit,
        plan.silent,
        _reach(plan, "lag", "from"),
        _reach(plan, "lead"),
        plan.forgets,
    )
    first = None
    if in_time and [f.function for f in own] == ["row_number"] and 0 < plan.limit <= LONGEST:
        first = First(plan.limit, plan.silent, plan.forgets)
    types = tuple(f.type for f in own)
    arguments = tuple(compile_expr(a) for a in numbers)
    argument_types = tuple(a.type for a in numbers)
    return partitions, Computed(functions, types, arguments, argument_types, first, arrival)


def _has_arrival(plan: Over) -> bool:
    return bool(plan.functions) and plan.functions[-1].function == ARRIVAL


def framed_of(plan: Over) -> tuple[Partitions, Computed, FramedForm]:
    """The same of aggregates of frames."""
    partitions, _ = partitions_of(plan, in_time=False)
    keys = dict.fromkeys(k for f in plan.frames for k in (f.low, f.high) if k is not None)
    numbers: dict[Expr | None, int] = {key: number for number, key in enumerate(keys)}
    numbers[None] = framed_rows.OWN
    shapes = dict.fromkeys((f.bounds, f.low, f.high) for f in plan.frames)
    frames = {shape: number for number, shape in enumerate(shapes)}
    values = [f.aggregate.value for f in plan.frames]
    read = {v: i for i, v in enumerate(dict.fromkeys(v for v in values if v is not None))}
    computed = Computed(
        kernels.no_functions(),
        tuple(f.type for f in plan.frames),
        tuple(map(compile_expr, keys)),
        tuple(k.type for k in keys),
        None,
        _has_arrival(plan),
    )
    aggregated = (
        FramedValue(
            aggregate_state(f.aggregate),
            frames[f.bounds, f.low, f.high],
            None if value is None else (read[value], value.type),
            f.type,
        )
        for f, value in zip(plan.frames, values, strict=True)
    )
    framed = FramedForm(
        _bounds([(b, numbers[low], numbers[high]) for b, low, high in shapes]),
        tuple(aggregated),
        tuple(_placed(value, plan) for value in read),
        tuple((f.name, i) for i, f in enumerate(plan.input.schema)),
    )
    return partitions, computed, framed


def _bounds(shapes: Sequence[tuple[Bounds, int, int]]) -> framed_rows.Bounds:
    lanes = [
        (
            _UNITS[bounds.unit],
            bounds.start or 0,
            bounds.end or 0,
            bounds.start is not None,
            bounds.end is not None,
            low,
            high,
            _EXCLUDED[bounds.exclude],
        )
        for bounds, low, high in shapes
    ]
    flags = ("begins", "ends")
    fields = zip(framed_rows.Bounds._fields, zip(*lanes, strict=True), strict=True)
    return framed_rows.Bounds(
        *(np.array(lane, np.bool_ if name in flags else np.int64) for name, lane in fields)
    )


def _placed(value: Expr, plan: Over) -> Evaluator:
    """Computes what an aggregate is of; places are those of ORDER BY, and of arrival."""
    width = len(plan.input.schema)
    arrival = Ordering(ColumnRef(pa.int64(), width, ARRIVAL))
    place = sort_key("ORDER BY", *plan.order, *(plan.ties or (arrival,)))
    computed = compile_expr(rewrite(value, lambda e: place if isinstance(e, RowPlace) else None))

    def evaluate(batch: Batch) -> pa.Array:
        return computed(replace(batch, cells=(*batch.cells, pa.array(batch.ids[0]))))

    return evaluate


def _reach(plan: Over, *functions: str) -> int:
    """How far away rows are of which values are taken."""
    return max((f.offset for f in plan.functions if f.function in functions), default=0)
