"""Lineage bitsets: the queries that a row still satisfies.

A block ``lineage`` is uint64[n, W]: bit ``b`` of a row is bit ``b & 63`` of word ``b >> 6``.

Source: Madden et al. 2002, section 2.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eddyline.kernels.copies import put
from eddyline.kernels.hashing import mix
from eddyline.kernels.options import inlined, kernel

#: Longest run that is sorted by insertion.
_SHORT = 24


@kernel
def meet(
    own: np.ndarray,
    number: np.ndarray,
    stored: np.ndarray,
    place: np.ndarray,
    age: np.ndarray,
    windows: np.ndarray,
    members: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The pairs that satisfy some query: its bit is in both rows, and the stored row in its window.

    Args:
        own: uint64[n, W], lineage of the rows that probe; ``number`` int64[p], one per pair.
        stored: uint64[m, W], lineage of the rows that were found; ``place`` int64[p].
        age: int64[p], how old the stored row is at the instant of the pair; microseconds.
        windows: int64[k], the distinct window lengths, ascending.
        members: uint64[k + 1, W], row r: the queries whose window is ``windows[r]`` or longer.

    Returns:
        int64[q], the pairs; uint64[q, W], their lineage.
    """
    pairs = number.size
    width = np.uint64(own.shape[1])
    kept = np.empty(pairs, np.int64)
    rank = np.zeros(pairs, np.uint64)
    count = 0
    for p in range(pairs):
        a, b = np.uint64(number[p]), np.uint64(place[p])
        r = np.uint64(np.searchsorted(windows, age[p], "right"))
        # all words, and unsigned: so the loop is done in vectors, faster than one that stops early
        common = np.uint64(0)
        for w in range(width):
            common |= own[a, w] & stored[b, w] & members[r, w]
        kept[count] = p
        rank[count] = r
        count += common != 0
    lineage = np.empty((count, own.shape[1]), np.uint64)
    for i in range(count):
        a, b, r = np.uint64(number[kept[i]]), np.uint64(place[kept[i]]), rank[i]
        for w in range(width):
            lineage[i, w] = own[a, w] & stored[b, w] & members[r, w]
    return kept[:count].copy(), lineage


