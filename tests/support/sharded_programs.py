"""The programs of a sharded job in one process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from eddyline.spark.exchange.shared_files import SharedFile
from eddyline.spark.layouts.added_layouts import AddedLayout
from eddyline.spark.layouts.job_program import JobProgram
from eddyline.spark.layouts.layout_shards import LayoutShards
from eddyline.spark.layouts.layout_tables import DIRECTORY, LayoutTables
from eddyline.spark.layouts.shard_program import BroadcastProgram, ShardProgram, ShardSpec
from eddyline.spark.layouts.table_contents import ShardTables, TableContent
from eddyline.spark.partitioning.planned_query import LARGE_TABLE
from eddyline.spark.script import Script
from eddyline.spark.storage.directory import Directory


class Program(BroadcastProgram):
    """A program in this process."""

    def __init__(self, program: ShardProgram) -> None:
        self._program = program

    def read(self) -> ShardProgram:
        return self._program


class Content(TableContent):
    """The content of a table in this process, in pieces of three rows."""

    def __init__(self, rows: pa.Table, *, is_large: bool) -> None:
        self.is_large = is_large
        self._rows = rows

    def pieces(self) -> Iterator[pa.Table]:
        yield self._rows.slice(0, 3)
        for start in range(3, self._rows.num_rows, 3):
            yield self._rows.slice(start, 3)


@dataclass(frozen=True)
class FileInProcess(SharedFile):
    """A file for the tasks of a batch, as it is when the batch begins."""

    content: bytes

    def read(self) -> bytes:
        return self.content


class Programs:
    """The programs of a job.

    Args:
        of_job: of its first start. tables: the initial contents.
    """

    def __init__(self, script: Script, of_job: JobProgram, tables: Mapping[str, pa.Table]) -> None:
        self._script = script
        self._of_job = of_job
        self._tables = tables
        self._large = {name for name in tables if script.statistics.rows(name) >= LARGE_TABLE}

    def specs(self, of: LayoutShards) -> Iterator[ShardSpec]:
        """The shards of a layout since the job's start."""
        program = Program(self._program(of))
        for cell, shard in enumerate(of.ids):
            parts = (of.described, cell, of.reports(cell), of.counts(cell))
            names = of.group.tables
            contents = {n: Content(self._tables[n], is_large=n in self._large) for n in names}
            tables = ShardTables(contents, of.layout, cell)
            yield ShardSpec(shard, "", *parts, program, tables=tables)

    def without_queries(self, of: LayoutShards, shard: int) -> ShardSpec:
        """An engine with the inputs of a layout's group."""
        whole = self._program(of)
        program = replace(whole, statements=whole.definitions, counted=frozenset())
        contents = {n: Content(self._tables[n], is_large=False) for n in of.group.tables}
        tables = ShardTables(contents)
        return ShardSpec(shard, "", "", 0, (), (), Program(program), tables=tables)

    def _program(self, of: LayoutShards) -> ShardProgram:
        group, script = of.group, self._script
        return ShardProgram(
            script.program_of(of.queries, of.in_parts),
            script.program_of(()),
            (),
            (*group.streams, *group.live),
            of.read_elsewhere,
            self._of_job.options(of),
            self._of_job.strategy,
            of.layout.counted,
        )


def added_specs(added: AddedLayout, like: ShardSpec, directory: Directory) -> list[ShardSpec]:
    """The shards of an added layout, in its first batch.

    Args:
        directory: the checkpoint.
    """
    specs = added.specs(like)
    if added.tables is None:
        return [*specs.values()]
    content = LayoutTables(directory.below(DIRECTORY)).read(added.tables)
    beginning = replace(added.beginning, tables=FileInProcess(added.tables, content))
    return [replace(spec, beginning=beginning) for spec in specs.values()]
