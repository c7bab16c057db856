"""The index of a grouped filter: which cell a value falls into, and lineage narrowed by it.

m distinct thresholds, ascending, cut the values of an attribute into m + 1 cells: a value's cell is
the number of thresholds at or below it. A *directory* over the thresholds' range yields the few
near a value, and binary search among these finds the cell: O(1) where thresholds are spread
about evenly, O(log m) at worst.

The *toggles* are query numbers in the order of the cells at which they begin or cease to accept;
``reach[cell]`` of them lie at or below a cell. *Checkpoints* are the bitmaps of the accepting
queries after 0, S, 2S, ... toggles, for S a power of two: a cell's own bitmap is that of the
nearest checkpoint with the toggles between them applied, in either direction. Bits without a
predicate in the filter are 1 in all bitmaps. NULL and NaN have checkpoints of their own behind the
others.

Bitmaps are kept for some words of the lineage only: those with predicates.

Source: Madden et al. 2002, section 2.2.1 (there: trees and hash tables of predicates).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eddyline.kernels.copies import put
from eddyline.kernels.options import bare_inlined, inlined, kernel


@inlined
def _bucket(value: Any, origin: Any, scale: Any, last: Any) -> Any:
    """Rises with the value; below the range it is 0, above it ``last``."""
    at = (np.float64(value) - origin) * scale
    bucket = np.int64(0)
    if at >= last:
        bucket = np.int64(last)
    elif at > 0.0:
        bucket = np.int64(at)
    return bucket


@inlined
def rank(value: Any, thresholds: Any, starts: Any, origin: Any, scale: Any) -> Any:
    """How many thresholds are at or below the value."""
    b = np.uint64(_bucket(value, origin, scale, starts.size - 2))
    low = np.int64(starts[b])
    high = np.int64(starts[b + np.uint64(1)])
    while low < high:
        middle = (low + high) >> 1
        if thresholds[np.uint64(middle)] <= value:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def directory(thresholds: np.ndarray, buckets: int, origin: float, scale: float) -> np.ndarray:
    """int32[buckets + 1]: the thresholds in bucket b are ``[starts[b], starts[b + 1])``."""
    starts = np.zeros(buckets + 1, np.int32)
    for i in range(thresholds.size):
        starts[_bucket(thresholds[i], origin, scale, buckets - 1) + 1] += 1
    for b in range(buckets):
        starts[b + 1] += starts[b]
    return starts


@kernel
def cells_of_numbers(
    values: np.ndarray,
    rows: np.ndarray,
    thresholds: np.ndarray,
    starts: np.ndarray,
    origin: float,
    scale: float,
) -> np.ndarray:
    """int64[k]: the cells of ``values[rows]``, int64 or float64; of NaN it is m + 2."""
    out = np.empty(rows.size, np.int64)
    for i in range(rows.size):
        value = values[np.uint64(rows[i])]
        if value != value:
            out[i] = thresholds.size + 2
        else:
            out[i] = rank(value, thresholds, starts, origin, scale)
    return out


@kernel
def bitmap(bits: np.ndarray, words: int) -> np.ndarray:
    """uint64[words] with these bits set."""
    out = np.zeros(words, np.uint64)
    for i in range(bits.size):
        out[bits[i] >> 6] |= np.uint64(1) << np.uint64(bits[i] & 63)
    return out


@kernel
def in_order(cells: np.ndarray, bits: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Sort toggles by cell.

    Args:
        cells: int64[T], below ``count``.
        bits: int64[T].

    Returns:
        int32[T] toggles and int32[count] ``reach``.
    """
    reach = np.zeros(count, np.int32)
    for i in range(cells.size):
        reach[cells[i]] += 1
    at = np.zeros(count, np.int32)
    for c in range(1, count):
        at[c] = reach[c - 1]
        reach[c] += reach[c - 1]
    toggles = np.empty(bits.size, np.int32)
    for i in range(bits.size):
        toggles[at[cells[i]]] = bits[i]
        at[cells[i]] += 1
    return toggles, reach


