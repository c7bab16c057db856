"""Numbers of different values, counted in bounded memory."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.kernels.sketches import REGISTERS, count_hashes
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.keys import group_hashes

_ALPHA: Final = 0.7213 / (1 + 1.079 / REGISTERS)


def new_registers() -> Array:
    """uint8[4096] that have counted nothing; the larger of two of them have counted both."""
    return np.zeros(REGISTERS, np.uint8)


def count_values(registers: Array, values: pa.Array) -> None:
    """Count the values of a column, NULL being one of them."""
    count_hashes(registers, group_hashes([values]))


def different(registers: Array) -> float:
    """How many different values were counted, within some 2 %.

    >>> registers = new_registers()
    >>> count_values(registers, pa.array([1, 2, 3, 2, 1]))
    >>> round(different(registers))
    3
    """
    empty = REGISTERS - np.count_nonzero(registers)
    estimate = _ALPHA * REGISTERS**2 / float(np.ldexp(1.0, -registers.astype(np.int32)).sum())
    if estimate <= 2.5 * REGISTERS and empty:  # few: by how many registers nothing fell into
        return REGISTERS * math.log(REGISTERS / empty)
    return estimate
