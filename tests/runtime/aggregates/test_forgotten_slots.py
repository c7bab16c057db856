"""Aggregates whose slots are forgotten: as new ones, for every function and type."""

from __future__ import annotations

from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline.algebra.expressions import Aggregate, ColumnRef
from eddyline.algebra.functions.aggregates import AGGREGATES, base_aggregate
from eddyline.errors import SqlError
from eddyline.physical.compiled import aggregate_column
from eddyline.runtime.aggregates import Aggregate as State
from eddyline.runtime.batch import Batch
from eddyline.runtime.stores.running import RunningAggregates

VALUES: dict[pa.DataType, list[Any]] = {
    pa.int64(): [None, 1, 2, -7, 1 << 40, 1 << 62],
    pa.float64(): [None, 0.1, 1e300, -1e300, 3.0, float("nan"), float("inf")],
    pa.string(): [None, "a", "b", "a long text with a prefix", "a long text with another"],
    pa.bool_(): [None, True, False],
    pa.decimal128(38, 2): [None, Decimal("1.25"), Decimal("-7.5"), Decimal(10) ** 34],
}


def aggregate_of(function: str, type_: pa.DataType, distinct: bool) -> Aggregate | None:
    """The aggregate of columns of a type; None if there is none."""
    arguments = [ColumnRef(type_, i, f"c{i}") for i in range(len(AGGREGATES[function].values))]
    try:
        return base_aggregate(function, arguments, distinct)
    except SqlError:
        return None


CASES = [
    pytest.param(found, type_, id=f"{found} of {type_}")
    for function in AGGREGATES
    for type_ in VALUES
    for distinct in (False, True)
    if (found := aggregate_of(function, type_, distinct)) is not None
]


def batch(random: Random, type_: pa.DataType, rows: int) -> Batch:
    """Two columns of random values."""
    zeros = np.zeros(rows, np.int64)
    columns = [pa.array(random.choices(VALUES[type_], k=rows), type_) for _ in range(2)]
    return Batch(zeros, zeros, zeros, np.ones(rows, np.int8), (zeros,), (None,), tuple(columns))


@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize(("aggregate", "given"), CASES)
def test_forgotten_slots_are_as_new_ones(
    aggregate: Aggregate, given: pa.DataType, in_order: bool
) -> None:
    random = Random(f"{aggregate} {given}")

    def state() -> State:
        return aggregate_column(aggregate, in_order=in_order).aggregate

    evaluate = aggregate_column(aggregate, in_order=in_order).argument
    used, forgotten = RunningAggregates([state()]), np.array([1, 3, 5])
    for _ in range(5):
        fresh = RunningAggregates([state()])
        for _ in range(2):
            slots, rows = np.array(random.choices(range(6), k=30)), batch(random, given, 30)
            column = None if evaluate is None else evaluate(rows)
            for aggregates in (used, fresh):
                aggregates.add(slots, [column], 6)
        columns, failed, reasons = used.values(forgotten)
        other = fresh.values(forgotten)
        assert repr(columns[0].to_pylist()) == repr(other.columns[0].to_pylist())
        assert failed.tolist() == other.failed.tolist()
        assert reasons.equals(other.reasons)
        used.forget(forgotten)
