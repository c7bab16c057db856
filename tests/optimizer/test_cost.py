"""The cost model: what grows with what, and which of two plans is the cheaper one."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eddyline.algebra.expressions import Aggregate, Call, ColumnRef
from eddyline.algebra.plan import (
    AntiJoin,
    Distinct,
    GroupBy,
    Join,
    Negation,
    Plan,
    Project,
    StreamScan,
    Union,
)
from eddyline.algebra.windows import Range, Rows
from eddyline.optimizer.cost import cost
from eddyline.optimizer.statistics import Statistics
from eddyline.types import Field

V = ColumnRef(pa.int64(), 0, "v")
FIELDS = (Field("v", pa.int64()),)


def scan(name: str, seconds: int = 10) -> StreamScan:
    return StreamScan(name, Range(seconds * 1_000_000), FIELDS)


def own(plan: Plan, statistics: Statistics, *, negative_tuples: bool = False) -> float:
    return cost(plan, statistics, negative_tuples=negative_tuples).own


def at(rate: float, values: float = 1e6) -> Statistics:
    return Statistics(rates={"a": rate, "b": rate}, values={("a", "v"): values, ("b", "v"): values})


A, B = scan("a"), scan("b")
KEYS = ((V, V),)
JOIN = Join(A, B, KEYS)
COUNT = Aggregate("count", None, pa.int64())


@pytest.mark.parametrize(
    ("plan", "factor"),
    [
        (Project(A, (V,), ("v",)), 2),
        (Union((A, B)), 2),
        (JOIN, 2),
        (Join(A, B, ()), 2),
        (GroupBy(A, (V,), (COUNT,), ("v", "n")), 1),
        (Negation(A, B, KEYS), 1),
    ],
    ids=lambda p: type(p).__name__,
)
def test_negative_tuples_double_the_cost(plan: Plan, factor: float) -> None:
    with_them = own(plan, at(100), negative_tuples=True)
    assert with_them == pytest.approx(factor * own(plan, at(100)))


def test_a_rows_window_is_the_negative_tuple_case() -> None:
    rows = Project(StreamScan("a", Rows(10), FIELDS), (V,), ("v",))
    assert own(rows, at(100)) == 2 * own(Project(A, (V,), ("v",)), at(100))


def test_a_hash_join_costs_by_rows_and_matches_and_a_nested_loop_by_pairs() -> None:
    wide = Join(scan("a", 100), scan("b", 100), KEYS)
    assert own(wide, at(100)) < 1.1 * own(JOIN, at(100))
    less = Call(pa.bool_(), "<", (V, ColumnRef(pa.int64(), 1, "v")))
    loops = [own(Join(scan("a", s), scan("b", s), (), less), at(100)) for s in (10, 100)]
    assert 9 < loops[1] / loops[0] < 10
    assert own(JOIN, at(100, values=2)) > 50 * own(JOIN, at(100))  # every row meets half


def test_delta_star_is_cheaper_than_counting() -> None:
    statistics = Statistics(rates={"a": 100, "b": 0}, values={("a", "v"): 10})
    strict = Distinct(AntiJoin(A, B, KEYS))  # all rows pass
    assert own(Distinct(A), statistics) < own(strict, statistics)


def test_an_equal_sub_plan_runs_once() -> None:
    twice = Negation(A, Negation(A, B, KEYS), KEYS)  # INTERSECT ALL
    found = cost(twice, at(100))
    assert found.total == pytest.approx(sum(c.own for c in found.nodes()) - cost(A, at(100)).total)


def test_negation_belongs_below_a_join_if_it_leaves_little_and_above_if_it_flickers() -> None:
    def below(statistics: Statistics) -> bool:
        pushed = Join(AntiJoin(A, scan("c", 1), KEYS), B, KEYS)
        pulled = AntiJoin(JOIN, scan("c", 1), KEYS)
        return cost(pushed, statistics).total < cost(pulled, statistics).total

    values = {(s, "v"): 100.0 for s in "abc"}
    assert below(Statistics({"a": 100, "b": 100, "c": 1_000}, {}, values))
    assert not below(Statistics({"a": 100, "b": 0.1, "c": 50}, {}, values))
