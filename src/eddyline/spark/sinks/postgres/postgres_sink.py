"""The sink ``postgres``; its driver is imported when a job has such a sink."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from eddyline.engine.changes import QUERY_COLUMN
from eddyline.errors import DataError
from eddyline.extras import extras_named
from eddyline.spark.exchange.query_rows import QueryRows, decoded_query
from eddyline.spark.sinks.postgres.postgres_options import PostgresOptions, resolved
from eddyline.spark.sinks.sink_bases import DriverSink, Target

if TYPE_CHECKING:
    from eddyline.spark.sinks.postgres.postgres_connection import Database
    from eddyline.spark.sinks.postgres.postgres_table import PostgresTable

#: Databases of a job, by what connects to them.
Databases = dict[tuple[object, ...], "Database"]


@dataclass(eq=False)
class PostgresSink(DriverSink):
    """A table of PostgreSQL.

    Attributes:
        owner: the first target. shared: whether several queries write here; a column then names
            the query.
        reads: by query, the streams and tables that it reads.
    """

    owner: Target
    table: PostgresTable
    shared: bool = False
    reads: dict[str, frozenset[str]] = field(default_factory=dict)
    _emptied: list[str] = field(default_factory=list)
    _is_ready: bool = False

    def prepare(self) -> None:
        """Create or check the table; see :meth:`PostgresTable.prepare`."""
        self.table.prepare(shared=self.shared)
        self._is_ready = True

    def begin_again(self, streams: frozenset[str]) -> bool:
        """The windows over streams were emptied before the rows of the next batch.

        Returns:
            Whether the batch has to be delivered even if it has no rows.
        """
        if not self._is_ready:  # the query could not be added
            return False
        self._emptied = [name for name, read in self.reads.items() if read & streams]
        return bool(self._emptied)

    def deliver(self, batch_id: int, parts: Sequence[QueryRows], counts: Mapping[str, int]) -> None:
        """Write the rows of a batch; those of a repeated batch are written already."""
        schema = self.owner.schema
        if self.shared:
            schema = pa.schema([pa.field(QUERY_COLUMN, pa.string()), *schema])
            rows = [decoded_query(part.rows) for part in parts]
        else:
            rows = [part.only(name) for part in parts for name in part.names]
        tables = [table.cast(schema) for table in rows]
        self.table.write(batch_id, pa.concat_tables([schema.empty_table(), *tables]), self._emptied)


def postgres_sink(
    target: Target, options: Mapping[str, str], job: str, session: str, databases: Databases
) -> PostgresSink:
    """The sink of a target.

    Args:
        job: identifies the job. session: new at each start.

    Raises:
        DataError: the mode does not fit a side output.
    """
    with extras_named():
        from eddyline.spark.sinks.postgres.postgres_connection import Database
        from eddyline.spark.sinks.postgres.postgres_table import PostgresTable

    own = PostgresOptions.of(target.label, options)
    if target.kind != "changes" and own.mode != "append":
        raise DataError(f"'{target.label}': rows of side outputs are appended only")
    key: Sequence[str] = ()
    if own.mode == "upsert":
        key = target.replace_key or resolved(target.label, own.key or (), target.schema.names)
    database = databases.setdefault(own.database, Database(own))
    session = f"{session}/{target.label}"
    return PostgresSink(
        target,
        PostgresTable(
            target.label,
            database,
            own,
            target.schema,
            key,
            job,
            session,
            replaces=target.replace_key is not None,
        ),
    )
