"""The order of rows by instants: two int64 each, such as ``ts`` and ``seq``.

Rows of a stream are nearly always in order already; others differ in few of the 64 bits, by which
they are sorted digit by digit (least significant first), without comparisons.
"""

from __future__ import annotations

import numpy as np

from eddyline.kernels.options import kernel

#: Of a digit.
_BITS = 11


@kernel
def sorted_by_digits(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """int64[n]: the numbers of rows by (``first``, ``second``); equal ones as they come."""
    order = np.arange(first.size)
    by_first, by_both = _ordered_by(first, second)
    if by_both:
        return order
    if not by_first:
        found = _digits(first, order)
        if _ties_in_order(first, second, found):
            return found
    return _digits(first, _digits(second, order))


@kernel
def _ordered_by(first: np.ndarray, second: np.ndarray) -> tuple[bool, bool]:
    """Whether rows are in order by ``first``, and by both."""
    by_both = True
    for i in range(1, first.size):
        if first[i] < first[i - 1]:
            return False, False
        by_both &= first[i] > first[i - 1] or second[i] >= second[i - 1]
    return True, by_both


@kernel
def _ties_in_order(first: np.ndarray, second: np.ndarray, order: np.ndarray) -> bool:
    """Whether rows with the same ``first`` are in order by ``second``."""
    for i in range(1, order.size):
        a, b = order[i - 1], order[i]
        if first[a] == first[b] and second[a] > second[b]:
            return False
    return True


@kernel
def _digits(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    """An order of rows, sorted by their values; equal ones as they were."""
    least, most = values[0], values[0]
    for i in range(values.size):
        least, most = min(least, values[i]), max(most, values[i])
    base, left = np.uint64(least), np.uint64(most) - np.uint64(least)
    shift, mask = np.uint64(0), np.uint64((1 << _BITS) - 1)
    starts = np.empty((1 << _BITS) + 1, np.int64)
    order, out = order.copy(), np.empty(order.size, np.int64)
    while left:
        for d in range(starts.size):
            starts[d] = 0
        for i in range(values.size):
            starts[np.int64((np.uint64(values[i]) - base) >> shift & mask) + 1] += 1
        for d in range(1 << _BITS):
            starts[d + 1] += starts[d]
        for i in range(order.size):
            digit = np.int64((np.uint64(values[order[i]]) - base) >> shift & mask)
            out[starts[digit]] = order[i]
            starts[digit] += 1
        order, out = out, order
        left >>= np.uint64(_BITS)
        shift += np.uint64(_BITS)
    return order
