"""The partitioning of queries as text, for EXPLAIN."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from eddyline.algebra.reads import streams_read, tables_read
from eddyline.optimizer.statistics import Statistics
from eddyline.spark.layouts.layout_shards import group_layouts, planned
from eddyline.spark.partitioning.axes import candidates
from eddyline.spark.partitioning.layouts import ByKey, Coordinate, Copied, Layout
from eddyline.spark.partitioning.planned_query import LARGE_TABLE, PlannedQuery
from eddyline.spark.partitioning.planning import as_run, best_layout, why_not
from eddyline.spark.partitioning.split_keys import explained, refusals
from eddyline.spark.script import Script

#: Number of other queries that are named.
_SHOWN: Final = 5


def partitionings(script: Script, shards: int) -> dict[str, str]:
    """By query of a script: how the rows of its inputs are dealt, what is copied how often, and why
    not better.
    """
    found = {}
    for group in script.groups():
        for layout, names in group_layouts(script, group, shards):
            queries = {name: planned(script, script.queries[name]) for name in names}
            runs = {name: as_run(layout, query) or query for name, query in queries.items()}
            refused = refusals(layout, runs)
            for name, query in queries.items():
                lines = [
                    *_layout_lines(query, runs[name], layout, shards, script.statistics),
                    *explained(layout, name, streams_read(runs[name].plan), refused),
                    *_shared_with([n for n in names[: _SHOWN + 1] if n != name], len(names) - 1),
                ]
                found[name] = f"partitioning: {_count(layout.cells)} of {shards}" + "".join(
                    f"\n  {line}" for line in lines
                )
    return found


def _layout_lines(
    query: PlannedQuery, run: PlannedQuery, layout: Layout, shards: int, statistics: Statistics
) -> Iterator[str]:
    """What a layout means for a query, of which the cells do ``run``."""
    for axis in layout.axes:
        yield f"{axis.size} along {axis.label}"
    tables = tables_read(query.plan)
    for name in sorted({*query.inputs, *tables}):
        yield f"{name}: {_dealing(layout, name, is_table=name in tables)}"
    if run is not query:
        yield f"partial groups of {_count(layout.cells)} are merged"
    yield from _why_not_better(query, layout, shards, statistics)
    yield from _why_copied(run, layout, shards, statistics)


def _shared_with(names: list[str], count: int) -> Iterator[str]:
    """The first of ``count`` other queries of the layout."""
    if names:
        more = f" and {count - _SHOWN} more" if count > _SHOWN else ""
        yield f"rows are shared with {', '.join(names[:_SHOWN])}{more}"


def _why_not_better(
    query: PlannedQuery, layout: Layout, shards: int, statistics: Statistics
) -> Iterator[str]:
    if shards == 1:
        return
    if not layout.axes:
        yield f"one cell: {best_layout(query, shards, statistics).reason or layout.reason}"
        return
    copied = [name for name in streams_read(query.plan) if layout.copies(name) > 1]
    keyed = any(isinstance(c, ByKey) for name in query.inputs for c in layout.inputs[name])
    if copied:
        all_inputs = "no key that all inputs have decides every result"
        yield f"copies: {all_inputs if keyed else 'no equality says which rows meet'}"
    if layout.cells < shards:
        yield (
            "fewer cells: the keys have few values, or no grid with more cells has fewer rows each"
        )


def _why_copied(
    query: PlannedQuery, layout: Layout, shards: int, statistics: Statistics
) -> Iterator[str]:
    """Why tables are in all cells; of small ones those that could be divided."""
    for table in sorted(tables_read(query.plan)):
        if layout.cells == 1 or _is_divided(layout, table):
            continue
        if table in query.large:
            yield f"{table} is copied: {_why_not_divided(query, table, shards, statistics)}"
            continue
        larger = replace(query, large=query.large | {table}, parts=None)
        if _is_divided(best_layout(larger, shards, statistics), table):
            yield f"{table} is copied: it is not declared to have {LARGE_TABLE:,} rows (rows = ...)"


def _is_divided(layout: Layout, table: str) -> bool:
    return any(isinstance(c, ByKey) for c in layout.inputs.get(table, ()))


def _why_not_divided(query: PlannedQuery, table: str, shards: int, statistics: Statistics) -> str:
    found = candidates(query.plan, query.inputs, statistics, query.large)
    keyed = [c.coordinates for c in found if isinstance(c.coordinates[table], ByKey)]
    if not keyed:
        return "no equality of one of its columns with streams"
    reasons = [why_not(query, axis) for axis in keyed]
    if (first := reasons[0]) is not None and all(reasons):
        return first
    if _is_divided(best_layout(query, shards, statistics), table):
        return "not all queries that share the layout join it by one key"
    return "with more cells along another axis each has fewer rows of streams"


def _dealing(layout: Layout, name: str, *, is_table: bool) -> str:
    if name not in layout.inputs:  # a small static table
        return "all rows" if layout.cells == 1 else f"copied to {_count(layout.cells)}"
    found = (_along(c) for c in layout.inputs[name] if not isinstance(c, Copied))
    parts = [f"divided {along}" if is_table else along for along in found]
    copies = layout.copies(name)
    if copies > 1:
        parts.append(f"copied to {_count(copies)}")
    if name in layout.counted:
        parts.append("timestamps of all rows in all cells")
    return ", ".join(parts) or "all rows"


def _along(coordinate: Coordinate) -> str:
    if not isinstance(coordinate, ByKey):
        return "dealt evenly"
    key = coordinate.key
    return f"by {key[0]}" if len(key) == 1 else f"by ({', '.join(map(str, key))})"


def _count(cells: int) -> str:
    return f"{cells} cell" if cells == 1 else f"{cells} cells"
