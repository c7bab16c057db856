"""Arrays of lists and maps as offsets and elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.types import element_type


def list_parts(values: pa.Array) -> tuple[npt.NDArray[Any], pa.Array]:
    """int64 offsets[n + 1] from 0, and the elements; a list that is NULL has none.

    The elements of a map are structures of a key and a value.
    """
    lists = values
    if pa.types.is_map(values.type):
        type_ = pa.list_(element_type(values.type))
        lists = pa.Array.from_buffers(
            type_, len(values), values.buffers()[:2], -1, values.offset, [values.values]
        )
    offsets = np.zeros(len(values) + 1, np.int64)
    lengths = pc.list_value_length(lists)
    np.cumsum(np.asarray(lengths.fill_null(0)), out=offsets[1:])
    return offsets, lists.flatten()
