"""Copies of arrays, value by value.

For an assignment of an array to a slice or a row Numba compiles the text of an error about unequal
lengths, which takes more than a second in a process that compiles its first kernels.
"""

from __future__ import annotations

import numpy as np

from eddyline.kernels.options import bare_inlined, kernel


@kernel
def grown(values: np.ndarray, used: int, capacity: int) -> np.ndarray:
    """A larger copy of an array, whose first ``used`` values are kept."""
    out = np.empty(capacity, values.dtype)
    for i in range(used):
        out[i] = values[i]
    return out


@kernel
def with_room(values: np.ndarray, used: int, more: int) -> np.ndarray:
    """An array with room for ``more`` behind the first ``used``: itself, or a larger copy."""
    if used + more <= values.size:
        return values
    return grown(values, used, 2 * (used + more))


@kernel
def grown_rows(rows: np.ndarray, used: int, capacity: int) -> np.ndarray:
    """The same of an array with two dimensions."""
    out = np.empty((capacity, rows.shape[1]), rows.dtype)
    for i in range(used):
        for j in range(rows.shape[1]):
            out[i, j] = rows[i, j]
    return out


@bare_inlined
def put(values: np.ndarray, out: np.ndarray, at: int) -> None:
    """Write values behind the first ``at``."""
    for i in range(values.size):
        out[at + i] = values[i]


@bare_inlined
def put_row(rows: np.ndarray, number: int, out: np.ndarray, at: int) -> None:
    """Write a row of an array with two dimensions to another one's row."""
    for j in range(rows.shape[1]):
        out[at, j] = rows[number, j]
