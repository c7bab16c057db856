"""Columns of streams and tables that a plan compares: their numbers of values affect its cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from eddyline.algebra.expressions import Call, Expr, columns_of, walk
from eddyline.algebra.plan import (
    AntiJoin,
    AsofJoin,
    Distinct,
    Filter,
    GroupBy,
    Join,
    MatchRecognize,
    Negation,
    Over,
    Plan,
    Project,
    RunningOver,
    SemiJoin,
    SessionGroups,
    SessionRows,
    StreamScan,
    TableScan,
    Union,
    Unnest,
    Windowed,
)
from eddyline.algebra.windows import PartitionRows
from eddyline.optimizer.traversal import OncePerNode

#: (stream or table, column).
ComparedColumn = tuple[str, str]
#: The columns from which a column of a plan is computed.
Origins = frozenset[ComparedColumn]

_EQUALITIES: Final = frozenset({"=", "<=>", "<>", "in"})


def columns_compared(plan: Plan) -> frozenset[ComparedColumn]:
    """The columns that a plan joins on, groups by, or tests for equality.

    >>> from eddyline.algebra.windows import Range
    >>> from eddyline.types import Field
    >>> import pyarrow as pa
    >>> columns_compared(Distinct(StreamScan("s", Range(1), (Field("x", pa.int64()),))))
    frozenset({('s', 'x')})
    """
    found: set[ComparedColumn] = set()

    def origins(below: Callable[[Plan], list[Origins]], node: Plan) -> list[Origins]:
        return _origins(node, [below(p) for p in node.inputs], found)

    OncePerNode(origins)(plan)
    return frozenset(found)


def _origins(plan: Plan, below: list[list[Origins]], found: set[ComparedColumn]) -> list[Origins]:
    """The origins of each column of the plan; adds the compared columns to ``found``.

    Other kinds of nodes are assumed to compare nothing.

    Args:
        below: the origins of the columns of each input.
    """
    match plan:
        case StreamScan() | TableScan():
            return _of_scan(plan, found)
        case Filter():
            found |= _read(_equated(plan.predicate), below[0])
            return below[0]
        case Project():
            return [_read([e], below[0]) for e in plan.exprs]
        case Unnest():
            return below[0] + [frozenset()] * len(plan.names)
        case Windowed():
            return below[0] + [frozenset()] * 2
        case Join() | Negation() | SemiJoin() | AntiJoin() | AsofJoin():
            for left, right in plan.keys:
                found |= _read([left], below[0]) | _read([right], below[1])
            both = below[0] + below[1]
            if not isinstance(plan, (Negation, AsofJoin)) and plan.residual is not None:
                found |= _read(_equated(plan.residual), both)
            return both if isinstance(plan, (Join, AsofJoin)) else below[0]
        case Union():
            return [frozenset().union(*parts) for parts in zip(*below, strict=True)]
        case GroupBy():
            keys = [_read([k], below[0]) for k in plan.keys]
            found |= frozenset().union(*keys)
            return keys + [frozenset()] * len(plan.aggregates)
        case SessionGroups():
            keys = [_read([k], below[0]) for k in plan.by]
            found |= frozenset().union(*keys)
            return keys + [frozenset()] * (2 + len(plan.aggregates))
        case Over() | RunningOver() | SessionRows():
            for key in plan.partition:
                found |= _read([key], below[0])
            return below[0] + [frozenset()] * (len(plan.schema) - len(below[0]))
        case MatchRecognize():
            keys = [below[0][c.index] for c in plan.partition]
            found |= frozenset().union(*keys)
            return (below[0] if plan.all_rows else keys) + [frozenset()] * len(plan.values)
        case Distinct():
            found |= frozenset().union(*below[0])
            return below[0]
    columns = [origins for part in below for origins in part]
    return columns if len(columns) == len(plan.schema) else [frozenset()] * len(plan.schema)


def _of_scan(scan: StreamScan | TableScan, found: set[ComparedColumn]) -> list[Origins]:
    name = scan.stream if isinstance(scan, StreamScan) else scan.table
    columns = [(name, f.name) for f in scan.fields]
    if isinstance(scan, StreamScan) and isinstance(scan.window, PartitionRows):
        found |= {columns[c] for c in scan.window.columns}
    return [frozenset([c]) for c in columns]


def _equated(predicate: Expr) -> list[Expr]:
    return [e for e in walk(predicate) if isinstance(e, Call) and e.function in _EQUALITIES]


def _read(exprs: Iterable[Expr], origins: list[Origins]) -> Origins:
    return frozenset().union(*(origins[c] for e in exprs for c in columns_of(e)))
