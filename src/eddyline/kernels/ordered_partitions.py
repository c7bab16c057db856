"""Values of rows by their place in their partition: ROW_NUMBER, LAG and their like, while rows come
and go.

The rows of a partition are a treap (``kernels/treaps.py``) in the order of their keys, of equal
keys in the order of arrival. A row that comes or goes changes the values of rows near it (LAG), of
all behind it (ROW_NUMBER), or of all (COUNT); those are computed again, and what differs is
reported, once for all that happens at one instant. So a change costs O(log n) plus its output.

With a *limit* only rows are shown whose rank is within it: the first ones. What happens behind them
costs O(log n) and has no output. Where rows never leave, those behind are forgotten.
"""

from __future__ import annotations

import numpy as np

from eddyline.kernels.copies import grown, grown_rows
from eddyline.kernels.heaps import NO_NODE
from eddyline.kernels.options import bare, kernel
from eddyline.kernels.ordered_rows import (
    CHANGE,
    EXPIRED,
    IN,
    NOTHING,
    NOWHERE,
    OUT,
    Changes,
    Events,
    Functions,
    State,
)
from eddyline.kernels.ordered_values import (
    APPLY,
    AT,
    COUNT,
    EVENT,
    FORGET,
    LEFT_ROWS,
    LOOK,
    LOOKED,
    MARKS,
    NEXT,
    PLACE,
    SHOWN,
    STEP,
    TOUCHES,
    Room,
    change_values,
    compute,
    enter,
    leave,
    mark,
    note,
    report,
)
from eddyline.kernels.prefetch import prefetch
from eddyline.kernels.treaps import (
    PARENT,
    TOTAL,
    following,
    of_rank,
    rank_of,
    remove,
)

#: How many events ahead the trees of partitions are fetched.
_AHEAD = 2


