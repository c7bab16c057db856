"""A hash index as chains over the positions of a row store, newest first.

``heads[bucket]`` is the newest position of a bucket; ``nodes[pos - base]`` holds a row's key and
the next older position of its bucket, side by side for the sake of the cache. Positions only grow,
so a chain may be left at the first position below ``first``: everything behind it has been
dropped. Positions fall along a chain, also where rows are linked into it later than they came, and
rows may be taken out of it again: what feedback between operators asks for.

As-of probing. All rows of a chunk are inserted before the operators run, yet a probe may only see
rows that came before it. ``probe`` therefore rewinds the heads over the chunk's rows (undoing the
insertions, newest first) and replays them along the probes in ``(ts, seq)`` order: a linear pass
over the new rows, whatever the size of the window. Any number of consumers may do so in turn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eddyline.kernels.options import inlined, kernel
from eddyline.kernels.prefetch import AHEAD, prefetch

#: Columns of ``nodes``.
KEY, LINK = 0, 1
#: Link of a row that is not in the index.
NOT_INDEXED = -2
#: When a row that nobody has taken back will have been taken back.
FOREVER = 1 << 62
#: End of a chain.
NOTHING = -1


@inlined
def _bucket(key: Any, shift: Any) -> Any:
    hashed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((hashed >> np.uint64(1)) >> np.uint64(shift - 1))  # shift is 64 for one bucket


@kernel
def insert(
    heads: np.ndarray,
    shift: int,
    nodes: np.ndarray,
    base: int,
    rows: np.ndarray,
    keys: np.ndarray,
) -> None:
    """Put ``rows`` (int64 positions, oldest first) with their keys into the chains."""
    for i in range(rows.size):
        at = rows[i] - base
        b = _bucket(keys[i], shift)
        nodes[at, KEY] = keys[i]
        nodes[at, LINK] = heads[b]
        heads[b] = rows[i]


@kernel
def link(
    heads: np.ndarray,
    shift: int,
    nodes: np.ndarray,
    base: int,
    rows: np.ndarray,
    keys: np.ndarray,
    most_steps: int,
) -> int:
    """Put ``rows`` (int64 positions, in any order) where they belong in chains with newer ones.

    The way to a row's place is over what is newer in its bucket. After ``most_steps`` it gives up.

    Returns:
        How many rows have been put in.
    """
    steps = 0
    for i in range(rows.size):
        if steps > most_steps:
            return i
        at = rows[i] - base
        b = _bucket(keys[i], shift)
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
    nodes: np.ndarray,
    base: int,
    first: int,
    keys: np.ndarray,
) -> np.ndarray:
    """Unlink all rows with these keys; returns their positions, int64[m]."""
    out = np.empty(16, np.int64)
    count = 0
    for i in range(keys.size):
        b = _bucket(keys[i], shift)
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
                    out = _grown(out, count, 2 * count)
                out[count] = pos
                count += 1
            pos = below
    return out[:count].copy()


@kernel
def any_alive(
    heads: np.ndarray,
    shift: int,
    nodes: np.ndarray,
    base: int,
    first: int,
    expiry: np.ndarray,
    lifespan: int,
    fifo: bool,
    probe_key: np.ndarray,
    probe_ts: np.ndarray,
) -> np.ndarray:
    """bool[n]: whether there is a row with each probe's key that expires after the probe's instant.

    Rows of later instants count. Args: as of ``probe``.
    """
    out = np.zeros(probe_key.size, np.bool_)
    for p in range(probe_key.size):
        if p + AHEAD < probe_key.size:
            prefetch(heads, _bucket(probe_key[p + AHEAD], shift))
        pos = heads[_bucket(probe_key[p], shift)]
        while pos >= first:
            at = pos - base
            alive = expiry[at] + lifespan > probe_ts[p]
            if fifo and not alive:
                break
            if alive and nodes[at, KEY] == probe_key[p]:
                out[p] = True
                break
            pos = nodes[at, LINK]
    return out


@kernel
def all_alive(
    heads: np.ndarray,
    shift: int,
    nodes: np.ndarray,
    base: int,
    first: int,
    expiry: np.ndarray,
    lifespan: int,
    fifo: bool,
    probe_key: np.ndarray,
    probe_ts: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of probes, ascending, and positions of the rows that ``any_alive`` is about."""
    found_by = np.empty(2 * probe_key.size + 16, np.int64)
    found = np.empty(found_by.size, np.int64)
    count = 0
    for p in range(probe_key.size):
        if p + AHEAD < probe_key.size:
            prefetch(heads, _bucket(probe_key[p + AHEAD], shift))
        pos = heads[_bucket(probe_key[p], shift)]
        while pos >= first:
            at = pos - base
            alive = expiry[at] + lifespan > probe_ts[p]
            if fifo and not alive:
                break
            if count == found.size:
                found_by = _grown(found_by, count, 2 * count)
                found = _grown(found, count, 2 * count)
            found_by[count] = p
            found[count] = pos
            count += alive and nodes[at, KEY] == probe_key[p]
            pos = nodes[at, LINK]
    return found_by[:count].copy(), found[:count].copy()


