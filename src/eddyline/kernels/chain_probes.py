"""Probes of a hash index of chains (``chains.py``): the alive rows with a key.

As-of probing. All rows of a chunk are inserted before the operators run, yet a probe may only see
rows that arrived before it. ``probe`` therefore rewinds the heads over the chunk's rows (undoing
the insertions, newest first) and replays them along the probes in ``(ts, seq)`` order: a linear
pass over the new rows, whatever the size of the window. Any number of consumers may do so in turn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eddyline.kernels.chains import KEY, LINK, NOTHING, bucket_of
from eddyline.kernels.copies import grown
from eddyline.kernels.options import inlined, kernel
from eddyline.kernels.prefetch import AHEAD, prefetch


@kernel
def any_alive(
    heads: np.ndarray,
    shift: int,
    split: int | None,
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
            prefetch(heads, bucket_of(probe_key[p + AHEAD], shift, split))
        pos = heads[bucket_of(probe_key[p], shift, split)]
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
    split: int | None,
    nodes: np.ndarray,
    base: int,
    first: int,
    expiry: np.ndarray,
    lifespan: int,
    fifo: bool,
    probe_key: np.ndarray,
    probe_ts: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of probes, ascending, and positions of the rows that ``any_alive`` searches for."""
    found_by = np.empty(2 * probe_key.size + 16, np.int64)
    found = np.empty(found_by.size, np.int64)
    count = 0
    for p in range(probe_key.size):
        if p + AHEAD < probe_key.size:
            prefetch(heads, bucket_of(probe_key[p + AHEAD], shift, split))
        pos = heads[bucket_of(probe_key[p], shift, split)]
        while pos >= first:
            at = pos - base
            alive = expiry[at] + lifespan > probe_ts[p]
            if fifo and not alive:
                break
            if count == found.size:
                found_by = grown(found_by, count, 2 * count)
                found = grown(found, count, 2 * count)
            found_by[count] = p
            found[count] = pos
            count += alive and nodes[at, KEY] == probe_key[p]
            pos = nodes[at, LINK]
    return found_by[:count].copy(), found[:count].copy()


@kernel
def first_of(heads: np.ndarray, shift: int, split: int | None, probe_key: np.ndarray) -> np.ndarray:
    """int64[n], cursors for ``more_alive``: where the chains of the probes' buckets begin."""
    cursor = np.empty(probe_key.size, np.int64)
    for p in range(probe_key.size):
        cursor[p] = heads[bucket_of(probe_key[p], shift, split)]
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
        cursor: int64[n], where each walk continues, in place; NOTHING at its end.
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
                found_by = grown(found_by, count, 2 * count)
                found = grown(found, count, 2 * count)
            found_by[count] = p
            found[count] = pos
            count += alive and nodes[at, KEY] == probe_key[p]
            pos = nodes[at, LINK]
        cursor[p] = pos if pos >= stop else NOTHING
    return found_by[:count].copy(), found[:count].copy()


@kernel
def probe(
    heads: np.ndarray,
    shift: int,
    split: int | None,
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
        heads, shift, split, nodes, base: the index, over the positions in [first, end);
            ``new_rows`` are this chunk's insertions.
        row_ts, row_seq: when each row arrived, by position - base.
        expiry, lifespan: a row has expired at ``expiry[at] + lifespan`` (a base row: its ts and the
            window length; a composite: its exp and 0).
        fifo: rows expire in the order of their positions, so those alive are a suffix.
        death_ts, death_seq: when a row was taken back (empty arrays: rows never are).
        inclusive: whether a probe sees changes with its own (ts, seq). One side of a join does,
            the other does not; so two rows of one event meet exactly once.
        probe_key, probe_ts, probe_seq: the probes in (ts, seq) order.

    Returns:
        int64 probe numbers and int64 positions, in probe order, newest match first.
    """
    probes = probe_key, probe_ts, probe_seq
    index = heads, shift, split, nodes, base
    cursor = newest(*index, new_rows, row_ts, row_seq, inclusive, *probes)
    stop = np.empty(probe_key.size, np.int64)
    oldest = first  # the first row that may be alive
    for p in range(probe_key.size):
        if fifo:
            while oldest < end and expiry[oldest - base] + lifespan <= probe_ts[p]:
                oldest += 1
        stop[p] = oldest
    life = expiry, lifespan, fifo, death_ts, death_seq
    return follow(nodes, base, cursor, stop, *life, inclusive, *probes)


@inlined
def _came(ts: Any, seq: Any, probe_ts: Any, probe_seq: Any, inclusive: Any) -> Any:
    """Whether a probe sees a change of (ts, seq)."""
    return ts < probe_ts or (
        ts == probe_ts and (seq < probe_seq or (seq == probe_seq and inclusive))
    )


@kernel
def newest(
    heads: np.ndarray,
    shift: int,
    split: int | None,
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
        heads[bucket_of(nodes[at, KEY], shift, split)] = nodes[at, LINK]
    cursor = np.empty(probe_key.size, np.int64)
    reached = 0
    for p in range(probe_key.size):
        if p + AHEAD < probe_key.size:
            prefetch(heads, bucket_of(probe_key[p + AHEAD], shift, split))
        ts = probe_ts[p]
        seq = probe_seq[p]
        while reached < new_rows.size:
            pos = new_rows[reached]
            if not _came(row_ts[pos - base], row_seq[pos - base], ts, seq, inclusive):
                break
            heads[bucket_of(nodes[pos - base, KEY], shift, split)] = pos
            reached += 1
        cursor[p] = heads[bucket_of(probe_key[p], shift, split)]
    for i in range(reached, new_rows.size):
        heads[bucket_of(nodes[new_rows[i] - base, KEY], shift, split)] = new_rows[i]
    return cursor


@kernel
def find_again(
    heads: np.ndarray,
    shift: int,
    split: int | None,
    nodes: np.ndarray,
    base: int,
    first: int,
    probe_key: np.ndarray,
    cursor: np.ndarray,
) -> None:
    """After a rebuild: move each cursor to the first row that is not newer, in place."""
    for p in range(cursor.size):
        pos = heads[bucket_of(probe_key[p], shift, split)]
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
    ``cursor`` is the first row of the bucket below ``stop``.
    """
    active = np.empty(cursor.size, np.int64)
    left = 0
    for p in range(cursor.size):
        active[left] = p
        left += cursor[p] >= stop[p]
    capacity = 2 * cursor.size + 16
    found_by = np.empty(capacity, np.int64)
    found = np.empty(capacity, np.int64)
    count = int(np.int64(0))  # with a literal, what it calls is compiled twice
    rounds = 0
    mortal = death_ts.size > 0
    while left > 0:
        if count + left > capacity:
            capacity = 2 * (count + left)
            found_by = grown(found_by, count, capacity)
            found = grown(found, count, capacity)
        still = 0
        for i in range(left):
            if i + AHEAD < left:
                prefetch(nodes, cursor[active[i + AHEAD]] - base)
            p = active[i]
            pos = cursor[p]
            at = pos - base
            below = nodes[at, LINK]
            match = nodes[at, KEY] == probe_key[p]
            if not fifo and match:  # this order: the first part is predictable
                match = expiry[at] + lifespan > probe_ts[p]
            if mortal and match:
                match = not _came(death_ts[at], death_seq[at], probe_ts[p], probe_seq[p], inclusive)
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
