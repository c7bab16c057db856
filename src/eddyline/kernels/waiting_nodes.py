"""A heap of nodes by the instants that they wait for, the first one at 0."""

from __future__ import annotations

import numpy as np

from eddyline.kernels.options import bare

#: An instant that a node waits for.
WAITING = np.dtype([("at", np.int64), ("node", np.int64)], align=True)


@bare
def push(heap: np.ndarray, size: int, at: int, n: int) -> int:
    """Let a node wait for an instant; there is room. Returns the new size."""
    i = size
    while i:
        above = (i - 1) >> 1
        if heap[above].at <= at:
            break
        heap[i] = heap[above]
        i = above
    heap[i].at = at
    heap[i].node = n
    return size + 1


@bare
def pop(heap: np.ndarray, size: int) -> int:
    """Remove the first instant; returns the new size."""
    size -= 1
    at, n = heap[size].at, heap[size].node
    i = 0
    while 2 * i + 1 < size:
        below = 2 * i + 1
        if below + 1 < size and heap[below + 1].at < heap[below].at:
            below += 1
        if at <= heap[below].at:
            break
        heap[i] = heap[below]
        i = below
    heap[i].at = at
    heap[i].node = n
    return size
