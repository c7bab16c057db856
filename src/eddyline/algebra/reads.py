"""The nodes and sources of a plan."""

from __future__ import annotations

from collections.abc import Iterator

from eddyline.algebra.plan import Plan, StreamScan, TableScan


def nodes(plan: Plan) -> Iterator[Plan]:
    """The node and all nodes below it; one with several readers once."""
    seen: set[int] = set()

    def unseen(node: Plan) -> Iterator[Plan]:
        if id(node) in seen:
            return
        seen.add(id(node))
        yield node
        for below in node.inputs:
            yield from unseen(below)

    return unseen(plan)


def stream_scans(plan: Plan) -> Iterator[StreamScan]:
    """The scans of streams in a plan, from left to right."""
    return (node for node in nodes(plan) if isinstance(node, StreamScan))


def streams_read(plan: Plan) -> frozenset[str]:
    """The streams that a plan scans."""
    return frozenset(scan.stream for scan in stream_scans(plan))


def tables_read(plan: Plan) -> frozenset[str]:
    """The tables that a plan scans."""
    return frozenset(node.table for node in nodes(plan) if isinstance(node, TableScan))
