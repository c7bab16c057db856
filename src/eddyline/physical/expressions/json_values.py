"""Kernels of values in JSON texts."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.algebra.catalog import JsonPath
from eddyline.algebra.expressions import Call
from eddyline.algebra.functions.json_values import path_of
from eddyline.kernels import json_paths
from eddyline.physical.expressions.data import Datum, as_arrays
from eddyline.physical.expressions.kernel import Kernel, Maker
from eddyline.runtime.stores.columns import bitmap, text_buffers, validity_of


def values_at(texts: pa.Array, path: JsonPath, wanted: int) -> pa.Array:
    """The value at a path of each text, as it is wanted (``kernels/json_paths.py``)."""
    steps, names = json_paths.steps_of(path)
    offsets, data = text_buffers(texts)
    count = len(texts)
    out = np.empty(int(offsets[-1] - offsets[0]), np.uint8)
    ends, found = np.zeros(count + 1, np.int32), np.zeros(count, np.bool_)
    json_paths.values_at(offsets, data, steps, names, wanted, out, ends, found)
    valid = validity_of(texts)
    known = found if valid is None else found & valid
    buffers = [bitmap(known), pa.py_buffer(ends), pa.py_buffer(out)]
    return pa.Array.from_buffers(pa.string(), count, buffers)


def _make(wanted: int) -> Maker:
    def make(call: Call) -> Kernel:
        path = path_of(call)

        def kernel(text: Datum, steps: Datum) -> pa.Array:
            texts, _ = as_arrays(text, steps)
            return values_at(texts, path, wanted)

        return kernel

    return make


JSON_KERNELS: Final[dict[str, Maker]] = {
    "->>": _make(json_paths.TEXT),
    "->": _make(json_paths.JSON),
    "json_value": _make(json_paths.SCALAR),
    "json_query": _make(json_paths.NESTED),
}
