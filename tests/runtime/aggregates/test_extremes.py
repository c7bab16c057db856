"""MIN and MAX of rows that leave in the order in which they came, beside those of any order."""

from __future__ import annotations

from random import Random
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest

from eddyline.kernels.aggregates import SignedRows
from eddyline.runtime.aggregates import Aggregate, Wanted, make_aggregate
from eddyline.runtime.aggregates.base import ByRow
from eddyline.runtime.stores.columns import Array

VALUES: Final[dict[pa.DataType, list[Any]]] = {
    pa.int64(): [None, -(2**63), -1, 0, 1, 2**63 - 1],
    pa.float64(): [None, float("nan"), float("-inf"), -0.5, 0.0, 5e-324, float("inf")],
    pa.bool_(): [None, False, True],
}
SLOTS: Final = 4


class Queue:
    """Rows that enter groups and leave them, the oldest first."""

    def __init__(self, function: str, type_: pa.DataType, *, in_order: bool) -> None:
        self.aggregate = make_aggregate(function, Wanted(type_, type_, in_order=in_order))
        self.aggregate.grow(SLOTS)

    def run(self, slot: Array, sign: Array, emit: Array, values: pa.Array) -> list[Any]:
        lanes = self.aggregate.lanes(slot, values)
        reported = self.aggregate.run(SignedRows(slot, sign, emit), lanes)
        self.aggregate.settle()
        return [repr(c.to_pylist()) for c in (reported.new, reported.old)]


@pytest.mark.parametrize("function", ["min", "max"])
@pytest.mark.parametrize("type_", [pa.int64(), pa.float64(), pa.bool_()], ids=str)
def test_a_queue_answers_as_a_heap_does(type_: pa.DataType, function: str) -> None:
    random = Random(f"{type_} {function}")
    queue, heap = (Queue(function, type_, in_order=o) for o in (True, False))
    waiting: list[tuple[int, Any]] = []
    for _ in range(60):
        slots, signs, values = [], [], []
        for _ in range(random.randint(0, 40)):
            leaves = bool(waiting) and random.random() < random.choice([0.3, 0.5, 0.8])
            row = waiting.pop(0) if leaves else (random.randrange(SLOTS), None)
            if not leaves:
                row = row[0], random.choice(VALUES[type_])
                waiting.append(row)
            slots.append(row[0])
            signs.append(-1 if leaves else 1)
            values.append(row[1])
        emit = np.array([random.random() < 0.7 for _ in slots], np.bool_)
        emit[[i for i, s in enumerate(slots) if s not in slots[i + 1 :]]] = True
        given = np.array(slots, np.int64), np.array(signs, np.int8), emit, pa.array(values, type_)
        assert queue.run(*given) == heap.run(*given)


def test_runs_are_used_again() -> None:
    aggregate = make_aggregate("max", Wanted(pa.int64(), pa.int64(), in_order=True))
    aggregate.grow(1)
    assert isinstance(aggregate, ByRow)
    for first in range(0, 20_000, 100):
        values = pa.array(range(-first, -first - 100, -1))  # each one is a run
        for sign in (1, -1):
            _enter(aggregate, values, sign)
    assert len(aggregate.state()["runs"]) <= 200


def _enter(aggregate: Aggregate, values: pa.Array, sign: int) -> None:
    slot, signs = np.zeros(len(values), np.int64), np.full(len(values), sign, np.int8)
    rows = SignedRows(slot, signs, np.zeros(len(values), np.bool_))
    aggregate.run(rows, aggregate.lanes(slot, values))
