"""Kernels that convert between UTC and the local times of zones."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eddyline.algebra.expressions import Call
from eddyline.algebra.functions.zone_rules import zone_rules
from eddyline.physical.expressions.data import Datum, values_of
from eddyline.physical.expressions.kernel import Kernel, Maker, argument_constant
from eddyline.types import TIMESTAMP

_SECOND: Final = 1_000_000


def _maker(sign: int) -> Maker:
    """The kernel that adds the offset of an instant, or subtracts that of a local time."""

    def make(call: Call) -> Kernel:
        rules = zone_rules(argument_constant(call, 1))
        offsets = rules.offsets_at if sign > 0 else rules.offsets_of_local

        def kernel(moments: pa.Array, _: Datum) -> pa.Array:
            micros: npt.NDArray[np.int64] = values_of(moments.cast(pa.int64()))
            moved = micros + sign * _SECOND * offsets(micros // _SECOND)
            mask = np.asarray(moments.is_null()) if moments.null_count else None
            return pa.array(moved, mask=mask).cast(TIMESTAMP)

        return kernel

    return make


ZONE_KERNELS: Final[dict[str, Maker]] = {
    "from_utc_timestamp": _maker(1),
    "to_utc_timestamp": _maker(-1),
}
