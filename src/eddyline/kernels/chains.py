"""A hash index as chains over the positions of a row store, newest first.

``heads[bucket]`` is the newest position of a bucket; ``nodes[pos - base]`` holds a row's key and
the next older position of its bucket, side by side for the cache. Positions only grow, so a chain
ends at the first position below ``first``: all rows behind it have been dropped. Positions fall
along a chain, also where rows are linked later than they arrived; rows can be taken out again, as
feedback between operators requires. Probes are in ``chain_probes.py``.

A table from 64-bit hashes to dense, reusable slot numbers has chains of slots instead of positions:
the key of a node is its hash, a slot that is not used is NOT_INDEXED. Free slots are a stack of
those that were released; then those from ``end`` on, of which no array has been touched.

Arguments are plain arrays and numbers: tuples of them take about 1 microsecond each per call, which
counts in chunks of few rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eddyline.kernels.copies import grown
from eddyline.kernels.options import inlined, kernel
from eddyline.kernels.prefetch import AHEAD, prefetch

#: Columns of ``nodes``.
KEY, LINK = 0, 1
#: Link of a row that is not in the index.
NOT_INDEXED = -2
#: When a row that has not been taken back was taken back.
FOREVER = 1 << 62
#: End of a chain.
NOTHING = -1
#: Number of buckets that fit the cache.
_CACHED = 1 << 15


@inlined
def bucket_of(key: Any, shift: Any, split: Any) -> Any:
    """The bucket of a key among ``1 << (64 - shift)``, those from ``split`` on being split in two.

    The parts of bucket b are 2b and 2b + 1, so the others keep their numbers while the last ones
    are split, one by one (linear hashing; Litwin 1980). None: no bucket is split; kernels are
    compiled for that on its own, as the comparison takes a tenth of the time of a probe.
    """
    hashed = (np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(1)
    bucket = np.int64(hashed >> np.uint64(shift - 1))  # shift is 64 for one bucket
    if split is not None:  # noqa: SIM102 - compiled only if there is a number
        if bucket >= split:
            bucket = np.int64(hashed >> np.uint64(shift - 2))
    return bucket


@kernel
def insert(
    heads: np.ndarray,
    shift: int,
    split: int | None,
    nodes: np.ndarray,
    base: int,
    rows: np.ndarray,
    keys: np.ndarray,
) -> None:
    """Put ``rows`` (int64 positions, oldest first) with their keys into the chains."""
    for i in range(rows.size):
        at = rows[i] - base
        b = bucket_of(keys[i], shift, split)
        nodes[at, KEY] = keys[i]
        nodes[at, LINK] = heads[b]
        heads[b] = rows[i]


@kernel
def link(
    heads: np.ndarray,
    shift: int,
    split: int | None,
    nodes: np.ndarray,
    base: int,
    rows: np.ndarray,
    keys: np.ndarray,
    most_steps: int,
) -> int:
    """Put ``rows`` (int64 positions, in any order) into chains that hold newer rows.

    The search for a row's place visits the newer rows of its bucket. It ends after ``most_steps``.

    Returns:
        How many rows have been put in.
    """
    steps = 0
    for i in range(rows.size):
        if steps > most_steps:
            return i
        at = rows[i] - base
        b = bucket_of(keys[i], shift, split)
        above = np.int64(NOTHING)
        below = heads[b]
        while below > rows[i]:
            above = below
            below = nodes[below - base, LINK]
            steps += 1
        nodes[at, KEY] = keys[i]
        nodes[at, LINK] = below
        if above == NOTHING:
            heads[b] = rows[i]
        else:
            nodes[above - base, LINK] = rows[i]
    return rows.size


@kernel
def take_out(
    heads: np.ndarray,
    shift: int,
    split: int | None,
    nodes: np.ndarray,
    base: int,
    first: int,
    keys: np.ndarray,
) -> np.ndarray:
    """Unlink all rows with these keys; returns their positions, int64[m]."""
    out = np.empty(16, np.int64)
    count = 0
    for i in range(keys.size):
        b = bucket_of(keys[i], shift, split)
        above = np.int64(NOTHING)
        pos = heads[b]
        while pos >= first:
            at = pos - base
            below = nodes[at, LINK]
            if nodes[at, KEY] != keys[i]:
                above = pos
            else:
                if above == NOTHING:
                    heads[b] = below
                else:
                    nodes[above - base, LINK] = below
                nodes[at, LINK] = NOT_INDEXED
                if count == out.size:
                    out = grown(out, count, 2 * count)
                out[count] = pos
                count += 1
            pos = below
    return out[:count].copy()


@kernel
def reinsert_all(
    heads: np.ndarray,
    shift: int,
    split: int | None,
    nodes: np.ndarray,
    base: int,
    first: int,
    end: int,
) -> None:
    """Rebuild the chains over the positions in [first, end) that are in the index."""
    for at in range(first - base, end - base):
        if nodes[at, LINK] != NOT_INDEXED:
            b = bucket_of(nodes[at, KEY], shift, split)
            nodes[at, LINK] = heads[b]
            heads[b] = at + base


@kernel
def split_buckets(
    heads: np.ndarray,
    shift: int,
    split: int,
    nodes: np.ndarray,
    base: int,
    first: int,
    count: int,
) -> int:
    """Split the last ``count`` buckets that are whole; rows before ``first`` leave their chains.

    Returns:
        The number from which buckets are split now.
    """
    until = max(split - count, 0)
    for bucket in range(split - 1, until - 1, -1):
        if bucket >= AHEAD:
            prefetch(nodes, heads[bucket - AHEAD] - base)
        pos = heads[bucket]
        last_low = np.int64(NOTHING)  # the oldest rows so far of both parts
        last_high = np.int64(NOTHING)
        heads[2 * bucket] = NOTHING
        heads[2 * bucket + 1] = NOTHING
        while pos >= first:
            at = pos - base
            part = bucket_of(nodes[at, KEY], shift, 0)
            last = last_low if part == 2 * bucket else last_high
            if last == NOTHING:
                heads[part] = pos
            else:
                nodes[last - base, LINK] = pos
            if part == 2 * bucket:
                last_low = pos
            else:
                last_high = pos
            pos = nodes[at, LINK]
        if last_low != NOTHING:
            nodes[last_low - base, LINK] = NOTHING
        if last_high != NOTHING:
            nodes[last_high - base, LINK] = NOTHING
    return until


@kernel
def newest_before(
    heads: np.ndarray,
    shift: int,
    split: int | None,
    nodes: np.ndarray,
    base: int,
    first: int,
    keys: np.ndarray,
    before: np.ndarray,
) -> np.ndarray:
    """The newest positions below ``before`` (int64[n], not decreasing) in the buckets of keys.

    From the last to the first, so that the search for one begins where that of the next one in the
    bucket has ended: ``heads`` are moved on the way, and put back. A chunk takes equally long
    whether its changes are of few keys or of many.

    Returns:
        int64[n]; below ``first`` where there is none.
    """
    start, head = np.empty(keys.size, np.int64), np.empty(keys.size, np.int64)
    for i in range(keys.size - 1, -1, -1):
        b = bucket_of(keys[i], shift, split)
        pos = heads[b]
        head[i] = pos
        while pos >= first and pos >= before[i]:
            pos = nodes[pos - base, LINK]
        start[i] = pos
        heads[b] = pos
    for i in range(keys.size):
        heads[bucket_of(keys[i], shift, split)] = head[i]
    return start


@kernel
def bury(
    heads: np.ndarray,
    shift: int,
    split: int | None,
    nodes: np.ndarray,
    base: int,
    first: int,
    identity: np.ndarray,
    death_ts: np.ndarray,
    death_seq: np.ndarray,
    dead_key: np.ndarray,
    dead_identity: np.ndarray,
    dead_ts: np.ndarray,
    dead_seq: np.ndarray,
    before: np.ndarray,
) -> np.ndarray:
    """Write for each negative tuple when it took its row back.

    The row is the newest one still alive with the same key and identity and a position below
    ``before[i]``, which must not decrease. ``identity`` is int64[capacity, k] by place,
    ``dead_identity`` int64[n, k].

    Returns:
        int64[n]: the positions of the rows taken back, -1 where there was none.
    """
    start = newest_before(heads, shift, split, nodes, base, first, dead_key, before)
    out = np.empty(dead_key.size, np.int64)
    for i in range(dead_key.size):
        out[i] = NOTHING
        pos = start[i]
        while pos >= first:
            at = pos - base
            same = nodes[at, KEY] == dead_key[i] and death_ts[at] == FOREVER
            lane = 0
            while same and lane < identity.shape[1]:
                same = identity[at, lane] == dead_identity[i, lane]
                lane += 1
            if same:
                death_ts[at] = dead_ts[i]
                death_seq[at] = dead_seq[i]
                out[i] = pos
                break
            pos = nodes[at, LINK]
    return out


@kernel
def find_or_claim(
    heads: np.ndarray,
    shift: int,
    split: int | None,
    nodes: np.ndarray,
    free: np.ndarray,
    free_count: int,
    end: int,
    room: int,
    wanted: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, int, int]:
    """The slot of each hash; unknown hashes claim a free slot, as long as there is ``room``.

    The caller has made sure that there are nodes for the slots that may be claimed.

    Returns:
        int64[m] slots, of the entries before the first one for which there was no room; int64[k]
        numbers of the entries that claimed one (in order); and ``free_count`` and ``end`` now.
    """
    slots = np.empty(wanted.size, np.int64)
    is_large = heads.size > _CACHED
    if is_large:
        for i in range(wanted.size):
            slots[i] = bucket_of(wanted[i], shift, split)
    claims = np.empty(wanted.size, np.int64)
    count = 0
    for i in range(wanted.size):
        h = wanted[i]
        if is_large:
            b = slots[i]
            if i + 2 * AHEAD < wanted.size:
                prefetch(heads, slots[i + 2 * AHEAD])
                prefetch(nodes, heads[slots[i + AHEAD]])
        else:
            b = bucket_of(h, shift, split)
        s = heads[b]
        while s >= 0 and nodes[s, KEY] != h:
            s = nodes[s, LINK]
        if s < 0:
            if count == room:
                return slots[:i], claims[:count].copy(), free_count, end
            if free_count:
                free_count -= 1
                s = free[free_count]
            else:
                s = end
                end += 1
            nodes[s, KEY] = h
            nodes[s, LINK] = heads[b]
            heads[b] = s
            claims[count] = i
            count += 1
        slots[i] = s
    return slots, claims[:count].copy(), free_count, end


@kernel
def release_slots(
    heads: np.ndarray,
    shift: int,
    split: int | None,
    nodes: np.ndarray,
    free: np.ndarray,
    free_count: int,
    slots: np.ndarray,
) -> int:
    """Take slots out of the table and push them on the free stack; returns its new height."""
    for i in range(slots.size):
        s = slots[i]
        b = bucket_of(nodes[s, KEY], shift, split)
        if heads[b] == s:
            heads[b] = nodes[s, LINK]
        else:
            before = heads[b]
            while nodes[before, LINK] != s:
                before = nodes[before, LINK]
            nodes[before, LINK] = nodes[s, LINK]
        nodes[s, LINK] = NOT_INDEXED
        free[free_count] = s
        free_count += 1
    return free_count
