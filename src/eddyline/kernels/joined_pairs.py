"""Pairs of rows of two streams with equal keys, for left rows that each look back over a time of
their own.

Rows of a key are linked from the newest to the oldest, on either side. So a row is paired with what
is alive on the other side, and looks at one row more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eddyline.kernels.copies import grown
from eddyline.kernels.options import bare_inlined, kernel
from eddyline.kernels.shared_matching import NONE, Arrivals

#: By the number of a left row: the next older one of its key.
LINK = np.dtype([("older", np.int64)], align=True)
#: By the number of a right row: itself, when it came, the next older one of its key.
RIGHT = np.dtype([(name, np.int64) for name in ("id", "ts", "seq", "older")], align=True)
#: By key: its newest rows.
NEWEST = np.dtype([("left", np.int64), ("right", np.int64)], align=True)
#: The numbers of a left and a right row, and when the later one came.
PAIR = np.dtype([(name, np.int64) for name in ("left", "right", "ts", "seq")], align=True)


class State(NamedTuple):
    """Records of ``shared_matching.MEMBER`` (left rows), their NODE, LINK, RIGHT and NEWEST."""

    members: np.ndarray
    nodes: np.ndarray
    links: np.ndarray
    rights: np.ndarray
    newest: np.ndarray


@kernel
def join(arrivals: Arrivals, right: np.ndarray, longest_us: int, state: State) -> np.ndarray:
    """Let rows arrive; records of PAIR, in their order.

    Args:
        right: int64[n], the number of each right row; others are not read.
        longest_us: for how long a left row is paired at most.
    """
    members, nodes, links, rights, newest = state
    places, arriving, instants, seqs = arrivals.place, arrivals.member, arrivals.ts, arrivals.seq
    out = np.empty(instants.size + 16, PAIR)
    count = 0
    for e in range(instants.size):
        place, m, ts, seq = places[e], arriving[e], instants[e], seqs[e]
        if m != NONE:
            slot = nodes[place].slot
            since = ts - nodes[place].reach
            r = newest[slot].right
            while r != NONE and rights[r].ts > since:
                if count == out.size:
                    out = grown(out, count, 2 * count)
                count = _note(m, r, ts, seq, out, count)
                r = rights[r].older
            links[m].older = newest[slot].left
            newest[slot].left = m
            continue
        r = right[e]
        m = newest[place].left
        while m != NONE and members[m].ts + longest_us > ts:
            if nodes[members[m].node].reach > 0:
                if count == out.size:
                    out = grown(out, count, 2 * count)
                count = _note(m, r, ts, seq, out, count)
            m = links[m].older
        rights[r].older = newest[place].right
        newest[place].right = r
    return out[:count].copy()


@kernel
def pairs_at(clock: int, wanted: np.ndarray, state: State) -> np.ndarray:
    """The pairs of left rows (int64[n], numbers) whose right rows are alive at ``clock``."""
    members, nodes, _, rights, newest = state
    out = np.empty(wanted.size + 16, PAIR)
    count = 0
    for m in wanted:
        n = members[m].node
        r = newest[nodes[n].slot].right
        while r != NONE and rights[r].ts + nodes[n].reach > clock:
            ts, seq = members[m].ts, members[m].seq
            if rights[r].ts > ts or (rights[r].ts == ts and rights[r].seq > seq):
                ts, seq = rights[r].ts, rights[r].seq
            if count == out.size:
                out = grown(out, count, 2 * count)
            count = _note(m, r, ts, seq, out, count)
            r = rights[r].older
    return out[:count].copy()


@kernel
def link_left(added: np.ndarray, state: State) -> None:
    """Put left rows between those that are there.

    Args:
        added: int64[n], numbers, by key, and for each from the newest to the oldest.
    """
    members, nodes, links, newest = state.members, state.nodes, state.links, state.newest
    slot, at = NONE, NONE
    for m in added:
        if nodes[members[m].node].slot != slot:
            slot, at = nodes[members[m].node].slot, NONE
        below = newest[slot].left if at == NONE else links[at].older
        while below != NONE and (
            members[below].ts > members[m].ts
            or (members[below].ts == members[m].ts and members[below].seq >= members[m].seq)
        ):
            at, below = below, links[below].older
        links[m].older = below
        if at == NONE:
            newest[slot].left = m
        else:
            links[at].older = m
        at = m


@kernel
def link_right(slot: np.ndarray, added: np.ndarray, state: State) -> None:
    """Put right rows (int64[n], numbers) of these keys before those that are there, in order."""
    rights, newest = state.rights, state.newest
    for i in range(added.size):
        rights[added[i]].older = newest[slot[i]].right
        newest[slot[i]].right = added[i]


@kernel
def unlink(slots: np.ndarray, since: int, state: State) -> np.ndarray:
    """Take out left rows without a node, and right rows that came up to ``since``, whose numbers
    are returned.

    Args:
        slots: int64, all keys.
    """
    members, links, rights, newest = state.members, state.links, state.rights, state.newest
    gone = np.empty(16, np.int64)
    count = 0
    for slot in slots:
        m, kept = newest[slot].left, NONE
        newest[slot].left = NONE
        while m != NONE:
            older = links[m].older
            if members[m].node != NONE:
                if kept == NONE:
                    newest[slot].left = m
                else:
                    links[kept].older = m
                links[m].older = NONE
                kept = m
            m = older
        r, kept = newest[slot].right, NONE
        while r != NONE and rights[r].ts > since:
            kept, r = r, rights[r].older
        if kept == NONE:
            newest[slot].right = NONE
        else:
            rights[kept].older = NONE
        while r != NONE:
            if count == gone.size:
                gone = np.concatenate((gone, gone))
            gone[count] = r
            count += 1
            r = rights[r].older
    return gone[:count].copy()


@bare_inlined
def _note(m: int, r: int, ts: int, seq: int, out: np.ndarray, count: int) -> int:
    """Write one more pair; returns how many there are."""
    out[count].left = m
    out[count].right = r
    out[count].ts = ts
    out[count].seq = seq
    return count + 1
