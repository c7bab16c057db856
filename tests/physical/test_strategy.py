"""The update pattern of what a store holds picks its structure; the strategy may overrule it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from eddyline.algebra.plan import Distinct, StreamScan
from eddyline.algebra.windows import Range, Rows
from eddyline.physical.strategy import Strategy
from eddyline.runtime.expiry import FifoStore, ListStore, PartitionedStore
from eddyline.types import Field

SCHEMA = (Field("ts", pa.timestamp("us", "UTC")), Field("k", pa.int64()))
FIFO = StreamScan("a", Range(1_000), SCHEMA)
WEAK = Distinct(FIFO)
STRICT = StreamScan("a", Rows(3), SCHEMA)


def test_upa_goes_by_the_pattern() -> None:
    strategy = Strategy(partitions=10)
    assert isinstance(strategy.expiries(FIFO, [np.int64] * 2), FifoStore)
    assert isinstance(strategy.expiries(WEAK, [np.int64] * 2), PartitionedStore)
    assert isinstance(strategy.expiries(STRICT, [np.int64] * 2), PartitionedStore)
    assert strategy.by_key(STRICT), "nobody knows when rows will be pushed out"


def test_direct_knows_no_patterns() -> None:
    for plan in (FIFO, WEAK, STRICT):
        assert isinstance(Strategy("direct").expiries(plan, [np.int64] * 2), ListStore)


def test_mistakes_are_named() -> None:
    with pytest.raises(ValueError, match="did you mean 'direct'"):
        Strategy("driect")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="partitions must be at least 1, not 0"):
        Strategy(partitions=0)
