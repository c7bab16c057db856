"""Nested loops over the keys of a store's rows, in ranges of positions."""

from __future__ import annotations

import numpy as np

from eddyline.kernels.copies import grown
from eddyline.kernels.options import kernel


@kernel
def scan(
    keys: np.ndarray,
    present: np.ndarray,
    base: int,
    cursor: np.ndarray,
    stop: np.ndarray,
    probe_key: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Compare each probe with the rows in [``stop``, ``cursor``), newest first; then ``cursor`` is
    ``stop``.

    Args:
        keys, present: int64 and bool by position - base: a row's key, and whether it has one.

    Returns:
        int64 probe numbers and int64 positions of equal keys.
    """
    found_by = np.empty(64, np.int64)
    found = np.empty(64, np.int64)
    count = 0
    for p in range(probe_key.size):
        key = probe_key[p]
        matches = 0  # counted first, in a loop that the compiler makes fast
        for at in range(stop[p] - base, cursor[p] - base):
            matches += (keys[at] == key) & (present[at] != 0)
        if count + matches > found.size:
            found_by = grown(found_by, count, 2 * (count + matches))
            found = grown(found, count, 2 * (count + matches))
        at = cursor[p] - base
        end = count + matches
        while count < end:
            at -= 1
            if keys[at] == key and present[at]:
                found_by[count] = p
                found[count] = at + base
                count += 1
        cursor[p] = min(cursor[p], stop[p])
    return found_by[:count].copy(), found[:count].copy()
