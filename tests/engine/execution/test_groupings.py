"""Queries that group alike share one grouping, whatever their predicates and windows."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from eddyline import Engine
from eddyline.engine.execution.subscriptions import GroupedSubscription
from eddyline.runtime.eddy import per_query
from eddyline.runtime.eddy.per_query import PerQuery
from eddyline.testing import difference, rows_of
from eddyline.testing.script import Script
from flow_cases import DDL, bags, engine, rows
from restarts import restarted

NAMES = "k | name\n1 | one\n2 | two"
CASES = {
    "groups": "SELECT k, COUNT(*) AS n, MAX(v) AS m FROM a [RANGE {n} SECONDS] WHERE v > {n}"
    " GROUP BY k",
    "key not selected": "SELECT SUM(v) AS t FROM a [RANGE {n} SECONDS] WHERE v <> {n} GROUP BY k",
    "having": "SELECT k, AVG(v) AS m, MIN(v) AS l FROM a [RANGE {n} SECONDS] WHERE v > {n}"
    " GROUP BY k HAVING COUNT(*) > 1",
    "distinct": "SELECT DISTINCT k FROM a [RANGE {n} SECONDS] WHERE v <> {n}",
    "join": "SELECT a.v, COUNT(*) AS n, COUNT(DISTINCT b.v) AS d FROM a [RANGE {n} SECONDS],"
    " b [RANGE 3 SECONDS] WHERE a.k = b.k AND b.v > {n} GROUP BY a.v",
    "distinct of a join": "SELECT DISTINCT a.v, b.v AS w FROM a [RANGE {n} SECONDS],"
    " b [RANGE 2 SECONDS] WHERE a.k = b.k AND b.v >= {n}",
    "groups of groups": "SELECT n, COUNT(*) AS many FROM (SELECT k, COUNT(*) AS n"
    " FROM a [RANGE {n} SECONDS] WHERE v > {n} GROUP BY k) AS g GROUP BY n",
    "groups of values": "SELECT v, COUNT(*) AS n FROM (SELECT DISTINCT k, v"
    " FROM a [RANGE {n} SECONDS] WHERE v <> {n}) AS d GROUP BY v",
    "rows": "SELECT k, SUM(v) AS t FROM a [ROWS 3] WHERE v > {n} GROUP BY k",
    "table": "SELECT name, COUNT(*) AS n FROM a [RANGE 3 SECONDS], names WHERE a.k = names.k"
    " AND v > {n} AND name <> 'o' GROUP BY name",
    "looked up": "SELECT v, name FROM a [RANGE 3 SECONDS], names WHERE a.k = names.k AND v > {n}",
}


@pytest.mark.parametrize("sql", CASES.values(), ids=list(CASES))
@pytest.mark.parametrize("executor", ["auto", "eddy"])
def test_grouped_queries_share_and_give_the_results_of_each_alone(sql: str, executor: str) -> None:
    queries = {f"q{n}": sql.format(n=n) for n in (1, 2, 4)}
    script = Script(DDL, queries, tables={"names": NAMES}, options={"executor": executor})
    assert _shared_with(script.engine) == {"q1": 2, "q2": 2, "q4": 2}
    chance = random.Random(sql)
    for second in range(6):
        script.process(**rows(chance, second)).check()
        script.add(f"late{second}", sql.format(n=second % 3 + 1)).check()
        if second == 2:
            script.drop("q1").restart().check()
        if second == 3:
            script.drop("q2").drop("late0")
    assert set(_shared_with(script.engine).values()) == {len(script.tracked) - 1}
    script.advance("20s").finish()


@pytest.mark.parametrize("sql", CASES.values(), ids=list(CASES))
def test_a_single_query_keeps_its_state_in_a_grouping(sql: str) -> None:
    """Nothing twice, nothing lost, at whatever moment the second query comes."""
    for moment in range(1, 5):
        script = Script(DDL, {"first": sql.format(n=3)}, tables={"names": NAMES})
        chance = random.Random(moment)
        for second in range(moment):
            script.process(**rows(chance, second))
        assert _executors(script.engine) == {"tree"}
        script.add("second", sql.format(n=2)).check()
        assert _executors(script.engine) == {"eddy"}
        script.process(**rows(chance, moment)).restart().process(**rows(chance, moment + 1))
        script.advance("20s").finish()


def test_chunks_are_cut_between_events(monkeypatch: pytest.MonkeyPatch) -> None:
    for sql in CASES.values():
        changes = []
        for most in (1, 7, 1 << 20):
            monkeypatch.setattr(per_query, "_MOST_ROWS", most)
            eng = engine()
            for n in (1, 2, 3):
                eng.query(sql.format(n=n), name=f"q{n}")
            chance = random.Random(sql)
            changes.append([bags(eng.process(rows(chance, s)), ["q1", "q2"]) for s in range(4)])
        assert changes[0] == changes[1] == changes[2]


def test_only_the_groupings_differ_in_having() -> None:
    """Where all that differs is asked of groups, the groups themselves are the same."""
    eng = engine()
    for n in (1, 2):
        eng.query(
            f"SELECT k, COUNT(*) AS n FROM a [NOW] WHERE v > 2 GROUP BY k HAVING COUNT(*) > {n}",
            name=f"q{n}",
        )
    assert not list(_groupings(eng))
    assert _shared_with(eng) == {"q1": 1, "q2": 1}


@pytest.mark.parametrize("kind", ["groups", "distinct", "join", "rows", "distinct of a join"])
def test_removed_queries_leave_nothing_in_a_grouping(kind: str) -> None:
    """Numbers are given out again, and groups of queries that are gone do not stay."""
    eng = engine()
    for n in (1, 2):
        eng.query(CASES[kind].format(n=n), name=f"stays{n}")
    chance = random.Random(5)
    eng.process(rows(chance, 0))
    (before,) = (o.kept() for o in _groupings(eng))
    for turn in range(300):
        eng.query(CASES[kind].format(n=turn % 3 + 1), name=f"q{turn}")
        eng.drop(f"q{turn}")
    (operator,) = _groupings(eng)
    assert operator.kept() < 70 * max(before, 10)
    assert max(s.number for s in _subscriptions(eng)) < 3
    eng.query(CASES[kind].format(n=3), name="last")
    assert eng.queries["last"].subscription.number < 80  # type: ignore[union-attr]
    alone = engine(executor="tree")
    for e, names in ((eng, ["stays1", "last"]), (alone, ["stays1", "last"])):
        if e is alone:
            chance = random.Random(5)
            for n, name in ((1, "stays1"), (3, "last")):
                alone.query(CASES[kind].format(n=n), name=name)
            alone.process(rows(chance, 0))
        more = random.Random(6)
        for second in (1, 2, 3):
            e.process(rows(more, second))
        answers = {name: rows_of(e.queries[name].snapshot()) for name in names}
        if e is eng:
            ours = answers
    for name, answer in answers.items():
        assert difference(answer, ours[name]) == ([], [])
    for name in list(eng.queries):
        eng.drop(name)
    assert list(eng.parts.queries.execution.graph) == []


def test_pending_changes_are_not_another_query_s() -> None:
    """A number is not given out again while changes of its last owner may be fetched."""
    eng = engine(chunk_rows=1)
    for n in range(70):
        eng.query(CASES["groups"].format(n=n % 3 + 1), name=f"q{n}")
    chance = random.Random(1)
    eng.process(rows(chance, 0))
    steps = eng.stream(rows(chance, 1))
    next(steps)
    for n in range(69):
        eng.drop(f"q{n}")
    eng.query("SELECT k, COUNT(*) AS n, MAX(v) AS m FROM a [NOW] WHERE v > 99 GROUP BY k", "new")
    assert "new" not in {name for name, _ in steps}


def test_explain_shows_what_is_shared() -> None:
    eng = engine()
    for n in (1, 2, 3):
        eng.query(CASES["groups"].format(n=n), name=f"q{n}")
    assert "no other query has" not in eng.queries["q1"].why
    eng.query("SELECT k, v FROM a [NOW] WHERE v > 3", name="flat")
    eng.query("SELECT k, v FROM a [NOW] WHERE v > 4", name="flat2")
    eng.process(rows(random.Random(1), 0))
    text = eng.sql("EXPLAIN ANALYZE q1")[0]
    assert isinstance(text, str)
    assert (
        "runs in an eddy, with 4 other queries (2 of them read the same operators above it)" in text
    )
    assert "PerQuery" in text and "grouped filter" in text
    accounts = eng.stats()["queries"]
    for n in (1, 2, 3):
        account = accounts[f"q{n}"]
        assert account["rows_out"] == eng.stats()["queries"][f"q{n}"]["rows_out"] > 0
        assert account["seconds"] > 0 and account["state_bytes"] > 0
        assert account["checks"] > 0
    assert restarted(eng).stats()["queries"]["q2"]["executor"] == "eddy"


def test_all_changes_are_in_one_batch() -> None:
    eng = engine()
    for n in (1, 2, 3):
        eng.query(CASES["groups"].format(n=n), name=f"q{n}")
    changes = eng.process(rows(random.Random(1), 0))
    (batch,) = changes.batches()
    assert set(batch["_query"].to_pylist()) == set(changes.active()) == {"q1", "q2", "q3"}


def _groupings(eng: Engine) -> Iterator[PerQuery]:
    return (o for o in eng.parts.queries.execution.graph if isinstance(o, PerQuery))


def _subscriptions(eng: Engine) -> Iterator[GroupedSubscription]:
    subscriptions = (q.subscription for q in eng.queries.values())
    return (s for s in subscriptions if isinstance(s, GroupedSubscription))


def _shared_with(eng: Engine) -> dict[str, int]:
    return {name: q["shared_with"] for name, q in eng.stats()["queries"].items()}


def _executors(eng: Engine) -> set[str]:
    return {q["executor"] for q in eng.stats()["queries"].values()}


def test_queries_over_the_same_groups_read_them_from_one_tree() -> None:
    """Nothing is grouped twice that need not be."""
    eng = engine()
    sql = "SELECT k, COUNT(*) AS n FROM a [NOW] WHERE v > 2 GROUP BY k"
    for name in ("one", "two", "three"):
        eng.query(sql, name=name)
    assert eng.queries["two"].why == "it reads the groups of a query that groups the same rows"
    assert _executors(eng) == {"tree"}
    assert _shared_with(eng) == {"one": 2, "two": 2, "three": 2}
    eng.query(sql.replace("v > 2", "v > 3"), name="other")
    executors = {name: q["executor"] for name, q in eng.stats()["queries"].items()}
    assert executors == {"one": "eddy", "two": "tree", "three": "tree", "other": "eddy"}
    eng.query(sql, name="four")
    assert eng.stats()["queries"]["four"]["executor"] == "tree"
    again = restarted(eng)
    assert {n: q["executor"] for n, q in again.stats()["queries"].items()}["one"] == "eddy"
    chance = random.Random(3)
    for second in range(3):
        data = rows(chance, second)
        ours, theirs = (bags(e.process(data), ["one", "two", "four"]) for e in (eng, again))
        assert ours == theirs
        assert ours["one"] == ours["two"] == ours["four"]
