"""A query that was taken apart, as a left-deep tree of joins in a given order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eddyline.algebra.expressions import ColumnRef, Expr, columns_of, conjunction, rewrite
from eddyline.algebra.plan import Filter, Plan, Project, StreamScan, join
from eddyline.algebra.windows import Range, Rows
from eddyline.sharing.signature import Part, Signature


def tree_of(signature: Signature, part: Part, order: Sequence[int]) -> Plan:
    """The plan that joins the sources in this order.

    Args:
        order: numbers of all sources; each is tied by an edge to one before it, if there are edges.
    """
    starts = signature.starts
    waiting = [*signature.theta, *part.residual]
    plan = _leaf(signature, part, order[0])
    columns = list(range(starts[order[0]], starts[order[0] + 1]))
    for number, source in enumerate(order[1:], start=1):
        keys = _keys(signature, order[:number], source, columns)
        columns += range(starts[source], starts[source + 1])
        ready = [t for t in waiting if columns_of(t) <= set(columns)]
        waiting = [t for t in waiting if t not in ready]
        residual = conjunction(tuple(_placed(t, columns) for t in ready))
        plan = join(plan, _leaf(signature, part, source), keys, residual)
    outputs = tuple(_placed(e, columns) for e in part.outputs)
    return Project(plan, outputs, part.names)


def _leaf(signature: Signature, part: Part, source: int) -> Plan:
    """A source with the query's window and below its filters."""
    plan, length = signature.sources[source], part.windows[source]
    if length is not None:
        assert isinstance(plan, StreamScan), "what has windows is a stream"
        counted = signature.counted[source]
        plan = replace(plan, window=Rows(length) if counted else Range(length))
    condition = conjunction(part.filters[source])
    return plan if condition is None else Filter(plan, condition)


def _keys(
    signature: Signature, joined: Sequence[int], source: int, columns: Sequence[int]
) -> tuple[tuple[Expr, Expr], ...]:
    keys = []
    for edge in signature.edges:
        ends = ((edge.left, edge.left_key), (edge.right, edge.right_key))
        for (other, other_key), (mine, key) in (ends, ends[::-1]):
            if mine == source and other in joined:
                start = signature.starts[other]
                places = [columns.index(start + i) for i in range(_width(signature, other))]
                keys.append((_placed(other_key, range(len(places)), places), key))
    return tuple(keys)


def _width(signature: Signature, source: int) -> int:
    return signature.starts[source + 1] - signature.starts[source]


def _placed(expr: Expr, columns: Sequence[int], places: Sequence[int] | None = None) -> Expr:
    """The expression with each column read from where it is now: ``places`` of ``columns``."""
    at = dict(zip(columns, places or range(len(columns)), strict=True))

    def change(e: Expr) -> Expr | None:
        return replace(e, index=at[e.index]) if isinstance(e, ColumnRef) else None

    return rewrite(expr, change)
