"""Running queries whose joins get another order: when they do, and that results stay."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

from eddyline import EddylineError, Engine
from eddyline.engine.placement import reoptimizer
from eddyline.engine.placement.reoptimizer import Better, ByCost, Reoptimizer
from eddyline.optimizer.joins.trees import Tree
from eddyline.sharing.reordering import Orders, Region
from eddyline.testing import engine_with, pretty
from eddyline.testing.strategies.join_trees import join_tree_case

SECOND = 1_000_000
SQL = """
    SELECT a.i, b.j, c.j AS cj FROM a [RANGE 10 SECONDS], b [RANGE 10 SECONDS], c [RANGE 10 SECONDS]
    WHERE a.i = b.i AND b.j = c.j
"""


GROUPED = """
    SELECT s0_x AS k, COUNT(*) AS n, SUM(s1_y) AS s, AVG(s1_z * 0.1) AS a, MIN(s2_x) AS x,
           COUNT(DISTINCT s2_y) AS d
    FROM ({}) AS j GROUP BY s0_x HAVING COUNT(*) > 1
"""
#: The same joins twice, in orders of their own.
UNITED = "SELECT s0_x, s1_y FROM ({0}) AS j UNION ALL SELECT s1_z, s2_x FROM ({0}) AS k"


def streams(**options: Any) -> Engine:
    """A tree that begins with a ⋈ b, as it was declared that few of them match."""
    engine = engine_with(executor="tree", **options)
    for name in "abc":
        engine.sql(
            f"CREATE STREAM {name} (ts TIMESTAMP, i BIGINT, j BIGINT) TIMESTAMP BY ts"
            " WITH (rate = 1000, distinct = 'i: 100000, j: 1000')"
        )
    engine.query(SQL, name="q")
    return engine


def batches(count: int, *, values_of_i: int, values_of_j: int) -> list[dict[str, pa.Table]]:
    """A second of 1,000 rows per stream each."""
    random = np.random.default_rng(7)
    found = []
    for second in range(count):
        batch = {}
        for name in "abc":
            ts = np.sort(random.integers(0, SECOND, 1_000)) + second * SECOND
            i, j = (random.integers(0, n, 1_000) for n in (values_of_i, values_of_j))
            batch[name] = pa.table({"ts": pa.array(ts, pa.timestamp("us")), "i": i, "j": j})
        found.append(batch)
    return found


def play(engine: Engine, given: list[dict[str, pa.Table]]) -> list[str]:
    return [pretty(sorted_by_all(engine.process(batch)["q"])) for batch in given]


def sorted_by_all(changes: pa.Table) -> pa.Table:
    return changes.sort_by([(n, "ascending") for n in ["_ts", *changes.column_names]])


def test_joins_are_reordered_when_measured_values_make_it_cheaper() -> None:
    engine, other = streams(), streams(replan=float("inf"))
    assert "a ⋈ b" in order(engine)
    given = batches(30, values_of_i=200, values_of_j=100_000)
    assert play(engine, given) == play(other, given)
    account = engine.stats()["queries"]["q"]
    assert account["reordered"] == 1
    assert account["why"].startswith("joins a ⋈ (b ⋈ c), expected to take")
    assert "b ⋈ c" in order(engine)
    assert other.stats()["queries"]["q"]["reordered"] == 0


def order(engine: Engine) -> str:
    """Which two streams of the query are joined first, by the tree that EXPLAIN shows."""
    lines = engine.queries["q"].explain().splitlines()
    scans = [line for line in lines if "StreamScan" in line]
    depth = {line.split()[1]: line.index("StreamScan") for line in scans}
    return " ⋈ ".join(sorted(n for n, d in depth.items() if d == max(depth.values())))


def test_a_saved_engine_goes_on_in_the_order_that_it_had(tmp_path: Path) -> None:
    engine, other = streams(), streams(replan=float("inf"))
    given = batches(40, values_of_i=200, values_of_j=100_000)
    assert play(engine, given[:30]) == play(other, given[:30])
    engine.save(str(tmp_path / "saved"))
    engine = Engine.load(str(tmp_path / "saved"))
    assert "b ⋈ c" in order(engine)
    assert play(engine, given[30:]) == play(other, given[30:])


def test_what_is_declared_rightly_stays() -> None:
    engine = streams()
    play(engine, batches(30, values_of_i=100_000, values_of_j=1_000))
    assert engine.stats()["queries"]["q"]["reordered"] == 0


def test_a_margin_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match=r"replan must be at least 1, not 0\.5"):
        engine_with(replan=0.5)


@given(
    st.integers(0, 1 << 32),
    st.fixed_dictionaries(
        {
            "feedback": st.sampled_from(["off", "jit", "doe", "auto"]),
            "state": st.sampled_from(["upa", "upa", "direct", "negative-tuple"]),
            "nested_loops": st.booleans(),
            "chunk_rows": st.sampled_from([1, 3, 16, 16_384]),
        }
    ),
    st.sampled_from(["{}", GROUPED, UNITED]),
    st.sampled_from(["", " EMIT CHANGES", " EMIT SNAPSHOT EVERY 3 SECONDS"]),
    st.booleans(),
)
def test_new_join_orders_do_not_change_results(
    seed: int, options: dict[str, Any], select: str, emit: str, by_rows: bool
) -> None:
    """Orders are drawn anew after every chunk."""
    case = join_tree_case(seed, most_streams=5)
    assume(not by_rows or case.updates == "static")  # NRRs do not join what takes rows back
    sql = re.sub(r"RANGE (\d+) SECONDS", r"ROWS \1", case.sql) if by_rows else case.sql
    case = replace(case, sql=select.format(sql) + emit)
    expected = case.play(feedback="off", replan=float("inf")).changes()
    random = Random(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Reoptimizer, "due", lambda self: list(self.by_cost.values()))
        patch.setattr(Reoptimizer, "better", lambda self, o: Better(any_orders(random, o), 1.0))
        found = case.play(**options).changes()
    event("with results" if expected.num_rows else "without results")
    assert pretty(sorted_by_all(found)) == pretty(sorted_by_all(expected))


def test_grouped_queries_get_new_orders_and_withdraw_their_feedback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One of two queries that share their groups gets the order before the other one does."""
    monkeypatch.setattr(reoptimizer, "_AT_ONCE", 1)
    grouped = f"SELECT i, COUNT(*) AS n, AVG(j * 0.1) AS a FROM ({SQL}) AS q GROUP BY i HAVING "
    engines = [streams(), streams(replan=float("inf"))]
    for engine in engines:
        engine.drop("q")
        engine.query(grouped + "COUNT(*) > 1", name="q")
        engine.query(grouped + "COUNT(*) > 2 EMIT CHANGES", name="r")
    standing: Counter[tuple[Any, ...]] = Counter()
    for batch in batches(30, values_of_i=200, values_of_j=100_000):
        found, expected = (engine.process(batch) for engine in engines)
        for name in "qr":
            assert pretty(sorted_by_all(found[name])) == pretty(sorted_by_all(expected[name]))
        for op, *row in map(dict.values, found["r"].select(["_op", "i", "n", "a"]).to_pylist()):
            standing[tuple(row)] += 1 if op == "+" else -1
            assert standing[tuple(row)] >= 0, "what is taken back is what was told, to the last bit"
    accounts = engines[0].stats()["queries"]
    assert [accounts[name]["reordered"] for name in "qr"] == [1, 1]
    assert accounts["q"]["shared_with"] == accounts["r"]["shared_with"] == 1


