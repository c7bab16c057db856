"""The first rows of partitions by ROW_NUMBER, where rows leave in the order in which they came, or
never.

Of rows that leave in the order in which they came, one is out of the question once ``limit`` later
rows are before it in the order: they are there for longer. It is forgotten at once. The others of a
partition are a list in the order (the *k-skyband*; Mouratidis, Bakiras and Papadias 2006). A new
row goes along the list from its end to its place, and each row that it passes counts a better one.
A row counts ``limit`` of them at most, so a row costs O(limit) in all, whatever the window has.
The oldest row of a list has no older ones before it, so it is always one of the first ``limit``.

Where rows never leave, a row behind the first ``limit`` is forgotten, whether older or later than
they.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eddyline.kernels.copies import grown, grown_rows
from eddyline.kernels.heaps import Values, precedes
from eddyline.kernels.options import bare, kernel
from eddyline.kernels.ordered_rows import CHANGE, IN, NOTHING, Changes, Events
from eddyline.kernels.prefetch import prefetch

#: The largest limit for which lists are used: a row costs O(limit), in a treap O(log n) of all rows
#: and O(limit) where the first rows change.
LONGEST = 128
#: State by number of a row: its partition; ``prefix`` is the order key of its sort key ``key``; the
#: number of the change that shows it; its neighbours in the list; how many later rows are before
#: it; its place if it is shown, else 0; whether it is in a list.
LISTED = np.dtype(
    [
        *((name, np.int64) for name in ("slot", "prefix", "key", "exp", "version")),
        *((name, np.int32) for name in ("before", "behind", "better", "place")),
        ("there", np.bool_),
    ],
    align=True,
)
#: State by partition: the ends of its list; the row at the last place that is shown, NOTHING if
#: there are fewer; how many are shown; whether it is to be looked at.
LIST = np.dtype(
    [
        *((name, np.int32) for name in ("first", "end", "last", "shown")),
        ("touched", np.bool_),
    ],
    align=True,
)
#: In ``Room.at``: numbers of changes and of touched partitions; the row that left last, whose
#: ``behind`` is the one that left before it.
COUNT, TOUCHES, LEFT = range(3)
#: How many events ahead the lists of partitions are fetched.
_AHEAD = 3


class First(NamedTuple):
    """Which rows are shown.

    Attributes:
        limit: how many of a partition, from 1 to LONGEST.
        silent: whether a place that changes is not reported.
        forever: whether rows never leave.
    """

    limit: int
    silent: bool
    forever: bool


class Lists(NamedTuple):
    """State: LISTED[rows], LIST[slots]; the others as of ``ordered_rows.State``."""

    rows: np.ndarray
    partitions: np.ndarray
    changes: int
    order_key: np.ndarray
    row: np.ndarray
    base: int
    offsets: np.ndarray
    origin: int
    data: np.ndarray


class Room(NamedTuple):
    """Room for changes, with int64[n, 1] places; for touched partitions; how far each is filled."""

    changes: Changes
    touched: np.ndarray
    at: np.ndarray


@kernel
def run_lists(
    first: First, events: Events, state: Lists
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Process events in order, none of which takes a row back; updates ``state``.

    An expiry of a row that has left is ignored, and so is one at another time than its.

    Returns:
        As ``ordered_partitions.run``.
    """
    n = events.kind.size
    # One event, or one partition that is looked at, has at most this number of changes.
    most = 3 * first.limit + 1
    room = Room(
        Changes(np.empty(n + most, CHANGE), np.empty((n + most, 1), np.int64)),
        np.empty(n, np.int64),
        np.array([0, 0, NOTHING]),
    )
    e, looked = 0, -1
    while True:
        e, looked = _advance(e, looked, most, first, events, state, room)
        if e == n and looked < 0:
            break
        change, values = room.changes
        size = change.size
        larger = Changes(grown(change, size, 2 * size), grown_rows(values, size, 2 * size))
        room = Room(larger, room.touched, room.at)
    count = room.at[COUNT]
    left = _left(state, room.at[LEFT])
    return room.changes.change[:count].copy(), room.changes.values[:count].copy(), left


@kernel
def _left(state: Lists, last: int) -> np.ndarray:
    """The rows that left."""
    count, r = 0, last
    while r != NOTHING:
        count += 1
        r = state.rows[r].behind
    out = np.empty(count, np.int64)
    r = last
    for i in range(count):
        out[i] = r
        r = state.rows[r].behind
    return out


@bare
def _advance(
    e: int, looked: int, most: int, first: First, events: Events, state: Lists, room: Room
) -> tuple[int, int]:
    """Process events from e on until there is too little room; if partitions are being looked at,
    from the one with the number ``looked`` on, else it is -1. Returns how far it has come.
    """
    at = room.at
    n, enough = events.kind.size, room.changes.change.size - most
    while True:
        if looked < 0:
            if e == n:
                return e, -1
            if at[COUNT] > enough:
                return e, -1
            _fetch_ahead(events, e, state)
            if events.kind[e] == IN:
                _enter(e, first, events, state, room)
            else:
                r = events.row[e]
                if state.rows[r].there and state.rows[r].exp == events.instants[0, e]:
                    _take_out(r, state, room)
            e += 1
            if e < n and _is_at_once(events, e):
                continue
            looked = 0
        while looked < at[TOUCHES]:
            if at[COUNT] > enough:
                return e, looked
            _look(room.touched[looked], e - 1, first, state, room)
            looked += 1
        at[TOUCHES] = 0
        looked = -1


