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

from typing import NamedTuple

import numpy as np

from eddyline.kernels.heaps import NO_NODE, precedes
from eddyline.kernels.options import bare, kernel
from eddyline.kernels.ordered_rows import (
    BEFORE,
    BEHIND,
    CHANGE,
    DENSE_RANK,
    EXPIRED,
    FIRST,
    FIRST_OF_ARGUMENTS,
    FROM,
    IN,
    LAST,
    NOTHING,
    NOWHERE,
    NTH,
    NTILE,
    OUT,
    RANK,
    ROW_NUMBER,
    ROWS,
    Changes,
    Events,
    Functions,
    State,
)
from eddyline.kernels.treaps import (
    LEFT,
    RIGHT,
    TOTAL,
    attach,
    following,
    of_rank,
    preceding,
    rank_of,
    remove,
)


class Room(NamedTuple):
    """Room for what one call of ``run`` finds, and for what it remembers of the instant at which it
    is.

    Attributes:
        changes: see there. left: int64, rows that left.
        marked, touched: int64, rows to be looked at, and partitions.
        values: int64[f], of the row that is looked at. at: int64[AT], how far it is.
    """

    changes: Changes
    left: np.ndarray
    marked: np.ndarray
    touched: np.ndarray
    values: np.ndarray
    at: np.ndarray


#: In ``at``: the event that is next, and where the next instant begins; numbers of changes, of rows
#: that left, of marked rows and of touched partitions; what is done, with which of them it goes on;
#: the row that is looked at (NO_NODE: none), its place, and how many rows before it are shown.
EVENT, COUNT, LEFT_ROWS, MARKS, TOUCHES, STEP, NEXT, LOOKED, PLACE, SHOWN = range(10)
AT = 10
#: What is done at an instant, in this order.
APPLY, LOOK, FORGET, LOOK_NEAR = range(4)


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
        change = np.empty(2 * changes.change.size, CHANGE)
        values = np.empty((change.size, room.values.size), np.int64)
        change[:count] = changes.change[:count]
        values[:count] = changes.values[:count]
        changes = Changes(change, values)
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
            _enter(events, e, state)
        _mark(r, functions, state, room)
        _note(s, r, functions, state)
        if not comes:
            remove(s, r, state.occurrences, state.links, state.root)
            if state.rows[r].shown:
                state.partitions[s].shown -= 1
                if events.kind[e] == OUT:
                    _report(r, -1, e, state, room)
            state.rows[r].shown = False
            _leave(r, state, room)
        room.touched[at[TOUCHES]] = s
        at[TOUCHES] += 1
        e += 1
    at[EVENT] = e
    return True


@bare
def _leave(r: int, state: State, room: Room) -> None:
    state.rows[r].slot = NOTHING
    room.left[room.at[LEFT_ROWS]] = r
    room.at[LEFT_ROWS] += 1


@bare
def _mark(r: int, functions: Functions, state: State, room: Room) -> None:
    """Let a row, and those near it whose values it can change, be looked at."""
    marks = room.at[MARKS]
    state.rows[r].marked = True
    room.marked[marks] = r
    marks += 1
    v = r
    for _ in range(functions.behind):
        v = following(v, state.links)
        if v == NO_NODE:
            break
        state.rows[v].marked = True
        room.marked[marks] = v
        marks += 1
    v = r
    for _ in range(functions.before):
        v = preceding(v, state.links)
        if v == NO_NODE:
            break
        state.rows[v].marked = True
        room.marked[marks] = v
        marks += 1
    room.at[MARKS] = marks


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
            _compute(r, place, True, functions, state, room.values)
            inside = not limited or room.values[0] <= functions.limit
            _change(r, inside, functions.silent, state, room)
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
            _leave(r, state, room)
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
        _compute(r, place, False, functions, state, values)
        _change(r, True, functions.silent, state, room)
    return True


