"""Queries found by boxes, and screens of a filter bank, against each predicate on each row."""

from __future__ import annotations

import math
from random import Random
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest

from eddy_batches import batch_of, column, mask_of
from eddyline.algebra.value_sets import (
    ValueSet,
    above,
    at_least,
    at_most,
    below,
    equal,
    not_equal,
)
from eddyline.runtime.eddy.policies import FixedPolicy
from eddyline.runtime.predicates import box_sets, boxes
from eddyline.runtime.predicates.cells import steps_of
from eddyline.runtime.predicates.filter_bank import Attribute, FilterBank
from eddyline.runtime.predicates.grouped_filter import AttributeValues
from eddyline.runtime.recipients import recipients_of

COLUMNS: Final = [
    column(0, pa.int64()),
    column(1, pa.float64()),
    column(2, pa.string()),
    column(3, pa.float64()),
]
VALUES: Final[list[list[Any]]] = [
    [None, *range(40)],
    [None, math.nan, math.inf, -math.inf, -0.0, *(i / 2 for i in range(30))],
    [None, "", *(f"k{i}" for i in range(30)), "k\0"],
    [None, math.nan, *(float(i) for i in range(30))],
]
_MAKERS: Final = [above, at_least, below, at_most, equal, not_equal]


def predicate(random: Random) -> list[tuple[Attribute, ValueSet]]:
    """Conditions on some columns, most of which are ranges."""
    found = []
    for number in random.sample(range(4), random.choice([1, 2, 2, 3])):
        known = [v for v in VALUES[number] if v is not None and v == v]
        low, high = sorted(random.choices(known, k=2))
        accepts = random.choice(_MAKERS)(low)
        if random.random() < 0.6:
            accepts = at_least(low).intersection(below(high) if low != high else at_most(high))
        found.append((COLUMNS[number], accepts))
    return found


class Play:
    """A bank with queries that come and go."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.bank = FilterBank(FixedPolicy(), boxed=True)
        self.queries: dict[int, list[tuple[Attribute, ValueSet]]] = {}

    def change(self, count: int) -> None:
        """Add queries, or remove some."""
        for _ in range(count):
            bit = self.random.randrange(1_000)
            if bit in self.queries:
                self.bank.remove(bit)
                del self.queries[bit]
            else:
                self.queries[bit] = predicate(self.random)
                self.bank.add(bit, [[condition] for condition in self.queries[bit]])

    def holds(self, bit: int, row: list[Any]) -> bool:
        return all(row[COLUMNS.index(a)] in accepts for a, accepts in self.queries[bit])

    def look(self) -> int:
        """Compare the queries found for rows; returns how many boxes found."""
        rows = [[self.random.choice(values) for values in VALUES] for _ in range(30)]
        batch = batch_of(
            *(pa.array([row[i] for row in rows], a.type) for i, a in enumerate(COLUMNS))
        )
        asked = [b for b in self.queries if self.random.random() < 0.9]
        mask = mask_of(asked, 16)
        self.bank.settle()
        pairs = list(self.bank.pairs(batch, mask))
        found = recipients_of(batch.exp, self.bank.blocks(batch, mask), 1024, [], pairs)
        expected = [
            (bit, i) for bit in sorted(asked) for i, row in enumerate(rows) if self.holds(bit, row)
        ]
        assert list(zip(found.query.tolist(), found.rows.tolist(), strict=True)) == expected
        screen = self.bank.screen(mask)
        if screen is not None:
            accepted = screen.accepts(batch.column, len(rows))
            assert accepted[np.unique(found.rows)].all()
            for condition in (c for clause in screen.clauses for c in clause):
                if condition.bound is not None:
                    self._check(condition.column, condition.bound, rows, condition.accepts)
        return sum(row.size for row, _ in pairs)

    def _check(self, number: int, bound: Any, rows: list[list[Any]], accepts: Any) -> None:
        """What a condition accepts is on one side of its bound."""
        values = [row[number] for row in rows if row[number] is not None]
        accepted = accepts(pa.array(values, COLUMNS[number].type)).tolist()
        for value, is_accepted in zip(values, accepted, strict=True):
            if is_accepted and value == value:
                assert (value >= bound.key) == bound.above


@pytest.mark.parametrize("seed", range(12))
def test_queries_that_boxes_find(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(box_sets, "_LEAST", 6)
    monkeypatch.setattr(boxes, "_SELECTIVE", 0)  # also where many are looked at
    play = Play(Random(f"boxes {seed}"))
    found = 0
    for _ in range(12):
        play.change(play.random.choice([3, 20, 150]))
        found += play.look()
    assert found


def test_few_boxes_are_looked_at() -> None:
    """A row is compared with the queries around it, whatever their number."""
    random, count = Random(7), 4_000
    corners = [(random.random(), random.random()) for _ in range(count)]
    squares = {
        bit: tuple(
            steps_of(at_least(c).intersection(below(c + 0.02)), pa.float64()) for c in corner
        )
        for bit, corner in enumerate(corners)
    }
    found = boxes.Boxes([COLUMNS[1], COLUMNS[3]], squares)
    assert found.pays
    assert found.candidates < 12
    x, y = np.random.default_rng(1).random((2, 500))
    batch = batch_of(pa.nulls(500), pa.array(x), pa.nulls(500), pa.array(y))
    row, bit = found.accepting(AttributeValues(batch), np.arange(500), mask_of(squares, 64))
    inside = [
        (i, bit)
        for i in range(500)
        for bit, (a, b) in enumerate(corners)
        if a <= x[i] < a + 0.02 and b <= y[i] < b + 0.02
    ]
    assert sorted(zip(row.tolist(), bit.tolist(), strict=True)) == inside
