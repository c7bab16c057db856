"""BIT_AND, BIT_OR and BIT_XOR over signed rows: a kernel as in ``aggregates.py``."""

from __future__ import annotations

import numpy as np

from eddyline.kernels.aggregates import SignedRows
from eddyline.kernels.options import kernel

BITS = 64
AND, OR, XOR = 0, 1, 2


@kernel
def run_bits(
    rows: SignedRows,
    valid: np.ndarray,
    value: np.ndarray,
    what: int,
    count: np.ndarray,
    ones: np.ndarray,
    reported: np.ndarray,
    reported_valid: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """An aggregate of int64 -> new, new_valid, old, old_valid.

    ``ones`` is int64[slots, BITS]: how many values have each bit; of XOR int64[slots, 1], itself.
    """
    slot, sign, emit = rows.slot, rows.sign, rows.emit
    m = emit.sum()
    new = np.zeros(m, np.int64)
    new_valid = np.empty(m, np.bool_)
    old = np.empty(m, np.int64)
    old_valid = np.empty(m, np.bool_)
    j = 0
    for i in range(slot.size):
        s = slot[i]
        if valid[i]:
            count[s] += sign[i]
            if what == XOR:
                ones[s, 0] ^= value[i]
            else:
                for b in range(BITS):
                    ones[s, b] += sign[i] * ((value[i] >> b) & 1)
        if emit[i]:
            old[j], old_valid[j] = reported[s], reported_valid[s]
            new_valid[j] = count[s] > 0
            if what == XOR:
                new[j] = ones[s, 0]
            elif new_valid[j]:
                least = count[s] if what == AND else 1
                bits = np.int64(0)
                for b in range(BITS):
                    if ones[s, b] >= least:
                        bits |= np.int64(1) << b
                new[j] = bits
            reported[s], reported_valid[s] = new[j], new_valid[j]
            j += 1
    return new, new_valid, old, old_valid
