"""A Delta table that a sink writes: the rows of a batch and its number are one commit."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Literal

import deltalake
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import (
    CommitProperties,
    DeltaTable,
    PostCommitHookProperties,
    Transaction,
    write_deltalake,
)
from deltalake.exceptions import DeltaError, TableNotFoundError

from eddyline.engine.changes import QUERY_COLUMN
from eddyline.errors import DataError, EddylineError, StateError
from eddyline.spark.sinks.delta.answer_changes import (
    KNOWN,
    SIGN,
    last_changes,
    net_changes,
    repeated_key,
)
from eddyline.spark.sinks.failure_policy import RefusedError, UnavailableError
from eddyline.spark.sinks.table_modes import TableMode
from eddyline.spark.sinks.table_sink import SinkTable
from eddyline.types import sql_type

#: Property of a table with an answer: the job that writes it.
_OWNER: Final = "eddyline.job"
#: Properties of new tables: how long old versions can be read. Each batch makes one.
_LOG_KEPT: Final = {"delta.logRetentionDuration": "interval 1 day"}
_FILES_KEPT: Final = "delta.deletedFileRetentionDuration"
#: Small files become few after so many versions, and what is not read any more is deleted.
_COMPACTED_EVERY: Final = 100
_CLEANED_EVERY: Final = 1_000
#: Of messages that are meant for terminals.
_COLORS: Final = re.compile(r"\x1b\[[0-9;]*m")
_log = logging.getLogger(__name__)


class DeltaSinkTable(SinkTable):
    """The table of one sink of a job.

    Args:
        label: of the first query or side output, for messages. uri: its path.
        rows: schema of the rows that are written, without the name of their query.
        key: columns that identify a row of the answer, for mode ``upsert``.
        job: identifies the job. replaces: whether a '+' replaces the row with its key.
    """

    def __init__(
        self,
        label: str,
        uri: str,
        contents: TableMode,
        rows: pa.Schema,
        key: Sequence[str],
        job: str,
        *,
        replaces: bool,
    ) -> None:
        self._label = label
        self._uri = uri
        self._contents = contents
        self._rows = rows
        self._key = tuple(key)
        self._job = job
        self._replaces = replaces
        self._application = f"eddyline-{job}"
        self._is_shared: bool | None = None  # None: the table is not prepared

    def prepare(self, *, shared: bool, again: bool = False, continues: bool = False) -> None:
        if self._is_shared is None:
            with self._named():
                self._prepare(shared, again, continues)
            self._is_shared = shared

    def write(self, batch_id: int, rows: pa.Table, emptied: Sequence[str] = ()) -> None:
        with self._named():
            table = DeltaTable(self._uri)
            if self._is_answer and not self._owns(table):
                raise StateError("another job has taken the table")
            last = table.transaction_version(self._application)
            if last is not None and last >= batch_id:
                return
            transactions = [Transaction(self._application, batch_id)]
            commit = CommitProperties(app_transactions=transactions)
            if self._is_answer:
                self._follow(table, rows, emptied, commit)
            elif rows.num_rows:
                placed = self._complete(table, self._contents.placed(batch_id, rows))
                self._write(table, placed, "append", commit)
            _maintain(table)

    @property
    def _is_answer(self) -> bool:
        return self._contents.mode == "upsert"

    def _owns(self, table: DeltaTable) -> bool:
        return bool(table.metadata().configuration.get(_OWNER) == self._job)

    def _prepare(self, shared: bool, again: bool, continues: bool) -> None:
        columns = self._contents.columns(self._rows, shared=shared)
        table = self._found()
        is_own = table is not None and self._owns(table)
        if self._is_answer and not is_own:
            self._check_claim(table, again, continues)
        if table is None:
            owner = {_OWNER: self._job} if self._is_answer else None
            DeltaTable.create(
                self._uri,
                _delta_schema(columns),
                configuration=owner,
                raise_if_key_not_exists=False,
            )
            return
        _check_columns(columns, pa.schema(table.schema().to_arrow()))
        if self._is_answer and not is_own:
            table.alter.set_table_properties({_OWNER: self._job}, raise_if_not_exists=False)

    def _found(self) -> DeltaTable | None:
        try:
            return DeltaTable(self._uri)
        except TableNotFoundError:
            return None

    def _check_claim(self, table: DeltaTable | None, again: bool, continues: bool) -> None:
        """Check that a table that the job does not own may become the answer."""
        if continues:
            raise DataError(
                "it would not have the answer of the query, but only what changes from now on: "
                "restore a copy of its former table there; or choose mode = 'append' or "
                "'changelog'; or add a query with another name"
            )
        if again:
            state = "is missing" if table is None else "belongs to another job"
            raise StateError(
                f"the table {state}: restore it, or start the job from a new checkpoint"
            )
        if table is not None and table.count():
            raise StateError(
                "it has rows that this job has not written, and would not have the answer of the "
                "query: empty it, or choose another path"
            )

    def _complete(self, table: DeltaTable, rows: pa.Table) -> pa.Table:
        """The rows with all columns of the table, in its order."""
        schema = pa.schema(table.schema().to_arrow())
        n, own = rows.num_rows, rows.schema.names
        columns = [rows[f.name] if f.name in own else pa.nulls(n, f.type) for f in schema]
        return pa.table(columns, names=schema.names)

    def _write(
        self,
        table: DeltaTable,
        rows: pa.Table,
        mode: Literal["append", "overwrite"],
        commit: CommitProperties,
    ) -> None:
        write_deltalake(
            table,
            rows,
            mode=mode,
            commit_properties=commit,
            post_commithook_properties=_hooks(table),
        )

    def _follow(
        self, table: DeltaTable, rows: pa.Table, emptied: Sequence[str], commit: CommitProperties
    ) -> None:
        """Bring the answer in the table up to date."""
        values = self._contents.columns(self._rows, shared=bool(self._is_shared)).names
        key = (QUERY_COLUMN, *self._key) if self._is_shared else self._key
        if self._replaces:
            changes = last_changes(rows, values, key)
        else:
            changes = self._net(rows, values, key)
        if not key:
            if changes.num_rows or emptied:
                there = changes.filter(pc.greater(changes[SIGN], 0)).drop_columns([SIGN, KNOWN])
                whole = self._complete(table, there.rename_columns(values))
                self._write(table, whole, "overwrite", commit)
            return
        if emptied:
            of_queries = _is_one_of(QUERY_COLUMN, emptied) if self._is_shared else None
            last = None if changes.num_rows else commit
            table.delete(of_queries, commit_properties=last)
        if changes.num_rows:
            self._check_new_keys(table, changes, values, key)
            self._merge(table, changes, values, key, commit)

    def _net(self, rows: pa.Table, values: Sequence[str], key: Sequence[str]) -> pa.Table:
        try:
            return net_changes(rows, values, key)
        except KeyError as e:
            raise self._same_key(e.args, key) from None

    def _check_new_keys(
        self, table: DeltaTable, changes: pa.Table, values: Sequence[str], key: Sequence[str]
    ) -> None:
        """Check that keys that come without a '-' for an older row are not in the table."""
        new = changes.filter(pc.and_(pc.greater(changes[SIGN], 0), pc.invert(changes[KNOWN])))
        if not new.num_rows:
            return
        keys = new.select([f"c{values.index(name)}" for name in key]).rename_columns(key)
        found = [keys]
        for batch in pa.RecordBatchReader.from_stream(table.scan(columns=list(key))):
            known = pa.Table.from_batches([batch]).select(list(key)).cast(keys.schema)
            found.append(known.filter(pc.is_in(known[key[0]], value_set=keys[key[0]])))
        if (twice := repeated_key(found)) is not None:
            raise self._same_key([column[0].as_py() for column in twice.columns], key)

    def _same_key(self, values: Sequence[object], key: Sequence[str]) -> RefusedError:
        shown = ", ".join(map(str, values))
        return RefusedError(
            f"two rows of the answer have the same key ({', '.join(key)}): Key "
            f"({', '.join(key)})=({shown}). Choose columns that identify a row"
        )

    def _merge(
        self,
        table: DeltaTable,
        changes: pa.Table,
        values: Sequence[str],
        key: Sequence[str],
        commit: CommitProperties,
    ) -> None:
        source = {name: f"s.c{i}" for i, name in enumerate(values)}
        same = " AND ".join(f"(t.{_quoted(k)} IS NOT DISTINCT FROM {source[k]})" for k in key)
        merge = table.merge(
            changes.drop_columns([KNOWN]),
            same,
            source_alias="s",
            target_alias="t",
            commit_properties=commit,
            post_commithook_properties=_hooks(table),
        ).when_matched_delete(f"s.{SIGN} < 0")
        set_to = {_quoted(name): column for name, column in source.items()}
        merge = merge.when_matched_update(set_to, f"s.{SIGN} > 0")
        merge.when_not_matched_insert(set_to, f"s.{SIGN} > 0").execute()

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Name query, sink and table in errors."""
        what = f"'{self._label}': sink 'delta', table '{self._uri}'"
        try:
            yield
        except EddylineError as e:
            raise type(e)(f"{what}: {e}") from None
        except (DeltaError, OSError) as e:
            text = _COLORS.sub("", str(e)).strip()
            raise UnavailableError(f"{what}: {text}") from e


