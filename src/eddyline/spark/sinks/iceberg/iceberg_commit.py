"""A commit to an Iceberg table that is made once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import pyarrow as pa
from pyiceberg.exceptions import CommitFailedException, ValidationException
from pyiceberg.expressions import AlwaysTrue
from pyiceberg.io import FileIO
from pyiceberg.io.pyarrow import _dataframe_to_data_files
from pyiceberg.manifest import DataFile, ManifestFile
from pyiceberg.table import Table, Transaction
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.update import TableUpdate

#: Manifests without a file of the table, after which they are left out.
_MOST_DEAD_MANIFESTS: Final = 16
_log = logging.getLogger(__name__)


class WrittenError(Exception):
    """What was to be committed is there."""


class _CheckedTable(Table):
    """A table that is checked before a commit is repeated because of another one: the library would
    repeat it in any case.
    """

    check: Callable[[Table], None]

    @classmethod
    def of(cls, table: Table, check: Callable[[Table], None]) -> _CheckedTable:
        own = cls(
            table.name(),
            table.metadata,
            table.metadata_location,
            table.io,
            table.catalog,
            table.config,
        )
        own.check = check
        return own

    def refresh(self) -> Table:
        super().refresh()
        self.check(self)
        return self


class _Transaction(Transaction):
    """A transaction that makes its metadata when they change: the library copies all snapshots at
    each look at them, some 16 times per commit.
    """

    _made: tuple[TableMetadata, tuple[TableUpdate, ...], TableMetadata] | None = None

    @property
    def table_metadata(self) -> TableMetadata:
        base, updates = self._table.metadata, self._updates
        if self._made is None or self._made[0] is not base or self._made[1] is not updates:
            self._made = base, updates, super().table_metadata
        return self._made[2]


def commit(
    table: Table,
    properties: Mapping[str, str],
    of_snapshot: Mapping[str, str],
    check: Callable[[Table], None],
    rows: pa.Table | None = None,
    removed: Sequence[DataFile] = (),
) -> None:
    """Change a table, which is its new version afterwards.

    Args:
        properties: of the table, set with the snapshot. of_snapshot: properties of that.
        check: raises an error if the commit must not be repeated; called with a newer version of
            the table, after another commit.
        rows: that the snapshot adds. removed: files that are not part of it any more.

    Raises:
        CommitFailedException, ValidationException: other commits stand against this one, which was
            not made.
    """
    own = _CheckedTable.of(table, check)
    transaction = _Transaction(own)
    transaction.set_properties(dict(properties))
    added: list[DataFile] = []
    try:
        _stage(transaction, own.io, dict(of_snapshot), rows, removed, added)
        if removed and sum(map(_is_dead, _manifests(table))) >= _MOST_DEAD_MANIFESTS:
            # overwriting takes them along for ever, and appending leaves them out
            _stage(transaction, own.io, dict(of_snapshot), None, (), added)
        transaction.commit_transaction()
    except (CommitFailedException, ValidationException):
        for file in added:
            remove_file(own.io, file.file_path)
        raise
    table.metadata, table.metadata_location = own.metadata, own.metadata_location


def remove_file(io: FileIO, path: str) -> None:
    """Delete a file that is no part of a table, if it is there."""
    try:
        io.delete(path)
    except FileNotFoundError:
        pass
    except Exception:  # of a store, in many types
        _log.warning("the file %s is not deleted", path, exc_info=True)


def _stage(
    transaction: Transaction,
    io: FileIO,
    properties: dict[str, str],
    rows: pa.Table | None,
    removed: Sequence[DataFile],
    added: list[DataFile],
) -> None:
    """Add a snapshot to a transaction.

    Args:
        added: gets the files that are written.
    """
    update = transaction.update_snapshot(snapshot_properties=properties)
    producer = update.overwrite() if removed else update.merge_append()
    if removed:
        producer.delete_by_predicate(AlwaysTrue())  # all manifests are looked at
        for file in removed:
            producer.delete_data_file(file)
    if rows is not None and rows.num_rows:
        metadata = transaction.table_metadata
        for file in _dataframe_to_data_files(table_metadata=metadata, df=rows, io=io):
            added.append(file)
            producer.append_data_file(file)
    producer.commit()


def _manifests(table: Table) -> list[ManifestFile]:
    snapshot = table.current_snapshot()
    return [] if snapshot is None else snapshot.manifests(table.io)


def _is_dead(manifest: ManifestFile) -> bool:
    return not manifest.has_added_files() and not manifest.has_existing_files()
