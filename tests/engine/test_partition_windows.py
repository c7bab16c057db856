"""Joins of windows with the last rows of keys: queries that differ in how many share a flow."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.testing import batch, difference, rows_of
from eddyline.testing.feeding import process_all
from flow_cases import SECOND, bags, engine
from restarts import restarted
from thinned import thinned

KEYS = "SELECT a.v, b.v AS w FROM a [PARTITION BY k ROWS {n}], b [PARTITION BY k ROWS {m}] WHERE "
JOINS = {
    "keys": KEYS + "a.k = b.k AND a.v = {n}",
    "nested": KEYS.replace("{m}", "{n}") + "a.k = b.k",
    "other columns": "SELECT a.k, a.v, b.v AS w FROM a [PARTITION BY k ROWS {n}], "
    "b [PARTITION BY v ROWS {m}] WHERE a.k = b.k AND b.v > {m} + 40",
    "RANGE": "SELECT a.v, b.v AS w FROM a [PARTITION BY v ROWS {n}], b [RANGE {m} SECONDS] "
    "WHERE a.k = b.k AND a.v = {n}",
    "no key": KEYS + "a.v < b.v - 50 AND a.k = {n}",
    "itself": "SELECT x.v, y.v AS w FROM a [PARTITION BY k ROWS {n}] AS x, "
    "a [PARTITION BY v ROWS {m}] AS y WHERE x.k = y.k AND x.v > {n} + 45",
    "three": "SELECT x.v, b.v AS w FROM a [PARTITION BY k ROWS {n}] AS x, "
    "b [PARTITION BY v ROWS {m}], a [PARTITION BY k, v ROWS 1] AS y WHERE x.k = b.k AND b.v = y.v "
    "AND x.v > {n} + 45",
    "groups": "SELECT a.k, COUNT(*) AS n, SUM(b.v) AS t FROM a [PARTITION BY k ROWS {n}], "
    "b [PARTITION BY k ROWS {m}] WHERE a.k = b.k AND b.v > {m} + 40 GROUP BY a.k "
    "HAVING COUNT(*) > 2",
}


def _rows(chance: random.Random, second: int, count: int) -> dict[str, pa.Table]:
    """Rows of one second: those of a few keys are frequent, of which some are NULL."""

    def table() -> pa.Table:
        at = sorted(chance.randrange(SECOND) + second * SECOND for _ in range(count))
        k = [min(chance.randrange(90), chance.randrange(90)) for _ in at]
        v = [chance.randrange(60) for _ in at]
        keys = pa.array([None if key == 5 else key for key in k], pa.int64())
        return pa.table([pa.array(at), keys, pa.array(v)], names=["ts", "k", "v"])

    return {stream: table() for stream in "ab"}


def _kept(eng: Engine) -> int:
    return max(s["rows_kept"] for s in eng.stats()["streams"].values())


@pytest.mark.parametrize(("kind", "chunk"), thinned(2, JOINS, (7, 250, 10_000)))
def test_answers_are_those_of_trees_while_rows_leave(kind: str, chunk: int) -> None:
    """The stores drop rows many times, and queries come and go."""
    chance = random.Random(f"{kind} {chunk}")
    engines = [engine(executor=executor, chunk_rows=chunk) for executor in ("eddy", "tree")]
    names = []

    def add(name: str) -> None:
        sql = JOINS[kind].format(n=chance.randint(1, 6), m=chance.randint(1, 6))
        for eng in engines:
            eng.query(sql, name=name)
        names.append(name)

    for i in range(4):
        add(f"q{i}")
    for second in range(14):
        some = _rows(chance, second, 300)
        said = [bags(eng.process(some), names) for eng in engines]
        assert said[0] == said[1]
        if second == 4:
            names.remove("q1")
            for eng in engines:
                eng.drop("q1")
        if second in (6, 11):
            engines = [restarted(eng) for eng in engines]
        for name in names:
            answers = [rows_of(eng.queries[name].snapshot()) for eng in engines]
            assert difference(*answers) == ([], [])
    stats = engines[0].stats()["queries"]
    assert {stats[name]["shared_with"] for name in names} == {2}
    assert kind == "RANGE" or _kept(engines[0]) < 4_000


@pytest.mark.parametrize("nested", [True, False], ids=["nested", "not nested"])
def test_what_leaves_is_taken_back_just_before_the_row_that_pushes_it_out(nested: bool) -> None:
    eng = engine(executor="eddy")
    for name, n, m in [("one", 1, 1), ("two", 2, 3), *([] if nested else [("three", 3, 1)])]:
        sql = KEYS.format(n=n, m=m) + "a.k = b.k"
        eng.query(sql, name=name)
    out = process_all(
        eng,
        {
            "a": batch("""
                ts | k | v
                1s | 1 | 1
                3s | 2 | 2
                4s | 1 | 3
                5s | 1 | 4
            """),
            "b": batch("""
                ts | k | v
                2s | 1 | 7
            """),
        },
    )

    def changes(name: str) -> list[tuple[str, int, int, int]]:
        return [(r["_op"], r["_ts"].second, r["v"], r["w"]) for r in out[name].to_pylist()]

    swapped = [("-", 4, 1, 7), ("+", 4, 3, 7)]
    assert changes("one") == [("+", 2, 1, 7), *swapped, ("-", 5, 3, 7), ("+", 5, 4, 7)]
    assert changes("two") == [("+", 2, 1, 7), ("+", 4, 3, 7), ("-", 5, 1, 7), ("+", 5, 4, 7)]


def test_many_lengths_and_large_chunks() -> None:
    engines = [engine(executor=executor) for executor in ("eddy", "tree")]
    compared = ["q1", "q40", "q130"]
    for n in range(1, 131):
        for eng in engines[: 2 if f"q{n}" in compared else 1]:
            sql = KEYS.format(n=n, m=131 - n) + f"a.k = b.k AND a.v = {n % 60}"
            eng.query(f"{sql} AND b.v = {7 * n % 60} AND a.k > 9", name=f"q{n}")
    for second in range(3):
        some = _rows(random.Random(second), second, 5_000)
        said = [bags(eng.process(some), compared) for eng in engines]
        assert said[0] == said[1] and all(said[0])


@pytest.mark.parametrize("kind", ["keys", "three"])
def test_a_late_query_sees_the_rows_that_are_still_there(kind: str) -> None:
    """Of which some are missing in between, as they are held for others. From then on its changes
    are those of its answer, and the answer is right as soon as its windows are full.
    """
    chance = random.Random(kind)
    eng, whole = engine(executor="eddy", chunk_rows=50), engine(executor="tree")
    late = JOINS[kind].format(n=9, m=9).replace("a.v = 9", "a.v > 50")
    late += " AND b.k < 40"  # of the others there are few
    whole.query(late, name="late")
    eng.query("SELECT v FROM a [PARTITION BY v ROWS 15]", name="keeper")
    eng.query(JOINS[kind].format(n=2, m=2), name="few")
    for second in range(8):
        for each in (whole, eng):
            each.process(_rows(random.Random(second), second, 400))
    eng.query(late, name="late")
    seen: dict[str, int] = {}  # the first changes are the answer so far
    for second in range(8, 24):
        some = _rows(chance, second, 400)
        whole.process(some)
        changes = eng.process(some)["late"].to_pylist()
        for row in changes:
            key = repr((row["v"], row["w"]))
            seen[key] = seen.get(key, 0) + (1 if row["_op"] == "+" else -1)
        seen = {key: n for key, n in seen.items() if n}
        assert seen == _bag(eng.queries["late"].snapshot())
        if second == 9:
            eng = restarted(eng)
    answers = [rows_of(each.queries["late"].snapshot()) for each in (eng, whole)]
    assert difference(*answers) == ([], [])


def _bag(answer: pa.Table) -> dict[str, int]:
    rows = [repr((row["v"], row["w"])) for row in answer.to_pylist()]
    return {row: rows.count(row) for row in set(rows)}


def test_rows_are_forgotten() -> None:
    eng = engine(executor="eddy", chunk_rows=100)
    for n in (2, 20):
        eng.query(KEYS.format(n=n, m=n) + f"a.k = b.k AND a.v = {n}", name=f"q{n}")
    chance = random.Random(2)
    for second in range(40):
        eng.process(_rows(chance, second, 500))
    assert 1_000 < _kept(eng) < 2 * 90 * 20 + 1_600
    eng.drop("q20")
    for second in range(40, 60):
        eng.process(_rows(chance, second, 500))
    assert _kept(eng) < 2 * 90 * 2 + 1_600
    eng.drop("q2")
    eng.process(_rows(chance, 60, 10))
    assert _kept(eng) == 0
