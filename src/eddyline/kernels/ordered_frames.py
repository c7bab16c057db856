"""Frames of rows that come and go: which rows have another frame, and what aggregates are to do.

The rows of a partition are a treap in their order (``kernels/treaps.py``). A row that comes or goes
at a place changes the frames of rows that are consecutive, found by places (ROWS), by values
(RANGE) or by groups; all that happens at one instant is applied first.

The aggregates of a frame have the rows between two of a partition, its *cursor*, which moves along
the rows whose frame has changed, from wherever it was: rows enter and leave at its ends. So a row
costs O(log n), and O(1) for each row whose frame it changes, or that is in one of these frames:
never more than to compute one of them, whatever the partition has. Where rows come and go at one
end, the cursor is there already.
"""

from __future__ import annotations

import numpy as np

from eddyline.kernels.changed_frames import (
    changed_places,
    first_of_groups,
    last_of_groups,
    touch,
)
from eddyline.kernels.copies import with_room
from eddyline.kernels.frame_cursors import (
    AT,
    FOUND_ROWS,
    HERE,
    LEFT_ROWS,
    MOVES,
    THERE,
    Work,
    cut,
    find_cursor,
    move,
    move_cursor,
    slide,
)
from eddyline.kernels.framed_rows import (
    CURRENT,
    EXPIRED,
    FOUND,
    GROUP,
    MOVE,
    OWN,
    RANGE,
    ROWS,
    TAKEN_BACK,
    TIES,
    Bounds,
    Cursors,
    bound,
    first_from,
    last_to,
)
from eddyline.kernels.heaps import NO_NODE
from eddyline.kernels.options import bare, kernel
from eddyline.kernels.ordered_rows import IN, NOTHING, OUT, Events, State
from eddyline.kernels.ordered_values import enter
from eddyline.kernels.treaps import TOTAL, following, of_rank, preceding, rank_of, remove


@kernel
def run_frames(
    bounds: Bounds, events: Events, state: State, cursors: Cursors, begin: int, most: int
) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    """Process events in order; updates ``state`` and ``cursors``.

    Args:
        begin: the first event. most: about how many moves there may be.

    Returns:
        The event to go on with, MOVE[.], FOUND[.], and int64[.] the rows that left.
    """
    n, count = events.kind.size, bounds.unit.size
    moves = np.empty(4 * n + 64, MOVE)
    found = np.empty(2 * n + 64, FOUND)
    left = np.empty(n, np.int64)
    emissions = np.zeros(count, np.int64)
    at = np.zeros(AT, np.int64)
    e = begin
    while e < n and at[MOVES] < most:
        end = e + 1
        while end < n and _is_same_instant(events, e, end):
            end += 1
        moves = with_room(moves, at[MOVES], count * (end - e))
        found = with_room(found, at[FOUND_ROWS], end - e)
        touched = np.empty((end - e, 4), np.int64)
        touches = 0
        for i in range(e, end):
            work = Work(bounds, state, cursors, moves, found, left, at)
            touches = _apply(events, i, work, touched, touches)
        for f in range(count):
            places = changed_places(touched[:touches], f, bounds, state, cursors.values)
            for p in range(places.shape[0]):
                s, low, high = places[p, 0], places[p, 1], places[p, 2]
                total = state.links[state.root[s], TOTAL]
                moves = with_room(moves, at[MOVES], _most_moves(f, low, high, total, bounds))
                found = with_room(found, at[FOUND_ROWS], high - low + 1)
                room = Work(bounds, state, cursors, moves, found, left, at)
                emissions[f] = _along(f, places[p], end - 1, emissions[f], room)
        e = end
    counts = at[MOVES], at[FOUND_ROWS], at[LEFT_ROWS]
    return e, moves[: counts[0]].copy(), found[: counts[1]].copy(), left[: counts[2]].copy()


