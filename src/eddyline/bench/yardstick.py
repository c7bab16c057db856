"""The yardstick: a bare Numba kernel that does nothing but the two-way window join.

It says how fast this machine could join if nothing else were to be done: arrays in, pairs of row
numbers out. It indexes each side as the engine does, by hash chains with the newest row first.
"""

from __future__ import annotations

import time
from typing import Any

import numba
import numpy as np

from eddyline.bench.measure import Figure, Sample, repeat
from eddyline.bench.workload import BenchLoad


@numba.njit(inline="always")
def _slot(key: Any, bits: int) -> Any:
    """Fibonacci hashing: the top ``bits`` of the key times 2**64 / golden ratio."""
    return (np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - bits)


@numba.njit(cache=True, nogil=True)
def join(
    ts_a: Any, keys_a: Any, ts_b: Any, keys_b: Any, bits: int, window_us: int, pairs: Any
) -> int:
    """Write the pairs ``(row of a, row of b)`` with equal keys and ``|ts_a - ts_b| < window_us``.

    Rows are taken in time order; each probes the other side's hash chain, newest first, up to the
    first row that has left the window.

    Args:
        ts_a: timestamps of stream a, ascending.
        keys_a: its keys, any int64.
        ts_b: timestamps of stream b, ascending.
        keys_b: its keys.
        bits: the hash tables have ``2 ** bits`` slots.
        window_us: length of the window.
        pairs: int64 array of shape (capacity, 2); nothing checks that it is large enough.

    Returns:
        How many pairs there are.
    """
    newest_a = np.full(1 << bits, -1, np.int64)
    newest_b = np.full(1 << bits, -1, np.int64)
    older_a = np.empty(len(ts_a), np.int64)
    older_b = np.empty(len(ts_b), np.int64)
    n = i = j = 0
    while i < len(ts_a) or j < len(ts_b):
        if j == len(ts_b) or (i < len(ts_a) and ts_a[i] <= ts_b[j]):
            slot = _slot(keys_a[i], bits)
            row = newest_b[slot]
            while row >= 0 and ts_a[i] - ts_b[row] < window_us:
                if keys_b[row] == keys_a[i]:
                    pairs[n, 0] = i
                    pairs[n, 1] = row
                    n += 1
                row = older_b[row]
            older_a[i] = newest_a[slot]
            newest_a[slot] = i
            i += 1
        else:
            slot = _slot(keys_b[j], bits)
            row = newest_a[slot]
            while row >= 0 and ts_b[j] - ts_a[row] < window_us:
                if keys_a[row] == keys_b[j]:
                    pairs[n, 0] = row
                    pairs[n, 1] = j
                    n += 1
                row = older_a[row]
            older_b[j] = newest_b[slot]
            newest_b[slot] = j
            j += 1
    return n


def bare_kernel() -> list[Figure]:
    """Measure the kernel on the standard workload."""
    load = BenchLoad()
    arrays = (load.timestamps(0), load.key_numbers(0), load.timestamps(1), load.key_numbers(1))
    bits = (2 * load.window_rows).bit_length()
    pairs = np.empty((4 * load.rows, 2), np.int64)

    def run() -> Sample:
        begin = time.perf_counter()
        n = join(*arrays, bits, load.window_us, pairs)
        return Sample(2 * load.rows, n, time.perf_counter() - begin)

    return [repeat("bare kernel", run, note="arrays in, row numbers out")]
