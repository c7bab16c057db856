"""What the driver collects of a batch: reports of the shards, and rows if they are not too many."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, Final

import numpy as np
import pyarrow as pa

from eddyline.spark.delivery.sink_uses import Key
from eddyline.spark.exchange.packed_batches import (
    ANSWERS,
    OUTPUT_ARROW,
    PARTS,
    PARTS_BEFORE,
    TABLES,
    pack,
    unpack,
)
from eddyline.spark.exchange.query_rows import QueryRows, concatenated

#: The column by which the changes of several shards are ordered.
TIME_COLUMN: Final = "_ts"
_REPORTS: Final = ("progress", "stats")


class CollectedBatch:
    """The reports of a batch, and its small packed batches by key.

    Args:
        packed: as of ``OUTPUT_SCHEMA``, without rows that are not small.

    Attributes:
        reports: of the shards; those that hand over tables have these as ``tables``.
        stats: by shard, metrics of its queries (JSON).
        counts: number of changes by query, of all shards.
        large: keys of which some shard has too many rows to collect them, with these shards.
        parts: changes of parts of groups, by kind and query; those of a shard are in order.
        answers: by question, parts of the answer. answered: by question and shard, an error; None:
            there was none.
        added: by key, the packed rows of :meth:`add`.
    """

    def __init__(self, packed: pa.Table) -> None:
        self.reports: list[dict[str, Any]] = []
        self.stats: dict[str, bytes] = {}
        self.counts: dict[str, int] = {}
        self.large: dict[Key, set[int]] = {}
        self.added: dict[Key, list[bytes]] = {}
        self._pieces = _by_key(packed)
        self.parts = {
            key: [unpack(blob) for _, blob in self._pieces.pop(key)]
            for key in list(self._pieces)
            if key[0] in (PARTS, PARTS_BEFORE)
        }
        self.answers = {
            key[1]: [unpack(blob) for _, blob in self._pieces.pop(key)]
            for key in list(self._pieces)
            if key[0] == ANSWERS
        }
        self.answered: dict[str, dict[int, str | None]] = {}
        tables: dict[int, bytes] = {}
        for shard, blob in self._pieces.pop((TABLES, ""), []):
            tables[shard] = tables.get(shard, b"") + blob.to_pybytes()
        for key in [key for key in self._pieces if key[0] in _REPORTS]:
            for _, blob in self._pieces.pop(key):
                if key[0] == "progress":
                    self._add(json.loads(bytes(blob)))
                else:
                    self.stats[key[1]] = bytes(blob)
        for report in self.reports:
            if report["shard"] in tables:
                report["tables"] = tables[report["shard"]]
        self._rows: dict[Key, QueryRows] = {}

    def _add(self, report: dict[str, Any]) -> None:
        self.reports.append(report)
        for query, n in report["out"].items():
            self.counts[query] = self.counts.get(query, 0) + n
        for question, error in report.pop("answered", {}).items():
            self.answered.setdefault(question, {})[report["shard"]] = error
        for kind, name in report["large"]:
            self.large.setdefault((kind, name), set()).add(report["shard"])

    @property
    def emptied(self) -> frozenset[str]:
        """The streams and tables of groups whose windows were emptied before the rows."""
        groups = [g for r in self.reports if r["has_begun_again"] for g in r["groups"]]
        return frozenset(name for group in groups for name in group["members"])

    def add(self, key: Key, shard: int, rows: pa.Table) -> None:
        """Add rows of a key, as from a shard; the columns are those of its other rows."""
        blob = pack(rows)
        self.added.setdefault(key, []).append(blob)
        self._pieces.setdefault(key, []).append((shard, pa.py_buffer(blob)))

    def packed(self, keys: Collection[Key]) -> pa.Table:
        """The packed batches with these keys, which are not large."""
        rows = [
            {
                "shard": shard,
                "kind": kind,
                "name": name,
                "n": 0,
                "small": True,
                "blob": memoryview(blob),
            }
            for kind, name in keys
            for shard, blob in self._pieces.get((kind, name), [])
        ]
        return pa.Table.from_pylist(rows, schema=OUTPUT_ARROW)

    def with_rows(self) -> list[Key]:
        """The keys with rows."""
        return list(dict.fromkeys([*self._pieces, *self.large]))

    def shards(self, keys: Collection[Key]) -> set[int]:
        """The shards with rows of these keys."""
        small = {shard for key in keys for shard, _ in self._pieces.get(key, [])}
        return small.union(*(self.large.get(key, set()) for key in keys))

    def rows(self, key: Key) -> QueryRows:
        """The rows of a key that is not large, of all shards in the order of time."""
        if key not in self._rows:
            self._rows[key] = _merged(key, self._pieces[key])
        return self._rows[key]


def rows_of(key: Key, packed: pa.Table) -> QueryRows:
    """The rows of packed batches of one key, of all shards in the order of time."""
    return _merged(key, _by_key(packed)[key])


def in_time_order(changes: pa.Table) -> pa.Table:
    """Changes sorted by time; those of one instant keep their order."""
    ts = changes[TIME_COLUMN].cast(pa.int64()).to_numpy()
    return changes.unify_dictionaries().take(pa.array(np.argsort(ts, kind="stable")))


def _by_key(packed: pa.Table) -> dict[Key, list[tuple[int, pa.Buffer]]]:
    """Shard and blob of each packed batch, by key, in the order of the shards."""
    kinds, names = packed["kind"].to_pylist(), packed["name"].to_pylist()
    shards = packed["shard"].to_pylist()
    found: dict[Key, list[tuple[int, pa.Buffer]]] = {}
    for row, blob in enumerate(packed["blob"]):
        found.setdefault((kinds[row], names[row]), []).append((shards[row], blob.as_buffer()))
    return {key: sorted(pieces, key=lambda piece: piece[0]) for key, pieces in found.items()}


def _merged(key: Key, pieces: list[tuple[int, pa.Buffer]]) -> QueryRows:
    kind, name = key
    rows = concatenated(unpack(blob) for _, blob in pieces)
    if kind != "changes":
        return QueryRows.whole(f"{kind}:{name}", rows)
    several = len({shard for shard, _ in pieces}) > 1
    return QueryRows.of(in_time_order(rows) if several else rows)
