"""The contents with which the tables of shards begin: of the job's start, sent to the workers once,
or handed over by other shards.

A shard loads the rows of its cell, which are dealt as the changes of the table are. Any shard, also
of a layout that is added later, can take them from the pieces of the whole content.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from eddyline.algebra.catalog import TableDef
from eddyline.engine.ingest.table_contents import LANES, TableContents
from eddyline.engine.ingest.tables import table_columns
from eddyline.spark.exchange.broadcasts import BroadcastBlob
from eddyline.spark.exchange.packed_batches import pack, pieces, unpack
from eddyline.spark.partitioning.dealing import Dealer
from eddyline.spark.partitioning.layouts import ByKey, Layout, one_cell

if TYPE_CHECKING:
    from pyspark import SparkContext


class TableContent:
    """The whole initial content of a table.

    Args:
        is_large: whether only the layouts load it whose queries read it since their start.
    """

    def __init__(self, context: SparkContext, rows: pa.Table, *, is_large: bool) -> None:
        self.is_large = is_large
        self._blobs = [BroadcastBlob(context, pack(p)) for p in [*pieces(rows)] or [rows]]

    def pieces(self) -> Iterator[pa.Table]:
        """The content in pieces, at least one, in a worker."""
        return (unpack(blob.read()) for blob in self._blobs)


@dataclass(frozen=True)
class ShardTables:
    """The tables of a shard.

    Attributes:
        contents: by name, of all tables of its group.
        layout, cell: which rows of them it has.
    """

    contents: Mapping[str, TableContent] = field(default_factory=dict)
    layout: Layout = field(default_factory=lambda: one_cell({}))
    cell: int = 0

    def names(self) -> list[str]:
        """The tables that it loads."""
        inputs = self.layout.inputs
        return [name for name, of in self.contents.items() if name in inputs or not of.is_large]

    def rows(self, table: TableDef) -> pa.Table:
        """Its rows of a table.

        Raises:
            DataError: as ``table_columns``.
        """
        found = self.contents[table.name].pieces()
        if not self._divides(table.name):
            return pa.concat_tables(found)
        dealer = Dealer(self.layout, table.name)
        return pa.concat_tables(self.own_part(dealer, table_columns(table, rows)) for rows in found)

    def own(self, contents: TableContents) -> TableContents:
        """Its part of the contents that other shards have handed over."""
        rows, waiting = dict(contents.rows), dict(contents.waiting)
        for name in filter(self._divides, contents.rows):
            dealer, columns = Dealer(self.layout, name), rows[name].num_columns - LANES
            rows[name] = self.own_part(dealer, rows[name], columns)
            waiting[name] = self.own_part(dealer, waiting[name], columns)
        return replace(contents, rows=rows, waiting=waiting)

    def without(self, names: Container[str]) -> ShardTables:
        """The other tables."""
        contents = {name: content for name, content in self.contents.items() if name not in names}
        return replace(self, contents=contents)

    def _divides(self, name: str) -> bool:
        return any(isinstance(c, ByKey) for c in self.layout.inputs.get(name, ()))

    def own_part(self, dealer: Dealer, rows: pa.Table, columns: int | None = None) -> pa.Table:
        """The rows of its cell; ``columns``: number of the last ones that are the table's; None:
        all are.
        """
        own = rows.columns[-columns:] if columns else rows.columns
        dealt = dealer.deal([column.combine_chunks() for column in own], turn=0)
        return rows.take(pa.array(dealt.rows(dealt.part_of[self.cell])))