@bare
def _enter(events: Events, e: int, state: State) -> None:
    """Put a row into the tree of its partition."""
    r = events.row[e]
    s = events.slot[e]
    state.rows[r].slot = s
    state.rows[r].last_slot = s
    state.rows[r].key = events.key[e]
    state.rows[r].prefix = state.order_key[events.key[e]]
    state.rows[r].peer = events.peer[e]
    for a in range(events.arguments.shape[0]):
        state.arguments[r, a] = events.arguments[a, e]
    order_key, row, base = state.order_key, state.row, state.base
    offsets, origin, data = state.offsets, state.origin, state.data
    key, prefix = events.key[e], state.rows[r].prefix
    c = state.root[s]
    p = NO_NODE
    side = LEFT
    while c != NO_NODE:
        p = c
        if prefix != state.rows[c].prefix:
            before = prefix < state.rows[c].prefix
        else:
            other = state.rows[c].key
            before = precedes(key, other, False, order_key, row, base, offsets, origin, data)
        side = LEFT if before else RIGHT
        c = state.links[p, side]
    attach(s, r, p, side, state.occurrences, state.links, state.root)


@bare
def _note(s: int, r: int, functions: Functions, state: State) -> None:
    """From which place on the values of a partition change with a row that is in its tree."""
    place = rank_of(r, state.occurrences, state.links)
    last = state.links[state.root[s], TOTAL] - 1
    since = state.partitions[s].since
    for f in range(functions.kind.size):
        kind = functions.kind[f]
        if kind in (ROW_NUMBER, RANK, DENSE_RANK):
            since = min(since, place)
        elif kind in (NTILE, ROWS) or (kind == LAST and place == last):
            since = 0
        elif (kind == FIRST and place == 0) or (kind == NTH and place < functions.offset[f]):
            since = min(since, place)
    state.partitions[s].since = since


@bare
def _compute(
    r: int, place: int, ranks: bool, functions: Functions, state: State, out: np.ndarray
) -> None:
    """The values of a row; those of ranks only if the row before has its."""
    s = state.rows[r].slot
    root = state.root[s]
    total = state.links[root, TOTAL]
    before = preceding(r, state.links) if ranks else NO_NODE
    ties = before != NO_NODE and state.rows[before].peer == state.rows[r].peer
    for f in range(functions.kind.size):
        kind = functions.kind[f]
        offset = functions.offset[f]
        if kind < FIRST_OF_ARGUMENTS:
            if not ranks:
                continue
            if kind == ROW_NUMBER:
                out[f] = place + 1
            elif kind == RANK:
                out[f] = state.values[before, f] if ties else place + 1
            elif kind == DENSE_RANK:
                dense = state.values[before, f] if before != NO_NODE else 0
                out[f] = dense if ties else dense + 1
            elif kind == NTILE:
                out[f] = _tile(place, total, offset)
            else:
                out[f] = total
            continue
        at = place
        if kind == BEFORE:
            at = place - offset
        elif kind == BEHIND:
            at = place + offset
        elif kind == FROM:
            at = max(place - offset, 0)
        elif kind == FIRST:
            at = 0
        elif kind == LAST:
            at = total - 1
        else:  # NTH
            at = offset - 1 if offset - 1 <= place else NOTHING
        if 0 <= at < total:
            of = of_rank(root, at, state.occurrences, state.links)
            out[f] = state.arguments[of, functions.argument[f]]
        else:
            out[f] = NOTHING


@bare
def _tile(place: int, total: int, tiles: int) -> int:
    """The number of the tile of a place; the first ones are larger by a row."""
    size, larger = total // tiles, total % tiles
    if place < larger * (size + 1):
        return place // (size + 1) + 1
    return larger + (place - larger * (size + 1)) // size + 1


@bare
def _change(r: int, inside: bool, silent: bool, state: State, room: Room) -> None:
    """Let a row have the values that have been computed, and be shown or not; there must be room
    for two changes.
    """
    shown, values = state.rows[r].shown, room.values
    e = room.at[EVENT] - 1
    differs = False
    for f in range(1 if silent else 0, values.size):
        differs |= values[f] != state.values[r, f]
    if shown and (differs or not inside):
        _report(r, -1, e, state, room)
    for f in range(values.size):
        state.values[r, f] = values[f]
    if inside and (differs or not shown):
        _report(r, 1, e, state, room)
    if inside != shown:
        state.rows[r].shown = inside
        state.partitions[state.rows[r].slot].shown += 1 if inside else -1


@bare
def _report(r: int, sign: int, e: int, state: State, room: Room) -> None:
    out, count = room.changes, room.at[COUNT]
    out.change[count].row = r
    out.change[count].event = e
    out.change[count].sign = sign
    if sign > 0:
        state.rows[r].version = state.changes + count
    out.change[count].version = state.rows[r].version
    for f in range(out.values.shape[1]):
        out.values[count, f] = state.values[r, f]
    room.at[COUNT] += 1