@bare
def _is_at_once(events: Events, e: int) -> bool:
    """Whether an event is at the instant of the one before."""
    ts, seq = events.instants
    return ts[e] == ts[e - 1] and seq[e] == seq[e - 1]


@bare
def _fetch_ahead(events: Events, e: int, state: Lists) -> None:
    """Fetch what the next events read: the row or the partition, later the end of its list."""
    far, near = e + 2 * _AHEAD, e + _AHEAD
    if far < events.kind.size:
        prefetch(state.rows, events.row[far])
        if events.kind[far] == IN:
            prefetch(state.partitions, events.slot[far])
    if near < events.kind.size:
        s = events.slot[near] if events.kind[near] == IN else state.rows[events.row[near]].slot
        if events.kind[near] == IN:
            if state.partitions[s].end != NOTHING:
                prefetch(state.rows, state.partitions[s].end)
        else:
            prefetch(state.partitions, s)


@bare
def _enter(e: int, first: First, events: Events, state: Lists, room: Room) -> None:
    """Put a row into the list of its partition, and forget those that are out of the question."""
    r = events.row[e]
    s = events.slot[e]
    key = events.key[e]
    prefix = state.order_key[key]
    state.rows[r].slot = s
    state.rows[r].prefix = prefix
    state.rows[r].key = key
    state.rows[r].better = 0
    state.rows[r].place = 0
    last = state.partitions[s].last
    inside = last == NOTHING
    c = state.partitions[s].end
    behind = NOTHING
    while c != NOTHING and _precedes(key, prefix, c, state):
        inside |= c == last
        before = state.rows[c].before
        state.rows[c].better += 1
        if state.rows[c].better >= first.limit and not first.forever:
            if state.rows[c].place > 0:
                _report(c, -1, e, state, room)
            _take_out(c, state, room)
        else:
            behind = c
        c = before
    if first.forever and not inside:
        state.rows[r].there = False
        _leave(r, state, room)
        return
    state.rows[r].there = True
    state.rows[r].before = c
    state.rows[r].behind = behind
    _link(s, c, r, state)
    _link_back(s, behind, r, state)
    if inside:
        _touch(s, state, room)


@bare
def _precedes(key: int, prefix: int, c: int, state: Lists) -> bool:
    """Whether a new row is before another in the order."""
    if prefix != state.rows[c].prefix:
        return prefix < state.rows[c].prefix
    if key == state.rows[c].key:
        return False
    values = Values(state.order_key, state.row, state.base, state.offsets, state.origin, state.data)
    return precedes(key, state.rows[c].key, False, values)


@bare
def _link(s: int, r: int, behind: int, state: Lists) -> None:
    """Let a row be followed by another; NOTHING is the place before the first one."""
    if r == NOTHING:
        state.partitions[s].first = behind
    else:
        state.rows[r].behind = behind


@bare
def _link_back(s: int, r: int, before: int, state: Lists) -> None:
    """Let a row follow another; NOTHING is the place behind the last one."""
    if r == NOTHING:
        state.partitions[s].end = before
    else:
        state.rows[r].before = before


@bare
def _touch(s: int, state: Lists, room: Room) -> None:
    """Let a partition be looked at."""
    if not state.partitions[s].touched:
        state.partitions[s].touched = True
        room.touched[room.at[TOUCHES]] = s
        room.at[TOUCHES] += 1


@bare
def _take_out(r: int, state: Lists, room: Room) -> None:
    """Take a row out of its list."""
    s = state.rows[r].slot
    before, behind = state.rows[r].before, state.rows[r].behind
    _link(s, before, behind, state)
    _link_back(s, behind, before, state)
    if state.rows[r].place > 0:
        state.rows[r].place = 0
        state.partitions[s].shown -= 1
        _touch(s, state, room)
    if state.partitions[s].last == r:
        state.partitions[s].last = NOTHING
    state.rows[r].there = False
    _leave(r, state, room)


@bare
def _leave(r: int, state: Lists, room: Room) -> None:
    """Let a row be among those that left."""
    state.rows[r].behind = room.at[LEFT]
    room.at[LEFT] = r


@bare
def _look(s: int, e: int, first: First, state: Lists, room: Room) -> None:
    """Number the first rows of a partition, and report what differs."""
    state.partitions[s].touched = False
    others = state.partitions[s].shown  # rows that were shown and have not been looked at
    shown = 0
    r = state.partitions[s].first
    state.partitions[s].last = NOTHING
    while r != NOTHING and (shown < first.limit or others > 0 or first.forever):
        behind = state.rows[r].behind
        place = state.rows[r].place
        others -= 1 if place > 0 else 0
        inside = shown < first.limit
        shown += 1 if inside else 0
        now = shown if inside else 0
        if place > 0 and now != place and not (inside and first.silent):
            _report(r, -1, e, state, room)
        state.rows[r].place = now
        if inside and (place == 0 or (now != place and not first.silent)):
            _report(r, 1, e, state, room)
        if now == first.limit:
            state.partitions[s].last = r
        if first.forever and not inside:
            _take_out(r, state, room)
        r = behind
    state.partitions[s].shown = shown


@bare
def _report(r: int, sign: int, e: int, state: Lists, room: Room) -> None:
    """Report a row that is shown (1) or no more (-1), with its place; there must be room."""
    out, count = room.changes, room.at[COUNT]
    out.change[count].row = r
    out.change[count].event = e
    out.change[count].sign = sign
    if sign > 0:
        state.rows[r].version = state.changes + count
    out.change[count].version = state.rows[r].version
    out.values[count, 0] = state.rows[r].place
    room.at[COUNT] += 1
