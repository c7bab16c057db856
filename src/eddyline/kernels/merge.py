"""Merging sequences of changes that are each ordered by (ts, seq)."""

from __future__ import annotations

import numpy as np

from eddyline.kernels.options import kernel


@kernel
def merge_destinations(
    a_ts: np.ndarray, a_seq: np.ndarray, b_ts: np.ndarray, b_seq: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Where each change of a and of b stands in the merged sequence; on ties a comes first."""
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
