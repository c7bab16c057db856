"""The update pattern of what a store holds picks its structure; the strategy may overrule it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from eddyline.algebra.expressions import ColumnRef
from eddyline.algebra.plan import Distinct, Join, Negation, StreamScan
from eddyline.algebra.windows import Range, Rows
from eddyline.optimizer.statistics import Statistics
from eddyline.physical.strategy import Strategy
from eddyline.runtime.stores.expiry import FifoStore, ListStore, PartitionedStore
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


def test_the_expected_share_of_premature_expirations_picks_the_strict_strategy() -> None:
    key = ColumnRef(pa.int64(), 1, "k")
    other = StreamScan("b", Range(1_000_000), SCHEMA)
    left = StreamScan("a", Range(1_000_000), SCHEMA)
    negation = Negation(left, other, ((key, key),))
    joined = Join(negation, other, ((key, key),))
    for values, often in ((3.0, True), (1e12, False)):
        known = Statistics({"a": 100.0, "b": 100.0}, {}, {("a", "k"): values, ("b", "k"): values})
        strategy = Strategy(negative_tuples_from=0.5, statistics=known)
        assert strategy.explicit_above_negation(joined) is often
        assert not strategy.explicit_above_negation(left), "nothing is taken back there"
        assert not Strategy(statistics=known).explicit_above_negation(joined), "by default never"