@bare
def _is_same_instant(events: Events, e: int, other: int) -> bool:
    """Whether two events are at one instant."""
    instants = events.instants
    return instants[0, e] == instants[0, other] and instants[1, e] == instants[1, other]


@bare
def _most_moves(f: int, low: int, high: int, total: int, bounds: Bounds) -> int:
    """Maximum number of moves for the rows between two places."""
    beside = 5
    if bounds.unit[f] == ROWS and bounds.exclude[f] in (GROUP, TIES):
        beside += 2 * total
    return 3 * total + beside * (high - low + 1)


@bare
def _apply(events: Events, e: int, work: Work, touched: np.ndarray, touches: int) -> int:
    """Let a row come or go, and note where; how many notes there are then."""
    r, state, inside = events.row[e], work.state, work.cursors.inside
    if events.kind[e] == IN:
        s = events.slot[e]
        enter(events, e, state)
        before, behind = preceding(r, state.links), following(r, state.links)
        for f in range(inside.shape[1]):
            between = before != NO_NODE and behind != NO_NODE
            inside[r, f] = between and inside[before, f] and inside[behind, f]
            if inside[r, f]:
                move(f, s, r, 1, work)
        return touch(touched, touches, s, r, state.rows[r].peer, True)
    s = state.rows[r].slot
    if s == NOTHING or (events.kind[e] != OUT and state.rows[r].exp != events.instants[0, e]):
        return touches
    behind = following(r, state.links)
    for f in range(inside.shape[1]):
        if inside[r, f]:
            cut(f, s, r, work)
    touches = touch(touched, touches, s, behind, state.rows[r].peer, False)
    remove(s, r, state.occurrences, state.links, state.root)
    state.rows[r].slot = NOTHING
    _note(TAKEN_BACK if events.kind[e] == OUT else EXPIRED, r, e, 0, work)
    work.left[work.at[LEFT_ROWS]] = r
    work.at[LEFT_ROWS] += 1
    return touches


@bare
def _note(frame: int, r: int, event: int, emission: int, work: Work) -> None:
    """Note which emission has the value of a row, or that it has left."""
    here, found = work.at[FOUND_ROWS], work.found
    found[here].frame = frame
    found[here].row = r
    found[here].event = event
    found[here].emission = emission
    work.at[FOUND_ROWS] = here + 1


@bare
def _along(f: int, places: np.ndarray, event: int, emission: int, work: Work) -> int:
    """Emit the values of rows of a partition; the number of the next emission.

    Args:
        places: int64[3], the partition, and the first and the last place.
    """
    s, low, high = places[0], places[1], places[2]
    at, state, bounds = work.at, work.state, work.bounds
    r = of_rank(state.root[s], low, state.occurrences, state.links)
    by_value, exclude = bounds.unit[f] != ROWS, bounds.exclude[f]
    tied, begun, own = NO_NODE, 0, 0
    find_cursor(f, s, work)
    for place in range(low, high + 1):
        again = by_value and tied == state.rows[r].peer
        if not again:
            begun = at[MOVES]
            slides = tied != NO_NODE and bounds.unit[f] == RANGE and at[HERE] <= at[THERE]
            if not slides or not slide(f, s, r, work):
                start, end = _frame(f, r, place, work)
                move_cursor(f, s, start, end, work)
            tied = state.rows[r].peer
        inside = at[HERE] <= place <= at[THERE]
        if exclude == CURRENT and inside:
            own, emission = emission, emission + 1
            move(f, s, r, -1, work)
            work.moves[at[MOVES] - 1].emit = True
            move(f, s, r, 1, work)
        elif exclude in (GROUP, TIES) and by_value and inside:
            if again:
                own += exclude == TIES
            else:
                own = emission
                emission += _without_group(f, s, r, exclude == TIES, work)
        elif exclude in (GROUP, TIES) and not by_value:
            own, emission = emission, emission + 1
            stays = r if exclude == TIES else NO_NODE
            _move_ties(f, s, r, place, stays, -1, work)
            _emit(f, s, begun, work)
            _move_ties(f, s, r, place, stays, 1, work)
        elif not again:
            own, emission = emission, emission + 1
            _emit(f, s, begun, work)
        _note(f, r, event, own, work)
        r = following(r, state.links)
    return emission


