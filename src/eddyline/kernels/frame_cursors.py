"""The cursor of a frame in a partition: consecutive rows, which an aggregate has."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eddyline.kernels.framed_rows import Bounds, Cursors, bound, is_before
from eddyline.kernels.heaps import NO_NODE
from eddyline.kernels.options import bare
from eddyline.kernels.ordered_rows import State
from eddyline.kernels.treaps import following, of_rank, preceding, rank_of


class Work(NamedTuple):
    """What is computed from, and room for what is found.

    Attributes:
        moves: MOVE[.]. found: FOUND[.]. left: int64[.], rows that left. at: int64[AT], see below.
    """

    bounds: Bounds
    state: State
    cursors: Cursors
    moves: np.ndarray
    found: np.ndarray
    left: np.ndarray
    at: np.ndarray


#: In ``at``: how many moves, found rows and rows that left there are, and between which places the
#: cursor is; THERE is before HERE if it has no rows.
MOVES, FOUND_ROWS, LEFT_ROWS, HERE, THERE = range(5)
AT = 5


@bare
def move(f: int, s: int, r: int, sign: int, work: Work) -> None:
    """Let a row enter an aggregate, or leave it."""
    m, moves = work.at[MOVES], work.moves
    moves[m].frame = f
    moves[m].slot = s
    moves[m].row = r
    moves[m].sign = sign
    moves[m].emit = False
    work.at[MOVES] = m + 1


@bare
def _move_row(f: int, s: int, r: int, sign: int, work: Work) -> None:
    """Let a row enter a cursor, or leave it."""
    work.cursors.inside[r, f] = sign > 0
    move(f, s, r, sign, work)


@bare
def _set_ends(f: int, s: int, first: int, last: int, work: Work) -> None:
    work.cursors.ends[s, f, 0] = first
    work.cursors.ends[s, f, 1] = last


@bare
def cut(f: int, s: int, r: int, work: Work) -> None:
    """Take a row, which leaves, out of a cursor that has it."""
    first, last = work.cursors.ends[s, f, 0], work.cursors.ends[s, f, 1]
    if first == r and last == r:
        _set_ends(f, s, NO_NODE, NO_NODE, work)
    elif first == r:
        _set_ends(f, s, following(r, work.state.links), last, work)
    elif last == r:
        _set_ends(f, s, first, preceding(r, work.state.links), work)
    _move_row(f, s, r, -1, work)


@bare
def find_cursor(f: int, s: int, work: Work) -> None:
    """Between which places a cursor is."""
    at, state = work.at, work.state
    first, last = work.cursors.ends[s, f, 0], work.cursors.ends[s, f, 1]
    at[HERE], at[THERE] = 0, -1
    if first != NO_NODE:
        at[HERE] = rank_of(first, state.occurrences, state.links)
        at[THERE] = rank_of(last, state.occurrences, state.links)


@bare
def move_cursor(f: int, s: int, start: int, end: int, work: Work) -> None:
    """Let the cursor of a partition have the rows between two places, or none."""
    at, state = work.at, work.state
    first, last = work.cursors.ends[s, f, 0], work.cursors.ends[s, f, 1]
    links = state.links
    empty = at[HERE] > at[THERE]
    if empty or start > end or start > at[THERE] or end < at[HERE]:
        while at[HERE] <= at[THERE]:
            _move_row(f, s, first, -1, work)
            first = following(first, links)
            at[HERE] += 1
        if start > end:
            _set_ends(f, s, NO_NODE, NO_NODE, work)
            return
        first = of_rank(state.root[s], start, state.occurrences, links)
        last = first
        at[HERE], at[THERE] = start, start
        _move_row(f, s, first, 1, work)
    while at[THERE] < end:
        last = following(last, links)
        at[THERE] += 1
        _move_row(f, s, last, 1, work)
    while at[HERE] > start:
        first = preceding(first, links)
        at[HERE] -= 1
        _move_row(f, s, first, 1, work)
    while at[HERE] < start:
        _move_row(f, s, first, -1, work)
        first = following(first, links)
        at[HERE] += 1
    while at[THERE] > end:
        _move_row(f, s, last, -1, work)
        last = preceding(last, links)
        at[THERE] -= 1
    _set_ends(f, s, first, last, work)


@bare
def slide(f: int, s: int, r: int, work: Work) -> bool:
    """Let a cursor that has the frame of the row before, by values, have that of a row; False: no
    row is left in it.
    """
    at, bounds, values = work.at, work.bounds, work.cursors.values
    rows, arguments, links = work.state.rows, work.state.arguments, work.state.links
    first, last = work.cursors.ends[s, f, 0], work.cursors.ends[s, f, 1]
    if bounds.begins[f]:
        low = bound(r, bounds.low[f], rows, arguments)
        while at[HERE] <= at[THERE] and is_before(rows[first].peer, low, values):
            _move_row(f, s, first, -1, work)
            first = following(first, links)
            at[HERE] += 1
    if at[HERE] > at[THERE]:
        _set_ends(f, s, NO_NODE, NO_NODE, work)
        return False
    if bounds.ends[f]:
        high = bound(r, bounds.high[f], rows, arguments)
        behind = following(last, links)
        while behind != NO_NODE and not is_before(high, rows[behind].peer, values):
            last = behind
            _move_row(f, s, last, 1, work)
            at[THERE] += 1
            behind = following(last, links)
    _set_ends(f, s, first, last, work)
    return True
