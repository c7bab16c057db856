"""Rows that enter and leave the frames of the rows of a partition."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eddyline.kernels.options import kernel


class Lists(NamedTuple):
    """The rows in the frame of the last row of each partition, oldest first.

    Attributes:
        first, last: int64 by partition, numbers of rows. size: int64 by partition.
        following: int64 by number, the row behind.
    """

    first: np.ndarray
    last: np.ndarray
    size: np.ndarray
    following: np.ndarray


@kernel
def turn(
    partition: np.ndarray, number: np.ndarray, most: int, lists: Lists
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Let rows enter the frames of their partitions, which then have ``most`` rows at most.

    Args:
        partition, number: int64[n], of rows in their order.

    Returns:
        The changes in their order: int64[m] rows, their partitions, and int8[m] signs.
    """
    n = partition.size
    row = np.empty(2 * n, np.int64)
    of = np.empty(2 * n, np.int64)
    sign = np.empty(2 * n, np.int8)
    m = 0
    for i in range(n):
        p = partition[i]
        if lists.size[p] == most:
            oldest = lists.first[p]
            lists.first[p] = lists.following[oldest]
            lists.size[p] -= 1
            row[m], of[m], sign[m] = oldest, p, -1
            m += 1
        if lists.size[p] == 0:
            lists.first[p] = number[i]
        else:
            lists.following[lists.last[p]] = number[i]
        lists.last[p] = number[i]
        lists.size[p] += 1
        row[m], of[m], sign[m] = number[i], p, 1
        m += 1
    return row[:m], of[:m], sign[:m]


@kernel
def emissions(partition: np.ndarray, sign: np.ndarray, emit: np.ndarray) -> np.ndarray:
    """int64[n]: for each of the n changes with sign +1 the number of the next emission of its
    partition, itself included; partition, sign, emit: of all changes, as in ``SignedRows``.
    """
    out = np.empty((sign > 0).sum(), np.int64)
    end = 0
    for p in partition:
        end = max(end, p + 1)
    coming = np.empty(end, np.int64)
    number, row = emit.sum(), out.size
    for i in range(partition.size - 1, -1, -1):
        if emit[i]:
            number -= 1
            coming[partition[i]] = number
        if sign[i] > 0:
            row -= 1
            out[row] = coming[partition[i]]
    return out


@kernel
def numbered_rows(
    partition: np.ndarray, count: np.ndarray, wanted: np.ndarray, found: np.ndarray
) -> np.ndarray:
    """int64[k, n]: for each of k numbers the row of its partition that has it: a place in the
    chunk, or what ``found`` has.

    Args:
        count: int64 by partition, its rows so far. wanted: int64[k], numbers from 1 on.
        found: int64 by partition, [., k].
    """
    out = np.empty((wanted.size, partition.size), np.int64)
    for i in range(partition.size):
        p = partition[i]
        count[p] += 1
        for k in range(wanted.size):
            if wanted[k] == count[p]:
                found[p, k] = i
            out[k, i] = found[p, k]
    return out
