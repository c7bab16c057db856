"""Running values of groups over row lists, by which ``quiet_windows.py`` tells what may be shown.

Of conditions ``slope * sum + weight * count + offset > 0``, the running value of a group adds up
``slope * x + weight`` over all rows of its list. The lowest values before entries are kept by group
for *pieces* of a list, each of as many entries as there are groups or more; windows share them.

Running values are doubles; a value that is no number makes its group loud until they are computed
anew.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eddyline.kernels.moments import HUGE
from eddyline.kernels.options import bare_inlined, kernel
from eddyline.kernels.row_lists import (
    BLOCK,
    CAPACITY,
    FILL,
    LAST,
    LIST,
    NONE,
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
NUMBER_BITS = 32
NUMBER = (1 << NUMBER_BITS) - 1


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
    windows, _, _, lists, _, next_block, grown, spans, _ = walk
    for w in longest:
        number = windows[w, LIST]
        block, at, coming = grown[number, 0], grown[number, 1], grown[number, 2]
        rest = 0
        if running.lists[number, STALE]:
            running.lists[number, STALE] = 0
            block, at, last = spans[w, 0], spans[w, 1], lists[number]
            rest = distance(block, at, last[LAST], last[FILL], next_block) - coming
        _add_entries(number, block, at, rest, coming, slope, valid, value, running, walk)


@bare_inlined
def _add_entries(
    number: int,
    block: int,
    at: int,
    rest: int,
    coming: int,
    slope: float,
    valid: np.ndarray,
    value: np.ndarray,
    running: Running,
    walk: Walk,
) -> None:
    """Add entries of a list from a place on: those before the call, ``rest``, and the new ones."""
    _, _, _, lists, entries, next_block, _, _, _ = walk
    numbers, weights, largest, spots, newest, before, older, _, lowest, _ = running
    region, capacity, size = lists[number, REGION], lists[number, CAPACITY], numbers[number, SIZE]
    weight, most, index = weights[number], largest[number], numbers[number, COUNT]
    new = index + rest
    piece = _piece_of(number, index, capacity, numbers)
    left = -index % size  # entries that the piece has room for
    for i in range(rest + coming):
        block, at = next_entry(block, at, next_block)
        e = np.uint64(block * BLOCK + at)
        at += 1
        row, spot = np.uint64(entries[e, 0]), np.uint64(entries[e, 1])
        s = np.uint64(region) + spot
        if left == 0:
            left = size
            piece = _piece_of(number, index, capacity, numbers)
            for other in range(capacity):
                lowest[piece + other] = spots[region + other, VALUE]
        left -= 1
        now, link = spots[s, VALUE], newest[s]
        before[e], older[e] = now, link
        newest[s] = np.int64(e) << NUMBER_BITS | index
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
            is_first = link < 0 or link & NUMBER < new
            spots[s, RISEN] = now if is_first else max(spots[s, RISEN], now)
    numbers[number, COUNT], largest[number] = index, most


@bare_inlined
def _piece_of(number: int, index: int, capacity: int, numbers: np.ndarray) -> int:
    """Where the piece of an entry of a list begins in ``lowest``."""
    piece = index // numbers[number, SIZE] % numbers[number, PIECES]
    return numbers[number, AT] + piece * capacity
