"""Ingest of a sharded job in one process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import pandas as pd
import pyarrow as pa

from eddyline.algebra.catalog import StreamDef, TableDef
from eddyline.spark.exchange.row_files import ShardFiles, WrittenFiles
from eddyline.spark.partitioning.split_keys import SplitKey
from eddyline.spark.workers.ingest import Destination, Packer
from eddyline.spark.workers.shard_input import ShardInput

#: Packed batches of at least this size are files.
_LEAST_BYTES: Final = 1_000


class ABatch(NamedTuple):
    """A batch of the job: its number, the checkpoint's path, and the wall clock."""

    number: int
    path: str
    now_us: int


def packed_rows(
    to: Sequence[Destination],
    definition: StreamDef | TableDef,
    rows: pa.Table,
    split: Mapping[int, Sequence[SplitKey]],
    batch: ABatch,
    tasks: int,
) -> Iterator[tuple[Any, ...]]:
    """The packed batches of the rows of an input, as rows.

    Args:
        split: split keys of the batch. tasks: that read the source.
    """
    files = WrittenFiles(batch.path, batch.number, _LEAST_BYTES)
    step = -(-rows.num_rows // tasks)
    for part in range(tasks):
        packer = Packer(to, definition, 1.0, part, split, files)
        some = rows.slice(part * step, step)
        if some.num_rows:
            for made in (
                *packer.rows(some, batch.now_us),
                *packer.clocks(),
                *packer.frequent_keys(),
            ):
                yield from zip(*made.to_pydict().values(), strict=True)


def received(
    shard: int, packed: pd.DataFrame, requests: Mapping[int, Mapping[int, str]], batch: ABatch
) -> ShardInput:
    """What a shard gets of the packed batches; without any its engine runs, to compare clocks.

    Args:
        requests: statements by shard and number.
    """
    own, due = packed[packed["shard"] == shard], requests.get(shard, {})
    files = ShardFiles(batch.path, shard)
    return ShardInput.read(iter([own]), files, due, now_us=batch.now_us, number=batch.number)


def as_whole(requests: Mapping[int, str]) -> dict[int, str]:
    """What one engine executes instead of shards."""
    partial, whole = "CREATE PARTIAL QUERY", "CREATE QUERY"
    return {number: text.replace(partial, whole) for number, text in requests.items()}
