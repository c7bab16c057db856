"""Constants of many queries in columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from eddyline.runtime.constants import Constants


def test_columns() -> None:
    constants = Constants([pa.int64(), pa.float64()])
    constants.put(2, [2**63 - 1, 0.5])
    constants.put(0, [7, None])
    assert [c.to_pylist() for c in constants.of(np.array([0, 1, 2, 5]))] == [
        [7, None, 2**63 - 1, None],
        [None, None, 0.5, None],
    ]
    assert np.array_equal(constants.floats(0), [7.0, np.nan, 2.0**63], equal_nan=True)
