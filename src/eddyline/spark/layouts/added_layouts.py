"""Layouts that are added to a running job: their records, and how the tasks of a batch get them.

A query that fits no layout of its group gets a layout of its own. It begins with a batch, between
two batches of the driver, and its shards begin with the clock that the group has then. The record
of this is written together with the request that creates the query (one file of the control
stream), so a start from the checkpoint has both or neither.

The streaming query goes on: before each batch the driver sets the layouts that have begun as a
local property of the thread that runs the batches, and Spark passes it to their tasks. A batch that
is repeated has the same layouts again, whenever it is repeated.
"""

from __future__ import annotations

import base64
import json
import pickle
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from pyspark import SparkContext, TaskContext

from eddyline.errors import StateError
from eddyline.spark.exchange.shared_files import SharedFile
from eddyline.spark.layouts.layout_shards import LayoutShards
from eddyline.spark.layouts.shard_program import Beginning, ShardSpec

_PROPERTY: Final = "eddyline.layouts"


@dataclass(frozen=True)
class AddedLayout:
    """A layout that was added to a running job.

    Attributes:
        of: the layout, without queries; it counts no rows, because others of its group do.
        like: a shard of its group since the job's start: the program is the same but for queries.
        batch: its first batch.
        beginning: of its shards.
    """

    of: LayoutShards
    like: int
    batch: int
    beginning: Beginning

    @property
    def tables(self) -> str | None:
        """The file with the content of tables that change; None: the layout has none."""
        return None if self.beginning.tables is None else self.beginning.tables.name

    def record(self) -> str:
        """As JSON; the layout itself follows from the query that it was added for."""
        fields = {
            "shards": self.of.ids,
            "cores": self.of.cores,
            "text": self.of.text,
            "batch": self.batch,
            "clocks": self.beginning.clocks,
            "statements": self.beginning.statements,
            "read_elsewhere": sorted(self.of.read_elsewhere),
            "tables": self.tables,
        }
        return json.dumps(fields)

    @classmethod
    def read(cls, record: str, planned: LayoutShards, like: int) -> AddedLayout:
        """The layout of a record.

        Args:
            planned: the layout of the query that it was added for, as planned now.

        Raises:
            StateError: the layout was another one.
        """
        fields = json.loads(record)
        if planned.text != fields["text"]:
            raise StateError(
                f"rows were divided '{fields['text']}' for a query that was added, and this "
                f"version of Eddyline divides them '{planned.text}': continue with the version "
                "that wrote the checkpoint, or use another checkpoint"
            )
        read_elsewhere = frozenset(fields["read_elsewhere"])
        of = replace(
            planned,
            ids=tuple(fields["shards"]),
            cores=fields["cores"],
            read_elsewhere=read_elsewhere,
        )
        beginning = Beginning(
            tuple(fields["clocks"]),
            fields["statements"],
            read_elsewhere,
            of.cores,
            of.layout.counted,
            None if fields["tables"] is None else SharedFile(fields["tables"]),
        )
        return cls(of, like, fields["batch"], beginning)

    def specs(self, like: ShardSpec) -> dict[int, ShardSpec]:
        """Its shards by id, from the one that ``like`` names."""
        return {
            shard: replace(
                like,
                shard=shard,
                layout=self.of.described,
                cell=cell,
                reports=(),
                counts=(),
                beginning=self.beginning,
                tables=replace(like.tables, layout=self.of.layout, cell=cell),
            )
            for cell, shard in enumerate(self.of.ids)
        }


def publish_layouts(context: SparkContext, layouts: Iterable[AddedLayout]) -> None:
    """Make layouts known to the tasks of the next batch; called in the thread that runs it. Those
    of a batch are also those of the batches after it.
    """
    # of the group, tasks need the streams only
    short = [replace(a, of=replace(a.of, group=replace(a.of.group, queries=()))) for a in layouts]
    if short:
        text = base64.b64encode(pickle.dumps(short)).decode()
        context.setLocalProperty(_PROPERTY, text)


def added_layouts() -> list[AddedLayout]:
    """In a task: the layouts that have begun with its batch or before."""
    context = TaskContext.get()
    known = None if context is None else context.getLocalProperty(_PROPERTY)
    return _read(known) if known else []


def added_specs(specs: Mapping[int, ShardSpec]) -> dict[int, ShardSpec]:
    """In a task: the shards of these layouts. ``specs``: of the shards since the job's start."""
    return {
        shard: spec
        for added in added_layouts()
        for shard, spec in added.specs(specs[added.like]).items()
    }


def added_shards(streams: Collection[str]) -> list[int]:
    """In a task: the shards of these layouts in the groups of some streams."""
    of = (added.of for added in added_layouts())
    return [s for o in of if set(o.group.streams) & set(streams) for s in o.ids]


@lru_cache(maxsize=8)
def _read(text: str) -> list[AddedLayout]:
    found: list[AddedLayout] = pickle.loads(base64.b64decode(text))
    return found
