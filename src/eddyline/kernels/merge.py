"""Merging sequences of changes that are each ordered by (ts, seq), and the pairs that they find.

Arguments are plain arrays: tuples of them take about 1 microsecond each per call, which counts in
chunks of few rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eddyline.kernels.options import inlined, kernel


@kernel
def merge_destinations(
    a_ts: np.ndarray, a_seq: np.ndarray, b_ts: np.ndarray, b_seq: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The place of each change of a and of b in the merged sequence; on ties a precedes."""
    to_a = np.empty(a_ts.size, np.int64)
    to_b = np.empty(b_ts.size, np.int64)
    i = 0
    j = 0
    while i < a_ts.size and j < b_ts.size:
        if a_ts[i] < b_ts[j] or (a_ts[i] == b_ts[j] and a_seq[i] <= b_seq[j]):
            to_a[i] = i + j
            i += 1
        else:
            to_b[j] = i + j
            j += 1
    while i < a_ts.size:
        to_a[i] = i + j
        i += 1
    while j < b_ts.size:
        to_b[j] = i + j
        j += 1
    return to_a, to_b


@kernel
def interleaved(a: np.ndarray, b: np.ndarray, to_a: np.ndarray, to_b: np.ndarray) -> np.ndarray:
    """The values of two sequences at the places that ``merge_destinations`` returns."""
    out = np.empty(a.size + b.size, a.dtype)
    for i in range(a.size):
        out[to_a[i]] = a[i]
    for i in range(b.size):
        out[to_b[i]] = b[i]
    return out


