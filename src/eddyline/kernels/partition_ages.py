"""Ages of rows in their partitions, where a chunk's rows are in but count as of their instants.

``rows[at]`` says of a stored row its partition and how many rows of it came before. ``partitions``
has a row for each partition, whose columns COUNT, BEGIN and FRESH are about the chunk: the rows of
one partition lie together in ``order``, in the order in which they came.
"""

from __future__ import annotations

import numpy as np

from eddyline.kernels.chains import KEY, LINK
from eddyline.kernels.copies import grown
from eddyline.kernels.options import inlined, kernel
from eddyline.kernels.prefetch import AHEAD, prefetch

#: Columns of ``rows``: the slot of the partition, and the number of the row in it.
SLOT, NUMBER = 0, 1
#: Columns of ``partitions``: rows so far; the first of the chunk's rows in ``order``, and how many.
COUNT, BEGIN, FRESH = 0, 1, 2


@kernel
def number(
    slot: np.ndarray, rows: np.ndarray, partitions: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Number a chunk's rows in their partitions.

    Args:
        slot: int64[n], their partitions. rows: int64[n, 2], what is stored of them; it is set.

    Returns:
        int64[n], the chunk's rows by partition; int64[n], the place of each there; int64, the
        partitions that have some.
    """
    size = slot.size
    place, touched, parts = np.empty(size, np.int64), np.empty(size, np.int64), 0
    for i in range(size):
        s = slot[i]
        if partitions[s, FRESH] == 0:
            touched[parts] = s
            parts += 1
        place[i] = partitions[s, FRESH]
        rows[i, SLOT] = s
        rows[i, NUMBER] = partitions[s, COUNT] + partitions[s, FRESH]
        partitions[s, FRESH] += 1
    begin = 0
    for j in range(parts):
        s = touched[j]
        partitions[s, BEGIN] = begin
        partitions[s, COUNT] += partitions[s, FRESH]
        begin += partitions[s, FRESH]
    order = np.empty(size, np.int64)
    for i in range(size):
        place[i] += partitions[slot[i], BEGIN]
        order[place[i]] = i
    return order, place, touched[:parts].copy()


@kernel
def put_in_rings(
    position: int, rows: np.ndarray, partitions: np.ndarray, rings: np.ndarray
) -> None:
    """Note where rows are, which are the chunk's or came before it; oldest first.

    Args:
        position: of the first one. rows: int64[n, 2].
        rings: int64[slots, N], positions, plus one, of the rows with a number, modulo N.
    """
    size = rings.shape[1]
    for i in range(len(rows)):
        s, n = rows[i, SLOT], rows[i, NUMBER]
        if partitions[s, COUNT] - partitions[s, FRESH] - n <= size:
            rings[s, n % size] = position + i + 1


@kernel
def pushed_out(
    rows: np.ndarray,
    begin: int,
    end: int,
    order: np.ndarray,
    place: np.ndarray,
    partitions: np.ndarray,
    rings: np.ndarray,
    position: int,
    oldest: int,
    lengths: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rows that the chunk's rows [begin, end) push out of windows of some lengths.

    Args:
        rows: int64[n, 2] of the chunk's rows. order, place: see ``number``.
        rings: of the rows before the chunk. position: of the chunk's first row.
        oldest: position of the oldest row that is there. lengths: int64[k], at most N.

    Returns:
        int64[m] each: numbers of the rows, counted from ``begin``; numbers of the lengths;
        positions of the rows pushed out.
    """
    size, most = rings.shape[1], (end - begin) * lengths.size
    by, window = np.empty(most, np.int64), np.empty(most, np.int64)
    out, count = np.empty(most, np.int64), 0
    for i in range(begin, end):
        s, n = rows[i, SLOT], rows[i, NUMBER]
        before = place[i] - partitions[s, BEGIN]  # rows of its partition in the chunk
        for w in range(lengths.size):
            if lengths[w] <= before:
                pushed = position + order[place[i] - lengths[w]]
            elif lengths[w] <= n:
                pushed = rings[s, (n - lengths[w]) % size] - 1
                if pushed < oldest:
                    continue
            else:
                continue
            by[count], window[count], out[count] = i - begin, w, pushed
            count += 1
    return by[:count].copy(), window[:count].copy(), out[:count].copy()


@inlined
def _age(
    at: int,
    rows: np.ndarray,
    partitions: np.ndarray,
    seqs: np.ndarray,
    seq: int,
    inclusive: bool,
) -> int:
    """The age of the row at a place; see ``within``."""
    s = rows[at, SLOT]
    age = partitions[s, COUNT] - 1 - rows[at, NUMBER]
    if seqs.size and partitions[s, FRESH]:
        low = partitions[s, BEGIN]
        end = high = low + partitions[s, FRESH]
        while low < high:  # the first one that comes later than the probe
            middle = (low + high) // 2
            if seqs[middle] < seq or (inclusive and seqs[middle] == seq):
                low = middle + 1
            else:
                high = middle
        age -= end - low
    return age


@kernel
def within(
    by: np.ndarray,
    found: np.ndarray,
    longest: np.ndarray,
    rows: np.ndarray,
    base: int,
    partitions: np.ndarray,
    seqs: np.ndarray,
    seq: np.ndarray,
    inclusive: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of rows found by probes, those in windows of some lengths, as of the probes' instants.

    Args:
        by, found: int64[p], numbers of the probes and positions of the rows.
        longest: int64[n], by probe.
        rows: int64[m, 2], by position - ``base``.
        seqs: int64, when the chunk's rows came, by partition (``order``); none: windows as of now.
        seq: int64[n]: rows that come before it push others out; ``inclusive``: at it, too.

    Returns:
        ``by`` and ``found`` of these, and their ages: int64.
    """
    out_by, out = np.empty(found.size, np.int64), np.empty(found.size, np.int64)
    ages, count = np.empty(found.size, np.int64), 0
    for i in range(found.size):
        p = by[i]
        age = _age(found[i] - base, rows, partitions, seqs, seq[p], inclusive)
        out_by[count], out[count], ages[count] = p, found[i], age
        count += age < longest[p]
    return out_by[:count].copy(), out[:count].copy(), ages[:count].copy()


@kernel
def follow_within(
    nodes: np.ndarray,
    first: int,
    cursor: np.ndarray,
    key: np.ndarray,
    is_partition: bool,
    longest: np.ndarray,
    rows: np.ndarray,
    base: int,
    partitions: np.ndarray,
    seqs: np.ndarray,
    seq: np.ndarray,
    inclusive: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rows of a hash index with the keys of probes, in windows of some lengths.

    Args:
        nodes, first: the index; see ``chains.py``. cursor: int64[n], where the walks begin.
        is_partition: whether rows with equal keys are of one partition. So each row is older than
            the one found before it, and those behind a row that has left the window are not read.
        longest, rows, base, partitions, seqs, seq, inclusive: see ``within``.

    Returns:
        As ``within``: by probe, newest first.
    """
    size = 2 * cursor.size + 16
    by, found = np.empty(size, np.int64), np.empty(size, np.int64)
    ages, count = np.empty(size, np.int64), 0
    for p in range(cursor.size):
        if p + AHEAD < cursor.size:
            prefetch(nodes, max(cursor[p + AHEAD] - base, 0))
        position = cursor[p]
        while position >= first:
            at = position - base
            if nodes[at, KEY] == key[p]:
                age = _age(at, rows, partitions, seqs, seq[p], inclusive)
                if age < longest[p]:
                    if count == by.size:
                        by = grown(by, count, 2 * count)
                        found, ages = grown(found, count, 2 * count), grown(ages, count, 2 * count)
                    by[count], found[count], ages[count] = p, position, age
                    count += 1
                elif is_partition:
                    break
            position = nodes[at, LINK]
    return by[:count].copy(), found[:count].copy(), ages[:count].copy()
