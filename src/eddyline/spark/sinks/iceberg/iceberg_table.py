"""An Iceberg table that a sink writes: the rows of a batch and its number are one commit."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

import pyarrow as pa
from pyiceberg.exceptions import CommitFailedException, NoSuchTableError, ValidationException
from pyiceberg.manifest import DataFile
from pyiceberg.table import Table

from eddyline.engine.changes import QUERY_COLUMN
from eddyline.errors import StateError
from eddyline.spark.sinks.answer_changes import places_of
from eddyline.spark.sinks.failure_policy import RefusedError
from eddyline.spark.sinks.iceberg.iceberg_catalog import IcebergCatalog, outside_failure
from eddyline.spark.sinks.iceberg.iceberg_commit import WrittenError, commit
from eddyline.spark.sinks.iceberg.iceberg_expiry import expire
from eddyline.spark.sinks.iceberg.iceberg_files import KeptFiles, arrow_schema, iceberg_schema
from eddyline.spark.sinks.iceberg.iceberg_options import IcebergOptions
from eddyline.spark.sinks.lake_table import OWNER, LakeTable, check_columns, with_columns

#: Properties of tables and of their snapshots: the last batch of a job, and which batch it is.
_BATCH: Final = "eddyline.batch"
#: Attempts to write a batch to a table that others change at the same time.
_ATTEMPTS: Final = 5
#: Batches after which old snapshots are removed; after a start with the first one.
_EXPIRED_EVERY: Final = 100
#: Properties of new tables. Each batch makes a snapshot and a file of metadata, which has all
#: snapshots: they are kept for 10 minutes.
_NEW: Final = {
    "history.expire.max-snapshot-age-ms": "600000",
    "commit.manifest-merge.enabled": "true",
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "20",
}
#: Of new tables with answers, whose files are written anew when a row of them changes: 64 MB.
_FILE_BYTES: Final = {"write.target-file-size-bytes": str(1 << 26)}
_log = logging.getLogger(__name__)


class IcebergSinkTable(LakeTable[Table]):
    """The table of one sink of a job.

    Args:
        label: of the first query or side output, for messages. catalog: that has the table.
        rows: schema of the rows that are written, without the name of their query.
        key: columns that identify a row of the answer, for mode ``upsert``.
        job: identifies the job. replaces: whether a '+' replaces the row with its key.
    """

    sink = "iceberg"

    def __init__(
        self,
        label: str,
        catalog: IcebergCatalog,
        options: IcebergOptions,
        rows: pa.Schema,
        key: Sequence[str],
        job: str,
        *,
        replaces: bool,
    ) -> None:
        super().__init__(label, options.name, options.contents, rows, key, job, replaces=replaces)
        self._catalog = catalog
        self._table = options.table
        self._since = _EXPIRED_EVERY  # batches since old snapshots were removed

    def _write(self, batch_id: int, rows: pa.Table, emptied: Sequence[str]) -> None:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                super()._write(batch_id, rows, emptied)
                return
            except WrittenError:
                return
            except (CommitFailedException, ValidationException) as e:
                if attempt == _ATTEMPTS:
                    raise
                _log.info("table %s: batch %d again: %s", self._place, batch_id, e)

    def _find(self) -> Table | None:
        try:
            return self._load()
        except NoSuchTableError:
            return None

    def _load(self) -> Table:
        return self._catalog.opened().load_table(self._table)

    def _owner(self, table: Table) -> str | None:
        return table.properties.get(OWNER)

    def _last_batch(self, table: Table) -> int | None:
        batch = table.properties.get(self._batch_of_job)
        return None if batch is None else int(batch)

    def _count(self, table: Table) -> int:
        return int(table.scan().count())

    def _create(self, columns: pa.Schema, owner: str | None) -> None:
        catalog = self._catalog.opened()
        namespace = self._table[:-1]
        if not catalog.namespace_exists(namespace):
            catalog.create_namespace_if_not_exists(namespace)
        of_owner = {} if owner is None else {OWNER: owner, **_FILE_BYTES}
        properties = {**_NEW, **of_owner}
        catalog.create_table(self._table, iceberg_schema(columns), properties=properties)

    def _check(self, table: Table, columns: pa.Schema) -> None:
        check_columns(arrow_schema(iceberg_schema(columns)), arrow_schema(table.schema()))

    def _claim(self, table: Table) -> None:
        """With a snapshot, so that it conflicts with a commit of the former owner."""

        def unchanged(_: Table) -> None:
            raise StateError("another job has written it meanwhile")

        commit(table, {OWNER: self._job}, {}, unchanged)

    def _append(self, table: Table, batch_id: int, rows: pa.Table) -> None:
        self._commit(table, batch_id, rows)

    def _follow(
        self, table: Table, batch_id: int, changes: pa.Table, emptied: Sequence[str]
    ) -> None:
        there = self._there(changes)
        if not changes.num_rows and not emptied:
            return
        files = KeptFiles(table, [*self._whole_key])
        if not self._whole_key:
            self._commit(table, batch_id, there, files.all())
            return
        if emptied and self._is_shared:
            files.remove(files.keys[QUERY_COLUMN], emptied)
        elif emptied:
            files.remove_all()
        self._check_new_keys(changes, [files.kept_keys()])
        wanted = self._keys(changes)
        files.remove_at(places_of(files.keys.cast(wanted.schema), wanted))
        touched = files.touched()
        if touched or there.num_rows:
            self._commit(table, batch_id, there, touched, list(files.rows_kept()))

    def _commit(
        self,
        table: Table,
        batch_id: int,
        rows: pa.Table,
        removed: Sequence[DataFile] = (),
        kept: Sequence[pa.Table] = (),
    ) -> None:
        """Commit a batch.

        Args:
            removed: files that are not part of the table any more. kept: rows of these that are.
        """

        def check(found: Table) -> None:
            self._check_owner(found)
            last = self._last_batch(found)
            if last is not None and last >= batch_id:
                raise WrittenError

        schema = arrow_schema(table.schema())
        try:
            new = with_columns(rows, schema).cast(schema)
        except ValueError as e:  # of Arrow
            raise RefusedError(str(e)) from e
        parts = [*(part.cast(schema) for part in kept), new]
        properties = {self._batch_of_job: str(batch_id)}
        of_snapshot = {OWNER: self._job, _BATCH: str(batch_id)}
        commit(table, properties, of_snapshot, check, pa.concat_tables(parts), removed)

    def _maintain(self, table: Table) -> None:
        """Remove old snapshots, and the files that only these have. The rows are written, so an
        error is not one of the batch.
        """
        self._since += 1
        if self._since <= _EXPIRED_EVERY:
            return
        self._since = 0
        try:
            expire(table)
        except Exception:  # the rows are written; it is tried again later
            _log.warning("old snapshots of the table %s stay", self._place, exc_info=True)

    def _failure(self, error: Exception) -> str | None:
        return outside_failure(error)

    @property
    def _batch_of_job(self) -> str:
        return f"{_BATCH}.{self._job}"
