"""Aggregates whose slots are forgotten: as new ones, for every function and type."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline.algebra.expressions import ColumnRef
from eddyline.algebra.functions.aggregates import AGGREGATES
from eddyline.errors import SqlError
from eddyline.runtime.aggregates import make_aggregate
from eddyline.runtime.stores.running import RunningAggregates

VALUES: dict[pa.DataType, list[Any]] = {
    pa.int64(): [None, 1, 2, -7, 1 << 40, 1 << 62],
    pa.float64(): [None, 0.1, 1e300, -1e300, 3.0, float("nan"), float("inf")],
    pa.string(): [None, "a", "b", "a long text with a prefix", "a long text with another"],
    pa.bool_(): [None, True, False],
}


def argument_type(function: str, type_: pa.DataType, distinct: bool) -> pa.DataType:
    """The type of the computation for an argument."""
    record = AGGREGATES[function]
    try:
        found = record.argument(function, ColumnRef(type_, 0, "x")).type
    except SqlError:
        pytest.skip("not a type of its argument")
    if distinct and record.distinct == "refused":
        pytest.skip("not with DISTINCT")
    return found


@pytest.mark.parametrize("function", AGGREGATES)
@pytest.mark.parametrize("given", VALUES, ids=str)
@pytest.mark.parametrize("distinct", [False, True])
def test_forgotten_slots_are_as_new_ones(function: str, given: pa.DataType, distinct: bool) -> None:
    type_ = argument_type(function, given, distinct)
    random = Random(f"{function} {given} {distinct}")

    def made() -> RunningAggregates:
        return RunningAggregates([make_aggregate(function, type_, distinct=distinct)])

    used, forgotten = made(), np.array([1, 3, 5])
    for _ in range(5):
        fresh = made()
        for _ in range(2):
            slots = np.array(random.choices(range(6), k=30))
            values = pa.array(random.choices(VALUES[given], k=30), given).cast(type_, safe=False)
            for aggregates in (used, fresh):
                aggregates.add(slots, [values], 6)
        columns, failed, reasons = used.values(forgotten)
        other = fresh.values(forgotten)
        assert repr(columns[0].to_pylist()) == repr(other.columns[0].to_pylist())
        assert failed.tolist() == other.failed.tolist()
        assert reasons.equals(other.reasons)
        used.forget(forgotten)