def test_joins_below_a_union_get_orders_of_their_own(tmp_path: Path) -> None:
    """One part has too few streams for two orders."""
    few = "SELECT j AS cj FROM a [RANGE 10 SECONDS] WHERE i < 3"
    union = f"SELECT cj FROM ({SQL}) AS q UNION ALL {few}"
    sql = f"SELECT u.cj, d.i FROM ({union}) AS u, d [RANGE 10 SECONDS] WHERE u.cj = d.j"
    engines = [streams(), streams(replan=float("inf"))]
    for engine in engines:
        engine.drop("q")
        engine.sql(
            "CREATE STREAM d (ts TIMESTAMP, i BIGINT, j BIGINT) TIMESTAMP BY ts"
            " WITH (rate = 10, distinct = 'j: 1000')"
        )
        engine.query(sql, name="q")
    given = batches(30, values_of_i=200, values_of_j=100_000)
    for batch in given:
        batch["d"] = batch["c"].slice(0, 10)
    engine, other = engines
    assert play(engine, given[:25]) == play(other, given[:25])
    account = engine.stats()["queries"]["q"]
    assert account["reordered"] >= 1
    engine.save(str(tmp_path / "saved"))
    engine = Engine.load(str(tmp_path / "saved"))
    assert engine.stats()["queries"]["q"]["why"] == account["why"]
    assert play(engine, given[25:]) == play(other, given[25:])


