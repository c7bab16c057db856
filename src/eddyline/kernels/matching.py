"""Rows of the left input selected by the right one: bag negation, EXISTS and NOT EXISTS.

Per key there is a list of the alive left rows by age, and the number of alive right rows::

    oldest <-> row <-> row <-> row <-> youngest        lefts = 4, rights = 1
                        ^ edge: negation shows the rows from here to the youngest

Negation shows the youngest ``max(lefts - rights, 0)`` rows, so an event moves ``edge`` by at most
one row. EXISTS shows all rows of a key or none. An event costs O(1) plus its output.

Source: Golab and Ozsu 2005, section 2.1. There a row that expires while it is cancelled is only
counted; here the oldest shown row leaves with it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eddyline.kernels.copies import grown
from eddyline.kernels.options import bare_inlined, kernel

#: Rules.
NEGATION, SEMI, ANTI = 0, 1, 2
#: Kinds of events: a left row arrives, is deleted, expires; a right row arrives, leaves.
LEFT_IN, LEFT_OUT, LEFT_EXPIRED, RIGHT_IN, RIGHT_OUT = 0, 1, 2, 3, 4
#: No row; also the key slot of a row that is not alive.
NO_ROW = -1


class Events(NamedTuple):
    """Events in (ts, seq) order, all of length n.

    Attributes:
        kind: int8. slot: int64, slot of the key; of LEFT_EXPIRED it is written by ``match``.
        row: int64, number of the left row; NO_ROW for right events.
        instants: int64[2, n], ts and seq.
    """

    kind: np.ndarray
    slot: np.ndarray
    row: np.ndarray
    instants: np.ndarray


#: State by number of a left row: slot of its key, expiry, neighbours in its list, whether it is
#: shown, and its latest change of the call (NO_ROW between calls).
LEFT_ROW = np.dtype(
    [
        ("key_of", np.int64),
        ("exp", np.int64),
        ("older", np.int64),
        ("younger", np.int64),
        ("last", np.int64),
        ("shown", np.bool_),
    ],
    align=True,
)
#: State by key slot: three rows of the list of left rows, and the number of rows of both inputs.
KEY_LISTS = np.dtype(
    [(n, np.int64) for n in ("oldest", "youngest", "edge", "lefts", "rights")], align=True
)


_CHANGE = np.dtype([("row", np.int64), ("event", np.int64), ("sign", np.int8)], align=True)


@kernel
def match(
    rule: int, events: Events, rows: np.ndarray, keys: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Process events in order; updates ``rows`` and ``keys``.

    LEFT_EXPIRED is ignored for a row that has left, or has arrived again with another ``exp``.

    Args:
        rule: NEGATION, SEMI or ANTI.
        rows, keys: arrays of LEFT_ROW and of KEY_LISTS.

    Returns:
        The changes: int64 row numbers, int8 signs, int64 events that caused them; and int64 numbers
        of the left rows that left. Changes of one row that cancel within one event are left out.
    """
    kinds, slots, numbers, instants = events.kind, events.slot, events.row, events.instants
    out = np.empty(kinds.size + 16, _CHANGE)
    count = 0
    left = np.empty(kinds.size, np.int64)
    left_count = 0
    for e in range(kinds.size):
        kind, s, r = kinds[e], slots[e], numbers[e]
        all_younger = False  # whether the change is also that of all younger rows
        if kind in (RIGHT_IN, RIGHT_OUT):
            row, sign = _count_right(rule, kind, s, rows, keys)
            all_younger = rule != NEGATION
        elif kind == LEFT_IN:
            row, sign = _insert_left(rule, s, r, rows, keys), 1
        else:
            ts = instants[0, e]
            if rows[r].key_of == NO_ROW or (kind == LEFT_EXPIRED and rows[r].exp != ts):
                continue
            s = rows[r].key_of
            slots[e] = s
            row, sign = _hide_left(rule, kind, r, ts, rows, keys), -1
            _unlink(s, r, rows, keys)
            left[left_count] = r
            left_count += 1
        while row != NO_ROW:
            if count == out.size:
                out = grown(out, out.size, 2 * out.size)
            count = _note(row, sign, e, instants, rows, out, count)
            row = rows[row].younger if all_younger else NO_ROW
    changed, signs, causes = _without_cancelled(out[:count], rows)
    return changed, signs, causes, left[:left_count].copy()


