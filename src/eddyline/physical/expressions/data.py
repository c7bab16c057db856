"""What kernels take and return: arrays and scalars."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

#: A ``pa.Array`` or a ``pa.Scalar``.
Datum = Any


def constant_array(scalar: pa.Scalar, length: int) -> pa.Array:
    """The scalar repeated ``length`` times."""
    if not scalar.is_valid or not length:  # Arrow repeats no list 0 times
        return pa.nulls(length, scalar.type)
    return pa.repeat(scalar, length)


def as_arrays(*data: Datum) -> list[pa.Array]:
    """The data as arrays of equal length."""
    length = next(len(d) for d in data if isinstance(d, pa.Array))
    return [d if isinstance(d, pa.Array) else constant_array(d, length) for d in data]


def values_of(array: pa.Array, fill: Any = 0) -> npt.NDArray[Any]:
    """The numbers of an array, with ``fill`` for NULL; without a copy if there is no NULL."""
    return np.asarray(array.fill_null(fill) if array.null_count else array)


def null_where_not(keep: Datum, values: Datum) -> pa.Array:
    """The values where ``keep`` is true, NULL elsewhere."""
    return pc.if_else(keep, values, pa.scalar(None, values.type))
