"""BIT_AND, BIT_OR and BIT_XOR; each is its own merger."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from eddyline.kernels import bits as kernels
from eddyline.kernels.aggregates import SignedRows
from eddyline.runtime.aggregates.base import (
    Aggregate,
    ByRow,
    Reported,
    Wanted,
    computes,
    number_array,
    numbers,
    numbers_reported,
    valid_lane,
)
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.slots import SlotArray


class Bits(ByRow):
    """An aggregate of the bits of integers.

    Args:
        what: which one, as of ``kernels/bits.py``. type_: of the values and of the result.
    """

    dtypes: Sequence[Any] = (np.bool_, np.int64)
    remembers = "integers"
    count: Array
    ones: Array
    reported: Array
    shown: Array

    def __init__(self, what: int, type_: pa.DataType) -> None:
        self._what, self._type = what, type_
        super().__init__(
            count=SlotArray(np.int64),
            ones=SlotArray(np.int64, (1 if what == kernels.XOR else kernels.BITS,)),
            reported=SlotArray(np.int64),
            shown=SlotArray(np.bool_),
        )

    def lanes(self, slot: Array, values: pa.Array | None) -> list[Array]:
        assert values is not None
        return [valid_lane(values), numbers(values, np.int64)]

    def run(self, rows: SignedRows, lanes: Sequence[Array]) -> Reported:
        new, new_valid, old, old_valid = kernels.run_bits(
            rows, lanes[0], lanes[1], self._what, self.count, self.ones, self.reported, self.shown
        )
        found = numbers_reported(new, new_valid, old, old_valid, pa.int64())
        return Reported(found.new.cast(self._type), found.old.cast(self._type), found.changed)

    def current(self, slots: Array) -> pa.Array:
        values = number_array(self.reported[slots], self.shown[slots], pa.int64())
        return values.cast(self._type)


def _bits(what: int, of: Wanted) -> Aggregate:
    return Bits(what, of.result)


computes("bit_and")(partial(_bits, kernels.AND))
computes("bit_or")(partial(_bits, kernels.OR))
computes("bit_xor")(partial(_bits, kernels.XOR))
