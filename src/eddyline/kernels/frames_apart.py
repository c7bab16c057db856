"""Frames without the rows around the current one, or just before it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eddyline.kernels.frames import NONE, Lists, append, take_oldest
from eddyline.kernels.options import bare, kernel


class Apart(NamedTuple):
    """Bounds of frames of ROWS or GROUPS.

    Attributes:
        groups: whether they are of groups of rows of one time.
        most, before: how many rows or groups before the current one they begin and end; ``most``
            below 0: they begin with the first.
        exclude: EXCLUDE_CURRENT, or EXCLUDE_GROUP and EXCLUDE_TIES of ROWS; 0: nothing.
    """

    groups: bool
    most: int
    before: int
    exclude: int


#: Which rows around the current one frames leave out: itself, all of its time, or the others of it.
EXCLUDE_CURRENT, EXCLUDE_GROUP, EXCLUDE_TIES = 1, 2, 3


class Places(NamedTuple):
    """The places of rows in their partitions.

    Attributes:
        rows: int64[., 2] by number: the time and the number of the row in its partition, or of its
            group.
        heads: int64[., 3] by partition: the number of the last row, or group, from 1 on; how many
            rows of the list are in the frame, which are the first; and the first that is not.
    """

    rows: np.ndarray
    heads: np.ndarray


#: Columns of ``Places.heads``.
_COUNT, _INSIDE, _NEXT = range(3)


@kernel
def turn_apart(
    ts: np.ndarray,
    partition: np.ndarray,
    number: np.ndarray,
    bounds: Apart,
    lists: Lists,
    places: Places,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Move the frames of partitions to the next rows of these. The lists have rows that are not in
    the frame yet; without a first bound none of others.

    Args:
        ts, partition, number: int64[n], of rows in their order.

    Returns:
        The changes in their order: int64[m] rows (NONE: none, for the value alone), their
        partitions, int8[m] signs, bool[m] behind which the value of a row is; and int64[.] the rows
        that lists have no more.
    """
    n, m, gone = partition.size, 0, 0
    row = np.empty(4 * n, np.int64)
    of, sign, emit = np.empty_like(row), np.empty(4 * n, np.int8), np.empty(4 * n, np.bool_)
    left = np.empty(n, np.int64)
    rows, heads = places.rows, places.heads
    for i in range(n):
        p, r = partition[i], number[i]
        same = lists.size[p] > 0 and rows[lists.last[p], 0] == ts[i]
        if not (bounds.groups and same and heads[p, _COUNT] > 0):
            heads[p, _COUNT] += 1
        append(r, p, lists)
        rows[r, 0], rows[r, 1] = ts[i], heads[p, _COUNT]
        if heads[p, _NEXT] == NONE:
            heads[p, _NEXT] = r
        room = m + 2 * lists.size[p] + 2
        if room > row.size:
            row = np.concatenate((row, np.empty(room, np.int64)))
            of = np.concatenate((of, np.empty(room, np.int64)))
            sign = np.concatenate((sign, np.empty(room, np.int8)))
            emit = np.concatenate((emit, np.empty(room, np.bool_)))
        if gone + lists.size[p] > left.size:
            left = np.concatenate((left, np.empty(left.size + lists.size[p], np.int64)))
        while bounds.most >= 0 and rows[lists.first[p], 1] < heads[p, _COUNT] - bounds.most:
            was_next = lists.first[p] == heads[p, _NEXT]
            oldest = take_oldest(p, lists)
            left[gone] = oldest
            gone += 1
            if was_next:
                heads[p, _NEXT] = lists.first[p]
            else:
                heads[p, _INSIDE] -= 1
                row[m], of[m], sign[m], emit[m] = oldest, p, -1, False
                m += 1
        while heads[p, _INSIDE] < lists.size[p] and _enters(heads[p, _NEXT], r, bounds, rows):
            entering = heads[p, _NEXT]
            row[m], of[m], sign[m], emit[m] = entering, p, 1, False
            m += 1
            heads[p, _INSIDE] += 1
            if heads[p, _INSIDE] == lists.size[p]:
                heads[p, _NEXT] = NONE
            else:
                heads[p, _NEXT] = lists.following[entering]
            if bounds.most < 0:
                left[gone] = take_oldest(p, lists)
                gone += 1
                heads[p, _INSIDE] -= 1
        if bounds.exclude == EXCLUDE_TIES and bounds.before == 0:
            row[m], of[m], sign[m], emit[m] = r, p, 1, True
            row[m + 1], of[m + 1], sign[m + 1], emit[m + 1] = r, p, -1, False
            m += 2
        else:
            row[m], of[m], sign[m], emit[m] = NONE, p, 1, True
            m += 1
    return row[:m], of[:m], sign[:m], emit[:m], left[:gone]


@bare
def _enters(r: int, current: int, bounds: Apart, rows: np.ndarray) -> bool:
    """Whether a row is in the frame of the current one, apart from its first bound."""
    if rows[r, 1] > rows[current, 1] - bounds.before:
        return False
    if bounds.exclude == 0:
        return True
    if bounds.exclude == EXCLUDE_CURRENT:
        return r != current
    return rows[r, 0] != rows[current, 0]


@kernel
def without(
    sign: np.ndarray, emit: np.ndarray, emission: np.ndarray, exclude: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Let rows around current ones leave while the values of these are computed.

    Args:
        sign, emit: of n changes, as in ``SignedRows``. emission: int64[k], for each current row the
            emission of its time. exclude: which rows.

    Returns:
        int64[m], which change, or n + which current row; int8[m] signs; bool[m]; and int64[k], the
        emissions of the current rows.
    """
    n, k = sign.size, emission.size
    first = np.zeros(emit.sum() + 1, np.int64)  # of the current rows of each emission
    for e in emission:
        first[e + 1] += 1
    for e in range(first.size - 1):
        first[e + 1] += first[e]
    current = np.empty(k, np.int64)
    place = first[:-1].copy()
    for i in range(k):
        current[place[emission[i]]] = i
        place[emission[i]] += 1
    size = n + 4 * k
    source = np.empty(size, np.int64)
    signs = np.empty(size, np.int8)
    emits = np.zeros(size, np.bool_)
    found = np.empty(k, np.int64)
    m, e, count = 0, 0, 0
    for j in range(n):
        source[m], signs[m] = j, sign[j]
        m += 1
        if not emit[j]:
            continue
        start, end = first[e], first[e + 1]
        e += 1
        if exclude != EXCLUDE_CURRENT:
            for c in range(start, end):
                source[m], signs[m] = n + current[c], -1
                m += 1
        for c in range(start, end):
            found[current[c]] = count
            if exclude == EXCLUDE_GROUP:
                continue
            source[m], signs[m] = n + current[c], 1 if exclude == EXCLUDE_TIES else -1
            emits[m] = True
            source[m + 1], signs[m + 1] = n + current[c], -1 if exclude == EXCLUDE_TIES else 1
            m += 2
            count += 1
        if exclude == EXCLUDE_GROUP and end > start:
            emits[m - 1] = True
            count += 1
        if exclude != EXCLUDE_CURRENT:
            for c in range(start, end):
                source[m], signs[m] = n + current[c], 1
                m += 1
    return source[:m], signs[:m], emits[:m], found
