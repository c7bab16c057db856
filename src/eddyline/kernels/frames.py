"""Rows that enter and leave the frames of the rows of a partition."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eddyline.kernels.options import bare, kernel

#: In place of a row: there is none. References of rows that are kept are below.
NONE = -1


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
    size = lists.size
    m = 0
    for i in range(n):
        p = partition[i]
        if size[p] == most:
            row[m], of[m], sign[m] = take_oldest(p, lists), p, -1
            m += 1
        append(number[i], p, lists)
        row[m], of[m], sign[m] = number[i], p, 1
        m += 1
    return row[:m], of[:m], sign[:m]


@bare
def append(row: int, p: int, lists: Lists) -> None:
    """Append a row to the frame of a partition."""
    if lists.size[p] == 0:
        lists.first[p] = row
    else:
        lists.following[lists.last[p]] = row
    lists.last[p] = row
    lists.size[p] += 1


@bare
def take_oldest(p: int, lists: Lists) -> int:
    """Remove the oldest row of the frame of a partition, which is returned."""
    oldest = lists.first[p]
    lists.first[p] = lists.following[oldest]
    lists.size[p] -= 1
    return oldest


@kernel
def turn_groups(
    ts: np.ndarray,
    partition: np.ndarray,
    number: np.ndarray,
    most: int,
    lists: Lists,
    times: np.ndarray,
    groups: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """As ``turn``, but frames have the rows of ``most`` times at most.

    Args:
        ts: int64[n], of the rows, ascending.
        times: int64 by number of a row. groups: int64 by partition, the number of times in frames.

    Returns:
        Also int64[m], the times at which rows enter and leave.
    """
    row = np.empty(2 * partition.size, np.int64)
    of, at = np.empty_like(row), np.empty_like(row)
    sign = np.empty(row.size, np.int8)
    first, last, size, following = lists
    m = 0
    for i in range(partition.size):
        p = partition[i]
        leaving = 0
        if size[p] == 0:
            groups[p] = 1
        elif times[last[p]] != ts[i]:
            groups[p] += 1
            if groups[p] > most:
                groups[p] = most
                oldest = first[p]
                time = times[oldest]
                while leaving < size[p] and times[oldest] == time:
                    leaving += 1
                    oldest = following[oldest]
        if m + leaving + 1 > row.size:
            more = row.size + leaving + 1
            row = np.concatenate((row, np.empty(more, np.int64)))
            of = np.concatenate((of, np.empty(more, np.int64)))
            at = np.concatenate((at, np.empty(more, np.int64)))
            sign = np.concatenate((sign, np.empty(more, np.int8)))
        for _ in range(leaving):
            row[m], of[m], at[m], sign[m] = take_oldest(p, lists), p, ts[i], -1
            m += 1
        append(number[i], p, lists)
        times[number[i]] = ts[i]
        row[m], of[m], at[m], sign[m] = number[i], p, ts[i], 1
        m += 1
    return row[:m], of[:m], sign[:m], at[:m]


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


class Placed(NamedTuple):
    """Rows by their place in their partition.

    Attributes:
        found: int64[k, n]: for each of k places the row there, as each of n rows sees it: a place
            in the chunk, or the reference of an earlier row.
        rows, at: int64[m], places in the chunk of rows to keep, and of their references in the
            flat table of references.
        left: int64[.], references of rows that are not kept any more.
    """

    found: np.ndarray
    rows: np.ndarray
    at: np.ndarray
    left: np.ndarray


@kernel
def earlier_rows(
    partition: np.ndarray,
    counts: np.ndarray,
    last: np.ndarray,
    following: np.ndarray,
    offsets: np.ndarray,
) -> Placed:
    """Rows that came so many rows before each one.

    Args:
        partition: int64[n]. counts: bool[n], which rows can be such a row. offsets: int64[k].
        last: int64 by partition, [., m]: references of its last m rows, in a ring.
        following: int64 by partition, the place in the ring of the row to come.
    """
    n, most = partition.size, last.shape[1]
    found = np.empty((offsets.size, n), np.int64)
    place = np.empty(n, np.int64)
    left = np.empty(n, np.int64)
    gone = 0
    for i in range(n):
        p = partition[i]
        at = following[p]
        for k in range(offsets.size):
            found[k, i] = last[p, at - offsets[k] if at >= offsets[k] else at - offsets[k] + most]
        place[i] = at
        if not counts[i]:
            continue
        if last[p, at] < NONE:
            left[gone] = last[p, at]
            gone += 1
        last[p, at] = i
        following[p] = at + 1 if at + 1 < most else 0
    rows = np.empty(n, np.int64)
    where = np.empty(n, np.int64)
    kept = 0
    for i in range(n):
        if last[partition[i], place[i]] == i:
            rows[kept] = i
            where[kept] = partition[i] * most + place[i]
            kept += 1
    return Placed(found, rows[:kept], where[:kept], left[:gone])


#: Places of rows with a value: the first, the last, the last before the current row.
FIRST_KNOWN, LAST_KNOWN, KNOWN_BEFORE = range(3)


@kernel
def known_rows(
    partition: np.ndarray, valid: np.ndarray, known: np.ndarray, places: np.ndarray
) -> Placed:
    """Rows of each partition that have a value.

    Args:
        partition: int64[n]. valid: bool[n], whether a row has a value. places: int64[k], see above.
        known: int64 by partition, [., 2]: references of the first and of the last one.
    """
    n, width = partition.size, places.size
    found = np.empty((width, n), np.int64)
    left = np.empty(n, np.int64)
    gone = 0
    for i in range(n):
        p = partition[i]
        before = known[p, LAST_KNOWN]
        if valid[i]:
            if known[p, FIRST_KNOWN] == NONE:
                known[p, FIRST_KNOWN] = i
            if before < NONE:
                left[gone] = before
                gone += 1
            known[p, LAST_KNOWN] = i
        for k in range(width):
            found[k, i] = before if places[k] == KNOWN_BEFORE else known[p, places[k]]
    rows = np.empty(2 * n, np.int64)
    where = np.empty(2 * n, np.int64)
    kept = 0
    for i in range(n):
        for place in range(2):
            if known[partition[i], place] == i:
                rows[kept] = i
                where[kept] = 2 * partition[i] + place
                kept += 1
    return Placed(found, rows[:kept], where[:kept], left[:gone])


@kernel
def numbered_rows(
    partition: np.ndarray,
    counts: np.ndarray,
    numbered: np.ndarray,
    count: np.ndarray,
    numbers: np.ndarray,
) -> Placed:
    """Rows of given numbers of their partitions, as far as they have come.

    Args:
        partition: int64[n]. counts: bool[n], which rows have a number.
        numbers: int64[k], ascending, from 1 on.
        numbered: int64 by partition, [., k]: references of these rows.
        count: int64 by partition, its rows with a number so far.
    """
    n, width = partition.size, numbers.size
    found = np.empty((width, n), np.int64)
    rows = np.empty(n, np.int64)
    where = np.empty(n, np.int64)
    kept = 0
    for i in range(n):
        p = partition[i]
        count[p] += counts[i]
        for k in range(width):
            if counts[i] and numbers[k] == count[p]:
                numbered[p, k] = i
                rows[kept] = i
                where[kept] = p * width + k
                kept += 1
            found[k, i] = numbered[p, k]
    return Placed(found, rows[:kept], where[:kept], rows[:0])
