"""Failures of rows with lineage: for which queries of a flow a row has failed."""

from __future__ import annotations

import numpy as np

from eddyline.kernels.lineage import expand
from eddyline.runtime.failures import EVERY_QUERY, Failure
from eddyline.runtime.stores.columns import Array


def for_queries(failure: Failure, lineage: Array | None) -> Failure:
    """The failure, once for each query that requires a row.

    Args:
        lineage: uint64[n, W] of the rows of ``failure.columns``; None: all require all rows.
    """
    if lineage is None:
        every = np.arange(failure.rows.size)
        return failure.of_queries(every, np.full(every.size, EVERY_QUERY))
    places, bits = expand(lineage[failure.rows], np.arange(failure.rows.size))
    return failure.of_queries(places, bits.astype(np.int64))
