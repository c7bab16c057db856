"""Which groups of windows over row lists may be shown: for all windows of a list at once.

A condition of HAVING is ``slope * sum + weight * count + offset > 0`` (or ``>= 0``). The *running
value* of a group adds up ``slope * x + weight`` over all rows of its list. For a window whose
oldest row of the group is r, the condition is the running value now, minus that before r, plus the
offset. So in a call it is at most the highest running value of the call, minus the lowest one at
the rows that the window passes. The lowest are kept by group for *pieces* of a list, each of as
many entries as there are groups or more; windows share them. A group below 0 at this bound is
*quiet*: nothing of it is computed. The state of another one is made of the rows that its window
holds, found from the newest one backwards, and is then kept up to date while that has not paid.

Running values are doubles; a value that is no number makes its group loud until they are computed
anew.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eddyline.kernels.moments import HUGE
from eddyline.kernels.options import kernel
from eddyline.kernels.row_lists import (
    BLOCK,
    CAPACITY,
    END,
    FILL,
    LAST,
    LIST,
    NONE,
    PLACE,
    REGION,
    distance,
)
from eddyline.kernels.shared_groups import Walk, next_entry

#: Columns of a list: number of entries so far, the size of a piece, how many pieces there is room
#: for, where they begin in ``lowest``, and whether all is to be computed anew.
COUNT, SIZE, PIECES, AT, STALE = range(5)
LIST_COLUMNS = 5
#: Columns of a spot: running value, the highest of the call, the highest after rows of the call.
VALUE, HIGHEST, RISEN = range(3)
SPOT_COLUMNS = 3
#: A link to an entry: its number in the list in the lower bits, where it is in the others; to none
#: if negative.
_NUMBER_BITS = 32
_NUMBER = (1 << _NUMBER_BITS) - 1
#: Rounding of n additions of terms, at most: this times the square of n times the largest term; of
#: aggregates: times n; of offsets.
SQUARE_ERROR, ERROR, OFFSET_ERROR = 1.2e-16, 1e-13, 1e-11
#: Of how many rows of a group it is looked which of them are the oldest of a window in a call.
_FEW = 32


class Running(NamedTuple):
    """Running values.

    Attributes:
        lists: int64[lists, LIST_COLUMNS]. weights, largest: float64 by list, the weight, and the
            largest magnitude of a term.
        spots: float64[., SPOT_COLUMNS] and newest, a link to the newest entry: by region + spot.
        before: the running value before an entry. older: a link to the one before in its group.
        heads: int64 by window, the number of its oldest entry. lowest: float64, by piece and spot.
        kept: int64 by cell, for how many rows at least its state is kept up to date; NONE: it is
            not up to date.
    """

    lists: np.ndarray
    weights: np.ndarray
    largest: np.ndarray
    spots: np.ndarray
    newest: np.ndarray
    before: np.ndarray
    older: np.ndarray
    heads: np.ndarray
    lowest: np.ndarray
    kept: np.ndarray


@kernel
def renew(running: Running, walk: Walk, longest: np.ndarray) -> None:
    """Let running values begin anew in lists that are stale, before their oldest entries.

    Args:
        longest: int64[k], the longest window of each list.
    """
    windows, of_list, list_starts, lists, _, next_block, _, spans, _ = walk
    for w in longest:
        number = windows[w, LIST]
        if not running.lists[number, STALE]:
            continue
        region = lists[number, REGION]
        for spot in range(region, region + lists[number, CAPACITY]):
            for column in range(SPOT_COLUMNS):
                running.spots[spot, column] = 0.0
            running.newest[spot] = NONE
        running.lists[number, COUNT] = 0
        running.largest[number] = abs(running.weights[number])
        for i in range(list_starts[number], list_starts[number + 1]):
            other = of_list[i]
            first, last = spans[w], spans[other]
            running.heads[other] = distance(first[0], first[1], last[0], last[1], next_block)


@kernel
def add(
    slope: float,
    valid: np.ndarray,
    value: np.ndarray,
    running: Running,
    walk: Walk,
    longest: np.ndarray,
) -> None:
    """Add entries to running values: new ones or, of lists that are stale, all of them.

    Args:
        valid, value: by row number, what is aggregated. longest: as of ``renew``.
    """
    windows, _, _, lists, entries, next_block, grown, spans, _ = walk
    numbers, weights, largest, spots, newest, before, older, _, lowest, _ = running
    for w in longest:
        number = windows[w, LIST]
        region, capacity = lists[number, REGION], lists[number, CAPACITY]
        size, pieces, start = numbers[number, SIZE], numbers[number, PIECES], numbers[number, AT]
        weight, most, index = weights[number], largest[number], numbers[number, COUNT]
        coming, rest = grown[number, 2], 0
        block, at = grown[number, 0], grown[number, 1]
        if numbers[number, STALE]:
            numbers[number, STALE] = 0
            block, at, last = spans[w, 0], spans[w, 1], lists[number]
            rest = distance(block, at, last[LAST], last[FILL], next_block) - coming
        new = index + rest
        piece = start + index // size % pieces * capacity
        left = -index % size  # entries that the piece has room for
        for i in range(rest + coming):
            block, at = next_entry(block, at, next_block)
            e = np.uint64(block * BLOCK + at)
            at += 1
            row, spot = np.uint64(entries[e, 0]), np.uint64(entries[e, 1])
            s = np.uint64(region) + spot
            if left == 0:
                left = size
                piece = start + index // size % pieces * capacity
                for other in range(capacity):
                    lowest[piece + other] = spots[region + other, VALUE]
            left -= 1
            now = spots[s, VALUE]
            before[e] = now
            link = newest[s]
            older[e] = link
            newest[s] = np.int64(e) << _NUMBER_BITS | index
            index += 1
            if valid[row]:
                x = slope * value[row] if slope != 0.0 else 0.0
                if not abs(x) < HUGE:
                    now = np.inf
                elif now < np.inf:
                    most = max(most, abs(x) + abs(weight))
                    now += x + weight
                spots[s, VALUE] = now
                low = np.uint64(piece) + spot
                lowest[low] = min(lowest[low], now)
            if i < rest:
                spots[s, HIGHEST] = now
            else:
                spots[s, HIGHEST] = max(spots[s, HIGHEST], now)
                is_first = link < 0 or link & _NUMBER < new
                spots[s, RISEN] = now if is_first else max(spots[s, RISEN], now)
        numbers[number, COUNT], largest[number] = index, most


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
    windows, of_list, list_starts, lists, entries, next_block, grown, spans, loud = walk
    numbers, _, largest, spots, newest, before, older, heads, lowest, kept = running
    any_loud = np.zeros(windows.shape[0], np.bool_)
    missing, m = np.empty((64, 4), np.int64), 0
    lows = np.empty(64)
    for number in range(lists.shape[0]):
        coming, end = grown[number, 2], lists[number, END]
        region, capacity = lists[number, REGION], lists[number, CAPACITY]
        size, pieces, start = numbers[number, SIZE], numbers[number, PIECES], numbers[number, AT]
        new = numbers[number, COUNT] - coming
        count = float(numbers[number, COUNT])
        rounding = max(ERROR, SQUARE_ERROR * count) * count * largest[number]
        for i in range(list_starts[number], list_starts[number + 1]):
            w = of_list[i]
            passing, head, offset = spans[w, 2], heads[w], offsets[w]
            if coming == 0 and passing == 0:
                continue
            margin = rounding + OFFSET_ERROR * abs(offset)
            cells = region + windows[w, PLACE] * capacity
            first_piece, last_piece = head // size, max(head, head + passing - 1) // size
            is_dense = 2 * (coming + passing) >= end
            steps = end if is_dense else coming + passing
            if m + steps > len(missing):
                longer = np.empty((2 * (m + steps), 4), np.int64)
                longer[:m] = missing[:m]
                missing = longer
            if is_dense:
                if end > lows.size:
                    lows = np.empty(2 * end)
                lows[:end] = np.inf
                for piece in range(first_piece, last_piece + 1):
                    row = start + piece % pieces * capacity
                    for spot in range(end):
                        lows[spot] = min(lows[spot], lowest[row + spot])
            block, at = grown[number, 0], grown[number, 1]
            for k in range(steps):
                if is_dense:
                    spot, low = k, lows[k]
                else:
                    if k == coming:
                        block, at = spans[w, 0], spans[w, 1]
                    block, at = next_entry(block, at, next_block)
                    spot, low = int(entries[block * BLOCK + at, 1]), np.inf
                    at += 1
                    for piece in range(first_piece, last_piece + 1):
                        low = min(low, lowest[start + piece % pieces * capacity + spot])
                cell, s = cells + spot, region + spot
                most = spots[s, HIGHEST] + offset
                if most - low < -margin and kept[cell] <= 0:
                    kept[cell] = NONE
                    continue
                if loud[cell]:
                    continue
                if kept[cell] == NONE:
                    # pieces say little if the window holds few rows: these are looked at
                    link, looked, is_quiet = newest[s], 0, True
                    while link >= 0 and link & _NUMBER >= head and looked < _FEW and is_quiet:
                        e, n = link >> _NUMBER_BITS, link & _NUMBER
                        link = older[e]
                        looked += 1
                        if min(n, link & _NUMBER if link >= 0 else NONE) < head + passing:
                            # it is the oldest one at some instant
                            top = most if n < new else spots[s, RISEN] + offset
                            is_quiet = top - before[e] < -margin
                    if is_quiet and (link < 0 or link & _NUMBER < head):
                        continue
                    missing[m, 0], missing[m, 1], missing[m, 2], missing[m, 3] = cell, s, head, new
                    m += 1
                loud[cell] = 1
                any_loud[w] = True
        block, at = grown[number, 0], grown[number, 1]
        for _ in range(coming):
            block, at = next_entry(block, at, next_block)
            s = region + entries[block * BLOCK + at, 1]
            at += 1
            spots[s, HIGHEST] = spots[s, VALUE]
    return any_loud, missing[:m].copy()


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
        while link >= 0 and link & _NUMBER >= missing[i, 2]:
            count += link & _NUMBER < missing[i, 3]
            link = older[link >> _NUMBER_BITS]
        starts[i + 1] = starts[i] + count
    rows = np.empty(starts[-1], np.int64)
    for i in range(len(missing)):
        link = newest[missing[i, 1]]
        at = starts[i + 1]
        while link >= 0 and link & _NUMBER >= missing[i, 2]:
            if link & _NUMBER < missing[i, 3]:
                at -= 1
                rows[at] = entries[link >> _NUMBER_BITS, 0]
            link = older[link >> _NUMBER_BITS]
    return starts, rows
