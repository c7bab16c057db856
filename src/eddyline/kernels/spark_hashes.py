"""Spark's hash functions of columns: Murmur3 (32 bits) and xxHash64, each with a seed per row.

Spark's Murmur3 takes the last bytes of a text one by one, as signed numbers, unlike the original.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from eddyline.kernels.options import inlined, kernel

_MASK: Final = np.uint64(0xFFFFFFFF)
_C1, _C2 = np.uint64(0xCC9E2D51), np.uint64(0x1B873593)
_P1, _P2 = np.uint64(0x9E3779B185EBCA87), np.uint64(0xC2B2AE3D27D4EB4F)
_P3, _P4 = np.uint64(0x165667B19E3779F9), np.uint64(0x85EBCA77C2B2AE63)
_P5 = np.uint64(0x27D4EB2F165667C5)


@inlined
def _left_32(word: np.uint64, by: int) -> np.uint64:
    return ((word << np.uint64(by)) | (word >> np.uint64(32 - by))) & _MASK


@inlined
def _left(word: np.uint64, by: int) -> np.uint64:
    return (word << np.uint64(by)) | (word >> np.uint64(64 - by))


@inlined
def _mixed(h: np.uint64, k: np.uint64) -> np.uint64:
    """A step of Murmur3."""
    k = _left_32((k * _C1) & _MASK, 15)
    h ^= (k * _C2) & _MASK
    return (_left_32(h, 13) * np.uint64(5) + np.uint64(0xE6546B64)) & _MASK


@inlined
def _finished(h: np.uint64, length: int) -> np.int32:
    h ^= np.uint64(length)
    h ^= h >> np.uint64(16)
    h = (h * np.uint64(0x85EBCA6B)) & _MASK
    h ^= h >> np.uint64(13)
    h = (h * np.uint64(0xC2B2AE35)) & _MASK
    h ^= h >> np.uint64(16)
    return np.int32(np.int64(h))


@inlined
def _finished_64(h: np.uint64) -> np.int64:
    h ^= h >> np.uint64(33)
    h *= _P2
    h ^= h >> np.uint64(29)
    h *= _P3
    h ^= h >> np.uint64(32)
    return np.int64(h)


@kernel
def murmur3_words(words: np.ndarray, width: int, known: np.ndarray, seeds: np.ndarray) -> None:
    """Replace the seeds, int32[n], by the hashes of numbers of 4 or 8 bytes, int64[n], that are not
    NULL.
    """
    for i in range(words.size):
        if known[i]:
            h = np.uint64(seeds[i]) & _MASK
            word = np.uint64(words[i])
            h = _mixed(h, word & _MASK)
            if width == 8:
                h = _mixed(h, word >> np.uint64(32))
            seeds[i] = _finished(h, width)


@kernel
def murmur3_texts(
    data: np.ndarray, bounds: np.ndarray, known: np.ndarray, seeds: np.ndarray
) -> None:
    """The same of the bytes ``data[bounds[i]:bounds[i + 1]]``."""
    for i in range(seeds.size):
        if not known[i]:
            continue
        h = np.uint64(seeds[i]) & _MASK
        at, end = bounds[i], bounds[i + 1]
        while at + 4 <= end:
            word = np.uint64(0)
            for j in range(4):
                word |= np.uint64(data[at + j]) << np.uint64(8 * j)
            h = _mixed(h, word)
            at += 4
        while at < end:
            h = _mixed(h, np.uint64(np.int64(np.int8(data[at]))) & _MASK)
            at += 1
        seeds[i] = _finished(h, bounds[i + 1] - bounds[i])


@kernel
def xxhash64_words(words: np.ndarray, width: int, known: np.ndarray, seeds: np.ndarray) -> None:
    """As :func:`murmur3_words`, with seeds int64[n]."""
    for i in range(words.size):
        if known[i]:
            h = np.uint64(seeds[i]) + _P5 + np.uint64(width)
            word = np.uint64(words[i])
            if width == 8:
                h ^= _left(word * _P2, 31) * _P1
                h = _left(h, 27) * _P1 + _P4
            else:
                h ^= (word & _MASK) * _P1
                h = _left(h, 23) * _P2 + _P3
            seeds[i] = _finished_64(h)


@inlined
def _word(data: np.ndarray, at: int, width: int) -> np.uint64:
    word = np.uint64(0)
    for j in range(width):
        word |= np.uint64(data[at + j]) << np.uint64(8 * j)
    return word


@kernel
def xxhash64_texts(
    data: np.ndarray, bounds: np.ndarray, known: np.ndarray, seeds: np.ndarray
) -> None:
    """As :func:`murmur3_texts`, with seeds int64[n]."""
    for i in range(seeds.size):
        if not known[i]:
            continue
        seed = np.uint64(seeds[i])
        at, end = bounds[i], bounds[i + 1]
        size = np.uint64(end - at)
        if end - at >= 32:
            a, b, c, d = seed + _P1 + _P2, seed + _P2, seed, seed - _P1
            while at + 32 <= end:
                a = _left(a + _word(data, at, 8) * _P2, 31) * _P1
                b = _left(b + _word(data, at + 8, 8) * _P2, 31) * _P1
                c = _left(c + _word(data, at + 16, 8) * _P2, 31) * _P1
                d = _left(d + _word(data, at + 24, 8) * _P2, 31) * _P1
                at += 32
            h = _left(a, 1) + _left(b, 7) + _left(c, 12) + _left(d, 18)
            h = (h ^ _left(a * _P2, 31) * _P1) * _P1 + _P4
            h = (h ^ _left(b * _P2, 31) * _P1) * _P1 + _P4
            h = (h ^ _left(c * _P2, 31) * _P1) * _P1 + _P4
            h = (h ^ _left(d * _P2, 31) * _P1) * _P1 + _P4
        else:
            h = seed + _P5
        h += size
        while at + 8 <= end:
            h ^= _left(_word(data, at, 8) * _P2, 31) * _P1
            h = _left(h, 27) * _P1 + _P4
            at += 8
        if at + 4 <= end:
            h ^= _word(data, at, 4) * _P1
            h = _left(h, 23) * _P2 + _P3
            at += 4
        while at < end:
            h ^= np.uint64(data[at]) * _P5
            h = _left(h, 11) * _P1
            at += 1
        seeds[i] = _finished_64(h)
