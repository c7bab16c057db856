"""How many different values there are among many: HyperLogLog registers.

A hash falls into one of 2**12 registers by its first bits; the register keeps the longest run of
zeros that the others began with.

Source: Flajolet, Fusy, Gandouet and Meunier 2007, "HyperLogLog".
"""

from __future__ import annotations

import numpy as np

from eddyline.kernels.options import kernel

#: Bits of a hash that choose the register, and how many registers there are.
PLACE_BITS = 12
REGISTERS = 1 << PLACE_BITS


@kernel
def count_hashes(registers: np.ndarray, hashes: np.ndarray) -> None:
    """Take int64[n] hashes into uint8[REGISTERS], in place."""
    for i in range(hashes.size):
        h = np.uint64(hashes[i])
        place = h >> np.uint64(64 - PLACE_BITS)
        rest = (h << np.uint64(PLACE_BITS)) | np.uint64(1 << (PLACE_BITS - 1))
        rank = np.uint8(1)
        while rest < np.uint64(1 << 63):
            rest <<= np.uint64(1)
            rank += np.uint8(1)
        if rank > registers[place]:
            registers[place] = rank
