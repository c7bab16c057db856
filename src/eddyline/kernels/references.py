"""Counts of references, by number of what is referred to."""

from __future__ import annotations

import numpy as np

from eddyline.kernels.options import kernel


@kernel
def refer(references: np.ndarray, numbers: np.ndarray) -> None:
    """Count a reference to each of these that is not negative."""
    for n in numbers:
        if n >= 0:
            references[n] += 1


@kernel
def drop(references: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Count a reference less to each of these that is not negative; returns int64[m], those to
    which there is none any more.
    """
    out = np.empty(numbers.size, np.int64)
    count = 0
    for n in numbers:
        if n >= 0:
            references[n] -= 1
            if references[n] == 0:
                out[count] = n
                count += 1
    return out[:count].copy()
