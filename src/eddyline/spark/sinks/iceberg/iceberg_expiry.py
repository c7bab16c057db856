"""Old snapshots of an Iceberg table are removed, with the files that only they have; the library
removes the snapshots only.
"""

from __future__ import annotations

import time
from typing import Final

from pyiceberg.io import FileIO
from pyiceberg.manifest import ManifestEntryStatus, ManifestFile
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Snapshot, ancestors_of

from eddyline.spark.sinks.iceberg.iceberg_commit import remove_file

#: Properties of tables, with their defaults.
_MAX_AGE_MS: Final = ("history.expire.max-snapshot-age-ms", str(5 * 86_400_000))
_LEAST_SNAPSHOTS: Final = ("history.expire.min-snapshots-to-keep", "1")
_COLLECTED: Final = ("gc.enabled", "true")


def expire(table: Table) -> None:
    """Remove the snapshots that are older than the table's properties say, and what only they have.

    A table with branches or tags, or with snapshots beside its history, keeps its files: what
    these have is not looked for.
    """
    if _property(table, _COLLECTED).lower() != "true":
        return
    oldest_ms = time.time() * 1_000 - int(_property(table, _MAX_AGE_MS))
    history = list(ancestors_of(table.current_snapshot(), table.metadata))
    least = max(int(_property(table, _LEAST_SNAPSHOTS)), 1)
    n = len(history)
    while n > least and history[n - 1].timestamp_ms < oldest_ms:
        n -= 1
    kept, old = history[:n], history[n:]
    if not old:
        return
    heads = {ref.snapshot_id for ref in table.metadata.refs.values()}
    is_line = len(table.metadata.snapshots) == len(history) and heads == {kept[0].snapshot_id}
    unused = _unused(table.io, kept[-1], old) if is_line else set()
    gone = [snapshot.snapshot_id for snapshot in old if snapshot.snapshot_id not in heads]
    table.maintenance.expire_snapshots().by_ids(gone).commit()
    for path in sorted(unused):
        remove_file(table.io, path)


def _unused(io: FileIO, first: Snapshot, old: list[Snapshot]) -> set[str]:
    """The files that only snapshots before the first one have, in a history that is a line."""
    used = {manifest.manifest_path for manifest in first.manifests(io)}
    found = _removed_by(io, first, first.manifests(io))
    for snapshot in old:
        manifests = snapshot.manifests(io)
        found |= {m.manifest_path for m in manifests if m.manifest_path not in used}
        found |= _removed_by(io, snapshot, manifests)
        found.add(snapshot.manifest_list)
    return found


def _removed_by(io: FileIO, snapshot: Snapshot, manifests: list[ManifestFile]) -> set[str]:
    """The files that a snapshot has removed from the table: those before it had them."""
    entries = (
        entry
        for manifest in manifests
        if manifest.added_snapshot_id == snapshot.snapshot_id and manifest.deleted_files_count
        for entry in manifest.fetch_manifest_entry(io, discard_deleted=False)
    )
    deleted = ManifestEntryStatus.DELETED
    return {
        entry.data_file.file_path
        for entry in entries
        if entry.status == deleted and entry.snapshot_id == snapshot.snapshot_id
    }


def _property(table: Table, name_and_default: tuple[str, str]) -> str:
    return table.properties.get(*name_and_default)