@kernel
def first_of(heads: np.ndarray, shift: int, probe_key: np.ndarray) -> np.ndarray:
    """int64[n], cursors for ``more_alive``: where the chains of the probes' buckets begin."""
    cursor = np.empty(probe_key.size, np.int64)
    for p in range(probe_key.size):
        cursor[p] = heads[_bucket(probe_key[p], shift)]
    return cursor


@kernel
def more_alive(
    nodes: np.ndarray,
    base: int,
    expiry: np.ndarray,
    lifespan: int,
    fifo: bool,
    probe_key: np.ndarray,
    probe_ts: np.ndarray,
    cursor: np.ndarray,
    stop: int,
    most: int,
) -> tuple[np.ndarray, np.ndarray]:
    """``all_alive``, but only the next ``most`` rows of each probe, newest first.

    Args:
        cursor: int64[n], where each walk goes on, in place; NOTHING where it is over.
        stop: position of the oldest row of interest.
    """
    found_by = np.empty(2 * probe_key.size + 16, np.int64)
    found = np.empty(found_by.size, np.int64)
    count = 0
    for p in range(probe_key.size):
        pos = cursor[p]
        enough = count + most
        while pos >= stop and count < enough:
            at = pos - base
            alive = expiry[at] + lifespan > probe_ts[p]
            if fifo and not alive:
                pos = NOTHING
                break
            if count == found.size:
                found_by = _grown(found_by, count, 2 * count)
                found = _grown(found, count, 2 * count)
            found_by[count] = p
            found[count] = pos
            count += alive and nodes[at, KEY] == probe_key[p]
            pos = nodes[at, LINK]
        cursor[p] = pos if pos >= stop else NOTHING
    return found_by[:count].copy(), found[:count].copy()


@kernel
def reinsert_all(
    heads: np.ndarray,
    shift: int,
    nodes: np.ndarray,
    base: int,
    first: int,
    end: int,
) -> None:
    """Rebuild the chains over the positions in [first, end) that are in the index."""
    for at in range(first - base, end - base):
        if nodes[at, LINK] != NOT_INDEXED:
            b = _bucket(nodes[at, KEY], shift)
            nodes[at, LINK] = heads[b]
            heads[b] = at + base


