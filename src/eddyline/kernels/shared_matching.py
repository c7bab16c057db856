"""Rows of many queries, chosen by whether another stream has a row of the same key in a window of
each query.

A *member* is a left row of queries with the same window over the right stream, its ``reach``.
Windows hold the newest rows, so it has a match at an instant if the newest right row of its key,
the ``last`` one, is younger than that::

    right rows of the key        x     x              x
    members, reach 3             |------XXX...........XXX....|       X: it has a match
    members, reach 8             |------XXXXXXXX......XXXXXXX|

So all members with a key and a reach, a *node*, have matches at the same time. Nodes without a
match are linked by key: a right row finds them, and gives them one. A node with a match waits in a
heap for the first instant at which it may have none; if there have been newer right rows by then,
it waits again. So a right row of a key without members, or whose members all have matches, costs
O(1). A left row that leaves before its time is unlinked in O(1), too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eddyline.kernels.copies import with_room
from eddyline.kernels.options import bare, bare_inlined, kernel
from eddyline.kernels.waiting_nodes import pop, push

#: No member, or no node.
NONE = -1
#: An instant before all others.
NEVER = -(2**62)

#: A member: its node, expiry, when it came, those before and behind it in the node, its last change
#: of the call.
MEMBER = np.dtype(
    [(name, np.int64) for name in ("node", "exp", "ts", "seq", "older", "younger", "change")],
    align=True,
)
#: A node: slot of its key, reach, the instant that it waits for, the list of its members and their
#: number, the next one without a match, since when it has a match or none, and which of these.
NODE = np.dtype(
    [
        *((name, np.int64) for name in ("slot", "reach", "due", "oldest", "youngest", "members")),
        *((name, np.int64) for name in ("next", "since_ts", "since_seq")),
        ("matched", np.bool_),
    ],
    align=True,
)
#: A key: the instant of its newest right row, and the first of its nodes without a match.
KEY = np.dtype([("last", np.int64), ("unmatched", np.int64)], align=True)
CHANGE = np.dtype(
    [("member", np.int64), ("ts", np.int64), ("seq", np.int64), ("sign", np.int64)], align=True
)


class Arrivals(NamedTuple):
    """Rows in the order of (ts, seq), all of length n.

    Attributes:
        place: int64, the slot of the key of a right row, or the node of a left row; NONE: the left
            row leaves.
        member: int64, the number of a left row; NONE: it is a right row.
        ts, seq: int64.
    """

    place: np.ndarray
    member: np.ndarray
    ts: np.ndarray
    seq: np.ndarray


class State(NamedTuple):
    """Records of MEMBER, NODE and KEY."""

    members: np.ndarray
    nodes: np.ndarray
    keys: np.ndarray


@kernel
def run(
    shows_matched: bool,
    arrivals: Arrivals,
    clock: int,
    expiry_seq: int,
    state: State,
    heap: np.ndarray,
    size: int,
) -> tuple[np.ndarray, np.ndarray, int]:
    """Let rows arrive, and time pass up to ``clock``.

    Args:
        shows_matched: whether members are shown that have a match, or those that have none.
        expiry_seq: ``seq`` of changes by time alone.
        state: members have exp, ts and seq, and new ones no node; new nodes have slot and reach.
        heap: of WAITING (``waiting_nodes.py``), the first ``size`` of which are used.

    Returns:
        Records of CHANGE, the heap, and its size.
    """
    places, arriving, instants, seqs = arrivals.place, arrivals.member, arrivals.ts, arrivals.seq
    out = np.empty(instants.size + 16, CHANGE)
    count = 0
    members, nodes, keys = state.members, state.nodes, state.keys
    for e in range(instants.size + 1):
        is_last = e == instants.size
        ts = clock if is_last else instants[e]
        while size and heap[0].at <= ts:
            at = heap[0].at
            n, size = _due(expiry_seq, nodes, keys, heap, size)
            if n != NONE:
                out = with_room(out, count, nodes[n].members)
                count = _show(n, not shows_matched, at, expiry_seq, members, nodes, out, count)
        if is_last:
            break
        place, m, seq = places[e], arriving[e], seqs[e]
        if m == NONE:
            keys[place].last = ts
            if keys[place].unmatched != NONE:
                out, count, heap, size = _match_all(
                    place, ts, seq, shows_matched, members, nodes, keys, out, count, heap, size
                )
            continue
        if count == out.size:
            out = with_room(out, count, 1)
        if place == NONE:
            count = _leave(m, ts, seq, shows_matched, members, nodes, out, count)
            continue
        if size == heap.size:
            heap = with_room(heap, size, 1)
        if nodes[place].due == NEVER:
            size = _begin(place, ts, expiry_seq, nodes, keys, heap, size)
        _unlink(m, members, nodes)
        _append(m, place, members, nodes)
        if nodes[place].matched == shows_matched:
            count = _note(m, True, ts, seq, members, out, count)
    return _without_cancelled(out[:count], members), heap, size


@bare_inlined
def _due(
    expiry_seq: int, nodes: np.ndarray, keys: np.ndarray, heap: np.ndarray, size: int
) -> tuple[int, int]:
    """Remove the first instant of the heap; returns the node that has no match from then on, or
    NONE, and the new size.
    """
    at, n = heap[0].at, heap[0].node
    size = pop(heap, size)
    if not nodes[n].matched or nodes[n].due != at:
        return NONE, size
    nodes[n].due = keys[nodes[n].slot].last + nodes[n].reach
    if nodes[n].due > at:
        return NONE, push(heap, size, nodes[n].due, n)
    _unmatch(n, at, expiry_seq, nodes, keys)
    return n, size


@bare_inlined
def _leave(
    m: int,
    ts: int,
    seq: int,
    shows_matched: bool,
    members: np.ndarray,
    nodes: np.ndarray,
    out: np.ndarray,
    count: int,
) -> int:
    """A member leaves; returns the new count of changes."""
    n = members[m].node
    if n != NONE and nodes[n].matched == shows_matched and members[m].exp > ts:
        count = _note(m, False, ts, seq, members, out, count)
    _unlink(m, members, nodes)
    return count


@kernel
def _match_all(
    key: int,
    ts: int,
    seq: int,
    shows_matched: bool,
    members: np.ndarray,
    nodes: np.ndarray,
    keys: np.ndarray,
    out: np.ndarray,
    count: int,
    heap: np.ndarray,
    size: int,
) -> tuple[np.ndarray, int, np.ndarray, int]:
    """The nodes of a key have a match from ``ts`` on; returns the changes and the heap, each with
    the new number in it.
    """
    n = keys[key].unmatched
    keys[key].unmatched = NONE
    while n != NONE:
        following = nodes[n].next
        if nodes[n].reach > 0:
            heap = with_room(heap, size, 1)
            out = with_room(out, count, nodes[n].members)
            size = _match(n, ts, seq, nodes, heap, size)
            count = _show(n, shows_matched, ts, seq, members, nodes, out, count)
        else:
            nodes[n].next = keys[key].unmatched
            keys[key].unmatched = n
        n = following
    return out, count, heap, size


@kernel
def sweep(
    clock: int, used: np.ndarray, slots: np.ndarray, state: State
) -> tuple[np.ndarray, np.ndarray]:
    """Forget members that have expired.

    Args:
        used: int64, nodes. slots: int64, of keys.

    Returns:
        int64 numbers of these members, and of nodes that have none any more.
    """
    members, nodes, keys = state.members, state.nodes, state.keys
    gone = np.empty(16, np.int64)
    gone_count = 0
    empty = np.empty(used.size, np.int64)
    empty_count = 0
    for n in used:
        m = nodes[n].oldest
        nodes[n].oldest = nodes[n].youngest = NONE
        gone = with_room(gone, gone_count, nodes[n].members)
        nodes[n].members = 0
        while m != NONE:
            younger = members[m].younger
            if members[m].exp > clock:
                _append(m, n, members, nodes)
            else:
                members[m].node = NONE
                gone[gone_count] = m
                gone_count += 1
            m = younger
        if nodes[n].members == 0:
            nodes[n].due = NEVER
            nodes[n].matched = False
            empty[empty_count] = n
            empty_count += 1
    for s in slots:
        n = keys[s].unmatched
        keys[s].unmatched = NONE
        while n != NONE:
            following = nodes[n].next
            if nodes[n].members:
                nodes[n].next = keys[s].unmatched
                keys[s].unmatched = n
            n = following
    return gone[:gone_count].copy(), empty[:empty_count].copy()


@bare_inlined
def _begin(
    n: int,
    ts: int,
    expiry_seq: int,
    nodes: np.ndarray,
    keys: np.ndarray,
    heap: np.ndarray,
    size: int,
) -> int:
    """A node gets its first member at ``ts``; returns the new size of the heap."""
    last = keys[nodes[n].slot].last
    nodes[n].oldest = nodes[n].youngest = NONE
    nodes[n].members = 0
    if last + nodes[n].reach > ts:
        nodes[n].matched = True
        nodes[n].since_ts, nodes[n].since_seq = last, expiry_seq
        nodes[n].due = last + nodes[n].reach
        return push(heap, size, nodes[n].due, n)
    _unmatch(n, last + nodes[n].reach, expiry_seq, nodes, keys)
    nodes[n].due = ts
    return size


@bare
def _unmatch(n: int, ts: int, seq: int, nodes: np.ndarray, keys: np.ndarray) -> None:
    """A node has no match from ``ts`` on."""
    nodes[n].matched = False
    nodes[n].since_ts, nodes[n].since_seq = ts, seq
    nodes[n].next = keys[nodes[n].slot].unmatched
    keys[nodes[n].slot].unmatched = n


@bare
def _match(n: int, ts: int, seq: int, nodes: np.ndarray, heap: np.ndarray, size: int) -> int:
    """A node has a match from ``ts`` on; returns the new size of the heap."""
    nodes[n].matched = True
    nodes[n].since_ts, nodes[n].since_seq = ts, seq
    nodes[n].due = ts + nodes[n].reach
    return push(heap, size, nodes[n].due, n)


@bare
def _append(m: int, n: int, members: np.ndarray, nodes: np.ndarray) -> None:
    """Append a member to the list of a node."""
    members[m].node = n
    members[m].younger, members[m].older = NONE, nodes[n].youngest
    if nodes[n].youngest == NONE:
        nodes[n].oldest = m
    else:
        members[nodes[n].youngest].younger = m
    nodes[n].youngest = m
    nodes[n].members += 1


@bare
def _unlink(m: int, members: np.ndarray, nodes: np.ndarray) -> None:
    """Remove a member from the list of its node, if it has one."""
    n = members[m].node
    if n == NONE:
        return
    older, younger = members[m].older, members[m].younger
    if older == NONE:
        nodes[n].oldest = younger
    else:
        members[older].younger = younger
    if younger == NONE:
        nodes[n].youngest = older
    else:
        members[younger].older = older
    nodes[n].members -= 1
    members[m].node = NONE


@bare
def _show(
    n: int,
    shown: bool,
    ts: int,
    seq: int,
    members: np.ndarray,
    nodes: np.ndarray,
    out: np.ndarray,
    count: int,
) -> int:
    """Show the members of a node that have not expired, or hide them; returns the new count."""
    m = nodes[n].oldest
    while m != NONE:
        if members[m].exp > ts:
            count = _note(m, shown, ts, seq, members, out, count)
        m = members[m].younger
    return count


@bare
def _note(
    m: int, shown: bool, ts: int, seq: int, members: np.ndarray, out: np.ndarray, count: int
) -> int:
    """Note a change; one that undoes another of the same event takes that away."""
    p = members[m].change
    if p != NONE and out[p].sign != 0 and out[p].ts == ts and out[p].seq == seq:
        out[p].sign = 0
        return count
    out[count].member = m
    out[count].ts = ts
    out[count].seq = seq
    out[count].sign = 1 if shown else -1
    members[m].change = count
    return count + 1


@kernel
def _without_cancelled(changes: np.ndarray, members: np.ndarray) -> np.ndarray:
    """The changes that are left; clears ``change`` of their members."""
    out = np.empty(changes.size, CHANGE)
    kept = 0
    for p in range(changes.size):
        members[changes[p].member].change = NONE
        if changes[p].sign != 0:
            out[kept] = changes[p]
            kept += 1
    return out[:kept].copy()
