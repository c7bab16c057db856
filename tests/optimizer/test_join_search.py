"""The cheapest tree by dynamic programming, against all trees."""

from __future__ import annotations

import random

import pytest

from eddyline.bench.comparison.static_joins import PerTuple, all_bushy
from eddyline.optimizer.joins.costing import Costing, Priced
from eddyline.optimizer.joins.flows import Flow
from eddyline.optimizer.joins.functions import PlanFunctions
from eddyline.optimizer.joins.posynomial import Number
from eddyline.optimizer.joins.query import JoinQuery, Mask, Source, Term, Tie
from eddyline.optimizer.joins.search import MOST_PAIRS, cheapest, connected_pairs, fewest_pairs
from eddyline.optimizer.joins.trees import Tree, clique, components, mask, subtrees
from join_queries import Windows, random_query


def price(query: JoinQuery, tree: Tree, costing: Costing) -> float:
    return PlanFunctions(query, tree, costing).cost.at([1.0] * len(query.sources))


@pytest.mark.parametrize("windows", ["rows", "time", "mixed"])
@pytest.mark.parametrize("seed", range(8))
def test_no_tree_is_cheaper(seed: int, windows: Windows) -> None:
    rng = random.Random(seed)
    query = random_query(seed, rng.randint(2, 5), windows, density=rng.choice([0.0, 0.5, 1.0]))
    for costing in (PerTuple(1.0), Priced()):
        found = cheapest(query, costing)
        least = min(price(query, tree, costing) for tree in all_bushy(query.neighbours()))
        assert price(query, found, costing) == pytest.approx(least)


def uneven_chain(seed: int) -> JoinQuery:
    """Four sources whose rates, windows and selectivities are far apart."""
    rng = random.Random(seed)
    sizes = [(10 ** rng.uniform(0, 4), 10 ** rng.uniform(0, 2)) for _ in range(4)]
    sources = (Source.range(name, *size) for name, size in zip("abcd", sizes, strict=True))
    terms = (Term.edge(i, i + 1, 10 ** rng.uniform(-4, 0)) for i in range(3))
    return JoinQuery(tuple(sources), tuple(terms))


def test_no_tree_with_cross_products_is_much_cheaper() -> None:
    crossed = 0
    for query in map(uneven_chain, range(40)):
        every, tied = (
            min(price(query, tree, Priced()) for tree in all_bushy(graph))
            for graph in (clique(4), query.neighbours())
        )
        expected = every if every < 0.8 * tied else tied
        assert price(query, cheapest(query, Priced()), Priced()) == pytest.approx(expected)
        crossed += expected < tied
    assert 0 < crossed < 40


def test_small_windows_are_crossed_before_a_large_one_that_both_are_tied_to() -> None:
    small = [Source.range(name, 1.0, 2.0) for name in "ac"]
    query = JoinQuery(
        (small[0], Source.range("b", 1_000.0, 100.0), small[1]),
        (Term.edge(0, 1, 0.5), Term.edge(1, 2, 0.5)),
    )
    assert cheapest(query, Priced()) in (((0, 2), 1), (1, (0, 2)))


def test_tables_are_joined_with_what_reads_a_stream() -> None:
    """Although together they have but one row; also where nothing ties them to a stream."""
    tables = (Source("t", 0, 10, by_time=False, is_table=True),) * 2
    streams = (Source.range("a", 100, 10), Source.range("b", 100, 10))
    tied = (Term.edge(0, 2, 0.5), Term.edge(2, 3, 0.01))
    assert cheapest(JoinQuery(streams + tables, (*tied, Term.edge(0, 1, 0.1))), Priced()) in (
        (((0, 2), 3), 1),
        (1, ((0, 2), 3)),
    )
    apart = cheapest(JoinQuery(streams + tables, (Term.edge(2, 3, 0.01),)), Priced())
    assert {mask(t) for t in subtrees(apart)}.isdisjoint({0b1100})


