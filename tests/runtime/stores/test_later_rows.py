"""Rows that are kept until a length of time after theirs."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from eddyline.runtime.stores.later_rows import LaterRows


def test_rows_come_when_their_time_has_come() -> None:
    rows = LaterRows(10, [pa.string()])
    rows.keep(np.array([1, 5]), np.array([0, 3]), [pa.array(["a", None])])
    at, of, _ = rows.enter(10)
    assert (at.size, of.size, len(rows)) == (0, 0, 2)
    assert rows.none_of(np.array([0, 1, 2, 3])).tolist() == [1, 2]
    kept = LaterRows(10, [pa.string()])
    kept.restore(rows.state())
    at, of, (texts,) = kept.enter(11)
    assert (at.tolist(), of.tolist(), texts.to_pylist()) == ([11], [0], ["a"])
    assert kept.none_of(np.array([0, 3])).tolist() == [0]
    kept.keep(np.array([6]), np.array([3]), [pa.array(["b"])])
    at, of, (texts,) = kept.enter(15)
    assert (at.tolist(), of.tolist(), texts.to_pylist()) == ([15], [3], [None])
    assert kept.none_of(np.array([3])).tolist() == []
