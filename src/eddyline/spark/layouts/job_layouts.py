"""The layouts of a job in the driver: those since its start, and those that were added to it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from typing import Any

from eddyline.errors import CatalogError, StateError
from eddyline.spark.layouts.added_layouts import AddedLayout
from eddyline.spark.layouts.key_splits import KeySplits
from eddyline.spark.layouts.layout_shards import LayoutShards, by_group, layout_for
from eddyline.spark.layouts.layout_tables import LayoutTables, shards_with
from eddyline.spark.layouts.shard_program import Beginning
from eddyline.spark.partitioning.planned_query import PlannedQuery
from eddyline.spark.partitioning.planning import as_run
from eddyline.spark.script import QueryGroup, Script
from eddyline.spark.storage.directory import Directory


class JobLayouts:
    """The layouts of a job.

    Args:
        script: of the job's start. layouts: since then.
        cells: the largest number of cells of a layout. partitions: number of Spark's partitions.
        cores: available for tasks. directory: of the files of ``tables``.
        splits: split keys of the layouts since the job's start; None: there are none.

    Attributes:
        first: those since the job's start. all: in order.
        groups: by shard, the streams of its group.
        tables: the content of tables that change, for added layouts.
        boundary: while it is held no batch is delivered; a layout is added under it.
    """

    def __init__(
        self,
        script: Script,
        layouts: Sequence[LayoutShards],
        cells: int,
        partitions: int,
        cores: int,
        directory: Directory,
        splits: KeySplits | None = None,
    ) -> None:
        self.first = tuple(layouts)
        self.all = list(layouts)
        self.groups = {s: ", ".join(of.group.streams) for of in layouts for s in of.ids}
        self._script = script
        self._sizes = cells, partitions, cores
        self._splits = splits
        self._added: list[AddedLayout] = []
        self._delivered = -1  # the last delivered batch
        # by shard, after its last batch: clocks, and number of statements that it has executed
        self._reached: dict[int, tuple[list[dict[str, Any]], int]] = {}
        self.tables = LayoutTables(directory)
        self.boundary = threading.Lock()

    def of(self, group: QueryGroup) -> list[LayoutShards]:
        """The layouts of a group."""
        return [of for of in self.all if of.group is group]

    def shards(self, group: QueryGroup) -> list[int]:
        """The shards of a group; the first one since the job's start."""
        return [shard for of in self.of(group) for shard in of.ids]

    # -- the layout of a query that is added ---------------------------

    def group_of(self, query: str, streams: Set[str], tables: Set[str]) -> QueryGroup:
        """The group of all streams and tables that an added query reads.

        Raises:
            CatalogError: there is none.
        """
        groups = [group for group, _ in by_group(self.all)]
        _require(query, "stream", streams, (s for group in groups for s in group.streams))
        found = [group for group in groups if streams & set(group.streams)]
        if not found:
            raise CatalogError(f"query '{query}' reads no stream")
        if len(found) > 1:
            apart = " and ".join(f"({', '.join(group.streams)})" for group in found)
            raise CatalogError(
                f"query '{query}' joins streams of different groups of this job: {apart}; "
                "add it to the session and start from a new checkpoint"
            )
        _require(query, "table", tables, found[0].tables)
        return found[0]

    def fitting(self, group: QueryGroup, query: str, planned: PlannedQuery) -> LayoutShards | None:
        """The first layout of a group that fits an added query; None: none does. One with several
        cells comes before others, and one that need not compute groups in parts.

        Raises:
            CatalogError: it does, but for keys that are split there.
        """
        runs = [(of, as_run(of.layout, planned)) for of in self.of(group)]
        fitting = [(of, run) for of, run in runs if run is not None]
        if not fitting:
            return None
        found, run = min(fitting, key=lambda f: (not f[0].layout.axes, f[1] is not planned))
        if self._splits is not None:
            self._splits.require_fit(found, run, query)
        return found

    def plan(self, group: QueryGroup, planned: PlannedQuery) -> LayoutShards:
        """A new layout of a group, for an added query."""
        return layout_for(self._script, group, planned, self.all, *self._sizes)

    def shards_with_tables(
        self, group: QueryGroup, planned: PlannedQuery
    ) -> Mapping[int, Sequence[str]]:
        """The tables that change which a query reads, by shard of its group that has them: each row
        of a table is in one of its shards.
        """
        changing = sorted({*planned.inputs}.intersection(group.live))
        return shards_with(self.of(group), changing)

    # -- new layouts ---------------------------------------------------

    @contextmanager
    def batch(self, number: int) -> Iterator[list[AddedLayout]]:
        """While a batch is delivered, no layout is added. Yields those that the batch has."""
        with self.boundary:
            yield [added for added in self._added if added.batch <= number]

    def note(self, batch: int, reports: Iterable[dict[str, Any]]) -> None:
        """Take the reports of the shards of a delivered batch, and their ``clocks`` and ``tables``
        out of them.
        """
        self._delivered = batch
        of_batch = list(reports)
        self.tables.note(of_batch)
        for report in of_batch:
            self._reached[report["shard"]] = report.pop("clocks"), report["statements"]
        for added in self._added:
            if added.tables is not None and added.of.ids[0] in self._reached:
                self.tables.have_begun(added.tables, batch)

    def executed(self, group: QueryGroup) -> int | None:
        """Number of statements of the control stream that the shards of a group have executed; None
        while none of them has reported since the start.
        """
        reached = self._reached.get(self.shards(group)[0])
        return None if reached is None else reached[1]

    @contextmanager
    def adding(
        self, of: LayoutShards, tables: Mapping[int, Sequence[str]]
    ) -> Iterator[AddedLayout]:
        """Add a planned layout, which begins with the next batch, while ``boundary`` is held.

        A shard of its group must have reported. In the body the record is to be written.

        Args:
            tables: those of its inputs that change, by shard that has handed them over with the
                last batch.
        """
        like = self.shards(of.group)[0]
        clocks, statements = self._reached[like]
        file = self.tables.write(tables) if tables else None
        beginning = Beginning(
            tuple(clocks), statements, of.read_elsewhere, of.cores, of.layout.counted, file
        )
        added = AddedLayout(of, like, self._delivered + 1, beginning)
        yield added
        self._add(added)

    def again(
        self, record: str | None, group: QueryGroup, query: str, planned: PlannedQuery
    ) -> LayoutShards:
        """The layout that a query got when it was added.

        Args:
            record: of the layout that was added for it; None: it had one.

        Raises:
            StateError: it would be another layout.
        """
        if record is not None:
            new = self.plan(group, planned)
            added = AddedLayout.read(record, new, self.shards(group)[0])
            self._add(added)
            return added.of
        layout = self.fitting(group, query, planned)
        if layout is None:
            raise StateError(
                f"query '{query}' was added to the job, and this version of Eddyline finds no "
                "layout that fits it: continue with the version that wrote the checkpoint, or use "
                "another checkpoint"
            )
        return layout

    def all_are_added(self) -> None:
        """At a start: those of all records have been added again."""
        self.tables.keep(added.tables for added in self._added if added.tables is not None)

    def _add(self, added: AddedLayout) -> None:
        self._added.append(added)
        self.all.append(added.of)
        streams = ", ".join(added.of.group.streams)
        self.groups |= dict.fromkeys(added.of.ids, streams)


def _require(query: str, kind: str, read: Iterable[str], available: Iterable[str]) -> None:
    known = list(available)
    missing = sorted(set(read) - set(known))
    if missing:
        has = f"it reads {', '.join(known)}" if known else "it reads none"
        beside = " beside these streams" if kind == "table" else ""
        raise CatalogError(
            f"query '{query}' reads the {kind} '{missing[0]}', which no query of this job "
            f"read{beside} when it started ({has}); add it to the session and start from a new "
            "checkpoint"
        )
