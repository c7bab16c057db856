"""The sink ``postgres``; its driver is imported when a job has such a sink."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from eddyline.engine.changes import QUERY_COLUMN
from eddyline.errors import DataError
from eddyline.extras import extras_named
from eddyline.spark.exchange.query_rows import QueryRows, decoded_query
from eddyline.spark.sinks.postgres.postgres_options import PostgresOptions, resolved
from eddyline.spark.sinks.postgres.postgres_texts import as_bad_rows, refused_texts
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

    def prepare(self, *, continues: bool = False) -> None:
        """Create or check the table; see :meth:`PostgresTable.prepare`."""
        self.table.prepare(shared=self.shared, continues=continues)

    def readers(self, streams: frozenset[str]) -> list[str]:
        """The queries that read one of some streams."""
        return [name for name, read in self.reads.items() if read & streams]

    has_rules = True

    def refused(self, parts: Sequence[QueryRows]) -> Iterator[tuple[str, pa.Table]]:
        """Rows with a text that PostgreSQL cannot store."""
        for part in parts:
            if not refused_texts(part.rows):
                continue
            for name, rows in part.each():
                if refused := refused_texts(rows):
                    yield name, as_bad_rows(rows, refused)

    def deliver(
        self,
        batch_id: int,
        parts: Sequence[QueryRows],
        counts: Mapping[str, int],
        emptied: Sequence[str] = (),
    ) -> None:
        """Write the rows of a batch; those of a repeated batch are written already."""
        self.prepare()  # if the database was unavailable at the start
        schema = self.owner.schema
        if self.shared:
            schema = pa.schema([pa.field(QUERY_COLUMN, pa.string()), *schema])
            rows = [decoded_query(part.rows) for part in parts]
        else:
            rows = [part.only(name) for part in parts for name in part.names]
        tables = [self.table.storable(table.cast(schema)) for table in rows]
        self.table.write(batch_id, pa.concat_tables([schema.empty_table(), *tables]), emptied)


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