def test_a_query_that_is_refused_leaves_no_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a better one would be looked for, and it would be saved."""
    engine = streams()

    def refuse(*_: object, **__: object) -> None:
        raise EddylineError("refused")

    monkeypatch.setattr(engine.parts.queries.execution, "move", refuse)
    with pytest.raises(EddylineError, match="refused"):
        engine.query(SQL + " AND a.j > 1", name="refused")
    saved = engine.parts.queries.placements.saved()
    assert list(saved["queries"]) == list(saved["measured"]) == ["q"]


def any_orders(random: Random, known: ByCost) -> Orders:
    return tuple(any_tree(random, region) for region in known.joins.regions)


def any_tree(random: Random, region: Region) -> Tree:
    trees: list[Tree] = list(range(len(region.graph.parts)))
    while len(trees) > 1:
        left, right = (trees.pop(random.randrange(len(trees))) for _ in range(2))
        trees.append((left, right))
    return trees[0]


WITHHELD = """
    SELECT a.i FROM a [RANGE 4 SECONDS], b [RANGE 4 SECONDS], c [RANGE 4 SECONDS]
    WHERE a.i = b.i AND b.j = c.j
"""


def with_few_partners(count: int) -> list[dict[str, pa.Table]]:
    """A second of 2,000 rows per stream each. A row of b has three partners in a; a tenth of the
    rows of b and c have partners of each other.
    """
    random, found = np.random.default_rng(5), []
    for second in range(count):
        batch = {}
        for name in "abc":
            ts = np.sort(random.integers(0, SECOND, 2_000)) + second * SECOND
            i, j = random.integers(0, 2_666, 2_000), random.integers(0, 80, 2_000)
            if name == "b":
                j = np.where(random.random(2_000) < 0.1, j, 1_000 + j)
            if name == "c":
                j = np.where(random.random(2_000) < 0.1, j, 2_000 + j)
            batch[name] = pa.table({"ts": pa.array(ts, pa.timestamp("us")), "i": i, "j": j})
        found.append(batch)
    return found


@pytest.mark.parametrize("feedback", ["off", "jit", "auto"])
def test_orders_are_compared_as_if_feedback_withheld_nothing(feedback: str) -> None:
    """Else a ⋈ b seems to make few results, and c to meet all of them, because it withholds the
    others.
    """
    engine = engine_with(executor="tree", feedback=feedback)
    for name in "abc":
        engine.sql(
            f"CREATE STREAM {name} (ts TIMESTAMP, i BIGINT, j BIGINT) TIMESTAMP BY ts"
            " WITH (rate = 2000, distinct = 'i: 100000, j: 1000')"
        )
    engine.query(WITHHELD, name="q")
    assert "a ⋈ b" in order(engine)
    play(engine, with_few_partners(40))
    assert "b ⋈ c" in order(engine)


def test_orders_are_seldom_compared_while_fan_outs_are_steady(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls, compared = 0, []
    better = Reoptimizer.better

    def counting(self: Reoptimizer, known: ByCost) -> Better | None:
        compared.append(calls)
        return better(self, known)

    monkeypatch.setattr(Reoptimizer, "better", counting)
    monkeypatch.setattr(reoptimizer, "_PERIOD_ROWS", 3_000)
    engine = streams()
    few, many = (batches(90, values_of_i=n, values_of_j=1_000) for n in (1_000, 100))
    for batch in few[:80] + many[80:]:
        engine.process(batch)
        calls += 1
    steady = [call for call in compared if 20 <= call < 80]  # windows are full from 10 on
    assert 2 <= len(steady) <= 6
    assert any(80 <= call <= 82 for call in compared), "rows of a have ten times the partners in b"
