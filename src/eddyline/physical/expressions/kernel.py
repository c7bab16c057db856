"""Types and helper functions of all kernels.

A kernel takes one datum per argument of its call, at least one of them an array, and returns an
array. A maker builds the kernel for a call from its types and constant arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.expressions import Call, Literal

#: A ``pa.Array`` or a ``pa.Scalar``.
Datum = Any
Kernel = Callable[..., Any]
Maker = Callable[[Call], Kernel]


def always(kernel: Kernel) -> Maker:
    """The maker of a kernel that does not depend on types or constants."""
    return lambda call: kernel


def argument_constant(call: Call, index: int) -> Any:
    """The value of an argument that is a constant."""
    argument = call.args[index]
    assert isinstance(argument, Literal), f"argument {index} of {call} is not a constant"
    return argument.value


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
