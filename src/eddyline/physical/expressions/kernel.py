"""What the families of kernels share.

A kernel takes one datum per argument of its call, at least one of them an array, and gives an
array. A maker makes the kernel for a call: it looks at the types and at constant arguments.
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


def argument_constant(call: Call, place: int) -> Any:
    """The value of an argument that is known to be a constant."""
    argument = call.args[place]
    assert isinstance(argument, Literal), f"argument {place} of {call} is not a constant"
    return argument.value


def constant_array(scalar: pa.Scalar, length: int) -> pa.Array:
    """The scalar ``length`` times."""
    return pa.nulls(length, scalar.type) if not scalar.is_valid else pa.repeat(scalar, length)


def as_arrays(*data: Datum) -> list[pa.Array]:
    """The data as arrays of equal length, for what Arrow's kernels do not cover."""
    length = next(len(d) for d in data if isinstance(d, pa.Array))
    return [d if isinstance(d, pa.Array) else constant_array(d, length) for d in data]


def values_of(array: pa.Array, fill: Any = 0) -> npt.NDArray[Any]:
    """The numbers of an array, without a copy where none is NULL, ``fill`` where they are."""
    return np.asarray(array.fill_null(fill) if array.null_count else array)


def null_where_not(keep: Datum, values: Datum) -> pa.Array:
    """The values where ``keep`` is true, NULL elsewhere."""
    return pc.if_else(keep, values, pa.scalar(None, values.type))
