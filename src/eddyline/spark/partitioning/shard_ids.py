"""Shard ids: the keys by which Spark groups the packed batches, one for each engine.

Spark runs a key in partition ``pmod(hash(key), partitions)``. The id of shard number i is the key
with the hash i, so that shard i is in partition ``i % partitions`` for every number of partitions:
the shards of a job are spread evenly, also after it has been rescaled.
"""

from __future__ import annotations

from typing import Final

_MASK: Final = 0xFFFFFFFF
_SEED: Final = 42
_BYTES: Final = 8  # of a key
# Constants of Murmur3 (x86, 32 bits).
_C1: Final = 0xCC9E2D51
_C2: Final = 0x1B873593
_ADDED: Final = 0xE6546B64
_F1: Final = 0x85EBCA6B
_F2: Final = 0xC2B2AE35


def shard_id(number: int) -> int:
    """The id of a shard: the key below 2**32 whose hash is ``number``.

    Each step of the hash is a bijection, and is undone here in reverse order.
    """
    h = number
    h ^= h >> 16
    h = _divided(h, _F2)
    h ^= h >> 13 ^ h >> 26
    h = _divided(h, _F1)
    h ^= h >> 16
    h ^= _BYTES
    for _ in range(2):  # the upper half of the key is 0, and has no part in h
        h = _rotate(_divided(h - _ADDED & _MASK, 5), 32 - 13)
    return _divided(_rotate(_divided(h ^ _SEED, _C2), 32 - 15), _C1)


def partition_of(shard: int, partitions: int) -> int:
    """The partition in which Spark runs the shard with this id."""
    return spark_hash(shard) % partitions


def spark_hash(key: int) -> int:
    """Spark's hash of a BIGINT: Murmur3 (x86, 32 bits, seed 42) of its two halves, signed."""
    h = _SEED
    for half in (key & _MASK, (key >> 32) & _MASK):
        k = half * _C1 & _MASK
        k = _rotate(k, 15) * _C2 & _MASK
        h = (_rotate(h ^ k, 13) * 5 + _ADDED) & _MASK
    h ^= _BYTES
    h = (h ^ h >> 16) * _F1 & _MASK
    h = (h ^ h >> 13) * _F2 & _MASK
    h ^= h >> 16
    return h - (1 << 32) if h >> 31 else h


def _rotate(x: int, by: int) -> int:
    return (x << by | x >> (32 - by)) & _MASK


def _divided(x: int, by: int) -> int:
    """The y with ``y * by == x`` modulo 2**32; ``by`` is odd."""
    return x * pow(by, -1, 1 << 32) & _MASK