@kernel
def merged_order(ts: np.ndarray, seq: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The order that merges sequences standing one behind the other, up to each of ``ends``.

    Returns:
        int64[n] numbers of the changes by (ts, seq); on ties earlier sequences precede.
    """
    order = np.empty(ts.size, np.int64)
    at = np.empty(ends.size, np.int64)
    for i in range(ends.size):
        at[i] = 0 if i == 0 else ends[i - 1]
    for place in range(ts.size):
        best = -1
        for i in range(ends.size):
            if at[i] < ends[i] and (
                best < 0
                or ts[at[i]] < ts[at[best]]
                or (ts[at[i]] == ts[at[best]] and seq[at[i]] < seq[at[best]])
            ):
                best = i
        order[place] = at[best]
        at[best] += 1
    return order


@kernel
def merged_pairs(
    a_ts: np.ndarray,
    a_seq: np.ndarray,
    a_exp: np.ndarray,
    a_sign: np.ndarray,
    a_ids: np.ndarray,
    a_by: np.ndarray,
    a_found_exp: np.ndarray,
    a_found_ids: np.ndarray,
    b_ts: np.ndarray,
    b_seq: np.ndarray,
    b_exp: np.ndarray,
    b_sign: np.ndarray,
    b_ids: np.ndarray,
    b_by: np.ndarray,
    b_found_exp: np.ndarray,
    b_found_ids: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The pairs as one sequence of changes, by the (ts, seq) of the change that found them.

    On ties those of input a precede.

    Args:
        a_ts, a_seq, a_exp: int64[n], the changes of input a. a_sign: int8[n].
        a_ids: int64[k, n], their row ids.
        a_by: int64[m], for each row found by changes of a the number of that change, ascending.
        a_found_exp: int64[m], when the row found expires.
        a_found_ids: int64[l, m], the row's ids, as many as rows of b have.
        b_ts, ...: the same of input b.

    Returns:
        ts, seq, exp (the earlier of both rows'), sign, and int64[k + l, pairs] ids, a's first.
    """
    to_a, to_b = _destinations(a_ts, a_seq, a_by, b_ts, b_seq, b_by)
    count = to_a.size + to_b.size
    width = a_ids.shape[0]
    ts = np.empty(count, np.int64)
    seq = np.empty(count, np.int64)
    exp = np.empty(count, np.int64)
    sign = np.empty(count, np.int8)
    ids = np.empty((width + b_ids.shape[0], count), np.int64)
    a_out, b_out = ids[:width], ids[width:]
    out = (ts, seq, exp, sign)
    _place(to_a, a_by, (a_ts, a_seq, a_exp, a_sign), a_found_exp, out)
    _place(to_b, b_by, (b_ts, b_seq, b_exp, b_sign), b_found_exp, out)
    _place_ids(to_a, a_by, a_ids, a_found_ids, a_out, b_out)
    _place_ids(to_b, b_by, b_ids, b_found_ids, b_out, a_out)
    return ts, seq, exp, sign, ids


@kernel
def _destinations(
    a_ts: np.ndarray,
    a_seq: np.ndarray,
    a_by: np.ndarray,
    b_ts: np.ndarray,
    b_seq: np.ndarray,
    b_by: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The places in the merged sequence of the pairs of changes of a and of b."""
    to_a = np.empty(a_by.size, np.int64)
    to_b = np.empty(b_by.size, np.int64)
    i = 0
    j = 0
    while i < a_by.size and j < b_by.size:
        a = a_by[i]
        b = b_by[j]
        if a_ts[a] < b_ts[b] or (a_ts[a] == b_ts[b] and a_seq[a] <= b_seq[b]):
            to_a[i] = i + j
            i += 1
        else:
            to_b[j] = i + j
            j += 1
    while i < a_by.size:
        to_a[i] = i + j
        i += 1
    while j < b_by.size:
        to_b[j] = i + j
        j += 1
    return to_a, to_b


@kernel
def _place(
    to: np.ndarray,
    by: np.ndarray,
    changes: tuple[np.ndarray, ...],
    found_exp: np.ndarray,
    out: tuple[np.ndarray, ...],
) -> None:
    """Write ts, seq, exp and sign of the pairs of one input's changes."""
    ts, seq, exp, sign = changes
    out_ts, out_seq, out_exp, out_sign = out
    for i in range(to.size):
        out_ts[to[i]] = ts[by[i]]
        out_seq[to[i]] = seq[by[i]]
        out_exp[to[i]] = min(exp[by[i]], found_exp[i])
        out_sign[to[i]] = sign[by[i]]


@kernel
def _place_ids(
    to: np.ndarray,
    by: np.ndarray,
    ids: np.ndarray,
    found_ids: np.ndarray,
    out: np.ndarray,
    out_found: np.ndarray,
) -> None:
    for lane in range(ids.shape[0]):
        for i in range(to.size):
            out[lane, to[i]] = ids[lane, by[i]]
    for lane in range(found_ids.shape[0]):
        for i in range(to.size):
            out_found[lane, to[i]] = found_ids[lane, i]


@inlined
def _level(age: Any, bounds: Any, hints: Any, shift: Any) -> Any:
    """The first level whose bound is above ``age``."""
    bucket = min(age >> shift, hints.size - 2)
    low = hints[bucket]
    high = hints[bucket + 1]
    while low < high:
        middle = (low + high) >> 1
        if bounds[middle] <= age:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def merged_levels(
    a_ts: np.ndarray,
    a_seq: np.ndarray,
    a_ids: np.ndarray,
    a_by: np.ndarray,
    a_found_ids: np.ndarray,
    a_found_ts: np.ndarray,
    a_bounds: np.ndarray,
    a_hints: np.ndarray,
    a_shift: int,
    b_ts: np.ndarray,
    b_seq: np.ndarray,
    b_ids: np.ndarray,
    b_by: np.ndarray,
    b_found_ids: np.ndarray,
    b_found_ts: np.ndarray,
    b_bounds: np.ndarray,
    b_hints: np.ndarray,
    b_shift: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Pairs as one sequence, as in ``merged_pairs``, with the level of each: the smallest of the
    nested windows that contains it. Pairs outside the largest are left out.

    Args:
        a_ts, a_seq, a_ids: int64[n], new rows of input a. a_by: int64[m], for each row found by
            them the number of the one that did, ascending. a_found_ids, a_found_ts: int64[m].
        a_bounds: int64[k], ascending: how old the rows that a finds may be, by level.
        a_hints: int64[t + 2]: the level of a row whose age is at least ``b << a_shift`` is at least
            ``a_hints[b]``; of any younger one at most. Ages beyond count as the last but one's.
        b_ts, ...: the same of input b.

    Returns:
        ts, seq, int64[2, pairs] ids, int64[2, pairs] timestamps of both rows, and levels.
    """
    ts, seq, ids, instants, level = _room_for_pairs(a_by.size + b_by.size)
    to = i = j = 0
    while i < a_by.size or j < b_by.size:
        a_first = j == b_by.size
        if i < a_by.size and j < b_by.size:
            a, b = a_by[i], b_by[j]
            a_first = a_ts[a] < b_ts[b] or (a_ts[a] == b_ts[b] and a_seq[a] <= b_seq[b])
        if a_first:
            a, found_ts = a_by[i], a_found_ts[i]
            own = _level(a_ts[a] - found_ts, a_bounds, a_hints, a_shift)
            ts[to], seq[to], level[to] = a_ts[a], a_seq[a], own
            ids[0, to], ids[1, to] = a_ids[a], a_found_ids[i]
            instants[0, to], instants[1, to] = a_ts[a], found_ts
            to += own < a_bounds.size
            i += 1
        else:
            b, found_ts = b_by[j], b_found_ts[j]
            own = _level(b_ts[b] - found_ts, b_bounds, b_hints, b_shift)
            ts[to], seq[to], level[to] = b_ts[b], b_seq[b], own
            ids[0, to], ids[1, to] = b_found_ids[j], b_ids[b]
            instants[0, to], instants[1, to] = found_ts, b_ts[b]
            to += own < b_bounds.size
            j += 1
    return ts[:to], seq[:to], ids[:, :to], instants[:, :to], level[:to]


@kernel
def _room_for_pairs(
    count: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Arrays as ``merged_levels`` returns them."""
    times = np.empty(count, np.int64), np.empty(count, np.int64)
    pairs = np.empty((2, count), np.int64), np.empty((2, count), np.int64)
    return times[0], times[1], pairs[0], pairs[1], np.empty(count, np.int64)