@kernel
def probe(
    heads: np.ndarray,
    shift: int,
    nodes: np.ndarray,
    base: int,
    first: int,
    end: int,
    new_rows: np.ndarray,
    row_ts: np.ndarray,
    row_seq: np.ndarray,
    expiry: np.ndarray,
    lifespan: int,
    fifo: bool,
    death_ts: np.ndarray,
    death_seq: np.ndarray,
    inclusive: bool,
    probe_key: np.ndarray,
    probe_ts: np.ndarray,
    probe_seq: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Matches of each probe among the rows alive at its instant.

    Args:
        heads, shift, nodes, base: the index, over the positions in [first, end); ``new_rows`` are
            this chunk's insertions.
        row_ts, row_seq: when each row came, by position - base.
        expiry, lifespan: a row is gone at ``expiry[at] + lifespan`` (a base row: its ts and the
            window length; a composite: its exp and 0).
        fifo: rows expire in the order of their positions, so those alive are a suffix.
        death_ts, death_seq: when a row was taken back (empty arrays: rows never are).
        inclusive: whether a probe sees changes with its own (ts, seq). One side of a join does,
            the other does not; so two rows of one event meet exactly once.
        probe_key, probe_ts, probe_seq: the probes in (ts, seq) order.

    Returns:
        int64 probe numbers and int64 positions, in probe order, newest match first.
    """
    cursor = newest(
        heads,
        shift,
        nodes,
        base,
        new_rows,
        row_ts,
        row_seq,
        inclusive,
        probe_key,
        probe_ts,
        probe_seq,
    )
    stop = np.empty(probe_key.size, np.int64)
    oldest = first  # the first row that may be alive
    for p in range(probe_key.size):
        if fifo:
            while oldest < end and expiry[oldest - base] + lifespan <= probe_ts[p]:
                oldest += 1
        stop[p] = oldest
    return follow(
        nodes,
        base,
        cursor,
        stop,
        expiry,
        lifespan,
        fifo,
        death_ts,
        death_seq,
        inclusive,
        probe_key,
        probe_ts,
        probe_seq,
    )


@kernel
def newest(
    heads: np.ndarray,
    shift: int,
    nodes: np.ndarray,
    base: int,
    new_rows: np.ndarray,
    row_ts: np.ndarray,
    row_seq: np.ndarray,
    inclusive: bool,
    probe_key: np.ndarray,
    probe_ts: np.ndarray,
    probe_seq: np.ndarray,
) -> np.ndarray:
    """int64[n]: where the chain of each probe's bucket begins at the probe's instant.

    Args: as of ``probe``.
    """
    for i in range(new_rows.size - 1, -1, -1):
        at = new_rows[i] - base
        heads[_bucket(nodes[at, KEY], shift)] = nodes[at, LINK]
    cursor = np.empty(probe_key.size, np.int64)
    reached = 0
    for p in range(probe_key.size):
        if p + AHEAD < probe_key.size:
            prefetch(heads, _bucket(probe_key[p + AHEAD], shift))
        ts = probe_ts[p]
        seq = probe_seq[p]
        while reached < new_rows.size:
            pos = new_rows[reached]
            t = row_ts[pos - base]
            s = row_seq[pos - base]
            if t > ts or (t == ts and (s > seq or (s == seq and not inclusive))):
                break
            heads[_bucket(nodes[pos - base, KEY], shift)] = pos
            reached += 1
        cursor[p] = heads[_bucket(probe_key[p], shift)]
    for i in range(reached, new_rows.size):
        heads[_bucket(nodes[new_rows[i] - base, KEY], shift)] = new_rows[i]
    return cursor


@kernel
def find_again(
    heads: np.ndarray,
    shift: int,
    nodes: np.ndarray,
    base: int,
    first: int,
    probe_key: np.ndarray,
    cursor: np.ndarray,
) -> None:
    """After the chains were made anew: let each probe go on behind the rows newer than ``cursor``,
    in place.
    """
    for p in range(cursor.size):
        pos = heads[_bucket(probe_key[p], shift)]
        while pos > cursor[p] and pos >= first:
            pos = nodes[pos - base, LINK]
        cursor[p] = pos


@kernel
def follow(
    nodes: np.ndarray,
    base: int,
    cursor: np.ndarray,
    stop: np.ndarray,
    expiry: np.ndarray,
    lifespan: int,
    fifo: bool,
    death_ts: np.ndarray,
    death_seq: np.ndarray,
    inclusive: bool,
    probe_key: np.ndarray,
    probe_ts: np.ndarray,
    probe_seq: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Walk all chains from ``cursor`` down to ``stop``, one step of every probe per round.

    So the cache misses of different probes overlap: with large windows each step is one. Afterwards
    ``cursor`` is where each walk would go on, at the first row of its bucket below ``stop``.
    """
    active = np.empty(cursor.size, np.int64)
    left = 0
    for p in range(cursor.size):
        active[left] = p
        left += cursor[p] >= stop[p]
    capacity = 2 * cursor.size + 16
    found_by = np.empty(capacity, np.int64)
    found = np.empty(capacity, np.int64)
    count = 0
    rounds = 0
    mortal = death_ts.size > 0
    while left > 0:
        if count + left > capacity:
            capacity = 2 * (count + left)
            found_by = _grown(found_by, count, capacity)
            found = _grown(found, count, capacity)
        still = 0
        for i in range(left):
            if i + AHEAD < left:
                prefetch(nodes, cursor[active[i + AHEAD]] - base)
            p = active[i]
            pos = cursor[p]
            at = pos - base
            below = nodes[at, LINK]
            match = nodes[at, KEY] == probe_key[p]
            if not fifo and match:  # in this order: the first part can be predicted
                match = expiry[at] + lifespan > probe_ts[p]
            if mortal and match:
                d = death_ts[at]
                match = d > probe_ts[p] or (
                    d == probe_ts[p]
                    and (
                        death_seq[at] > probe_seq[p]
                        or (death_seq[at] == probe_seq[p] and not inclusive)
                    )
                )
            found_by[count] = p
            found[count] = pos
            count += match
            cursor[p] = below
            active[still] = p
            still += below >= stop[p]
        left = still
        rounds += 1
    if rounds <= 1:
        return found_by[:count].copy(), found[:count].copy()
    return _by_probe(found_by, found, count, cursor.size)


@kernel
def _by_probe(
    found_by: np.ndarray, found: np.ndarray, count: int, probes: int
) -> tuple[np.ndarray, np.ndarray]:
    """A stable counting sort of the matches by the number of their probe."""
    place = np.zeros(probes + 1, np.int64)
    for i in range(count):
        place[found_by[i] + 1] += 1
    for p in range(probes):
        place[p + 1] += place[p]
    out_by = np.empty(count, np.int64)
    out = np.empty(count, np.int64)
    for i in range(count):
        p = found_by[i]
        out_by[place[p]] = p
        out[place[p]] = found[i]
        place[p] += 1
    return out_by, out


@kernel
def _grown(values: np.ndarray, used: int, capacity: int) -> np.ndarray:
    out = np.empty(capacity, values.dtype)
    out[:used] = values[:used]
    return out


@kernel
def bury(
    heads: np.ndarray,
    shift: int,
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
    """Note for each negative tuple when the row that it takes back died.

    The row is the newest one still alive with the same key and identity and a position below
    ``before[i]``. ``identity`` is int64[capacity, k] by place, ``dead_identity`` int64[n, k].

    Returns:
        int64[n]: the positions of the rows taken back, -1 where there was none.
    """
    out = np.empty(dead_key.size, np.int64)
    for i in range(dead_key.size):
        out[i] = NOTHING
        pos = heads[_bucket(dead_key[i], shift)]
        while pos >= first:
            at = pos - base
            same = pos < before[i] and nodes[at, KEY] == dead_key[i] and death_ts[at] == FOREVER
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
def match_pairs(left_key: np.ndarray, right_key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All pairs (a, b) with ``left_key[a] == right_key[b]``: a one-time hash join."""
    bits = 1
    while (1 << bits) < right_key.size + 1:
        bits += 1
    shift = 64 - bits
    heads = np.full(1 << bits, NOTHING, np.int64)
    link = np.empty(right_key.size, np.int64)
    for j in range(right_key.size):
        bucket = _bucket(right_key[j], shift)
        link[j] = heads[bucket]
        heads[bucket] = j
    count = 0
    for a in range(left_key.size):
        b = heads[_bucket(left_key[a], shift)]
        while b >= 0:
            count += right_key[b] == left_key[a]
            b = link[b]
    left = np.empty(count, np.int64)
    right = np.empty(count, np.int64)
    count = 0
    for a in range(left_key.size):
        b = heads[_bucket(left_key[a], shift)]
        while b >= 0:
            if right_key[b] == left_key[a]:
                left[count] = a
                right[count] = b
                count += 1
            b = link[b]
    return left, right