@kernel
def meet_levels(
    own: np.ndarray, number: np.ndarray, age: np.ndarray, bounds: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The pairs that some query's windows hold, where windows are nested.

    Args:
        own: int64[n], the first level of each row that probes; ``number`` int64[p], one per
            pair.
        age: int64[p], how old the row found is at the instant of the pair; microseconds.
        bounds: int64[k], ascending: how old it may be, by level.

    Returns:
        int64[q], the pairs; int64[q], the first level of each.
    """
    kept = np.empty(number.size, np.int64)
    level = np.empty(number.size, np.int64)
    count = 0
    for p in range(number.size):
        kept[count] = p
        level[count] = max(own[number[p]], np.searchsorted(bounds, age[p], "right"))
        count += level[count] < bounds.size
    return kept[:count].copy(), level[:count].copy()


@kernel
def within_reach(
    level: np.ndarray, until: np.ndarray | None, reach: np.ndarray, starts: np.ndarray
) -> np.ndarray:
    """The rows of each query: those of its reach or below.

    Args:
        level: int64[n], by row. reach: int64[b], by query.
        until: int64[n], by row, to be above the query's reach; None: all are.
        starts: int64[b + 1]: query q has ``starts[q + 1] - starts[q]`` of them.

    Returns:
        int64[m] rows, query by query.
    """
    rows = np.empty(starts[-1], np.int64)
    for q in range(reach.size):
        at = starts[q]
        if starts[q + 1] > at:
            for i in range(level.size):
                if level[i] <= reach[q] and (until is None or reach[q] < until[i]):
                    rows[at] = i
                    at += 1
    return rows


@inlined
def _ones(word: Any) -> Any:
    """How many bits are set."""
    x = np.uint64(word)
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def expand(lineage: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows, by their numbers (int64[n]), and bits of all that is set.

    Returns:
        int64[m] rows, in the order of the block, and int32[m] bits.
    """
    rows, width = lineage.shape
    total = 0
    for i in range(rows):
        for w in range(width):
            if lineage[i, w]:
                total += _ones(lineage[i, w])
    row = np.empty(total, np.int64)
    bit = np.empty(total, np.int32)
    count = 0
    for i in range(rows):
        for w in range(width):
            word = lineage[i, w]
            while word:
                lowest = word & (~word + np.uint64(1))
                row[count] = numbers[i]
                bit[count] = 64 * w + _ones(lowest - np.uint64(1))
                count += 1
                word ^= lowest
    return row, bit


@kernel
def by_bit(row: np.ndarray, bit: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """The same pairs sorted by bit, each bit's rows in the order given: a counting sort.

    Returns:
        int64[m] rows, and int64[bits + 1]: the rows of bit b are ``[starts[b], starts[b + 1])``.
    """
    starts = np.zeros(bits + 1, np.int64)
    for i in range(bit.size):
        starts[bit[i] + 1] += 1
    for b in range(bits):
        starts[b + 1] += starts[b]
    at = starts[:-1].copy()
    out = np.empty(row.size, np.int64)
    for i in range(bit.size):
        b = bit[i]
        out[at[b]] = row[i]
        at[b] += 1
    return out, starts


@kernel
def earliest(
    exp: np.ndarray, row: np.ndarray, bit: np.ndarray, ts: np.ndarray, window: np.ndarray
) -> None:
    """``exp[i] = min(exp[i], ts[row[i]] + window[bit[i]])``, in place, for each row and query."""
    for i in range(exp.size):
        at = ts[row[i]] + window[bit[i]]
        if at < exp[i]:
            exp[i] = at


@kernel
def any_wanted(lineage: np.ndarray) -> np.ndarray:
    """bool[n]: the rows with a set bit."""
    out = np.zeros(lineage.shape[0], np.bool_)
    for i in range(lineage.shape[0]):
        for w in range(lineage.shape[1]):
            if lineage[i, w]:
                out[i] = True
                break
    return out


@kernel
def hash_lineages(lineage: np.ndarray) -> np.ndarray:
    """int64[n], hashes of lineages; words without bits do not matter."""
    out = np.empty(lineage.shape[0], np.int64)
    for i in range(lineage.shape[0]):
        h = np.int64(0)
        for w in range(lineage.shape[1]):
            if lineage[i, w]:
                h += mix(lineage[i, w] + np.uint64(w) * np.uint64(0x9E3779B97F4A7C15))
        out[i] = mix(h)
    return out


@kernel
def differing(
    sets: np.ndarray, number: np.ndarray, lineage: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    """int64[k], where row ``rows[i]`` of ``lineage`` is not set ``number[i]``."""
    out = np.empty(number.size, np.int64)
    count = 0
    for i in range(number.size):
        for w in range(sets.shape[1]):
            if sets[number[i], w] != lineage[rows[i], w]:
                out[count] = i
                count += 1
                break
    return out[:count].copy()


@kernel
def order_ties(order: np.ndarray, key: np.ndarray, tie: np.ndarray) -> None:
    """Put numbers with equal ``key`` in the order of ``tie``, in place.

    Args:
        order: int64[n], numbers such that ``key[order]`` ascends.
    """
    start = 0
    while start < order.size:
        end = start + 1
        while end < order.size and key[order[end]] == key[order[start]]:
            end += 1
        if end - start > _SHORT:
            run = order[start:end]
            put(run[np.argsort(tie[run])], run, 0)
        else:
            for i in range(start + 1, end):
                number, at = order[i], i
                while at > start and tie[order[at - 1]] > tie[number]:
                    order[at] = order[at - 1]
                    at -= 1
                order[at] = number
        start = end
