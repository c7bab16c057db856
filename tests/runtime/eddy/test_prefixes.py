"""Which way rows go through an eddy: each query has one, and prefixes are shared if that pays."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from random import Random
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest

from eddyline.runtime.eddy.eddy_source import EddyJoin
from eddyline.runtime.eddy.edges import Equality, Key
from eddyline.runtime.eddy.flow import Bits, Members
from eddyline.runtime.eddy.prefixes import Prefix, Routes, Step


class Source:
    def __init__(self, number: int) -> None:
        self.number = number


def join_of(bit: int, numbers: tuple[int, ...], names: str = "k") -> EddyJoin:
    """Queries over some sources, joined on keys that are all equal."""
    sources: Any = tuple(map(Source, numbers))
    keys = {n: Key(names, pa.int64(), cast(Any, None)) for n in numbers}
    edges = tuple(Equality(a, b, keys[a], keys[b]) for a, b in combinations(numbers, 2))
    join = EddyJoin(sources, edges, Members(len(numbers), Bits()))
    join.mask = np.array([1 << bit], np.uint64)
    return join


class Known:
    """Fan-outs by source probed, and shares by source and bit; 1 and 0.2 if not listed."""

    def __init__(
        self,
        fan_outs: dict[int, float] | None = None,
        shares: dict[tuple[int, int], float] | None = None,
    ) -> None:
        self.fan_outs = fan_outs or {}
        self.shares = shares or {}
        self.step = 0.05

    def fan_out(self, step: Step) -> float:
        return self.fan_outs.get(step.source, 1.0)

    def share(self, source: int, join: EddyJoin) -> float:
        return self.shares.get((source, int(join.mask[0])), 0.2)


def ends(prefix: Prefix, path: tuple[int, ...]) -> Iterator[tuple[EddyJoin, tuple[int, ...]]]:
    """Queries with the ways to them."""
    yield from ((join, path) for join in prefix.complete)
    for branch in prefix.branches:
        yield from ends(branch.to, (*path, branch.step.source))


def ways(known: Known, joins: list[EddyJoin], origin: int = 0) -> dict[int, tuple[int, ...]]:
    found = list(ends(Routes(known).of(origin, joins), (origin,)))
    assert len(found) == len({id(join) for join, _ in found}) == len(joins)
    return {int(join.mask[0]): path for join, path in found}


def test_a_prefix_is_made_once() -> None:
    joins = [join_of(0, (0, 1)), join_of(1, (0, 1, 2)), join_of(2, (0, 1, 3))]
    routes = Routes(Known()).of(0, joins)
    (branch,) = routes.branches
    assert (branch.step.source, branch.takes_all) == (1, True)
    assert branch.to.complete == joins[:1]
    assert sorted(b.step.source for b in branch.to.branches) == [2, 3]
    assert [int(b.mask[0]) for b in branch.to.branches] == [2, 4]


def test_a_prefix_with_many_rows_is_not_shared() -> None:
    joins = [join_of(0, (0, 1)), join_of(1, (0, 1, 2))]
    assert ways(Known({1: 10.0}), joins) == {1: (0, 1), 2: (0, 2, 1)}
    assert ways(Known({1: 1.0}), joins) == {1: (0, 1), 2: (0, 1, 2)}


def test_a_query_with_a_selective_filter_keeps_out() -> None:
    joins = [join_of(0, (0, 1)), join_of(1, (0, 1, 2))]
    assert ways(Known(shares={(2, 2): 0.01}), joins)[2] == (0, 2, 1)


def test_other_keys_are_other_steps() -> None:
    joins = [join_of(0, (0, 1)), join_of(1, (0, 1), "j")]
    assert len(Routes(Known()).of(0, joins).branches) == 2


@pytest.mark.parametrize("seed", range(30))
def test_each_query_has_one_way(seed: int) -> None:
    random = Random(seed)
    joins = []
    for bit in range(random.randint(1, 12)):
        others = random.sample(range(1, 6), random.randint(1, 4))
        joins.append(join_of(bit, tuple(sorted([0, *others])), random.choice("kkj")))
    fan_outs = {n: random.choice([0.01, 0.5, 3.0, 40.0]) for n in range(6)}
    shares = {(n, 1 << bit): random.choice([1.0, 1e-6, 0.3]) for n in range(6) for bit in range(12)}
    found = ways(Known(fan_outs, shares), joins)
    assert {int(j.mask[0]): tuple(j.numbers) for j in joins} == {
        mask: tuple(sorted(path)) for mask, path in found.items()
    }
