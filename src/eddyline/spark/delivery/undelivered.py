"""Batches that wait for a sink, as files of the checkpoint: one directory per sink."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from eddyline.errors import StateError
from eddyline.optimizer.byte_sizes import bytes_text
from eddyline.spark.exchange.packed_batches import packed, unpack
from eddyline.spark.storage.directory import Directory

#: The directories of a checkpoint with the batches that wait, and with those that were given up.
DIRECTORY: Final = "undelivered"
DEAD_LETTERS: Final = "dead_letter"

#: Number and size of a batch.
_FILE: Final = re.compile(r"(\d+)-(\d+)\.arrow")
_EMPTIED: Final = b"emptied"


@dataclass(frozen=True)
class Undelivered:
    """Results that wait for their sink.

    Attributes:
        sink: its format. cause: why the last attempt failed.
        batches, bytes: how many wait, of all queries with this sink.
        since: of the first failure, in ISO 8601. attempts: that have failed since then.
    """

    sink: str
    cause: str
    batches: int
    bytes: int
    since: str
    attempts: int

    @property
    def text(self) -> str:
        """In words."""
        n = f"{self.batches} batch{'' if self.batches == 1 else 'es'} ({bytes_text(self.bytes)})"
        verb = "waits" if self.batches == 1 else "wait"
        return f"{n} {verb} for the sink '{self.sink}' since {self.since}: {self.cause}"


class UndeliveredBatches:
    """The batches that wait for one sink.

    Args:
        directory: created with the first batch, and deleted with the last.

    Raises:
        StateError: it cannot be read.
    """

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._sizes = {int(m[1]): int(m[2]) for m in map(_FILE.fullmatch, directory.names()) if m}

    def __len__(self) -> int:
        return len(self._sizes)

    @property
    def nbytes(self) -> int:
        """Their size in bytes."""
        return sum(list(self._sizes.values()))

    @property
    def ids(self) -> list[int]:
        """The numbers of the batches, in order."""
        return sorted(self._sizes)

    @property
    def first(self) -> int | None:
        """The number of the oldest; None if there is none."""
        return min(self._sizes, default=None)

    def add(self, batch_id: int, content: pa.Buffer) -> None:
        """Add a batch, or replace it by a repetition.

        Args:
            content: as of :func:`content_of`.

        Raises:
            StateError: it cannot be written.
        """
        self._directory.make()
        before = self._sizes.get(batch_id)
        self._directory.replace(_name(batch_id, content.size), content.to_pybytes())
        self._sizes = {**self._sizes, batch_id: content.size}
        if before not in (None, content.size):
            self._directory.delete(_name(batch_id, before))

    def read(self, batch_id: int) -> tuple[pa.Table, list[str]]:
        """The packed batches of a batch, and the queries whose answers became empty before it.

        Raises:
            StateError: they cannot be read.
        """
        name = _name(batch_id, self._sizes[batch_id])
        content = self._directory.read(name)
        try:
            rows = unpack(content or b"")
            return rows, json.loads(rows.schema.metadata[_EMPTIED])
        except (pa.ArrowInvalid, OSError, KeyError, TypeError, ValueError) as e:
            raise StateError(
                f"{self._directory.path}/{name} cannot be read ({e}): restore it from a copy of "
                "the checkpoint, or delete it, and its results with it"
            ) from None

    def remove(self, batch_id: int) -> None:
        """Remove a batch, which has been delivered."""
        self._directory.delete(_name(batch_id, self._sizes[batch_id]))
        self._sizes = {n: size for n, size in self._sizes.items() if n != batch_id}
        if not self._sizes:
            self._directory.delete("")


def content_of(rows: pa.Table, emptied: Sequence[str]) -> pa.Buffer:
    """The content of a file.

    Args:
        rows: packed batches. emptied: queries whose answers have become empty before them.
    """
    return packed(rows.replace_schema_metadata({_EMPTIED: json.dumps(list(emptied))}), "lz4")


def split(rows: pa.Table, query: str) -> tuple[pa.Table, pa.Table]:
    """Packed batches of changes with the rows of one query, and those with the others."""
    parts: tuple[list[dict[str, object]], list[dict[str, object]]] = ([], [])
    for row in rows.to_pylist():
        changes = unpack(row["blob"])
        own = pc.equal(changes.column(0).cast(pa.string()), query)
        for part, chosen in zip(parts, (own, pc.invert(own)), strict=True):
            if (kept := changes.filter(chosen)).num_rows:
                part.append(row | {"blob": packed(kept).to_pybytes()})
    schema = rows.schema.remove_metadata()
    own_rows, others = (pa.Table.from_pylist(part, schema=schema) for part in parts)
    return own_rows, others


def _name(batch_id: int, nbytes: int | None) -> str:
    return f"{batch_id}-{nbytes}.arrow"
