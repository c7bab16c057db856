"""The tables that change of layouts which are added to a running job.

Between two batches, shards that have such tables hand over what these contain; the shards of a new
layout begin with it. It is in a file of the checkpoint until they have begun, because a batch may
be repeated.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from pyspark import SparkContext

from eddyline.engine.ingest.table_contents import TableContents
from eddyline.errors import StateError
from eddyline.spark.exchange.shared_files import SharedFile
from eddyline.spark.layouts.layout_shards import LayoutShards
from eddyline.spark.storage.directory import Directory

#: In the checkpoint.
DIRECTORY: Final = "tables"


def shards_with(layouts: Sequence[LayoutShards], tables: Iterable[str]) -> dict[int, list[str]]:
    """The shards that have these tables, by shard: each row of a table is in one of its shards.

    Args:
        layouts: of a group; each table is an input of one. Where it is not divided, one shard has
            it.
    """
    found: dict[int, list[str]] = {}
    for table in tables:
        having = (
            [shard for cell, shard in enumerate(of.ids) if of.layout.counts(table, cell)]
            for of in layouts
            if table in of.layout.inputs
        )
        for shard in min(having, key=len):
            found.setdefault(shard, []).append(table)
    return found


class LayoutTables:
    """What shards have handed over, and its files.

    Args:
        directory: of the files.
    """

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._handed_over: dict[int, TableContents] = {}  # by shard, as of its last batch
        # by file, the batch in which the shards of its layout were found to have begun
        self._files: dict[str, int | None] = dict.fromkeys(directory.names())

    def note(self, reports: Iterable[dict[str, Any]]) -> None:
        """Take the reports of a delivered batch, and their ``tables`` out of them."""
        for report in reports:
            self._handed_over.pop(report["shard"], None)
            if (content := report.pop("tables", None)) is not None:
                self._handed_over[report["shard"]] = TableContents.read(content)

    def has(self, tables: Mapping[int, Sequence[str]]) -> bool:
        """Whether shards have handed over these tables with their last batch; by shard."""
        known = self._handed_over
        return all(s in known and known[s].rows.keys() >= {*of} for s, of in tables.items())

    def write(self, tables: Mapping[int, Sequence[str]]) -> SharedFile:
        """Write the content of these tables for a layout that is about to be added.

        Args:
            tables: by shard that has handed them over.
        """
        parts = [self._handed_over[shard].only(of) for shard, of in tables.items()]
        file = SharedFile(f"layout-{uuid.uuid4().hex}.tables")
        self._directory.make()
        self._directory.write(file.name, TableContents.merged(parts).packed())
        self._files[file.name] = None
        return file

    def have_begun(self, name: str, batch: int) -> None:
        """The shards that begin with a file have reported a batch. With a later one they will not
        begin again, and the file is deleted.
        """
        if name in self._files:
            first = self._files[name]
            if first is None:
                self._files[name] = batch
            elif batch > first:
                self._directory.delete(name)
                del self._files[name]

    def keep(self, names: Iterable[str]) -> None:
        """Delete the files of layouts whose records were not written; ``names``: of all others."""
        for name in self._files.keys() - set(names):
            self._directory.delete(name)
            del self._files[name]

    def share(self, context: SparkContext, names: Iterable[str]) -> None:
        """Give those files to the tasks of the next batch that they may need."""
        for name in self._files.keys() & set(names):
            SharedFile(name).share(context, partial(self.read, name))

    def read(self, name: str) -> bytes:
        """The content of a file.

        Raises:
            StateError: it is missing.
        """
        content = self._directory.read(name)
        if content is None:
            raise StateError(
                f"{self._directory.path} lacks the file {name}, with which a layout begins: "
                "restore it from a copy of the checkpoint, or use another checkpoint"
            )
        return content
