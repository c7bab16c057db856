"""Rows of one input chosen by what the other holds: bag negation, EXISTS and NOT EXISTS.

Per key there is a list of the left rows alive, by age, and a count of the right rows alive::

    oldest <-> row <-> row <-> row <-> youngest        lefts = 4, rights = 1
                        ^ edge: negation shows the rows from here to the youngest

Negation shows the youngest ``max(lefts - rights, 0)`` rows, so every event moves ``edge`` by one
row at most. EXISTS shows all rows of a key or none. Each event costs O(1) and what it puts out.

Source: Golab and Ozsu 2005, section 2.1; there a row that expires while it is cancelled is only
counted, here it also takes the oldest row shown with it.
"""

from __future__ import annotations

import numpy as np

from eddyline.kernels.options import kernel

#: Rules.
NEGATION, SEMI, ANTI = 0, 1, 2
#: Kinds of events: a left row comes, is taken back, expires; a right row comes, goes.
LEFT_IN, LEFT_OUT, LEFT_EXPIRED, RIGHT_IN, RIGHT_OUT = 0, 1, 2, 3, 4
#: No row; also the key of a row that is not alive.
NOBODY = -1


@kernel
def match(
    rule: int,
    kind: np.ndarray,
    slot: np.ndarray,
    row: np.ndarray,
    ts: np.ndarray,
    seq: np.ndarray,
    key_of: np.ndarray,
    exp: np.ndarray,
    older: np.ndarray,
    younger: np.ndarray,
    shown: np.ndarray,
    last: np.ndarray,
    oldest: np.ndarray,
    youngest: np.ndarray,
    edge: np.ndarray,
    lefts: np.ndarray,
    rights: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Run events in (ts, seq) order.

    Args:
        rule: NEGATION, SEMI or ANTI.
        kind, slot, row, ts, seq: the events: int8[n], the slot of the key, for left events the
            number of the row, and when. LEFT_EXPIRED of a row that is gone, or that has come again
            with another ``exp``, is ignored; its slot is looked up here, and written down.
        key_of, exp, older, younger, shown, last: by row number; ``last`` is NOBODY between calls.
        oldest, youngest, edge, lefts, rights: by slot.

    Returns:
        The changes: int64 row numbers, int8 signs and int64 events that caused them; and the
        numbers of the left rows that went. A row that comes and goes by one and the same event, or
        that goes and comes again, is not among the changes.
    """
    room = kind.size + 16
    out_row = np.empty(room, np.int64)
    out_sign = np.empty(room, np.int8)
    out_event = np.empty(room, np.int64)
    count = 0
    gone = np.empty(kind.size, np.int64)
    gone_count = 0
    for e in range(kind.size):
        k = kind[e]
        s = slot[e]
        r = row[e]
        walk = NOBODY  # whose change this event causes: a row, and perhaps all younger ones
        everyone = False
        sign = 0
        if k in (RIGHT_IN, RIGHT_OUT):
            before = rights[s]
            after = before + 1 if k == RIGHT_IN else before - 1
            rights[s] = after
            if rule == NEGATION:
                if after > before and lefts[s] > before:
                    walk = edge[s]
                    sign = -1
                    edge[s] = younger[walk]
                elif after < before and lefts[s] > after:
                    walk = youngest[s] if edge[s] == NOBODY else older[edge[s]]
                    sign = 1
                    edge[s] = walk
            elif (before == 0) != (after == 0):
                walk = oldest[s]
                everyone = True
                sign = 1 if (after > 0) == (rule == SEMI) else -1
        elif k == LEFT_IN:
            key_of[r] = s
            older[r] = youngest[s]
            younger[r] = NOBODY
            shown[r] = False
            if youngest[s] == NOBODY:
                oldest[s] = r
            else:
                younger[youngest[s]] = r
            youngest[s] = r
            lefts[s] += 1
            if rule == NEGATION:
                if lefts[s] > rights[s]:
                    walk = r
                    if edge[s] == NOBODY:
                        edge[s] = r
            elif (rights[s] > 0) == (rule == SEMI):
                walk = r
            sign = 1
        else:
            if key_of[r] == NOBODY or (k == LEFT_EXPIRED and exp[r] != ts[e]):
                continue
            s = key_of[r]
            slot[e] = s
            sign = -1
            if shown[r]:
                if edge[s] == r:
                    edge[s] = younger[r]
                if k == LEFT_OUT:
                    walk = r
                shown[r] = False
            elif rule == NEGATION and lefts[s] > rights[s]:
                walk = edge[s]
                edge[s] = younger[walk]
                if k == LEFT_EXPIRED and exp[walk] == ts[e]:  # it goes at this instant by itself
                    shown[walk] = False
                    walk = NOBODY
            if older[r] == NOBODY:
                oldest[s] = younger[r]
            else:
                younger[older[r]] = younger[r]
            if younger[r] == NOBODY:
                youngest[s] = older[r]
            else:
                older[younger[r]] = older[r]
            lefts[s] -= 1
            key_of[r] = NOBODY
            gone[gone_count] = r
            gone_count += 1
        while walk != NOBODY:
            shown[walk] = sign > 0
            p = last[walk]
            if (
                p != NOBODY
                and out_sign[p] == -sign
                and ts[out_event[p]] == ts[e]
                and seq[out_event[p]] == seq[e]
            ):
                out_sign[p] = 0
                last[walk] = NOBODY
            else:
                if count == room:
                    room *= 2
                    out_row = _grown(out_row, room)
                    out_sign = _grown(out_sign, room)
                    out_event = _grown(out_event, room)
                out_row[count] = walk
                out_sign[count] = sign
                out_event[count] = e
                last[walk] = count
                count += 1
            walk = younger[walk] if everyone else NOBODY
    kept = 0
    for p in range(count):
        last[out_row[p]] = NOBODY
        out_row[kept] = out_row[p]
        out_event[kept] = out_event[p]
        sign = out_sign[p]
        out_sign[kept] = sign
        kept += sign != 0
    return (
        out_row[:kept].copy(),
        out_sign[:kept].copy(),
        out_event[:kept].copy(),
        gone[:gone_count].copy(),
    )


@kernel
def _grown(values: np.ndarray, room: int) -> np.ndarray:
    out = np.empty(room, values.dtype)
    out[: values.size] = values
    return out
