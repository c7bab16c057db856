"""A table of PostgreSQL that a sink writes: rows and the id of their batch in one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.compute as pc
from psycopg import Cursor, errors
from psycopg.sql import SQL, Composed, Identifier

from eddyline.engine.changes import QUERY_COLUMN
from eddyline.errors import DataError, EddylineError, StateError
from eddyline.spark.sinks.failure_policy import RefusedError, UnavailableError
from eddyline.spark.sinks.postgres.postgres_connection import Database
from eddyline.spark.sinks.postgres.postgres_options import PostgresOptions
from eddyline.spark.sinks.postgres.postgres_sql import (
    BATCHES,
    Answer,
    Column,
    UniqueIndex,
    check_columns,
    create_batches,
    create_table,
    names,
    texts,
)
from eddyline.spark.sinks.postgres.postgres_texts import refused_texts, without
from eddyline.spark.sinks.sink_bases import Target
from eddyline.spark.sinks.table_modes import CHANGE_COLUMNS
from eddyline.spark.sinks.table_sink import SinkTable

_COLUMNS: Final = SQL(
    "SELECT attname, format_type(atttypid, atttypmod), attnotnull,"
    " atthasdef OR attidentity <> '' OR attgenerated <> ''"
    " FROM pg_attribute WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
)
_INDEXES: Final = SQL(
    "SELECT array_agg(a.attname::text), i.indnullsnotdistinct OR bool_and(a.attnotnull)"
    " FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)"
    " WHERE i.indrelid = %s AND i.indisunique AND i.indisvalid AND i.indimmediate"
    " AND i.indpred IS NULL AND i.indexprs IS NULL"
    " AND array_position(i.indkey::int2[], 0::int2) IS NULL AND i.indnatts = i.indnkeyatts"
    " GROUP BY i.indexrelid, i.indnullsnotdistinct"
)
_RELATION: Final = SQL(
    "SELECT c.oid, c.relkind::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE n.nspname = %s AND c.relname = %s"
)


class PostgresTable(SinkTable):
    """The table of one sink of a job.

    Args:
        target: of the first query or side output. database: that has the table.
        job: identifies the job. session: new at each start of it, and different for each sink.
    """

    def __init__(
        self,
        target: Target,
        database: Database,
        options: PostgresOptions,
        job: str,
        session: str,
    ) -> None:
        self._label = target.label
        self._database = database
        self._options = options
        self._rows = target.columns  # of the rows that are written, without the name of their query
        self._key = tuple(options.contents.key_for(target))
        self._replaces = target.replace_key is not None
        self._job = job
        self._session = session
        self._schema = ""
        self._answer: Answer | None = None
        self._is_shared: bool | None = None  # None: the table is not prepared

    def prepare(self, *, shared: bool, again: bool = False, continues: bool = False) -> None:
        if self._is_shared is None:
            with self._named():
                self._database.run(lambda cursor: self._prepare(cursor, shared, continues))
            self._is_shared = shared

    def storable(self, rows: pa.Table) -> pa.Table:
        """The rows without those that have a text that PostgreSQL cannot store; where such a row
        would replace another one, that is deleted.
        """
        refused = refused_texts(rows)
        if not refused:
            return rows
        kept = self._key if self._replaces and self._options.mode == "upsert" else None
        return without(rows, refused, kept)

    def write(self, batch_id: int, rows: pa.Table, emptied: Sequence[str] = ()) -> None:
        with self._named():
            self._database.run(lambda cursor: self._write(cursor, batch_id, rows, emptied))

    def _prepare(self, cursor: Cursor, shared: bool, continues: bool) -> None:
        self._schema = self._found_schema(cursor)
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [BATCHES])
        if _relation(cursor, self._schema, BATCHES) is None:
            cursor.execute(create_batches(self._batches))
        record = self._record(cursor)
        if record is None and continues and self._options.mode == "upsert":
            raise DataError(
                f"{self._name} would not have the answer of the query, but only what changes from "
                f"now on: restore a copy of its former table there, with its record in {BATCHES}; "
                "or choose mode = 'append' or 'changelog'; or add a query with another name"
            )
        columns, key = self._columns(shared), self._columns_of_key(shared)
        relation = _relation(cursor, self._schema, self._options.table)
        if relation is None:
            if record is not None and record[0] >= 0:
                raise StateError(
                    f"{self._name} is missing, although the job has written batch {record[0]}: "
                    "restore it, or start the job from a new checkpoint"
                )
            cursor.execute(create_table(self._table, columns, key))
            relation = _relation(cursor, self._schema, self._options.table)
            assert relation is not None, "just created"
        found = [Column(*row) for row in cursor.execute(_COLUMNS, [relation])]
        check_columns(columns, found, self._name)
        if self._options.mode == "upsert":
            if key:
                self._check_key(cursor, relation, key)
            types = {column.name: column.type for column in found}
            own = [(name, types[name]) for name in columns.names]
            self._answer = Answer(self._table, own, key, self._replaces)
        self._claim(cursor, record)

    def _found_schema(self, cursor: Cursor) -> str:
        wanted = self._options.schema
        if wanted is None:
            ((found,),) = cursor.execute("SELECT current_schema()").fetchall()
            if found is None:
                raise DataError("no schema of the search path exists: write schema.table")
            return str(found)
        if cursor.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [wanted]).fetchone():
            return wanted
        raise DataError(f"there is no schema '{wanted}': CREATE SCHEMA first")

    def _check_key(self, cursor: Cursor, relation: int, key: Sequence[str]) -> None:
        """Check that there is a unique index on the key."""
        found = [UniqueIndex(tuple(row[0]), row[1]) for row in cursor.execute(_INDEXES, [relation])]
        if any(set(index.columns) == set(key) and index.nulls_equal for index in found):
            return
        wanted = SQL("CREATE UNIQUE INDEX ON {} ({}) NULLS NOT DISTINCT")
        statement = wanted.format(self._table, names(key)).as_string(cursor)
        raise DataError(f"{self._name} has no unique index on ({', '.join(key)}): {statement}")

    def _claim(self, cursor: Cursor, record: tuple[int, str] | None) -> None:
        """Enter the session as the one that writes the table for the job."""
        own = [self._session, self._job, self._options.table]
        if record is not None:
            if (
                record[1] != self._session
                and record[1].split("/")[0] == self._session.split("/")[0]
            ):
                raise DataError(
                    f"another query of the job writes to {self._name}, with other options or "
                    "columns: choose another table"
                )
            update = "UPDATE {} SET session = %s WHERE job = %s AND table_name = %s"
            cursor.execute(SQL(update).format(self._batches), own)
            return
        if self._options.mode == "upsert":
            if cursor.execute(SQL("SELECT 1 FROM {} LIMIT 1").format(self._table)).fetchone():
                raise StateError(
                    f"{self._name} has rows that this job has not written, and would not have the "
                    "answer of the query: empty it, or choose another table"
                )
            others = "DELETE FROM {} WHERE table_name = %s"
            cursor.execute(SQL(others).format(self._batches), [self._options.table])
        insert = "INSERT INTO {} (batch, session, job, table_name) VALUES (-1, %s, %s, %s)"
        cursor.execute(SQL(insert).format(self._batches), own)

    def _write(self, cursor: Cursor, batch_id: int, rows: pa.Table, emptied: Sequence[str]) -> None:
        record = self._record(cursor)
        if record is None or record[1] != self._session:
            raise StateError(
                f"another job or session writes to {self._name}, or its record in {BATCHES} was "
                "deleted"
            )
        if record[0] >= batch_id:
            return
        if self._answer is None:
            self._append(cursor, batch_id, rows)
        else:
            self._follow(cursor, self._answer, rows, emptied)
        update = SQL("UPDATE {} SET batch = %s WHERE job = %s AND table_name = %s")
        cursor.execute(update.format(self._batches), [batch_id, self._job, self._options.table])

    def _append(self, cursor: Cursor, batch_id: int, rows: pa.Table) -> None:
        rows = self._options.contents.placed(batch_id, rows)
        columns = names(rows.column_names)
        _copy(
            cursor, SQL("COPY {} ({}) FROM STDIN (FORMAT csv)").format(self._table, columns), rows
        )

    def _follow(
        self, cursor: Cursor, answer: Answer, rows: pa.Table, emptied: Sequence[str]
    ) -> None:
        """Bring the answer in the table up to date."""
        if emptied and not self._is_shared:
            cursor.execute(SQL("DELETE FROM {}").format(self._table))
        elif emptied:
            delete = SQL("DELETE FROM {} WHERE {} = ANY (%s)")
            of_queries = delete.format(self._table, Identifier(QUERY_COLUMN))
            cursor.execute(of_queries, [list(emptied)])
        if not rows.num_rows:
            return
        changes, has_nulls = self._as_changes(rows)
        cursor.execute(answer.create_changes())
        _copy(cursor, answer.copy_changes(), changes)
        for statement in answer.follow(has_nulls=has_nulls):
            cursor.execute(statement)

    def _as_changes(self, rows: pa.Table) -> tuple[pa.Table, bool]:
        """The columns of the temporary table; and whether some keys have a NULL."""
        signs = pc.if_else(pc.equal(rows.column("_op"), "+"), 1, -1)
        first = 1 if self._is_shared else 0
        kept = [*range(first), *range(first + CHANGE_COLUMNS, rows.num_columns)]
        values = [rows.column(i) for i in kept]
        fields = [rows.schema.field(i) for i in kept]
        numbers = pa.array(np.arange(rows.num_rows))
        schema = pa.schema([("n", pa.int64()), ("sign", signs.type), *fields])
        nulls = sum(
            values[i].null_count for i, f in enumerate(fields) if i >= first and f.name in self._key
        )
        return pa.Table.from_arrays([numbers, signs, *values], schema=schema), nulls > 0

    def _record(self, cursor: Cursor) -> tuple[int, str] | None:
        """The last batch of the job, and its session; None: the job has not claimed the table."""
        select = SQL(
            "SELECT batch, session FROM {} WHERE job = %s AND table_name = %s FOR UPDATE"
        ).format(self._batches)
        found = cursor.execute(select, [self._job, self._options.table]).fetchone()
        return None if found is None else (int(found[0]), str(found[1]))

    def _columns(self, shared: bool) -> pa.Schema:
        return self._options.contents.columns(self._rows, shared=shared)

    def _columns_of_key(self, shared: bool) -> tuple[str, ...]:
        if self._options.mode != "upsert":
            return ()
        return (QUERY_COLUMN, *self._key) if shared else self._key

    @property
    def _table(self) -> Identifier:
        return Identifier(self._schema, self._options.table)

    @property
    def _batches(self) -> Identifier:
        return Identifier(self._schema, BATCHES)

    @property
    def _name(self) -> str:
        return f"the table {self._schema}.{self._options.table}"

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Name query, sink and table in errors."""
        what = f"'{self._label}': sink 'postgres', table '{self._options.table}'"
        try:
            yield
        except errors.UniqueViolation as e:
            detail = e.diag.message_detail or str(e)
            raise RefusedError(
                f"{what}: two rows of the answer have the same key ({', '.join(self._key)}): "
                f"{detail} Choose columns that identify a row"
                if self._options.mode == "upsert"
                else f"{what}: {detail}"
            ) from e
        except (psycopg.DataError, psycopg.IntegrityError) as e:
            raise RefusedError(f"{what}: {str(e).strip()}") from e
        except psycopg.OperationalError as e:
            raise UnavailableError(f"{what}: {str(e).strip()}") from e
        except psycopg.Error as e:
            raise DataError(f"{what}: {str(e).strip()}") from e
        except EddylineError as e:
            if str(e).startswith(f"'{self._label}'"):
                raise
            raise type(e)(f"{what}: {e}") from None


def _copy(cursor: Cursor, statement: Composed, rows: pa.Table) -> None:
    with cursor.copy(statement) as copy:
        for text in texts(rows):
            copy.write(text)


def _relation(cursor: Cursor, schema: str, table: str) -> int | None:
    """The id of a table; None if there is none.

    Raises:
        DataError: it is a view or the like.
    """
    found = cursor.execute(_RELATION, [schema, table]).fetchone()
    if found is None:
        return None
    if found[1] not in ("r", "p"):
        raise DataError(f"{schema}.{table} is not a table")
    return int(found[0])
