"""Assignment of streams to engines, and of engines to Spark partitions.

Streams and changing tables that a query reads form a *group*, as in an engine (see
``eddyline.engine.ingest.watermarks``). Each group runs in a separate engine with a separate
watermark, so streams of different groups do not hold back each other's watermark. An engine with
its state is a *shard*; its id is the key by which Spark groups the packed batches.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

_MASK = 0xFFFFFFFF


def connected(queries: Mapping[str, frozenset[str]]) -> list[tuple[frozenset[str], list[str]]]:
    """The groups: (streams and tables, names of the queries over them), ordered by first query.

    Args:
        queries: by name of a query, the streams and changing tables that it reads; at least one.

    >>> connected({"q": frozenset("ab"), "r": frozenset("c"), "s": frozenset("bd")})[0][1]
    ['q', 's']
    """
    groups: list[tuple[set[str], list[str]]] = []
    for name, streams in queries.items():
        touched = [g for g in groups if g[0] & streams]
        if touched:
            first = touched[0]
            for other in touched[1:]:
                first[0].update(other[0])
                first[1].extend(other[1])
                groups.remove(other)
        else:
            first = (set(), [])
            groups.append(first)
        first[0].update(streams)
        first[1].append(name)
    return [(frozenset(s), names) for s, names in groups]


def shard_ids(count: int, partitions: int) -> list[int]:
    """Ids for ``count`` shards such that shard i is in partition ``i mod partitions``.

    Spark assigns a key to partition ``pmod(hash(key), partitions)``, where consecutive integers
    collide, so suitable ids are searched for. The same arguments give the same ids.
    """
    found: list[Iterator[int]] = [_ids_in(p, partitions) for p in range(partitions)]
    return [next(found[i % partitions]) for i in range(count)]


def cores_by_group(
    count: int, partitions: int, cores: int, capacity: float | None = None
) -> list[float]:
    """CPU cores of the engine of each of ``count`` groups.

    An engine runs in one thread; engines of one partition run one after the other.

    Args:
        cores: available for tasks. capacity: cores for all engines together, divided evenly; by
            default as many as they can use.

    >>> cores_by_group(1, 8, 8), cores_by_group(3, 2, 8), cores_by_group(2, 2, 1)
    ([1.0], [0.5, 1.0, 0.5], [0.5, 0.5])
    """
    groups = Counter(group % partitions for group in range(count))  # by partition
    of_partition = min(1.0, cores / max(len(groups), 1))
    usable = [of_partition / groups[group % partitions] for group in range(count)]
    return usable if capacity is None else [min(u, capacity / count) for u in usable]


def _ids_in(partition: int, partitions: int) -> Iterator[int]:
    ids: Iterable[int] = itertools.count()
    return (i for i in ids if spark_hash(i) % partitions == partition)


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