@bare
def _emit(f: int, s: int, begun: int, work: Work) -> None:
    """Emit a value behind the last move since ``begun``, or behind none."""
    at, moves = work.at, work.moves
    if at[MOVES] == begun or moves[at[MOVES] - 1].emit:
        move(f, s, NO_NODE, 1, work)
    moves[at[MOVES] - 1].emit = True


@bare
def _without_group(f: int, s: int, first: int, own: bool, work: Work) -> int:
    """Emit a value without the rows that tie, from the first of these on, or one for each of them,
    ``own``, with itself; how many.
    """
    rows, links = work.state.rows, work.state.links
    peer = rows[first].peer
    v, emitted = first, 1
    while v != NO_NODE and rows[v].peer == peer:
        move(f, s, v, -1, work)
        v = following(v, links)
    if own:
        v, emitted = first, 0
        while v != NO_NODE and rows[v].peer == peer:
            move(f, s, v, 1, work)
            work.moves[work.at[MOVES] - 1].emit = True
            move(f, s, v, -1, work)
            emitted += 1
            v = following(v, links)
    else:
        work.moves[work.at[MOVES] - 1].emit = True
    v = first
    while v != NO_NODE and rows[v].peer == peer:
        move(f, s, v, 1, work)
        v = following(v, links)
    return emitted


@bare
def _move_ties(f: int, s: int, r: int, place: int, stays: int, sign: int, work: Work) -> None:
    """Let the rows of a cursor that tie with one enter or leave the aggregate, but one."""
    rows, links, start, end = work.state.rows, work.state.links, work.at[HERE], work.at[THERE]
    peer = rows[r].peer
    v, p = r, place
    while v != NO_NODE and p >= start and rows[v].peer == peer:
        if p <= end and v != stays:
            move(f, s, v, sign, work)
        v = preceding(v, links)
        p -= 1
    v, p = following(r, links), place + 1
    while v != NO_NODE and p <= end and rows[v].peer == peer:
        if p >= start:
            move(f, s, v, sign, work)
        v = following(v, links)
        p += 1


@bare
def _frame(f: int, r: int, place: int, work: Work) -> tuple[int, int]:
    """The first and the last place in the frame of a row; the first is behind the last if it is
    empty.
    """
    bounds, state, values = work.bounds, work.state, work.cursors.values
    rows, arguments, links = state.rows, state.arguments, state.links
    root = state.root[rows[r].slot]
    total = links[root, TOTAL]
    start, end = 0, total - 1
    if bounds.unit[f] == ROWS:
        if bounds.begins[f]:
            start = max(place + bounds.start[f], 0)
        if bounds.ends[f]:
            end = min(place + bounds.end[f], total - 1)
        return start, end
    low, high = NO_NODE, NO_NODE
    if bounds.unit[f] == RANGE:
        if bounds.begins[f]:
            least = bound(r, bounds.low[f], rows, arguments)
            low = first_from(root, least, OWN, rows, arguments, links, values)
        if bounds.ends[f]:
            most = bound(r, bounds.high[f], rows, arguments)
            high = last_to(root, most, OWN, rows, arguments, links, values)
    else:
        if bounds.begins[f]:
            low = first_of_groups(r, bounds.start[f], state, values)
        if bounds.ends[f]:
            high = last_of_groups(r, bounds.end[f], state, values)
    if bounds.begins[f]:
        start = total if low == NO_NODE else rank_of(low, state.occurrences, links)
    if bounds.ends[f]:
        end = -1 if high == NO_NODE else rank_of(high, state.occurrences, links)
    return start, end
