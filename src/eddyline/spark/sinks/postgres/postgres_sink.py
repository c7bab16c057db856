"""The sink ``postgres``; its driver is imported when a job has such a sink."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from eddyline.extras import extras_named
from eddyline.spark.exchange.query_rows import QueryRows
from eddyline.spark.sinks.postgres.postgres_options import PostgresOptions
from eddyline.spark.sinks.postgres.postgres_texts import as_bad_rows, refused_texts
from eddyline.spark.sinks.sink_bases import Target
from eddyline.spark.sinks.table_sink import TableSink

if TYPE_CHECKING:
    from eddyline.spark.sinks.postgres.postgres_connection import Database

#: Databases of a job, by what connects to them.
Databases = dict[tuple[object, ...], "Database"]


class PostgresSink(TableSink):
    """A table of PostgreSQL."""

    has_rules = True

    def refused(self, parts: Sequence[QueryRows]) -> Iterator[tuple[str, pa.Table]]:
        """Rows with a text that PostgreSQL cannot store."""
        for part in parts:
            if not refused_texts(part.rows):
                continue
            for name, rows in part.each():
                if refused := refused_texts(rows):
                    yield name, as_bad_rows(rows, refused)


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
    database = databases.setdefault(own.database, Database(own))
    session = f"{session}/{target.label}"
    return PostgresSink(target, PostgresTable(target, database, own, job, session))
