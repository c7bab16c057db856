"""Frames without the rows around the current one, or just before it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eddyline.kernels.frames import NONE, Lists, append, take_oldest
from eddyline.kernels.options import bare, bare_inlined, kernel


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


class _Changes(NamedTuple):
    """Changes of frames, as ``turn_apart`` returns them."""

    row: np.ndarray
    of: np.ndarray
    sign: np.ndarray
    emit: np.ndarray


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
    changes = _no_changes(4 * n)
    left = np.empty(n, np.int64)
    for i in range(n):
        p, r = partition[i], number[i]
        _append_placed(ts[i], r, p, bounds.groups, lists, places)
        size = lists.size[p]
        if m + 2 * size + 2 > changes.row.size:
            changes = _longer(changes, m + 2 * size + 2)
        if gone + size > left.size:
            left = np.concatenate((left, np.empty(left.size + size, np.int64)))
        if bounds.most >= 0:
            m, gone = _drop_oldest(p, bounds.most, lists, places, changes, m, left, gone)
        m, gone = _let_enter(p, r, bounds, lists, places, changes, m, left, gone)
        if bounds.exclude == EXCLUDE_TIES and bounds.before == 0:
            m = _note(changes, m, r, p, 1, True)
            m = _note(changes, m, r, p, -1, False)
        else:
            m = _note(changes, m, NONE, p, 1, True)
    return changes.row[:m], changes.of[:m], changes.sign[:m], changes.emit[:m], left[:gone]


@kernel
def _no_changes(room: int) -> _Changes:
    row, of = np.empty(room, np.int64), np.empty(room, np.int64)
    return _Changes(row, of, np.empty(room, np.int8), np.empty(room, np.bool_))


@kernel
def _longer(changes: _Changes, more: int) -> _Changes:
    """The changes, with room for more behind them."""
    return _Changes(
        np.concatenate((changes.row, np.empty(more, np.int64))),
        np.concatenate((changes.of, np.empty(more, np.int64))),
        np.concatenate((changes.sign, np.empty(more, np.int8))),
        np.concatenate((changes.emit, np.empty(more, np.bool_))),
    )


@bare_inlined
def _note(changes: _Changes, m: int, row: int, p: int, sign: int, emit: bool) -> int:
    """Note a change as number m; returns the new number of changes."""
    changes.row[m], changes.of[m] = row, p
    changes.sign[m], changes.emit[m] = sign, emit
    return m + 1


@bare
def _append_placed(ts: int, r: int, p: int, groups: bool, lists: Lists, places: Places) -> None:
    """Append a row to the list of its partition, and note its place."""
    rows, heads = places
    same = lists.size[p] > 0 and rows[lists.last[p], 0] == ts
    if not (groups and same and heads[p, _COUNT] > 0):
        heads[p, _COUNT] += 1
    append(r, p, lists)
    rows[r, 0], rows[r, 1] = ts, heads[p, _COUNT]
    if heads[p, _NEXT] == NONE:
        heads[p, _NEXT] = r


@bare
def _drop_oldest(
    p: int,
    most: int,
    lists: Lists,
    places: Places,
    changes: _Changes,
    m: int,
    left: np.ndarray,
    gone: int,
) -> tuple[int, int]:
    """Drop the rows of a list that are before the first bound of the frame; returns the new numbers
    of changes and of rows that lists have no more.
    """
    rows, heads = places
    while rows[lists.first[p], 1] < heads[p, _COUNT] - most:
        was_next = lists.first[p] == heads[p, _NEXT]
        oldest = take_oldest(p, lists)
        left[gone] = oldest
        gone += 1
        if was_next:
            heads[p, _NEXT] = lists.first[p]
        else:
            heads[p, _INSIDE] -= 1
            m = _note(changes, m, oldest, p, -1, False)
    return m, gone


@bare
def _let_enter(
    p: int,
    current: int,
    bounds: Apart,
    lists: Lists,
    places: Places,
    changes: _Changes,
    m: int,
    left: np.ndarray,
    gone: int,
) -> tuple[int, int]:
    """Let the rows of a list enter that the frame of the current row has; returns as
    ``_drop_oldest``. Without a first bound the list does not keep them.
    """
    rows, heads = places
    while heads[p, _INSIDE] < lists.size[p] and _enters(heads[p, _NEXT], current, bounds, rows):
        entering = heads[p, _NEXT]
        m = _note(changes, m, entering, p, 1, False)
        heads[p, _INSIDE] += 1
        if heads[p, _INSIDE] == lists.size[p]:
            heads[p, _NEXT] = NONE
        else:
            heads[p, _NEXT] = lists.following[entering]
        if bounds.most < 0:
            left[gone] = take_oldest(p, lists)
            gone += 1
            heads[p, _INSIDE] -= 1
    return m, gone


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
