"""A Delta table that a sink writes: the rows of a batch and its number are one commit."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal

import deltalake
import pyarrow as pa
from deltalake import (
    CommitProperties,
    DeltaTable,
    PostCommitHookProperties,
    Transaction,
    write_deltalake,
)
from deltalake.exceptions import DeltaError, TableNotFoundError

from eddyline.engine.changes import QUERY_COLUMN
from eddyline.errors import DataError
from eddyline.spark.sinks.answer_changes import KNOWN, SIGN
from eddyline.spark.sinks.lake_table import OWNER, LakeTable, check_columns, with_columns
from eddyline.types import sql_type

#: Properties of new tables: how long old versions can be read. Each batch makes one.
_LOG_KEPT: Final = "delta.logRetentionDuration"
_FILES_KEPT: Final = "delta.deletedFileRetentionDuration"
#: Small files become few after so many versions, and what is not read any more is deleted.
_COMPACTED_EVERY: Final = 100
_CLEANED_EVERY: Final = 1_000
#: Of messages that are meant for terminals.
_COLORS: Final = re.compile(r"\x1b\[[0-9;]*m")
_log = logging.getLogger(__name__)


class DeltaSinkTable(LakeTable[DeltaTable]):
    """The table of one sink of a job; its place is its path."""

    sink = "delta"

    def _find(self) -> DeltaTable | None:
        try:
            return self._load()
        except TableNotFoundError:
            return None

    def _load(self) -> DeltaTable:
        return DeltaTable(self._place)

    def _owner(self, table: DeltaTable) -> str | None:
        return table.metadata().configuration.get(OWNER)

    def _last_batch(self, table: DeltaTable) -> int | None:
        return table.transaction_version(self._application)

    def _count(self, table: DeltaTable) -> int:
        return int(table.count())

    def _create(self, columns: pa.Schema, owner: str | None) -> None:
        files_kept = "interval 1 hour" if self._is_answer else "interval 1 day"
        properties = {_LOG_KEPT: "interval 1 day", _FILES_KEPT: files_kept}
        DeltaTable.create(
            self._place,
            _delta_schema(columns),
            configuration=properties if owner is None else {**properties, OWNER: owner},
            raise_if_key_not_exists=False,
        )

    def _check(self, table: DeltaTable, columns: pa.Schema) -> None:
        check_columns(pa.schema(_delta_schema(columns).to_arrow()), _schema(table))

    def _claim(self, table: DeltaTable) -> None:
        table.alter.set_table_properties({OWNER: self._job}, raise_if_not_exists=False)

    def _append(self, table: DeltaTable, batch_id: int, rows: pa.Table) -> None:
        self._write_rows(table, rows, "append", self._commit(batch_id))

    def _follow(
        self, table: DeltaTable, batch_id: int, changes: pa.Table, emptied: Sequence[str]
    ) -> None:
        commit = self._commit(batch_id)
        if not self._whole_key:
            if changes.num_rows or emptied:
                self._write_rows(table, self._there(changes), "overwrite", commit)
            return
        if emptied:
            of_queries = _is_one_of(QUERY_COLUMN, emptied) if self._is_shared else None
            last = None if changes.num_rows else commit
            table.delete(of_queries, commit_properties=last)
        if changes.num_rows:
            self._check_new_keys(changes, _columns(table, self._whole_key))
            self._merge(table, changes, commit)

    def _maintain(self, table: DeltaTable) -> None:
        """Make few files of many, and delete those of old versions. The rows are written, so an
        error is not one of the batch.
        """
        version = table.version()
        if not version or version % _COMPACTED_EVERY:
            return
        try:
            table.optimize.compact()
            if not version % _CLEANED_EVERY:
                table.vacuum(dry_run=False)
        except (DeltaError, OSError):
            place = table.table_uri
            _log.warning("the files of the table %s are not compacted", place, exc_info=True)

    def _failure(self, error: Exception) -> str | None:
        if isinstance(error, (DeltaError, OSError)):
            return _COLORS.sub("", str(error)).strip()
        return None

    @property
    def _application(self) -> str:
        return f"eddyline-{self._job}"

    def _commit(self, batch_id: int) -> CommitProperties:
        """With the number of the batch, which Delta takes once."""
        return CommitProperties(app_transactions=[Transaction(self._application, batch_id)])

    def _write_rows(
        self,
        table: DeltaTable,
        rows: pa.Table,
        mode: Literal["append", "overwrite"],
        commit: CommitProperties,
    ) -> None:
        write_deltalake(
            table,
            with_columns(rows, _schema(table)),
            mode=mode,
            commit_properties=commit,
            post_commithook_properties=_hooks(table),
        )

    def _merge(self, table: DeltaTable, changes: pa.Table, commit: CommitProperties) -> None:
        source = {name: f"s.c{i}" for i, name in enumerate(self._values)}
        key = self._whole_key
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


def _hooks(table: DeltaTable) -> PostCommitHookProperties:
    """What follows a commit: looking for old files of the log takes longer than a commit."""
    is_due = (table.version() + 1) % _COMPACTED_EVERY == 0
    return PostCommitHookProperties(cleanup_expired_logs=None if is_due else False)


def _schema(table: DeltaTable) -> pa.Schema:
    return pa.schema(table.schema().to_arrow())


def _columns(table: DeltaTable, names: Sequence[str]) -> Iterator[pa.Table]:
    """Columns of all rows, in parts."""
    for batch in pa.RecordBatchReader.from_stream(table.scan(columns=list(names))):
        yield pa.Table.from_batches([batch])


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
