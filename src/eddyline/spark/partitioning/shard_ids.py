"""Shard ids: the keys by which Spark groups the packed batches, one for each engine."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence

_MASK = 0xFFFFFFFF


def shard_ids(
    partition_of: Sequence[int], partitions: int, taken: Collection[int] = ()
) -> list[int]:
    """Ids of shards, such that Spark runs shard i in partition ``partition_of[i]``.

    Args:
        taken: ids that other shards have.

    Spark assigns a key to partition ``pmod(hash(key), partitions)``, where consecutive integers
    collide, so suitable ids are searched for. The same arguments give the same ids.
    """
    found: list[Iterator[int]] = [_ids_in(p, partitions, taken) for p in range(partitions)]
    return [next(found[partition]) for partition in partition_of]


def _ids_in(partition: int, partitions: int, taken: Collection[int]) -> Iterator[int]:
    ids: Iterable[int] = (i for i in itertools.count() if i not in taken)
    return (i for i in ids if partition_of_id(i, partitions) == partition)


def partition_of_id(shard: int, partitions: int) -> int:
    """The partition in which Spark runs a shard."""
    return spark_hash(shard) % partitions


def spark_hash(key: int) -> int:
    """Spark's hash of a BIGINT: Murmur3 (x86, 32 bits, seed 42) of its two halves, signed."""
    h = 42
    for half in (key & _MASK, (key >> 32) & _MASK):
        k = half * 0xCC9E2D51 & _MASK
        k = _rotate(k, 15) * 0x1B873593 & _MASK
        h = (_rotate(h ^ k, 13) * 5 + 0xE6546B64) & _MASK
    h ^= 8  # the length in bytes
    h = (h ^ h >> 16) * 0x85EBCA6B & _MASK
    h = (h ^ h >> 13) * 0xC2B2AE35 & _MASK
    h ^= h >> 16
    return h - (1 << 32) if h >> 31 else h


def _rotate(x: int, by: int) -> int:
    return (x << by | x >> (32 - by)) & _MASK
