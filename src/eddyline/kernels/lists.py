"""Lists in columns: offsets into their elements."""

from __future__ import annotations

import numpy as np

from eddyline.kernels.hashing import mix
from eddyline.kernels.options import kernel


@kernel
def ranges(starts: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """int64 starts[n], int64 offsets[n + 1] from 0 -> int64[offsets[n]]: consecutive numbers, those
    at ``offsets[i]`` beginning with ``starts[i]``.
    """
    out = np.empty(offsets[starts.size], np.int64)
    for i in range(starts.size):
        shift = starts[i] - offsets[i]
        for at in range(offsets[i], offsets[i + 1]):
            out[at] = at + shift
    return out


@kernel
def hash_lists(offsets: np.ndarray, elements: np.ndarray) -> np.ndarray:
    """Hashes of n lists: int64 offsets[n + 1] from 0, int64 hashes of the elements -> int64[n]."""
    out = np.empty(offsets.size - 1, np.int64)
    for i in range(out.size):
        h = mix(offsets[i + 1] - offsets[i])
        for at in range(offsets[i], offsets[i + 1]):
            h = mix(h * np.int64(31) + elements[at])
        out[i] = h
    return out


@kernel
def all_in_lists(offsets: np.ndarray, truths: np.ndarray) -> np.ndarray:
    """bool[n]: whether all elements of each list are true; int64 offsets[n + 1], bool truths."""
    out = np.ones(offsets.size - 1, np.bool_)
    for i in range(out.size):
        for at in range(offsets[i], offsets[i + 1]):
            out[i] &= truths[at]
    return out


@kernel
def first_in_lists(offsets: np.ndarray, truths: np.ndarray) -> np.ndarray:
    """int64[n]: the first true element of each list, by its number among all; -1: none."""
    out = np.full(offsets.size - 1, -1, np.int64)
    for i in range(out.size):
        for at in range(offsets[i], offsets[i + 1]):
            if truths[at]:
                out[i] = at
                break
    return out