@kernel
def checkpoints(
    first: np.ndarray, toggles: np.ndarray, shift: int, null: np.ndarray, nan: np.ndarray
) -> np.ndarray:
    """uint64[r + 2, k]: bitmaps after every ``1 << shift`` toggles, then those of NULL and NaN.

    Args:
        first: uint64[k], the bitmap before all toggles.
    """
    half = (1 << shift) >> 1
    count = ((toggles.size + half) >> shift) + 1
    out = np.empty((count + 2, first.size), np.uint64)
    now = first.copy()
    done = 0
    for c in range(count):
        while done < min(c << shift, toggles.size):
            now[toggles[done] >> 6] ^= np.uint64(1) << np.uint64(toggles[done] & 63)
            done += 1
        put(now, out[c], 0)
    put(null, out[count], 0)
    put(nan, out[count + 1], 0)
    return out


@kernel
def any_accepted(bitmaps: np.ndarray, toggles: np.ndarray, predicates: np.ndarray) -> np.ndarray:
    """bool[T + 1]: whether one of the queries in ``predicates`` accepts, by number of toggles."""
    now = bitmaps[0] & predicates
    count = 0
    for w in range(now.size):
        word = now[w]
        while word:
            word &= word - np.uint64(1)
            count += 1
    out = np.empty(toggles.size + 1, np.bool_)
    out[0] = count > 0
    for t in range(toggles.size):
        word, mask = toggles[t] >> 6, np.uint64(1) << np.uint64(toggles[t] & 63)
        now[word] ^= mask
        count += 1 if now[word] & mask else -1
        out[t + 1] = count > 0
    return out


@kernel
def rows_left(rows: np.ndarray, lineage: np.ndarray) -> np.ndarray:
    """int64[k], the rows with a set bit."""
    kept = np.empty(rows.size, np.int64)
    count = 0
    for i in range(rows.size):
        row = np.uint64(rows[i])
        left = np.uint64(0)
        for w in range(lineage.shape[1]):
            left |= lineage[row, w]
        kept[count] = rows[i]
        count += left != 0
    return kept[:count].copy()


@kernel
def rows_wanted(
    rows: np.ndarray, lineage: np.ndarray, words: np.ndarray, dense: bool, predicates: np.ndarray
) -> np.ndarray:
    """int64[k], the rows with a set bit in ``predicates``."""
    kept = np.empty(rows.size, np.int64)
    start = np.uint64(words[0])
    count = 0
    for i in range(rows.size):
        row = np.uint64(rows[i])
        wanted = np.uint64(0)
        if dense:
            for w in range(predicates.size):
                wanted |= lineage[row, start + np.uint64(w)] & predicates[w]
        else:
            for w in range(predicates.size):
                wanted |= lineage[row, np.uint64(words[w])] & predicates[w]
        kept[count] = rows[i]
        count += wanted != 0
    return kept[:count].copy()


class FilterIndex(NamedTuple):
    """The index of one grouped filter.

    Attributes:
        words: int64[k], ascending, the words of the lineage that have bitmaps here.
        dense: whether these have no gaps.
        predicates: uint64[k], the queries that have a predicate here.
        reach, toggles, bitmaps, shift: see above; ``bitmaps`` are the checkpoints, one per
            ``1 << shift`` toggles.
    """

    words: np.ndarray
    dense: bool
    predicates: np.ndarray
    reach: np.ndarray
    toggles: np.ndarray
    bitmaps: np.ndarray
    shift: int