def test_sources_are_crossed_only_if_nothing_ties_them() -> None:
    sources = tuple(Source.last(name, 10, 2) for name in "abcd")
    query = JoinQuery(sources, (Term.edge(0, 2, 1.0), Term.edge(1, 3, 1.0)))
    assert cheapest(query, Priced()) == ((0, 2), (1, 3))


@pytest.mark.parametrize("seed", range(10))
def test_connected_pairs_are_all_and_each_once(seed: int) -> None:
    query = random_query(seed, 6, density=seed / 10)
    graph = query.neighbours()

    def is_connected(nodes: Mask) -> bool:
        return len(components(nodes, graph)) == 1

    expected = {
        (left, whole & ~left)
        for whole in range(1, 64)
        for left in range(1, whole)
        if left & ~whole == 0
        and left & whole & -whole  # of two halves that with the lowest node comes first
        and all(map(is_connected, (left, whole & ~left, whole)))
    }
    found = list(connected_pairs(graph))
    assert {(min(p, key=lambda m: m & -m), max(p, key=lambda m: m & -m)) for p in found} == expected
    assert len(found) == len(expected)
    made = {1 << i for i in range(6)}
    for left, right in found:
        assert {left, right} <= made, "a half comes after the whole"
        made.add(left | right)


def test_how_many_joins_are_looked_at() -> None:
    """As Moerkotte and Neumann count them: so a clique of ten takes well below a second."""
    chain = [(1 << i >> 1) | (1 << i + 1 if i < 29 else 0) for i in range(30)]
    assert sum(1 for _ in connected_pairs(chain)) == (30**3 - 30) // 6
    assert sum(1 for _ in connected_pairs(clique(10))) == (3**10 - 2**11 + 1) // 2


def test_very_many_joins_are_grown_greedily() -> None:
    query = random_query(3, 10, density=1.0)
    quick = cheapest(query, Priced(), most_pairs=100)
    assert mask(quick) == query.everything
    best = price(query, cheapest(query, Priced()), Priced())
    assert best <= price(query, quick, Priced()) < 3 * best


@pytest.mark.parametrize("seed", range(10))
def test_how_many_pairs_there_are_at_least(seed: int) -> None:
    graph = random_query(seed, 7, density=seed / 10).neighbours()
    assert fewest_pairs(graph) <= sum(1 for _ in connected_pairs(graph))
    star = [0b111110, *[1] * 5]
    assert fewest_pairs(star) == sum(1 for _ in connected_pairs(star))


def chain(n: int) -> list[tuple[int, int]]:
    return [(i, i + 1) for i in range(n - 1)]


SHAPES = {
    "chain": chain,
    "cycle": lambda n: [*chain(n), (0, n - 1)],
    "star": lambda n: [(0, i) for i in range(1, n)],
    "clique": lambda n: [(i, j) for j in range(n) for i in range(j)],
    "grid": lambda n: [*chain(n), *((i, i + 5) for i in range(n - 5))],
    "stars in a chain": lambda n: [*chain(n // 2), *((i, i + n // 2) for i in range(n - n // 2))],
    "nothing tied": lambda n: [],
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [12, 16, 30])
def test_many_streams_of_any_shape_are_ordered_with_a_bounded_number_of_joins(
    shape: str, size: int
) -> None:
    rng = random.Random(size)
    sources = [Source.range(str(i), rng.randint(1, 100), rng.randint(1, 60)) for i in range(size)]
    terms = [Term.edge(a, b, 1 / rng.randint(2, 1_000)) for a, b in SHAPES[shape](size)]
    costing = Counting()
    Counting.joins = 0
    tree = cheapest(JoinQuery(tuple(sources), tuple(terms)), costing)
    assert mask(tree) == (1 << size) - 1
    assert costing.joins <= MOST_PAIRS + size**3


class Counting(Priced):
    """Counts the joins that are looked at."""

    joins = 0

    def join(self, left: Flow[Number], right: Flow[Number], tie: Tie) -> Number:
        Counting.joins += 1
        return super().join(left, right, tie)
