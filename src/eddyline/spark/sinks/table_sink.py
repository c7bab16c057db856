"""Sinks for tables that can follow the answers of queries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from eddyline.engine.changes import QUERY_COLUMN
from eddyline.spark.exchange.query_rows import QueryRows, decoded_query
from eddyline.spark.sinks.sink_bases import OwnedSink


class SinkTable(ABC):
    """A table that has the last batch of each job that writes it: it takes a batch once."""

    @abstractmethod
    def prepare(self, *, shared: bool, again: bool = False, continues: bool = False) -> None:
        """Create or check the table, and claim it; once.

        Args:
            shared: whether its rows name their query.
            again: whether an earlier start has prepared it.
            continues: whether the query has had another sink before.

        Raises:
            DataError: it cannot be reached, or does not fit. StateError: the table or its rows are
                not those that the job has written.
        """

    @abstractmethod
    def write(self, batch_id: int, rows: pa.Table, emptied: Sequence[str] = ()) -> None:
        """Write the rows of a batch, unless it is written already.

        Args:
            rows: with the query first if the table is shared.
            emptied: queries whose answer has become empty before these rows.

        Raises:
            DataError: the table cannot be written, or has refused rows. StateError: another job
                has taken the table.
        """

    def storable(self, rows: pa.Table) -> pa.Table:
        """The rows that the table can have."""
        return rows


@dataclass(eq=False)
class TableSink(OwnedSink):
    """A table that the driver writes.

    Attributes:
        shared: whether several queries write here; a column then names the query.
        reads: by query, the streams and tables that it reads.
    """

    table: SinkTable
    shared: bool = False
    reads: dict[str, frozenset[str]] = field(default_factory=dict)

    def prepare(self, *, again: bool = False, continues: bool = False) -> None:
        """Create or check the table; see :meth:`SinkTable.prepare`."""
        self.table.prepare(shared=self.shared, again=again, continues=continues)

    def readers(self, streams: frozenset[str]) -> list[str]:
        """The queries that read one of some streams."""
        return [name for name, read in self.reads.items() if read & streams]

    def deliver(
        self,
        batch_id: int,
        parts: Sequence[QueryRows],
        counts: Mapping[str, int],
        emptied: Sequence[str] = (),
    ) -> None:
        """Write the rows of a batch; those of a repeated batch are written already."""
        self.prepare(again=True)  # if it was unavailable at the start
        schema = self.owner.columns
        if self.shared:
            schema = pa.schema([pa.field(QUERY_COLUMN, pa.string()), *schema])
            rows = [decoded_query(part.rows) for part in parts]
        else:
            rows = [part.only(name) for part in parts for name in part.names]
        tables = [self.table.storable(table.cast(schema)) for table in rows]
        self.table.write(batch_id, pa.concat_tables([schema.empty_table(), *tables]), emptied)