@kernel
def run(
    functions: Functions, events: Events, state: State
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Process events in order; updates ``state``.

    An event about a row that has left is ignored, and so is an expiry at another time than its.

    Returns:
        The changes, CHANGE[n], their values, int64[n, f], and the rows that left, int64.
    """
    n, width = events.kind.size, functions.kind.size
    reach = 1 + functions.behind + functions.before
    room = Room(
        Changes(np.empty(n + 16, CHANGE), np.empty((n + 16, width), np.int64)),
        np.empty(n + 16, np.int64),
        np.empty(64 + reach, np.int64),
        np.empty(n, np.int64),
        np.empty(width, np.int64),
        np.zeros(AT, np.int64),
    )
    room.at[LOOKED] = NO_NODE
    while not _advance(functions, events, state, room):
        room = _enlarged(room, reach)
    changes, at = room.changes, room.at
    count, left = at[COUNT], at[LEFT_ROWS]
    return changes.change[:count].copy(), changes.values[:count].copy(), room.left[:left].copy()


@kernel
def _enlarged(room: Room, reach: int) -> Room:
    """Twice as much room of what there is too little of."""
    at, changes, left, marked = room.at, room.changes, room.left, room.marked
    count = at[COUNT]
    if count + 2 > changes.change.size:
        most = 2 * changes.change.size
        values = grown_rows(changes.values, count, most)
        changes = Changes(grown(changes.change, count, most), values)
    if at[LEFT_ROWS] == left.size:
        left = np.concatenate((left, np.empty_like(left)))
    if at[MARKS] + reach > marked.size:
        marked = np.concatenate((marked, np.empty_like(marked)))
    return Room(changes, left, marked, room.touched, room.values, at)


@bare
def _advance(functions: Functions, events: Events, state: State, room: Room) -> bool:
    """Process events until there is too little room; whether all have been processed."""
    at = room.at
    while True:
        if at[STEP] == APPLY:
            if not _apply(functions, events, state, room):
                return False
            if at[TOUCHES] == 0:
                return True
        elif at[STEP] == LOOK:
            if not _look(functions, state, room):
                return False
        elif at[STEP] == FORGET:
            if functions.forgets and not _forget(state, room):
                return False
        else:
            if not _look_near(functions, state, room):
                return False
            at[MARKS] = 0
            at[TOUCHES] = 0
        at[STEP] = (at[STEP] + 1) % 4
        at[NEXT] = 0


@bare
def _apply(functions: Functions, events: Events, state: State, room: Room) -> bool:
    """Apply the events of an instant, or go on doing so."""
    at, instants = room.at, events.instants
    reach = 1 + functions.behind + functions.before
    e = at[EVENT]
    while e < events.kind.size:
        begun = at[TOUCHES] > 0
        if begun and (instants[0, e] != instants[0, e - 1] or instants[1, e] != instants[1, e - 1]):
            break
        _fetch_ahead(events, e, state)
        r = events.row[e]
        comes = events.kind[e] == IN
        s = events.slot[e] if comes else state.rows[r].slot
        expired = events.kind[e] == EXPIRED and state.rows[r].exp != instants[0, e]
        if not comes and (s == NOTHING or expired):
            e += 1
            continue
        enough = at[COUNT] < room.changes.change.size and at[LEFT_ROWS] < room.left.size
        if not enough or at[MARKS] + reach > room.marked.size:
            at[EVENT] = e
            return False
        if comes:
            enter(events, e, state)
        mark(r, functions, state, room)
        note(s, r, functions, state)
        if not comes:
            remove(s, r, state.occurrences, state.links, state.root)
            if state.rows[r].shown:
                state.partitions[s].shown -= 1
                if events.kind[e] == OUT:
                    report(r, -1, e, state, room)
            state.rows[r].shown = False
            leave(r, state, room)
        room.touched[at[TOUCHES]] = s
        at[TOUCHES] += 1
        e += 1
    at[EVENT] = e
    return True


@bare
def _fetch_ahead(events: Events, e: int, state: State) -> None:
    """Fetch what the next events read: first the row or the partition's root, later its tree."""
    far, near = e + 2 * _AHEAD, e + _AHEAD
    if far < events.kind.size:
        prefetch(state.rows, events.row[far])
        if events.kind[far] == IN:
            prefetch(state.root, events.slot[far])
            prefetch(state.partitions, events.slot[far])
        else:
            prefetch(state.links, events.row[far])
    if near < events.kind.size:
        r = events.row[near]
        root = NOTHING
        if events.kind[near] == IN:
            root = state.root[events.slot[near]]
        elif state.rows[r].slot != NOTHING:
            s = state.rows[r].slot
            prefetch(state.partitions, s)
            root = state.links[r, PARENT]
        if root != NOTHING:
            prefetch(state.links, root)
            prefetch(state.rows, root)


@bare
def _look(functions: Functions, state: State, room: Room) -> bool:
    """Compute the values of the rows of touched partitions from a place on, as far as they are
    shown.
    """
    at = room.at
    limited = functions.limit > 0
    while at[NEXT] < at[TOUCHES]:
        s = room.touched[at[NEXT]]
        if state.partitions[s].since != NOWHERE:
            _begin(s, functions, state, at)
        r, place, shown = at[LOOKED], at[PLACE], at[SHOWN]
        while r != NO_NODE:
            if at[COUNT] + 2 > room.changes.change.size:
                at[LOOKED], at[PLACE], at[SHOWN] = r, place, shown
                return False
            compute(r, place, True, functions, state, room.values)
            inside = not limited or room.values[0] <= functions.limit
            change_values(r, inside, functions.silent, state, room)
            state.rows[r].marked = False
            if inside:
                shown += 1
            elif state.partitions[s].shown == shown:
                break
            place += 1
            r = following(r, state.links)
        at[LOOKED] = NO_NODE
        at[NEXT] += 1
    return True


@bare
def _begin(s: int, functions: Functions, state: State, at: np.ndarray) -> None:
    """Let the first row of a partition whose values may have changed be looked at."""
    place = state.partitions[s].since
    state.partitions[s].since = NOWHERE
    root = state.root[s]
    if root == NO_NODE or place >= state.links[root, TOTAL]:
        return
    if functions.limit > 0 and place > state.partitions[s].shown:
        return  # a row before it is not shown, so neither is it
    at[LOOKED] = of_rank(root, place, state.occurrences, state.links)
    at[PLACE] = place
    at[SHOWN] = place


@bare
def _forget(state: State, room: Room) -> bool:
    """Take the rows behind those that are shown out of touched partitions."""
    at = room.at
    while at[NEXT] < at[TOUCHES]:
        s = room.touched[at[NEXT]]
        shown = state.partitions[s].shown
        while state.root[s] != NO_NODE and state.links[state.root[s], TOTAL] > shown:
            if at[LEFT_ROWS] == room.left.size:
                return False
            r = of_rank(state.root[s], shown, state.occurrences, state.links)
            remove(s, r, state.occurrences, state.links, state.root)
            leave(r, state, room)
        at[NEXT] += 1
    return True


@bare
def _look_near(functions: Functions, state: State, room: Room) -> bool:
    """Compute the values of marked rows that depend on the rows near them."""
    at, values = room.at, room.values
    while at[NEXT] < at[MARKS]:
        if at[COUNT] + 2 > room.changes.change.size:
            return False
        r = room.marked[at[NEXT]]
        at[NEXT] += 1
        if not state.rows[r].marked:
            continue
        state.rows[r].marked = False
        if state.rows[r].slot == NOTHING or (functions.limit > 0 and not state.rows[r].shown):
            continue
        for f in range(values.size):
            values[f] = state.values[r, f]
        place = rank_of(r, state.occurrences, state.links)
        compute(r, place, False, functions, state, values)
        change_values(r, True, functions.silent, state, room)
    return True
