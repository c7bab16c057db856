"""Memory of operators' state: live rows times bytes per row.

A row of a stream is stored once for all queries, in its SteM: its values and 16 bytes of time.
Other state has row ids (8 bytes), instants and links. Texts are counted with a typical length.
Buffers double when they are full, so up to twice as much may be allocated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa

from eddyline.algebra.functions.aggregates import state_bytes
from eddyline.algebra.patterns import Pattern
from eddyline.algebra.plan import (
    AntiJoin,
    Distinct,
    Filter,
    FinalRows,
    GroupBy,
    Join,
    LookupAntiJoin,
    LookupJoin,
    LookupSemiJoin,
    Negation,
    Plan,
    Product,
    Project,
    SemiJoin,
    SharedRows,
    StreamScan,
    TableScan,
    Union,
    Unnest,
    Windowed,
    below_projections,
)
from eddyline.algebra.windows import Range, Unbounded
from eddyline.optimizer.estimates import Estimate
from eddyline.types import Schema

#: A text: its characters and its offset.
TEXT_BYTES: Final = 16 + 8
_ID_BYTES: Final = 8
_INSTANT_BYTES: Final = 8
#: A row in a hash index: key, link to the next row, and its part of the table of chains.
_INDEX_BYTES: Final = 24


def bytes_of(plan: Plan, output: Estimate, inputs: Sequence[Estimate]) -> float:
    """Bytes of the state of one node, given the estimates of its output and inputs.

    Other kinds are assumed to keep the row ids of their inputs in hash indexes.
    """
    match plan:
        case StreamScan() | TableScan():
            return output.rows * stored_row_bytes(plan)
        case LookupJoin() | LookupSemiJoin() | LookupAntiJoin():
            return inputs[1].rows * _INDEX_BYTES
        case Join():
            sides = zip(plan.inputs, inputs, strict=True)
            return sum(e.rows * (_INDEX_BYTES + _composite_bytes(p)) for p, e in sides)
        case Negation() | SemiJoin() | AntiJoin():
            waiting = (e.rows * (3 * _INSTANT_BYTES + _ids_bytes(plan.left)) for e in inputs)
            return sum(waiting) + inputs[0].rows * _INDEX_BYTES
        case Distinct():
            return output.rows * (row_bytes(plan.schema) + _INDEX_BYTES + 3 * _INSTANT_BYTES)
        case GroupBy():
            return _grouped_bytes(plan, output, inputs[0])
        case (
            Filter()
            | Project()
            | Unnest()
            | Windowed()
            | FinalRows()
            | Product()
            | Union()
            | SharedRows()
        ):
            return 0.0  # stateless
    indexed = zip(plan.inputs, inputs, strict=True)
    return sum(e.rows * (_INDEX_BYTES + _ids_bytes(p)) for p, e in indexed)


def stored_row_bytes(scan: StreamScan | TableScan) -> int:
    """Bytes of a row in the SteM of a stream or table."""
    return row_bytes(scan.schema) + _time_bytes(scan)


def index_bytes(rows: float) -> float:
    """Bytes of a hash index over rows."""
    return rows * _INDEX_BYTES


def row_bytes(schema: Schema) -> int:
    """Bytes of one row's values."""
    return sum(_value_bytes(f.type) for f in schema)


def _value_bytes(type_: pa.DataType) -> int:
    try:
        return max(int(type_.bit_width) // 8, 1)
    except ValueError:  # variable width
        return TEXT_BYTES


def _time_bytes(plan: StreamScan | TableScan) -> int:
    """Timestamp and arrival number; for rows that do not expire by time, two more instants."""
    ends_early = (
        not isinstance(plan.window, (Range, Unbounded))
        if isinstance(plan, StreamScan)
        else plan.updates != "static"
    )
    return _INSTANT_BYTES * (4 if ends_early else 2)


def _composite_bytes(plan: Plan) -> int:
    """Bytes per input row of a join, beside its index: none if the row is in a SteM."""
    plan = below_projections(plan)
    if isinstance(plan, (StreamScan, TableScan)):
        return 0
    return 3 * _INSTANT_BYTES + _ids_bytes(plan)


def _ids_bytes(plan: Plan) -> int:
    """Bytes of the row ids of all base rows of a row."""
    if isinstance(plan, (Negation, SemiJoin, AntiJoin)):
        return _ids_bytes(plan.left)
    return max(sum(map(_ids_bytes, plan.inputs)), _ID_BYTES)


def _grouped_bytes(plan: GroupBy, output: Estimate, input_: Estimate) -> float:
    """Per group, its key and aggregates; per live input row, its expiry and contribution."""
    keys = sum(_value_bytes(k.type) for k in plan.keys)
    states = sum(state_bytes(a.function) for a in plan.aggregates)
    groups = output.rows * (keys + _INDEX_BYTES + states)
    if plan.input.pattern == Pattern.MONOTONIC:
        return groups
    values = sum(_value_bytes(a.argument.type) for a in plan.aggregates if a.argument)
    return groups + input_.rows * (3 * _INSTANT_BYTES + values)
