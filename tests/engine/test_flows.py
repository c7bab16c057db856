"""Queries that share flows: who comes and goes, and what is saved."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

from eddyline import Engine, UnsupportedError
from eddyline.algebra.expressions import Expr, Literal, walk
from eddyline.physical import clauses, expressions
from eddyline.runtime.stores.stem import Stem
from eddyline.testing import batch, difference, rows_of
from eddyline.testing.script import Script
from flow_cases import DDL, FILTER, GROUPS, JOIN, bags, engine, rows
from restarts import restarted


@pytest.mark.parametrize("sql", [FILTER, JOIN, GROUPS], ids=["filter", "join", "groups"])
def test_a_single_query_moves_into_a_flow(sql: str) -> None:
    """Nothing twice, nothing lost: neither what was emitted before nor what was not fetched."""
    alone, second = sql.format(1, n=1), sql.format(2, n=2)
    eng, tree = engine(chunk_rows=2), engine(chunk_rows=2, executor="tree")
    for e in (eng, tree):
        e.query(alone, name="first")
    chance = random.Random(sql)
    first, then = rows(chance, 0), rows(chance, 1)
    assert bags(eng.process(first), ["first"]) == bags(tree.process(first), ["first"])
    found = []
    for name, table in eng.stream(then):
        if "second" not in eng.queries:
            assert eng.stats()["queries"]["first"]["executor"] == "tree"
            eng.query(second, name="second")
            assert eng.stats()["queries"]["first"]["executor"] == "eddy"
            assert eng.stats()["queries"]["first"]["shared_with"] == 1
        found += [repr(row) for row in rows_of(table) if name == "first"]
    assert sorted(found) == bags(tree.process(then), ["first"])["first"]
    tree.query(second, name="second")
    for second_number in (2, 3):
        data = rows(chance, second_number)
        ours, theirs = eng.process(data), tree.process(data)
        assert bags(ours, ["first"]) == bags(theirs, ["first"])
        for name in ("first", "second"):
            answers = (rows_of(e.queries[name].snapshot()) for e in (eng, tree))
            assert difference(*answers) == ([], [])
    eng.drop("second")
    tree.drop("second")
    data = rows(chance, 4)
    assert bags(eng.process(data), ["first"]) == bags(tree.process(data), ["first"])
    assert eng.queries["first"].why == "the queries that shared its flow are gone"
    eng.query(second, name="third")
    assert eng.stats()["queries"]["third"]["shared_with"] == 1


@pytest.mark.parametrize("sql", [FILTER, JOIN, GROUPS], ids=["filter", "join", "groups"])
def test_a_query_that_is_added_late_is_answered_over_the_rows_held(sql: str) -> None:
    script = Script(DDL, {f"q{n}": sql.format(n, n=n) for n in (1, 2)}, tables={"names": NAMES})
    chance = random.Random(sql)
    for second in range(4):
        script.process(**rows(chance, second)).check()
        script.add(f"late{second}", sql.format(second, n=1)).check()
        if second == 2:
            script.drop("q1").restart()
    script.advance("9s").finish()


NAMES = "k | name\n1 | one\n2 | two"


def test_nothing_is_kept_after_the_last_query() -> None:
    eng = engine()
    queries = {
        f"{i} {n}": sql.format(n, n=n)
        for i, sql in enumerate((FILTER, JOIN, GROUPS))
        for n in (1, 2)
    }
    for name, sql in queries.items():
        eng.query(sql, name=name)
    eng.process(rows(random.Random(1), 0))
    assert {q["executor"] for q in eng.stats()["queries"].values()} == {"eddy"}
    for name in queries:
        eng.drop(name)
    eng.process(rows(random.Random(2), 1))
    standing = eng.parts.queries
    execution = standing.execution
    assert not list(execution.graph)
    assert not (execution.flows or standing.placements.unshared)
    bare = Stem("bare", ())
    for stem in eng.parts.inputs.stems.values():
        assert len(stem) == 0
        assert not stem.state()["windows"]
        assert stem.lane_names == bare.lane_names


def test_a_query_that_cannot_be_added_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def compile_expr(expr: Expr) -> Any:
        if any(e == Literal(pa.int64(), 13) for e in walk(expr)):
            raise UnsupportedError("wrong")
        return expressions.compile_expr(expr)

    monkeypatch.setattr(clauses, "compile_expr", compile_expr)
    eng = engine(executor="eddy")
    for _ in range(2):
        with pytest.raises(UnsupportedError, match="wrong"):
            eng.query("SELECT v FROM a [NOW] WHERE v % 13 > 1", name="q")
    assert not list(eng.parts.queries.execution.graph)
    assert not eng.parts.queries.execution.flows
    eng.query("SELECT v FROM a [NOW] WHERE v > 1", name="q")
    with pytest.raises(UnsupportedError, match="wrong"):
        eng.query("SELECT v FROM a [NOW] WHERE v % 13 > 1", name="r")
    assert eng.process({"a": batch("ts | k | v\n1s | 1 | 4")})["q"].num_rows == 1


@pytest.mark.parametrize(
    "options", [{}, {"sharing": False}, {"executor": "eddy"}, {"selections": "pull"}]
)
def test_a_loaded_engine_goes_on_as_if_nothing_had_happened(options: dict[str, Any]) -> None:
    whole, broken = engine(chunk_rows=3, **options), engine(chunk_rows=3, **options)
    queries = {
        "alone": FILTER.format(2),
        **{f"join{n}": JOIN.format(n=n) for n in (1, 2)},
        **{f"groups{n}": GROUPS.format(n) for n in (0, 2)},
        "chain": "SELECT a.v FROM a [RANGE 2 SECONDS], b [RANGE 2 SECONDS], a [RANGE 1 SECOND] AS c"
        " WHERE a.k = b.k AND b.v = c.v",
        "table": "SELECT a.v, name FROM a [RANGE 2 SECONDS], names WHERE a.k = names.k",
    }
    chance = random.Random(4)
    for e in (whole, broken):
        for name, sql in queries.items():
            e.query(sql, name=name)
    for second in range(6):
        data = rows(chance, second)
        out, other = whole.process(data), broken.process(data)
        assert {n: rows_of(t) for n, t in out.items()} == {n: rows_of(t) for n, t in other.items()}
        for e in (whole, broken):
            e.query(FILTER.format(second), name=f"late{second}")
            if second == 3:
                e.drop("late1")
                e.drop("join1")
        broken = restarted(broken)
        for name in whole.queries:
            mine, theirs = whole.queries[name], broken.queries[name]
            assert rows_of(mine.snapshot()) == rows_of(theirs.snapshot())
            assert mine.why == theirs.why, name
        assert placements(whole) == placements(broken)


def placements(eng: Engine) -> dict[str, Any]:
    """As they are saved, with what follows from the rows that feedback withholds: a loaded engine
    counts these anew, but orders of joins are compared by the share of rows that pass.
    """
    saved = eng.parts.queries.placements.saved()
    for (of_chain,) in saved["measured"].values():
        of_chain["since"] = [
            (tree, n.left[:2], n.right[:2], n.results, n.admitted(0), n.admitted(1))
            for tree, n in of_chain["since"]
        ]
    return saved


def test_flow_results_not_fetched_yet_are_saved() -> None:
    eng = engine(chunk_rows=1)
    for least in (1, 3):
        eng.query(FILTER.format(least), name=f"q{least}")
    steps = eng.stream({"a": batch("ts | k | v\n1s | 1 | 4\n2s | 2 | 7")})
    next(steps)
    steps.close()
    again = restarted(eng)
    assert again.process({})["q3"]["v"].to_pylist() == eng.process({})["q3"]["v"].to_pylist()


@pytest.mark.parametrize("order", ["abc", "bca", "cab", "acb", "bac", "cba"])
def test_null_joins_nothing_on_any_route(order: str) -> None:
    """Also where the eddy compares a key after it has asked for another one."""
    eng = engine(executor="eddy")
    eng.sql("CREATE STREAM c (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts")
    eng.query(
        "SELECT a.k FROM a [RANGE 9 SECONDS], b [RANGE 9 SECONDS], c [RANGE 9 SECONDS]"
        " WHERE a.k = b.k AND a.k = c.k AND b.v = c.v",
        name="q",
    )
    for ts, stream in enumerate(order):
        row = pa.table({"ts": [ts], "k": [1], "v": pa.array([None], pa.int64())})
        assert eng.process({stream: row})["q"].num_rows == 0
