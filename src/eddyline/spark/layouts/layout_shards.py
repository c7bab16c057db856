"""The layouts of a job, and the shards that run their cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from eddyline.algebra.reads import streams_read, tables_read
from eddyline.engine.ingest.table_changes import is_live
from eddyline.engine.query import Query
from eddyline.optimizer.statistics import Statistics
from eddyline.spark.partitioning.groups import cores_by_shard
from eddyline.spark.partitioning.layouts import Layout
from eddyline.spark.partitioning.planned_query import LARGE_TABLE, PlannedQuery
from eddyline.spark.partitioning.planning import as_run, best_layout, layouts
from eddyline.spark.partitioning.shard_ids import shard_id
from eddyline.spark.script import QueryGroup, Script

_SHEDS: Final = "queries with ON OVERLOAD SHED: one engine decides which rows are dropped"


@dataclass(frozen=True)
class LayoutShards:
    """A layout of a group, with its queries and its shards.

    Attributes:
        group: all streams, queries and tables that share one clock.
        queries: those of the layout when the job started. in_parts: of these, those whose groups it
            computes in parts.
        ids: the shard of each cell. cores: CPU cores of each.
        first_of: inputs that no earlier layout of the group reads; of these, its shards report late
            and bad rows.
        counts: those of the group's inputs whose rows its first shard counts.
        read_elsewhere: streams that queries of the group's other layouts read.
    """

    group: QueryGroup
    layout: Layout
    queries: tuple[str, ...]
    ids: tuple[int, ...]
    cores: float
    first_of: frozenset[str]
    read_elsewhere: frozenset[str]
    in_parts: frozenset[str] = frozenset()

    @property
    def described(self) -> str:
        """How rows are divided: ``a.k = b.k in 4 parts``."""
        axes = [f"{axis.label} in {axis.size} parts" for axis in self.layout.axes]
        return ", ".join(axes) or "not divided"

    @property
    def text(self) -> str:
        """How the rows of each input are dealt, and which queries run in parts; equal for equal
        layouts only.
        """
        inputs = self.layout.inputs.items()
        dealt = [f"{name} {', '.join(map(str, along))}" for name, along in sorted(inputs)]
        dealt += [f"in parts {', '.join(sorted(self.in_parts))}"] if self.in_parts else []
        dealt += [f"timestamps of {name} in all parts" for name in sorted(self.layout.counted)]
        return f"{self.described}: {'; '.join(dealt)}"

    def reports(self, cell: int) -> tuple[str, ...]:
        """The inputs of which a cell reports late and bad rows."""
        return tuple(n for n in sorted(self.first_of) if self.layout.counts(n, cell))

    def counts(self, cell: int) -> tuple[str, ...]:
        """The inputs of which a cell counts all rows, wherever they are sent."""
        return tuple(sorted(self.first_of)) if cell == 0 else ()


def by_group(layouts: Sequence[LayoutShards]) -> list[tuple[QueryGroup, list[LayoutShards]]]:
    """The layouts of each group, in order."""
    found: dict[int, tuple[QueryGroup, list[LayoutShards]]] = {}
    for of in layouts:
        found.setdefault(id(of.group), (of.group, []))[1].append(of)
    return list(found.values())


def planned(script: Script, query: Query, statistics: Statistics | None = None) -> PlannedQuery:
    """What the partitioning of a query of a script depends on.

    Args:
        statistics: of the job; None: of the script.
    """
    known = script.statistics if statistics is None else statistics

    def is_large(table: str) -> bool:
        return known.rows(table) >= LARGE_TABLE

    streams = streams_read(query.plan)
    by_row = frozenset(name for name in streams if script.streams[name].lateness_by == "row")
    large = frozenset(filter(is_large, tables_read(query.plan)))
    rules = script.rules_of(query.name)
    if rules is None:
        return PlannedQuery.of(query.plan, query.bound, by_row, large)
    is_input = is_live(script.tables[rules]) or is_large(rules)
    return PlannedQuery(query.plan, rules if is_input else None, by_row, large)


def is_in_parts(layout: Layout, query: PlannedQuery) -> bool:
    """Whether a layout that fits a query computes its groups in parts."""
    run = as_run(layout, query)
    assert run is not None, "it fits"
    return run is not query


def layouts_of(
    script: Script, groups: Sequence[QueryGroup], cells: int, partitions: int, cores: int
) -> list[LayoutShards]:
    """The layouts of all groups. The same arguments give the same result, and ids do not depend on
    ``partitions`` and ``cores``.

    Args:
        cells: the largest number of cells of a layout.
        partitions: number of Spark's partitions. cores: available for tasks.
    """
    found = [(group, *of) for group in groups for of in group_layouts(script, group, cells)]
    numbers = range(sum(layout.cells for _, layout, _ in found))
    ids = [shard_id(n) for n in numbers]
    of_shards = cores_by_shard([n % partitions for n in numbers], cores, script.options.capacity)
    made: list[LayoutShards] = []
    end = 0
    for group, layout, names in found:
        own = slice(end, end := end + layout.cells)
        others = [(o, n) for g, o, n in found if g is group and o is not layout]
        before = [m.layout.inputs.keys() for m in made if m.group is group]
        made.append(
            LayoutShards(
                group,
                layout,
                names,
                tuple(ids[own]),
                min(of_shards[own]),
                frozenset((*group.streams, *group.live))
                .intersection(layout.inputs)
                .difference(*before),
                read_by(script.queries, [name for _, of in others for name in of]),
                frozenset(
                    n for n in names if is_in_parts(layout, planned(script, script.queries[n]))
                ),
            )
        )
    return made


def layout_for(
    script: Script,
    group: QueryGroup,
    query: PlannedQuery,
    others: Sequence[LayoutShards],
    cells: int,
    partitions: int,
    cores: int,
) -> LayoutShards:
    """The layout that a query, which is added to a group, would have alone; without queries yet.

    Args:
        others: the layouts that the job has, also those of other groups.
        cells, partitions, cores: as of :func:`layouts_of`.
    """
    layout = best_layout(query, cells, script.statistics)
    first = sum(len(of.ids) for of in others)
    numbers = range(first + layout.cells)
    of_shards = cores_by_shard([n % partitions for n in numbers], cores, script.options.capacity)
    return LayoutShards(
        group,
        layout,
        (),
        tuple(shard_id(n) for n in numbers[first:]),
        min(of_shards[first:]),
        frozenset(),  # the layouts since the job's start read all its streams
        frozenset(),
    )


def runs_of(script: Script, of: LayoutShards) -> list[PlannedQuery]:
    """What the cells of a layout run for its queries."""
    queries = (planned(script, script.queries[name]) for name in of.queries)
    return [run for query in queries if (run := as_run(of.layout, query)) is not None]


def read_by(queries: Mapping[str, Query], names: Sequence[str]) -> frozenset[str]:
    """The streams that these queries read."""
    return frozenset().union(*(streams_read(queries[name].plan) for name in names))


def group_layouts(
    script: Script, group: QueryGroup, cells: int
) -> list[tuple[Layout, tuple[str, ...]]]:
    """The layouts of a group, each with its queries. ``cells``: the largest number of a layout."""
    queries = {n: planned(script, script.queries[n]) for n in group.queries}
    if cells > 1 and any(script.queries[name].sheds for name in group.queries):
        ((layout, names),) = layouts(queries, 1)
        return [(Layout((), layout.inputs, _SHEDS), names)]
    return layouts(queries, cells, script.statistics)
