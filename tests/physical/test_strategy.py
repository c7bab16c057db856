"""The update pattern of what a store holds picks its structure; the strategy may overrule it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from eddyline.algebra.expressions import ColumnRef
from eddyline.algebra.plan import Distinct, Join, Negation, Plan, StreamScan
from eddyline.algebra.windows import Range, Rows
from eddyline.optimizer.statistics import Statistics
from eddyline.physical.state_forms import planner
from eddyline.physical.strategy import Strategy
from eddyline.runtime.graph import Graph
from eddyline.runtime.stores.expiry import ExpiryStore, FifoStore, ListStore, PartitionedStore
from eddyline.types import Field

SCHEMA = (Field("ts", pa.timestamp("us", "UTC")), Field("k", pa.int64()))
FIFO = StreamScan("a", Range(1_000), SCHEMA)
WEAK = Distinct(FIFO)
STRICT = StreamScan("a", Rows(3), SCHEMA)


def store_of(plan: Plan, strategy: Strategy) -> ExpiryStore | None:
    planned = planner(Graph(), lambda name: pytest.fail(f"{name} is not read"), strategy)
    return planned.expiries(plan, [np.int64] * 2)


def test_upa_depends_on_the_pattern() -> None:
    strategy = Strategy(partitions=10)
    assert isinstance(store_of(FIFO, strategy), FifoStore)
    assert isinstance(store_of(WEAK, strategy), PartitionedStore)
    assert isinstance(store_of(STRICT, strategy), PartitionedStore)


def test_direct_stores_do_not_depend_on_update_patterns() -> None:
    for plan in (FIFO, WEAK, STRICT):
        assert isinstance(store_of(plan, Strategy("direct")), ListStore)


def test_negative_tuples_need_no_expiries() -> None:
    for plan in (FIFO, WEAK, STRICT):
        assert store_of(plan, Strategy("negative-tuple")) is None


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
