"""Nodes that the optimizer does not know: filters stay above, estimates are typical ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from eddyline.algebra.expressions import Call, ColumnRef, Literal
from eddyline.algebra.nodes.base import Unary
from eddyline.algebra.plan import Distinct, Filter, StreamScan
from eddyline.algebra.windows import Range
from eddyline.optimizer.compared import columns_compared
from eddyline.optimizer.cost import cost
from eddyline.optimizer.estimates import estimate
from eddyline.optimizer.memory import bytes_of
from eddyline.optimizer.rules.push_filters import push_filters
from eddyline.optimizer.statistics import DEFAULT_RATE
from eddyline.types import Field, Schema

X = ColumnRef(pa.int64(), 0, "x")
SCAN = StreamScan("s", Range(10_000_000), (Field("x", pa.int64()),))


@dataclass(frozen=True)
class Last(Unary):
    """The last row only: a filter below it would change which one that is."""

    @cached_property
    def takes_back(self) -> bool:
        return True


@dataclass(frozen=True)
class Ranked(Unary):
    """Adds a column."""

    @cached_property
    def schema(self) -> Schema:
        return (*self.input.schema, Field("rank", pa.int64()))


def above(value: int) -> Call:
    return Call(pa.bool_(), ">", (X, Literal(pa.int64(), value)))


def test_filters_stay_above_but_move_below_as_far_as_they_are_below() -> None:
    plan = Filter(Last(Filter(Distinct(SCAN), above(1))), above(2))
    pushed = Filter(Last(Distinct(Filter(SCAN, above(1)))), above(2))
    assert push_filters(plan) == pushed


def test_estimates_are_those_of_the_inputs() -> None:
    below, last, ranked = estimate(SCAN), estimate(Last(SCAN)), estimate(Ranked(SCAN))
    assert (last.rate, last.rows, last.values) == (below.rate, below.rows, below.values)
    assert below.rate == DEFAULT_RATE and last.retracted == below.rate
    assert ranked.retracted == 0 and len(ranked.values) == 2


def test_cost_and_memory_are_not_nothing() -> None:
    inputs = [estimate(SCAN)]
    assert cost(Last(SCAN)).own > 0
    assert bytes_of(Last(SCAN), estimate(Last(SCAN)), inputs) >= inputs[0].rows * 8


def test_columns_that_are_compared_are_found_through_it() -> None:
    assert columns_compared(Distinct(Last(SCAN))) == {("s", "x")}
    assert columns_compared(Distinct(Ranked(SCAN))) == frozenset()
