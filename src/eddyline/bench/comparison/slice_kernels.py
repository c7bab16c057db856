"""Hash chains per slice of a store's rows, for :mod:`eddyline.bench.comparison.state_slices`."""

from __future__ import annotations

from typing import Any

import numpy as np

from eddyline.kernels.chain_probes import follow
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