@bare_inlined
def _count_right(
    rule: int, kind: int, s: int, rows: np.ndarray, keys: np.ndarray
) -> tuple[int, int]:
    """Count a right row; returns the (first) left row that it shows or hides, and the sign."""
    before = keys[s].rights
    after = before + 1 if kind == RIGHT_IN else before - 1
    keys[s].rights = after
    row, sign = NO_ROW, 0
    if rule != NEGATION:
        if (before == 0) != (after == 0):
            row = keys[s].oldest
            sign = 1 if (after > 0) == (rule == SEMI) else -1
    elif after > before and keys[s].lefts > before:
        row, sign = keys[s].edge, -1
        keys[s].edge = rows[row].younger
    elif after < before and keys[s].lefts > after:
        row = keys[s].youngest if keys[s].edge == NO_ROW else rows[keys[s].edge].older
        sign = 1
        keys[s].edge = row
    return row, sign


@bare_inlined
def _insert_left(rule: int, s: int, r: int, rows: np.ndarray, keys: np.ndarray) -> int:
    """Append a left row to the list of its key; returns the row if it is shown, or NO_ROW."""
    rows[r].key_of = s
    rows[r].older = keys[s].youngest
    rows[r].younger = NO_ROW
    rows[r].shown = False
    if keys[s].youngest == NO_ROW:
        keys[s].oldest = r
    else:
        rows[keys[s].youngest].younger = r
    keys[s].youngest = r
    keys[s].lefts += 1
    if rule != NEGATION:
        return r if (keys[s].rights > 0) == (rule == SEMI) else NO_ROW
    if keys[s].lefts <= keys[s].rights:
        return NO_ROW
    if keys[s].edge == NO_ROW:
        keys[s].edge = r
    return r


@bare_inlined
def _hide_left(rule: int, kind: int, r: int, ts: int, rows: np.ndarray, keys: np.ndarray) -> int:
    """Hide a left row that leaves; returns the row whose '-' this causes, or NO_ROW.

    A hidden row of a negation takes the oldest shown one with it. A row that expires at ``ts``
    leaves the answer without a '-'.
    """
    s = rows[r].key_of
    row = NO_ROW
    if rows[r].shown:
        if keys[s].edge == r:
            keys[s].edge = rows[r].younger
        if kind == LEFT_OUT:
            row = r
        rows[r].shown = False
    elif rule == NEGATION and keys[s].lefts > keys[s].rights:
        row = keys[s].edge
        keys[s].edge = rows[row].younger
        if kind == LEFT_EXPIRED and rows[row].exp == ts:
            rows[row].shown = False
            row = NO_ROW
    return row


@bare_inlined
def _unlink(s: int, r: int, rows: np.ndarray, keys: np.ndarray) -> None:
    """Remove a left row from the list of its key."""
    older, younger = rows[r].older, rows[r].younger
    if older == NO_ROW:
        keys[s].oldest = younger
    else:
        rows[older].younger = younger
    if younger == NO_ROW:
        keys[s].youngest = older
    else:
        rows[younger].older = older
    keys[s].lefts -= 1
    rows[r].key_of = NO_ROW


@bare_inlined
def _note(
    row: int, sign: int, e: int, instants: np.ndarray, rows: np.ndarray, out: np.ndarray, count: int
) -> int:
    """Append a change, or cancel the opposite one of the same instant; returns the new count."""
    rows[row].shown = sign > 0
    p = rows[row].last
    if p != NO_ROW and out[p].sign == -sign:
        by = out[p].event
        if instants[0, by] == instants[0, e] and instants[1, by] == instants[1, e]:
            out[p].sign = 0
            rows[row].last = NO_ROW
            return count
    out[count].row = row
    out[count].sign = sign
    out[count].event = e
    rows[row].last = count
    return count + 1


@kernel
def _without_cancelled(
    changes: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The changes as int64 rows, int8 signs and int64 events; clears ``last`` of their rows."""
    row = np.empty(changes.size, np.int64)
    sign = np.empty(changes.size, np.int8)
    event = np.empty(changes.size, np.int64)
    kept = 0
    for p in range(changes.size):
        change = changes[p]
        rows[change.row].last = NO_ROW
        row[kept] = change.row
        sign[kept] = change.sign
        event[kept] = change.event
        kept += change.sign != 0
    return row[:kept].copy(), sign[:kept].copy(), event[:kept].copy()
