"""The partitioning of queries as text, for EXPLAIN."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from eddyline.algebra.reads import streams_read
from eddyline.engine.declared_statistics import DeclaredStatistics
from eddyline.engine.ingest.table_changes import is_live
from eddyline.optimizer.statistics import UNKNOWN, Statistics
from eddyline.spark.partitioning.layouts import ByKey, Coordinate, Copied, Layout
from eddyline.spark.partitioning.planning import PlannedQuery, best_layout, layouts
from eddyline.spark.partitioning.split_keys import explained
from eddyline.spark.script import Script


def planned_queries(script: Script, names: Iterable[str]) -> dict[str, PlannedQuery]:
    """What the partitioning of queries of a script depends on, by name."""
    by_row = frozenset(n for n, s in script.streams.items() if s.lateness_by == "row")
    found = {}
    for name in names:
        plan = script.queries[name].plan
        query = PlannedQuery(plan)
        changing = {t for t in script.tables_of(name) if is_live(script.tables[t])}
        rules = next(iter(changing.difference(query.inputs)), None)
        read = by_row.intersection(query.inputs)
        found[name] = PlannedQuery(plan, rules, read)
    return found


def declared_statistics(script: Script) -> Statistics:
    """The rates and sizes that a script declares."""
    declared = DeclaredStatistics()
    for name, stream in script.streams.items():
        declared.add(name, stream.sizes)
    for name, table in script.tables.items():
        declared.add(name, table.sizes)
    return declared.statistics


def partitionings(script: Script, shards: int) -> dict[str, str]:
    """By query of a script, its partitioning as text; see :func:`partitioning_text`."""
    statistics = declared_statistics(script)
    found = {}
    for group in script.groups():
        queries = planned_queries(script, group.queries)
        for layout, names in layouts(queries, shards, statistics):
            for name in names:
                others = [n for n in names if n != name]
                found[name] = partitioning_text(queries[name], layout, shards, others, statistics)
    return found


def partitioning_text(
    query: PlannedQuery,
    layout: Layout,
    shards: int,
    others: Iterable[str] = (),
    statistics: Statistics = UNKNOWN,
) -> str:
    """How the rows of a query's inputs are dealt, what is copied how often, and why not better.

    Args:
        layout: that the query is in. others: the other queries in it.
    """
    lines = [f"partitioning: {_count(layout.cells)} of {shards}"]
    lines += [f"  {axis.size} along {axis.label}" for axis in layout.axes]
    for name in query.inputs:
        lines.append(f"  {name}: {_dealing(layout, name)}")
    lines += [f"  {reason}" for reason in _why_not_better(query, layout, shards, statistics)]
    lines += [f"  {text}" for text in explained(layout, query)]
    shared = list(others)
    if shared:
        shown = ", ".join(shared[:5]) + (f" and {len(shared) - 5} more" if shared[5:] else "")
        lines.append(f"  rows are shared with {shown}")
    return "\n".join(lines)


def _why_not_better(
    query: PlannedQuery, layout: Layout, shards: int, statistics: Statistics
) -> Iterator[str]:
    if shards == 1:
        return
    if not layout.axes:
        yield f"one cell: {best_layout(query, shards, statistics).reason}"
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


def _dealing(layout: Layout, name: str) -> str:
    parts = [_along(c) for c in layout.inputs[name] if not isinstance(c, Copied)]
    copies = layout.copies(name)
    if copies > 1:
        parts.append(f"copied to {_count(copies)}")
    return ", ".join(parts) or "all rows"


def _along(coordinate: Coordinate) -> str:
    if not isinstance(coordinate, ByKey):
        return "dealt evenly"
    key = coordinate.key
    return f"by {key[0]}" if len(key) == 1 else f"by ({', '.join(map(str, key))})"


def _count(cells: int) -> str:
    return f"{cells} cell" if cells == 1 else f"{cells} cells"
