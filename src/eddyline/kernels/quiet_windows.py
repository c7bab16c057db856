"""Which groups of windows over row lists may be shown: for all windows of a list at once.

A condition of HAVING is ``slope * sum + weight * count + offset > 0`` (or ``>= 0``). For a window
whose oldest row of the group is r, it is the running value (``running_values.py``) now, minus that
before r, plus the offset. So in a call it is at most the highest running value of the call, minus
the lowest one at the rows that the window passes. A group below 0 at this bound is *quiet*: nothing
of it is computed. The state of another one is made of the rows that its window holds, found from
the newest one backwards, and is then kept up to date while that has not paid.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eddyline.kernels.copies import grown_rows
from eddyline.kernels.options import bare, bare_inlined, kernel
from eddyline.kernels.row_lists import (
    BLOCK,
    CAPACITY,
    END,
    NONE,
    PLACE,
    REGION,
)
from eddyline.kernels.running_values import (
    AT,
    COUNT,
    HIGHEST,
    NUMBER,
    NUMBER_BITS,
    PIECES,
    RISEN,
    SIZE,
    VALUE,
    Running,
)
from eddyline.kernels.shared_groups import Walk, next_entry

#: Rounding of n additions of terms, at most: this times the square of n times the largest term; of
#: aggregates: times n; of offsets.
SQUARE_ERROR, ERROR, OFFSET_ERROR = 1.2e-16, 1e-13, 1e-11
#: Of how many rows of a group it is looked which of them are the oldest of a window in a call.
_FEW = 32


@kernel
def watch(offsets: np.ndarray, running: Running, walk: Walk) -> tuple[np.ndarray, np.ndarray]:
    """Mark the cells that are not quiet.

    Args:
        offsets: float64 by window.

    Returns:
        bool by window, whether one of its cells is not quiet; and of those whose state is not up to
        date int64[k, 4]: the cell, region + spot, the numbers of the oldest entry of the window
        and of the first new one.
    """
    windows, of_list, list_starts, lists, _, _, grown, spans, _ = walk
    any_loud = np.zeros(windows.shape[0], np.bool_)
    missing, m = np.empty((64, 4), np.int64), 0
    lows = np.empty(64)
    for number in range(lists.shape[0]):
        end = lists[number, END]
        for i in range(list_starts[number], list_starts[number + 1]):
            w = of_list[i]
            steps = grown[number, 2] + spans[w, 2]
            if steps == 0:
                continue
            is_dense = 2 * steps >= end
            most = m + (end if is_dense else steps)
            if most > len(missing):
                missing = grown_rows(missing, m, 2 * most)
            if is_dense and end > lows.size:
                lows = np.empty(2 * end)
            m, any_loud[w] = _watch_window(
                number, w, is_dense, offsets[w], running, walk, lows, missing, m
            )
        _begin_anew(number, running, walk)
    return any_loud, missing[:m].copy()


class _Window(NamedTuple):
    """What the cells of a window have in common.

    Attributes:
        cells: the first one. region: of its list. pieces: where the list's begin in ``lowest``.
        first_piece, last_piece: with the rows that the window passes.
        head, behind: the numbers of its oldest entry before and after the call. new: of the first
            new one.
        offset, margin: a cell is quiet if the bound with the offset is below -margin.
    """

    cells: int
    region: int
    pieces: int
    first_piece: int
    last_piece: int
    head: int
    behind: int
    new: int
    offset: float
    margin: float


@bare_inlined
def _window_of(number: int, w: int, offset: float, running: Running, walk: Walk) -> _Window:
    of = running.lists[number]
    count, size = of[COUNT], of[SIZE]
    rounding = max(ERROR, SQUARE_ERROR * float(count)) * float(count) * running.largest[number]
    region = walk.lists[number, REGION]
    head, behind = running.heads[w], running.heads[w] + walk.spans[w, 2]
    return _Window(
        region + walk.windows[w, PLACE] * walk.lists[number, CAPACITY],
        region,
        of[AT],
        head // size,
        max(head, behind - 1) // size,
        head,
        behind,
        count - walk.grown[number, 2],
        offset,
        rounding + OFFSET_ERROR * abs(offset),
    )


@bare_inlined
def _watch_window(
    number: int,
    w: int,
    is_dense: bool,
    offset: float,
    running: Running,
    walk: Walk,
    lows: np.ndarray,
    missing: np.ndarray,
    m: int,
) -> tuple[int, bool]:
    """Mark the cells of a window that are not quiet: of all spots, or if few rows enter and leave,
    of those of these rows. Returns the new length of ``missing``, and whether there are such cells.

    Args:
        lows: room for a value of each spot.
    """
    window = _window_of(number, w, offset, running, walk)
    capacity, count = walk.lists[number, CAPACITY], running.lists[number, PIECES]
    any_loud = False
    if is_dense:
        end = walk.lists[number, END]
        for spot in range(end):
            lows[spot] = np.inf
        for piece in range(window.first_piece, window.last_piece + 1):
            row = window.pieces + piece % count * capacity
            for spot in range(end):
                lows[spot] = min(lows[spot], running.lowest[row + spot])
        for spot in range(end):
            m, is_loud = _judge(spot, lows[spot], window, running, walk.loud, missing, m)
            any_loud |= is_loud
        return m, any_loud
    for part in range(2):
        span = walk.spans[w] if part else walk.grown[number]
        block, at = span[0], span[1]
        for _ in range(span[2]):
            block, at = next_entry(block, at, walk.next_block)
            spot, low = int(walk.entries[block * BLOCK + at, 1]), np.inf
            at += 1
            for piece in range(window.first_piece, window.last_piece + 1):
                row = window.pieces + piece % count * capacity
                low = min(low, running.lowest[row + spot])
            m, is_loud = _judge(spot, low, window, running, walk.loud, missing, m)
            any_loud |= is_loud
    return m, any_loud


@bare_inlined
def _judge(
    spot: int,
    low: float,
    window: _Window,
    running: Running,
    loud: np.ndarray,
    missing: np.ndarray,
    m: int,
) -> tuple[int, bool]:
    """Mark a cell if it is not quiet; returns the new length of ``missing``, and whether it is
    marked now. ``low``: the lowest running value at the rows that the window passes.
    """
    cell, s = window.cells + spot, window.region + spot
    most = running.spots[s, HIGHEST] + window.offset
    if most - low < -window.margin and running.kept[cell] <= 0:
        running.kept[cell] = NONE
        return m, False
    if loud[cell]:
        return m, False
    if running.kept[cell] == NONE:
        if _holds_few_and_is_quiet(s, most, window, running):
            return m, False
        missing[m, 0], missing[m, 1] = cell, s
        missing[m, 2], missing[m, 3] = window.head, window.new
        m += 1
    loud[cell] = 1
    return m, True


@bare
def _holds_few_and_is_quiet(s: int, most: float, window: _Window, running: Running) -> bool:
    """Whether a cell is quiet by the few rows that the window holds of its group, where pieces say
    little.
    """
    link, looked = running.newest[s], 0
    while link >= 0 and link & NUMBER >= window.head:
        if looked == _FEW:
            return False
        e, n = link >> NUMBER_BITS, link & NUMBER
        link = running.older[e]
        looked += 1
        if min(n, link & NUMBER if link >= 0 else NONE) < window.behind:
            # it is the oldest one at some instant
            top = most if n < window.new else running.spots[s, RISEN] + window.offset
            if not top - running.before[e] < -window.margin:
                return False
    return True


@bare_inlined
def _begin_anew(number: int, running: Running, walk: Walk) -> None:
    """The highest values of a call are those at its end, for the new rows of a list."""
    block, at, coming = walk.grown[number, 0], walk.grown[number, 1], walk.grown[number, 2]
    region = walk.lists[number, REGION]
    for _ in range(coming):
        block, at = next_entry(block, at, walk.next_block)
        s = region + walk.entries[block * BLOCK + at, 1]
        at += 1
        running.spots[s, HIGHEST] = running.spots[s, VALUE]


@kernel
def rows_of(
    missing: np.ndarray, running: Running, entries: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The rows that cells have before a call, oldest first.

    Args:
        missing: as of ``watch``. entries: as of ``row_lists.py``.

    Returns:
        int64[k + 1], where the rows of each cell begin, and int64, their numbers.
    """
    newest, older = running.newest, running.older
    starts = np.zeros(len(missing) + 1, np.int64)
    for i in range(len(missing)):
        link = newest[missing[i, 1]]
        count = 0
        while link >= 0 and link & NUMBER >= missing[i, 2]:
            count += link & NUMBER < missing[i, 3]
            link = older[link >> NUMBER_BITS]
        starts[i + 1] = starts[i] + count
    rows = np.empty(starts[-1], np.int64)
    for i in range(len(missing)):
        link = newest[missing[i, 1]]
        at = starts[i + 1]
        while link >= 0 and link & NUMBER >= missing[i, 2]:
            if link & NUMBER < missing[i, 3]:
                at -= 1
                rows[at] = entries[link >> NUMBER_BITS, 0]
            link = older[link >> NUMBER_BITS]
    return starts, rows
