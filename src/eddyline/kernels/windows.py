"""Windows that count rows by partition."""

from __future__ import annotations

import numpy as np

from eddyline.kernels.options import kernel


@kernel
def push_out(slot: np.ndarray, ids: np.ndarray, last: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Add rows to the windows of their partitions.

    Args:
        slot, ids: int64[n], the partition and the id of each row.
        last: int64[slots, N], each partition's last N ids as a ring. seen: rows so far, by slot.

    Returns:
        int64[n]: the id that each row pushes out, -1 for none.
    """
    size = last.shape[1]
    out = np.empty(slot.size, np.int64)
    for i in range(slot.size):
        s = slot[i]
        k = seen[s] % size
        out[i] = last[s, k]
        last[s, k] = ids[i]
        seen[s] += 1
    return out
