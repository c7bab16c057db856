"""The values of a row by its place in its partition, and when they change: see
``ordered_partitions.py``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eddyline.kernels.heaps import NO_NODE, Values, precedes
from eddyline.kernels.options import bare
from eddyline.kernels.ordered_rows import (
    BEFORE,
    BEHIND,
    DENSE_RANK,
    FIRST,
    FIRST_OF_ARGUMENTS,
    FROM,
    LAST,
    NOTHING,
    NTH,
    NTILE,
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


@bare
def enter(events: Events, e: int, state: State) -> None:
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
    values = Values(state.order_key, state.row, state.base, state.offsets, state.origin, state.data)
    key, prefix = events.key[e], state.rows[r].prefix
    c = state.root[s]
    p = NO_NODE
    side = LEFT
    while c != NO_NODE:
        p = c
        if prefix != state.rows[c].prefix:
            before = prefix < state.rows[c].prefix
        else:
            before = precedes(key, state.rows[c].key, False, values)
        side = LEFT if before else RIGHT
        c = state.links[p, side]
    attach(s, r, p, side, state.occurrences, state.links, state.root)


@bare
def leave(r: int, state: State, room: Room) -> None:
    """Let a row that has been taken out of its tree be among those that left."""
    state.rows[r].slot = NOTHING
    room.left[room.at[LEFT_ROWS]] = r
    room.at[LEFT_ROWS] += 1


@bare
def mark(r: int, functions: Functions, state: State, room: Room) -> None:
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
def note(s: int, r: int, functions: Functions, state: State) -> None:
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
def compute(
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
def change_values(r: int, inside: bool, silent: bool, state: State, room: Room) -> None:
    """Let a row have the values that have been computed, and be shown or not; there must be room
    for two changes.
    """
    shown, values = state.rows[r].shown, room.values
    e = room.at[EVENT] - 1
    differs = False
    for f in range(1 if silent else 0, values.size):
        differs |= values[f] != state.values[r, f]
    if shown and (differs or not inside):
        report(r, -1, e, state, room)
    for f in range(values.size):
        state.values[r, f] = values[f]
    if inside and (differs or not shown):
        report(r, 1, e, state, room)
    if inside != shown:
        state.rows[r].shown = inside
        state.partitions[state.rows[r].slot].shown += 1 if inside else -1


@bare
def report(r: int, sign: int, e: int, state: State, room: Room) -> None:
    """Report a row that is shown (1) or no more (-1); there must be room."""
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