def _hooks(table: DeltaTable) -> PostCommitHookProperties:
    """What follows a commit: looking for old files of the log takes longer than a commit."""
    is_due = (table.version() + 1) % _COMPACTED_EVERY == 0
    return PostCommitHookProperties(cleanup_expired_logs=None if is_due else False)


def _maintain(table: DeltaTable) -> None:
    """From time to time, make few files of many, and delete those of old versions. The rows are
    written, so an error is not one of the batch.
    """
    version = table.version()
    if not version or version % _COMPACTED_EVERY:
        return
    try:
        table.optimize.compact()
        if not version % _CLEANED_EVERY:
            table.vacuum(dry_run=False)
    except (DeltaError, OSError):
        _log.warning("the files of the table %s are not compacted", table.table_uri, exc_info=True)


def _quoted(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""'))


def _is_one_of(column: str, texts: Sequence[str]) -> str:
    shown = ", ".join("'{}'".format(text.replace("'", "''")) for text in texts)
    return f"{_quoted(column)} IN ({shown})"


def _delta_schema(columns: pa.Schema) -> deltalake.Schema:
    """The columns as those of a Delta table.

    Raises:
        DataError: Delta has no such type.
    """
    for field in columns:
        try:
            deltalake.Schema.from_arrow(pa.schema([field]))
        except Exception as e:  # of its package, without a common class
            raise DataError(
                f"column '{field.name}': Delta has no type for {sql_type(field.type)}"
            ) from e
    return deltalake.Schema.from_arrow(columns)


def _check_columns(columns: pa.Schema, found: pa.Schema) -> None:
    """Check that a table can have rows of these columns.

    Raises:
        DataError: a column is missing, has another type, or would have no value.
    """
    wanted = pa.schema(_delta_schema(columns).to_arrow())
    for field in wanted:
        if field.name not in found.names:
            raise DataError(
                f"it has no column '{field.name}' ({sql_type(field.type)}); its columns: "
                f"{', '.join(found.names)}"
            )
        own = found.field(field.name).type
        if own != field.type:
            raise DataError(
                f"column '{field.name}' has the type {sql_type(own)}, and "
                f"{sql_type(field.type)} is needed"
            )
    for field in found:
        if field.name not in wanted.names and not field.nullable:
            raise DataError(f"column '{field.name}' is NOT NULL, and the query has no such column")