@kernel
def narrow(
    rows: np.ndarray,
    cells: np.ndarray,
    lineage: np.ndarray,
    index: FilterIndex,
) -> tuple[np.ndarray, int, int]:
    """Clear the bits of the queries that do not accept a row's value, in place.

    Args:
        rows: int64[n], which rows of the lineage; rows without a set bit in ``predicates`` are
            skipped.
        cells: int64[n], the cells of their values.
        lineage: uint64[., W].

    Returns:
        int64[m], the rows with a bit left; how many rows were visited; how many of these have a bit
        of ``predicates`` left.
    """
    accepts = np.empty(index.predicates.size, np.uint64)
    kept = np.empty(rows.size, np.int64)
    count, visited, returned = _narrow(rows, cells, lineage, index, accepts, kept)
    return kept[:count].copy(), visited, returned


@bare_inlined
def _narrow(
    rows: np.ndarray,
    cells: np.ndarray,
    lineage: np.ndarray,
    index: FilterIndex,
    accepts: np.ndarray,
    kept: np.ndarray,
) -> tuple[int, int, int]:
    """Narrow as ``narrow`` does, which allocates: ``kept`` gets the rows, of which there are the
    first of the numbers returned; ``accepts`` is used for a bitmap.
    """
    predicates, width = index.predicates, index.predicates.size
    start = np.uint64(index.words[0])
    count = visited = returned = 0
    for i in range(rows.size):
        row = np.uint64(rows[i])
        left = mine = np.uint64(0)
        wanted = lineage[row, start] & predicates[0]  # the first word mostly decides
        if wanted == 0:
            wanted = _wanted(row, lineage, index)
        if wanted != 0:
            _bitmap_of(cells[i], index, accepts)
            left, mine = _clear(row, lineage, accepts, index)
        if left == 0 and (wanted == 0 or width < lineage.shape[1]):
            for w in range(lineage.shape[1]):
                left |= lineage[row, w]
        kept[count] = rows[i]
        count += left != 0
        visited += wanted != 0
        returned += mine != 0
    return count, visited, returned


@bare_inlined
def _wanted(row: Any, lineage: np.ndarray, index: FilterIndex) -> Any:
    """0 if a row has no set bit in ``predicates``."""
    wanted = np.uint64(0)
    if index.dense:
        start = np.uint64(index.words[0])
        for w in range(index.predicates.size):
            wanted |= lineage[row, start + np.uint64(w)] & index.predicates[w]
    else:
        for w in range(index.predicates.size):
            wanted |= lineage[row, np.uint64(index.words[w])] & index.predicates[w]
    return wanted


@bare_inlined
def _bitmap_of(cell: int, index: FilterIndex, accepts: np.ndarray) -> None:
    """Write the bitmap of a cell: that of the nearest checkpoint, and the toggles between."""
    own = np.int64(index.reach[np.uint64(cell)])
    half = (np.int64(1) << index.shift) >> 1
    nearest = (own + half) >> index.shift
    there = nearest << index.shift
    for w in range(accepts.size):
        accepts[w] = index.bitmaps[np.uint64(nearest), w]
    for t in range(min(own, there), min(max(own, there), np.int64(index.toggles.size))):
        bit = np.uint64(index.toggles[np.uint64(t)])
        accepts[bit >> np.uint64(6)] ^= np.uint64(1) << (bit & np.uint64(63))


@bare_inlined
def _clear(
    row: Any, lineage: np.ndarray, accepts: np.ndarray, index: FilterIndex
) -> tuple[Any, Any]:
    """Clear the bits of a row that a bitmap has not; returns whether some are left, not 0, in the
    words of the index and in ``predicates``.
    """
    left = mine = np.uint64(0)
    start = np.uint64(index.words[0])
    if index.dense:
        for w in range(accepts.size):
            word = lineage[row, start + np.uint64(w)] & accepts[w]
            lineage[row, start + np.uint64(w)] = word
            left |= word
            mine |= word & index.predicates[w]
    else:
        for w in range(accepts.size):
            word = lineage[row, np.uint64(index.words[w])] & accepts[w]
            lineage[row, np.uint64(index.words[w])] = word
            left |= word
            mine |= word & index.predicates[w]
    return left, mine
