"""A filter bank against each query's predicate applied to each row."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eddy_batches import batch_of, bits_of, column, lineage_of, mask_of
from eddyline.algebra.value_sets import (
    EVERYTHING,
    NOTHING,
    ONLY_NULL,
    ValueSet,
    above,
    at_least,
    at_most,
    below,
    equal,
    not_equal,
)
from eddyline.kernels import grouped_filter as kernels
from eddyline.runtime.batch import Batch
from eddyline.runtime.eddy.policies import FixedPolicy, Piece, Policy, Routable, make_policy
from eddyline.runtime.predicates import grouped_filter
from eddyline.runtime.predicates.filter_bank import Attribute, Clause, FilterBank


class Pieces(Policy):
    """Cuts batches anywhere and orders operators anyhow; knows what came of the pieces."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.routed: list[tuple[int, Routable]] = []
        self.seen: list[tuple[int, Routable]] = []

    def routes(self, ready: Sequence[Routable], rows: int) -> list[Piece]:
        cuts = sorted(self._random.choices(range(rows + 1), k=self._random.randrange(3)))
        sizes = np.diff([0, *cuts, rows]).tolist()
        pieces = [(n, tuple(self._random.sample(ready, len(ready)))) for n in sizes]
        self.routed += [(n, o) for n, order in pieces for o in order]
        return pieces

    def observe(self, operator: Routable, visited: int, returned: int, seconds: float) -> None:
        rows, routed = self.routed[len(self.seen)]
        assert operator is routed
        assert 0 <= returned <= visited <= rows
        assert seconds >= 0.0
        self.seen.append((visited, operator))


