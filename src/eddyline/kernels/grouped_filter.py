"""The index of a grouped filter, and lineage narrowed by it.

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

from typing import NamedTuple

import numpy as np

from eddyline.kernels.options import kernel


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
        out[c] = now
    out[count] = null
    out[count + 1] = nan
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
    words, dense, predicates = index.words, index.dense, index.predicates
    reach, toggles, bitmaps, shift = index.reach, index.toggles, index.bitmaps, index.shift
    width = predicates.size
    start = np.uint64(words[0])
    half = (np.int64(1) << shift) >> 1
    total = np.int64(toggles.size)
    accepts = np.empty(width, np.uint64)
    kept = np.empty(rows.size, np.int64)
    count = visited = returned = 0
    for i in range(rows.size):
        row = np.uint64(rows[i])
        left = mine = np.uint64(0)
        # the first word mostly decides; a helper function for the rest would count references to
        # its arrays, which takes longer than the rest of the loop
        wanted = lineage[row, start] & predicates[0]
        if wanted == 0:
            if dense:
                for w in range(width):
                    wanted |= lineage[row, start + np.uint64(w)] & predicates[w]
            else:
                for w in range(width):
                    wanted |= lineage[row, np.uint64(words[w])] & predicates[w]
        if wanted != 0:
            own = np.int64(reach[np.uint64(cells[i])])
            nearest = (own + half) >> shift
            there = nearest << shift
            for w in range(width):
                accepts[w] = bitmaps[np.uint64(nearest), w]
            for t in range(min(own, there), min(max(own, there), total)):
                bit = np.uint64(toggles[np.uint64(t)])
                accepts[bit >> np.uint64(6)] ^= np.uint64(1) << (bit & np.uint64(63))
            if dense:
                for w in range(width):
                    word = lineage[row, start + np.uint64(w)] & accepts[w]
                    lineage[row, start + np.uint64(w)] = word
                    left |= word
                    mine |= word & predicates[w]
            else:
                for w in range(width):
                    word = lineage[row, np.uint64(words[w])] & accepts[w]
                    lineage[row, np.uint64(words[w])] = word
                    left |= word
                    mine |= word & predicates[w]
        if left == 0 and (wanted == 0 or width < lineage.shape[1]):
            for w in range(lineage.shape[1]):
                left |= lineage[row, w]
        kept[count] = rows[i]
        count += left != 0
        visited += wanted != 0
        returned += mine != 0
    return kept[:count].copy(), visited, returned
