"""Merging sequences of changes that are each ordered by (ts, seq)."""

from __future__ import annotations

import numpy as np

from eddyline.kernels.options import kernel


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
