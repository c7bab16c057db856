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

from eddyline.kernels.heaps import NO_NODE, precedes
from eddyline.kernels.options import kernel
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


@kernel
def run(
    functions: Functions, events: Events, state: State
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Process events in order; updates ``state``.

    An event about a row that has left is ignored, and so is an expiry at another time than its.

    Returns:
        The changes, CHANGE[n], their values, int64[n, f], and the rows that left, int64.
    """
    instants = events.instants
    n = events.kind.size
    out = Changes(np.empty(n + 16, CHANGE), np.empty((n + 16, functions.kind.size), np.int64))
    count = 0
    left = np.empty(n, np.int64)
    lefts = 0
    marked = np.empty(64, np.int64)
    marks = 0
    touched = np.empty(n, np.int64)
    e = 0
    while e < n:
        ts, seq = instants[0, e], instants[1, e]
        touches = 0
        while e < n and instants[0, e] == ts and instants[1, e] == seq:
            r = events.row[e]
            row = state.rows[r]
            if events.kind[e] == IN:
                _enter(events, e, state)
                s = state.rows[r].slot
                marked, marks = _mark(r, functions, state, marked, marks)
                _note(s, r, functions, state)
            elif row.slot == NOTHING or (events.kind[e] == EXPIRED and row.exp != ts):
                e += 1
                continue
            else:
                s = row.slot
                marked, marks = _mark(r, functions, state, marked, marks)
                _note(s, r, functions, state)
                remove(s, r, state.occurrences, state.links, state.root)
                if row.shown:
                    state.partitions[s].shown -= 1
                    if events.kind[e] == OUT:
                        out, count = _report(r, -1, e, state, out, count)
                state.rows[r].slot = NOTHING
                state.rows[r].shown = False
                left, lefts = _append(left, lefts, r)
            touched[touches] = s
            touches += 1
            e += 1
        for t in range(touches):
            if state.partitions[touched[t]].since != NOWHERE:
                out, count = _look_from(touched[t], functions, state, e - 1, out, count)
        if functions.forgets:
            for t in range(touches):
                left, lefts = _forget(touched[t], state, left, lefts)
        for m in range(marks):
            r = marked[m]
            if state.rows[r].marked:
                state.rows[r].marked = False
                if state.rows[r].slot != NOTHING and (functions.limit == 0 or state.rows[r].shown):
                    out, count = _look_at(r, functions, state, e - 1, out, count)
        marks = 0
    return out.change[:count].copy(), out.values[:count].copy(), left[:lefts].copy()


@kernel
def _append(rows: np.ndarray, count: int, r: int) -> tuple[np.ndarray, int]:
    if count == rows.size:
        larger = np.empty(2 * count + 16, np.int64)
        larger[:count] = rows
        rows = larger
    rows[count] = r
    return rows, count + 1


@kernel
def _forget(s: int, state: State, left: np.ndarray, lefts: int) -> tuple[np.ndarray, int]:
    """Take the rows behind those that are shown out of a partition."""
    shown = state.partitions[s].shown
    while state.root[s] != NO_NODE and state.links[state.root[s], TOTAL] > shown:
        r = of_rank(state.root[s], shown, state.occurrences, state.links)
        remove(s, r, state.occurrences, state.links, state.root)
        state.rows[r].slot = NOTHING
        left, lefts = _append(left, lefts, r)
    return left, lefts


@kernel
def _enter(events: Events, e: int, state: State) -> None:
    """Put a row into the tree of its partition."""
    r = events.row[e]
    s = events.slot[e]
    state.rows[r].slot = s
    state.rows[r].last_slot = s
    state.rows[r].key = events.key[e]
    state.rows[r].peer = events.peer[e]
    for a in range(events.arguments.shape[0]):
        state.arguments[r, a] = events.arguments[a, e]
    order_key, row, base = state.order_key, state.row, state.base
    offsets, origin, data = state.offsets, state.origin, state.data
    key = events.key[e]
    c = state.root[s]
    p = NO_NODE
    side = LEFT
    while c != NO_NODE:
        p = c
        other = state.rows[c].key
        before = precedes(key, other, False, order_key, row, base, offsets, origin, data)
        side = LEFT if before else RIGHT
        c = state.links[p, side]
    attach(s, r, p, side, state.occurrences, state.links, state.root)


@kernel
def _mark(
    r: int, functions: Functions, state: State, marked: np.ndarray, marks: int
) -> tuple[np.ndarray, int]:
    """Let a row, and those near it whose values it can change, be looked at."""
    needed = marks + 1 + functions.behind + functions.before
    if needed > marked.size:
        larger = np.empty(2 * needed, np.int64)
        larger[:marks] = marked[:marks]
        marked = larger
    state.rows[r].marked = True
    marked[marks] = r
    marks += 1
    v = r
    for _ in range(functions.behind):
        v = following(v, state.links)
        if v == NO_NODE:
            break
        state.rows[v].marked = True
        marked[marks] = v
        marks += 1
    v = r
    for _ in range(functions.before):
        v = preceding(v, state.links)
        if v == NO_NODE:
            break
        state.rows[v].marked = True
        marked[marks] = v
        marks += 1
    return marked, marks


@kernel
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


@kernel
def _look_from(
    s: int, functions: Functions, state: State, e: int, out: Changes, count: int
) -> tuple[Changes, int]:
    """Compute the values of the rows of a partition from a place on, as far as they are shown."""
    place = state.partitions[s].since
    state.partitions[s].since = NOWHERE
    root = state.root[s]
    if root == NO_NODE or place >= state.links[root, TOTAL]:
        return out, count
    limited = functions.limit > 0
    if limited and place > state.partitions[s].shown:
        return out, count  # a row before it is not shown, so neither is it
    r = of_rank(root, place, state.occurrences, state.links)
    shown = place
    values = np.empty(functions.kind.size, np.int64)
    while r != NO_NODE:
        _compute(r, place, True, functions, state, values)
        inside = not limited or values[0] <= functions.limit
        out, count = _change(r, inside, values, functions.silent, state, e, out, count)
        state.rows[r].marked = False
        if inside:
            shown += 1
        elif state.partitions[s].shown == shown:
            break
        place += 1
        r = following(r, state.links)
    return out, count


@kernel
def _look_at(
    r: int, functions: Functions, state: State, e: int, out: Changes, count: int
) -> tuple[Changes, int]:
    """Compute the values of a row that depend on the rows near it."""
    values = state.values[r].copy()
    place = rank_of(r, state.occurrences, state.links)
    _compute(r, place, False, functions, state, values)
    return _change(r, True, values, functions.silent, state, e, out, count)


@kernel
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


@kernel
def _tile(place: int, total: int, tiles: int) -> int:
    """The number of the tile of a place; the first ones are larger by a row."""
    size, larger = total // tiles, total % tiles
    if place < larger * (size + 1):
        return place // (size + 1) + 1
    return larger + (place - larger * (size + 1)) // size + 1


@kernel
def _change(
    r: int,
    inside: bool,
    values: np.ndarray,
    silent: bool,
    state: State,
    e: int,
    out: Changes,
    count: int,
) -> tuple[Changes, int]:
    """Let a row have values, and be shown or not."""
    shown = state.rows[r].shown
    differs = False
    for f in range(1 if silent else 0, values.size):
        differs |= values[f] != state.values[r, f]
    if shown and (differs or not inside):
        out, count = _report(r, -1, e, state, out, count)
    state.values[r] = values
    if inside and (differs or not shown):
        out, count = _report(r, 1, e, state, out, count)
    if inside != shown:
        state.rows[r].shown = inside
        state.partitions[state.rows[r].slot].shown += 1 if inside else -1
    return out, count


@kernel
def _report(
    r: int, sign: int, e: int, state: State, out: Changes, count: int
) -> tuple[Changes, int]:
    if count == out.change.size:
        change = np.empty(2 * count, CHANGE)
        change[:count] = out.change
        values = np.empty((2 * count, out.values.shape[1]), np.int64)
        values[:count] = out.values
        out = Changes(change, values)
    out.change[count].row = r
    out.change[count].event = e
    out.change[count].sign = sign
    if sign > 0:
        state.rows[r].version = state.changes + count
    out.change[count].version = state.rows[r].version
    out.values[count] = state.values[r]
    return out, count + 1
