"""A circular array of partitions, each a chain of blocks of rows in one slab.

``slab[block * BLOCK + i]`` is row i of a block. A partition's newest block is ``heads[p]``, its
``fill[p]`` rows used; ``older[block]`` is the partition's block before it, which is full. Blocks
that are not in use are on a stack, or have not been used yet: those from ``fresh`` on.

Source: Golab and Ozsu 2005, Figure 7.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eddyline.kernels.copies import put_row
from eddyline.kernels.options import kernel

#: Rows of a block.
BLOCK = 256
#: No block.
NONE = -1


class Partitions(NamedTuple):
    """The partitions and their blocks; see above."""

    heads: np.ndarray
    fill: np.ndarray
    older: np.ndarray
    slab: np.ndarray


@kernel
def file_rows(
    rows: np.ndarray,
    width: int,
    clock: int,
    partitions: Partitions,
    free: np.ndarray,
    free_count: int,
    fresh: int,
) -> tuple[int, int, int]:
    """Put the rows that are alive into their partitions.

    Args:
        rows: int64[lanes, n]; the first lane is the expiry.
        width: of a partition. clock: rows that have expired by then are left out.
        free, free_count, fresh: the stack, and the first block that was never used; there is room
            for a block for every row or partition that may need one.

    Returns:
        ``free_count`` and ``fresh`` now, and how many rows were put in.
    """
    slab = partitions.slab
    places, free_count, fresh = _places(rows[0], width, clock, partitions, free, free_count, fresh)
    filed = 0
    for i in range(places.size):
        filed += places[i] != NONE
    for lane in range(rows.shape[0]):
        for i in range(places.size):
            if places[i] != NONE:
                slab[places[i], lane] = rows[lane, i]
    return free_count, fresh, filed


@kernel
def _places(
    expiry: np.ndarray,
    width: int,
    clock: int,
    partitions: Partitions,
    free: np.ndarray,
    free_count: int,
    fresh: int,
) -> tuple[np.ndarray, int, int]:
    """The place in the slab for each row, NONE where it has expired; ``free_count`` and ``fresh``.

    What one change has found in a join often expires in the same partition, row after row: a
    division is needed only where the partition changes.
    """
    heads, fill, older = partitions.heads, partitions.fill, partitions.older
    places = np.empty(expiry.size, np.int64)
    p = start = end = 0
    for i in range(expiry.size):
        if expiry[i] <= clock:
            places[i] = NONE
            continue
        if not start <= expiry[i] < end:
            start = expiry[i] // width * width
            end = start + width
            p = start // width % heads.size
        if heads[p] == NONE or fill[p] == BLOCK:
            if free_count:
                free_count -= 1
                block = free[free_count]
            else:
                block = fresh
                fresh += 1
            older[block] = heads[p]
            heads[p] = block
            fill[p] = 0
        places[i] = heads[p] * BLOCK + fill[p]
        fill[p] += 1
    return places, free_count, fresh


@kernel
def clear_partition(
    p: int, partitions: Partitions, free: np.ndarray, free_count: int
) -> tuple[int, int]:
    """Release the blocks of a partition; returns the stack height and number of rows."""
    heads, fill, older = partitions.heads, partitions.fill, partitions.older
    gone = 0
    block = heads[p]
    used = fill[p]
    while block != NONE:
        gone += used
        used = BLOCK
        free[free_count] = block
        free_count += 1
        block = older[block]
    heads[p] = NONE
    fill[p] = 0
    return free_count, gone


@kernel
def all_rows(count: int, partitions: Partitions) -> np.ndarray:
    """int64[count, lanes]: the rows of all partitions."""
    heads, fill, older, slab = partitions
    out = np.empty((count, slab.shape[1]), np.int64)
    at = 0
    for p in range(heads.size):
        block = heads[p]
        used = fill[p]
        while block != NONE:
            for i in range(used):
                put_row(slab, block * BLOCK + i, out, at)
                at += 1
            used = BLOCK
            block = older[block]
    return out
