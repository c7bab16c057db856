"""Rows of a store by age slice: nested loops over positions, and hash chains per slice."""

from __future__ import annotations

from typing import Any

import numpy as np

from eddyline.kernels.chains import follow
from eddyline.kernels.options import inlined, kernel

#: Columns of ``nodes``, as in ``eddyline.kernels.chains``.
KEY, LINK = 0, 1
#: Link of a row that no slice holds.
NOT_INDEXED = -2
NOTHING = -1


@inlined
def _bucket(key: Any, shift: Any) -> Any:
    return np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(shift))


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
            found_by = _grown(found_by, 2 * (count + matches))
            found = _grown(found, 2 * (count + matches))
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


@kernel
def link(
    heads: np.ndarray,
    shift: int,
    nodes: np.ndarray,
    base: int,
    start: int,
    end: int,
) -> None:
    """Put the rows at positions [start, end) into a slice, oldest first; their keys are known."""
    for at in range(start - base, end - base):
        if nodes[at, LINK] != NOT_INDEXED:
            b = _bucket(nodes[at, KEY], shift)
            nodes[at, LINK] = heads[b]
            heads[b] = at + base


@kernel
def search(
    heads: np.ndarray,
    shift: int,
    nodes: np.ndarray,
    base: int,
    cursor: np.ndarray,
    stop: np.ndarray,
    probe_key: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Look each probe up in one slice: rows in [``stop``, ``cursor``), newest first; then
    ``cursor`` is ``stop``.

    Returns:
        int64 probe numbers and int64 positions of equal keys.
    """
    begin = np.empty(probe_key.size, np.int64)
    for p in range(probe_key.size):
        pos = heads[_bucket(probe_key[p], shift)]
        while pos >= cursor[p]:
            pos = nodes[pos - base, LINK]
        begin[p] = pos
        cursor[p] = min(cursor[p], stop[p])
    none = np.empty(0, np.int64)
    return follow(
        nodes, base, begin, stop, none, 0, True, none, none, False, probe_key, probe_key, probe_key
    )


@kernel
def _grown(values: np.ndarray, capacity: int) -> np.ndarray:
    out = np.empty(capacity, values.dtype)
    out[: values.size] = values
    return out