class Doubled:
    """An attribute that costs something: twice column 0. Remembers for what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[Any]] = []
        self.attribute = Attribute("2 * c0", "2 * c0", pa.int64(), self._evaluate, plain=False)

    def _evaluate(self, batch: Batch) -> pa.Array:
        values = batch.column(0)
        self.asked.append(values.to_pylist())
        return pc.multiply(values, 2)


NUMBER, TEXT = column(0, pa.int64()), column(1, pa.string())
FLOAT = column(2, pa.float64())
POOLS: dict[Any, list[Any]] = {
    0: [-1, 0, 1, 2, 5],
    1: ["", "a", "ab", "b"],
    2: [-0.0, 0.0, 1.5, math.nan, math.inf],
    "2 * c0": [-2, 0, 2, 3, 10],
}
BITS = [0, 1, 2, 63, 64, 100, 200, 700]
WORDS = 11


def sets_for(attribute: Attribute) -> st.SearchStrategy[tuple[Attribute, ValueSet]]:
    compared = st.builds(
        lambda make, c: make(c),
        st.sampled_from([above, at_least, below, at_most, equal, not_equal]),
        st.sampled_from(POOLS[attribute.key]),
    )
    chosen = compared | st.sampled_from([NOTHING, EVERYTHING, ONLY_NULL])
    return st.tuples(st.just(attribute), chosen)


def holds(clauses: Sequence[Clause], row: dict[Any, Any]) -> bool:
    return all(any(row[a.key] in accepts for a, accepts in clause) for clause in clauses)


@given(data=st.data())
@pytest.mark.parametrize("disjuncts", [1, 3])
def test_against_each_query(disjuncts: int, data: st.DataObject) -> None:
    doubled = Doubled().attribute
    conditions = st.one_of(*map(sets_for, [NUMBER, TEXT, FLOAT, doubled]))
    predicates: st.SearchStrategy[Any] = st.lists(
        st.lists(conditions, max_size=disjuncts), max_size=3
    )
    policy = Pieces(data.draw(st.integers(0, 9)))
    bank, queries = FilterBank(policy), dict[int, list[Clause]]()
    visits = 0
    for _ in range(data.draw(st.integers(1, 3))):
        for bit in data.draw(st.lists(st.sampled_from(BITS), unique=True)):
            if bit in queries:
                bank.remove(bit)
                del queries[bit]
            else:
                queries[bit] = data.draw(predicates)
                bank.add(bit, queries[bit])

        cells = st.tuples(*(st.none() | st.sampled_from(POOLS[i]) for i in range(3)))
        rows = data.draw(st.lists(cells, max_size=10))
        batch = batch_of(
            *(pa.array([r[i] for r in rows], a.type) for i, a in enumerate([NUMBER, TEXT, FLOAT]))
        )
        known = [{**dict(enumerate(r)), "2 * c0": None if r[0] is None else 2 * r[0]} for r in rows]
        some = st.lists(st.sampled_from(sorted(queries)), unique=True) if queries else st.just([])
        wanted = data.draw(st.lists(some, min_size=len(rows), max_size=len(rows)))
        lineage = lineage_of(wanted, WORDS)
        bank.narrow(batch, lineage)
        assert bits_of(lineage) == [
            {b for b in bits if holds(queries[b], row)}
            for bits, row in zip(wanted, known, strict=True)
        ]
        everybody = mask_of(queries, WORDS)
        got = [
            pair
            for numbers, block in bank.blocks(batch, everybody)
            for pair in zip(numbers.tolist(), bits_of(block), strict=True)
        ]
        accepting = [{b for b in queries if holds(queries[b], row)} for row in known]
        assert got == [(i, bits) for i, bits in enumerate(accepting) if bits]
        assert len(policy.seen) == len(policy.routed)
        assert bank.visits >= visits
        visits = bank.visits
    for bit in queries:
        bank.remove(bit)
    assert bank.filters == []


def test_visits_and_stops() -> None:
    """A row goes to a filter only while a query with a predicate there wants it."""
    bank = FilterBank(FixedPolicy())
    bank.add(0, [[(NUMBER, above(0))], [(TEXT, equal("a"))]])
    bank.add(1, [[(NUMBER, above(4))]])
    bank.add(2, [])
    batch = batch_of(pa.array([0, 3, 9]), pa.array(["a", "a", "b"]))
    lineage = lineage_of([[0, 1, 2]] * 3, 1)
    bank.narrow(batch, lineage)
    assert bits_of(lineage) == [{2}, {0, 2}, {1, 2}]
    assert [(f.name, f.predicates, f.visited, f.returned) for f in bank.filters] == [
        ("c0", 2, 3, 2),
        ("c1", 1, 2, 1),
    ]
    assert bank.visits == 5
    bank.remove(0)
    assert [f.name for f in bank.filters] == ["c0"]
    assert bank.visits == 5


def test_expensive_attributes_are_computed_once_for_the_rows_that_are_left() -> None:
    doubled = Doubled()
    bank = FilterBank(FixedPolicy())
    for bit in range(3):
        bank.add(bit, [[(NUMBER, above(bit))], [(doubled.attribute, below(2 * bit + 6))]])
    bank.add(3, [])
    lineage = lineage_of([[0, 1, 2, 3]] * 5, 1)
    bank.narrow(batch_of(pa.array([0, 1, 2, 3, 4])), lineage)
    assert doubled.asked == [[1, 2, 3, 4]]
    assert bits_of(lineage) == [{3}, {0, 3}, {0, 1, 3}, {1, 2, 3}, {2, 3}]


def test_disjuncts_are_evaluated_for_the_rows_that_are_left() -> None:
    doubled = Doubled()
    bank = FilterBank(FixedPolicy())
    bank.add(0, [[(NUMBER, above(1))], [(TEXT, equal("a")), (doubled.attribute, equal(6))]])
    bank.add(1, [])
    batch = batch_of(pa.array([0, 2, 3, 4]), pa.array(["a", "a", "b", "b"]))
    lineage = lineage_of([[0, 1]] * 4, 1)
    bank.narrow(batch, lineage)
    assert bits_of(lineage) == [{1}, {0, 1}, {0, 1}, {1}]
    assert doubled.asked == [[2, 3, 4]]


def test_clauses_of_different_lengths() -> None:
    bank = FilterBank(FixedPolicy())
    two: list[Clause] = [[(NUMBER, equal(1)), (TEXT, equal("a"))]]
    three: list[Clause] = [[(NUMBER, equal(2)), (TEXT, equal("b")), (FLOAT, equal(0.0))]]
    bank.add(0, two)
    bank.add(1, three)
    bank.add(2, two + three)
    bank.add(3, [])
    columns = (
        pa.array([1, 2, 9, 9]),
        pa.array(["b", "z", "a", "z"]),
        pa.array([1.0, 1.0, -0.0, 1.0]),
    )
    lineage = lineage_of([[0, 1, 2, 3]] * 4, 1)
    bank.narrow(batch_of(*columns), lineage)
    assert bits_of(lineage) == [{0, 1, 2, 3}, {1, 3}, {0, 1, 2, 3}, {3}]


def test_unsatisfiable_predicates_need_no_filter() -> None:
    bank = FilterBank(FixedPolicy())
    bank.add(0, [[(NUMBER, above(5))], [(NUMBER, below(3))]])
    bank.add(1, [[]])
    bank.add(65, [[(NUMBER, NOTHING), (TEXT, NOTHING)]])
    bank.add(66, [[(NUMBER, EVERYTHING), (TEXT, NOTHING)]])
    lineage = lineage_of([[0, 1, 65, 66]] * 2, 2)
    bank.narrow(batch_of(pa.array([1, 9]), pa.array(["", ""])), lineage)
    assert bits_of(lineage) == [{66}, {66}]
    assert (bank.filters, bank.visits) == ([], 0)


def test_one_condition_out_of_several_on_an_attribute() -> None:
    bank = FilterBank(FixedPolicy())
    bank.add(
        0, [[(NUMBER, above(1))], [(NUMBER, below(4))], [(NUMBER, equal(3)), (NUMBER, equal(9))]]
    )
    lineage = lineage_of([[0]] * 4, 1)
    bank.narrow(batch_of(pa.array([1, 2, 3, 9])), lineage)
    assert bits_of(lineage) == [set(), set(), {0}, set()]
    assert len(bank.filters) == 1


@pytest.mark.parametrize("policy", ["ticket", "back-pressure", "random", "fixed"])
def test_many_queries_in_many_blocks(policy: str) -> None:
    rng = np.random.default_rng(1)
    queries, rows, words = 1200, 1200, 500  # 4 kB of lineage per row
    low = rng.integers(0, 100, (queries, 3))
    high = low + rng.integers(0, 40, (queries, 3))
    attributes = [column(i, pa.int64()) for i in range(3)]
    bank = FilterBank(make_policy(policy, 0))
    bits = rng.permutation(64 * words)[:queries]
    ranges = [
        [
            at_least(int(lo)).intersection(at_most(int(hi)))
            for lo, hi in zip(*lows_highs, strict=True)
        ]
        for lows_highs in zip(low, high, strict=True)
    ]
    for q, bit in enumerate(bits.tolist()):
        a, b, c = zip(attributes, ranges[q], strict=True)
        bank.add(bit, [[a], [b, c]] if q % 3 else [[a], [b], [c]])
    for _ in range(3):
        values = rng.integers(0, 140, (3, rows))
        inside = (low.T[:, None] <= values[:, :, None]) & (values[:, :, None] <= high.T[:, None])
        either = np.arange(queries) % 3 > 0
        met = inside[0] & np.where(either, inside[1] | inside[2], inside[1] & inside[2])
        expected = np.zeros((rows, 64 * words), np.bool_)
        expected[:, bits] = met
        batch = batch_of(*map(pa.array, values))
        lineage, blocks = np.zeros((rows, words), np.uint64), 0
        for numbers, block in bank.blocks(batch, mask_of(bits, words)):
            lineage[numbers] = block
            blocks += 1
        assert blocks > 3
        got = np.unpackbits(lineage.view(np.uint8), axis=1, bitorder="little").astype(np.bool_)
        np.testing.assert_array_equal(got, expected)
        gone, bits, low, high = bits[:300], bits[300:], low[300:], high[300:]
        queries -= 300
        for bit in gone.tolist():
            bank.remove(bit)


def test_rows_that_no_query_accepts_get_no_lineage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their cost does not depend on the number of queries."""
    seen: list[int] = []

    def narrow(*arguments: Any) -> Any:
        seen.append(arguments[0].size)
        return kernel(*arguments)

    kernel = kernels.narrow
    monkeypatch.setattr(grouped_filter, "narrow", narrow)
    bank = FilterBank(FixedPolicy())
    for bit in range(1_000):
        bank.add(bit, [[(NUMBER, above(1_000 + bit))]])
    mask = mask_of(range(1_000), 16)
    for value, accepting in ((5, 0), (1_001, 1), (None, 0), (5_000, 1_000)):
        batch = batch_of(pa.array([value] * 100, pa.int64()))
        found = [(rows.size, len(bits_of(b)[0])) for rows, b in bank.blocks(batch, mask)]
        assert found == ([(100, accepting)] if accepting else [])
    assert seen == [100, 100]
    bank.add(1_000, [])  # a query without a predicate there gets all rows
    batch = batch_of(pa.array([5] * 100, pa.int64()))
    ((rows, lineage),) = bank.blocks(batch, mask_of(range(1_001), 16))
    assert (rows.size, bits_of(lineage)[0]) == (100, {1_000})
