"""Feedback that passes GROUP BY, EXISTS and outer joins: what is not needed above is not made."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.testing import engine_with
from eddyline.types import TIMESTAMP

_HOUR = "[RANGE 1 HOUR]"
GROUPED = f"SELECT a.k, COUNT(*) AS n FROM a {_HOUR}, b {_HOUR} WHERE a.g = b.g GROUP BY a.k"
DISTINCT = f"SELECT DISTINCT a.k, b.k AS n FROM a {_HOUR}, b {_HOUR} WHERE a.g = b.g"


def engine_of(sql: str, **options: Any) -> Engine:
    engine = engine_with(**{"executor": "tree", "feedback": "jit"} | options)
    for name in "abcd":
        engine.sql(f"CREATE STREAM {name} (ts TIMESTAMP, g BIGINT, k BIGINT) TIMESTAMP BY ts")
    engine.query(sql, name="q")
    return engine


def rows(second: float, *pairs: tuple[int, int]) -> pa.Table:
    ts = pa.array([int(second * 1e6)] * len(pairs), TIMESTAMP)
    g, k = (pa.array([p[i] for p in pairs], pa.int64()) for i in (0, 1))
    return pa.table({"ts": ts, "g": g, "k": k})


def feed(engine: Engine, second: float, **batches: list[tuple[int, int]]) -> list[Any]:
    given = {name: rows(second, *batches.get(name, [])) for name in engine.catalog.streams}
    changes = engine.process(given, watermark=int(second * 1e6))
    found = [tuple(r.values())[3:] for r in changes["q"].to_pylist() if r["_op"] == "+"]
    return sorted(found, key=str)


def made(engine: Engine, operator: str) -> int:
    """Rows out of the first operator of a kind."""
    found = [o for o in engine.stats()["operators"] if o["operator"] == operator]
    return int(found[0]["rows_out"])


def answer(engine: Engine) -> list[Any]:
    return sorted((tuple(r.values()) for r in engine.queries["q"].snapshot().to_pylist()), key=str)


def waiting(engine: Engine) -> int:
    """Suspended rows of a."""
    gates = [g for o in engine.stats()["operators"] for g in o.get("feedback", [])]
    return sum(g["waiting"] for g in gates if g["rows_of"] == "a")


def test_pairs_of_groups_without_a_partner_are_not_made() -> None:
    engine = engine_of(f"SELECT j.k, j.n, c.g FROM ({GROUPED}) AS j, c {_HOUR} WHERE j.k = c.k")
    for second in range(10):
        feed(engine, second, a=[(0, k) for k in range(100)], b=[(0, 0)])
    assert made(engine, "Join") == 0 and made(engine, "GroupBy") == 0
    assert waiting(engine) == 1_000
    assert feed(engine, 10, c=[(7, 3)]) == [(3, 100, 7)]
    assert made(engine, "Join") == 100 and waiting(engine) == 990
    assert feed(engine, 11, b=[(0, 0)]) == [(3, 110, 7)]
    assert feed(engine, 12, a=[(0, 3), (0, 4)]) == [(3, 121, 7)]


def test_groups_count_all_rows_again_when_a_partner_comes_back() -> None:
    sql = f"SELECT j.k, j.n, c.g FROM ({GROUPED}) AS j, c [RANGE 2 SECONDS] WHERE j.k = c.k"
    engine = engine_of(sql)
    feed(engine, 0, a=[(0, 1)] * 2_000, b=[(0, 0)])
    assert feed(engine, 1, c=[(7, 1)]) == [(1, 2_000, 7)]
    for second in range(4, 9):  # the partner has expired, and rows are judged again
        feed(engine, second, a=[(0, 2)] * 1_000, b=[(0, 0)])
    engine = _restarted(engine)
    assert feed(engine, 9, c=[(8, 1), (9, 2)]) == [(1, 12_000, 8), (2, 30_000, 9)]


def _restarted(engine: Engine) -> Engine:
    saved = io.BytesIO()
    engine.save(saved)
    saved.seek(0)
    return Engine.load(saved)


def test_a_second_consumer_is_heard_through_the_first() -> None:
    sql = (
        f"SELECT j.k, j.n FROM ({GROUPED}) AS j, c {_HOUR}, d {_HOUR} WHERE j.k = c.k AND j.k = d.k"
    )
    engine = engine_of(sql, optimize=False)
    feed(engine, 0, a=[(0, k) for k in range(100)], b=[(0, 0)], c=[(0, 3), (0, 4)])
    assert made(engine, "Join") == 0
    feed(engine, 1, d=[(0, 4), (0, 5)])
    assert made(engine, "Join") == 1
    assert feed(engine, 2, c=[(0, 5)]) == [(5, 1)]


@pytest.mark.parametrize("no", ["", "NOT "])
@pytest.mark.parametrize("of", [GROUPED, DISTINCT])
def test_existence_by_conditions_is_about_the_rows_that_are_shown(of: str, no: str) -> None:
    """Pairs of the rows and what they are compared with have the ids of these very rows."""
    exists = f"{no}EXISTS (SELECT 1 FROM c {_HOUR} WHERE c.k = j.k AND c.g < j.n)"
    engine = engine_of(f"SELECT j.k, j.n FROM ({of}) AS j WHERE {exists}", optimize=False)
    feed(engine, 0, a=[(0, 5), (0, 5), (0, 6)], b=[(0, 1)])
    feed(engine, 1, a=[(0, 7)])
    feed(engine, 2, c=[(0, 7), (9, 6)])
    assert [k for k, _ in answer(engine)] == ([5, 6] if no else [7])


#: LEFT JOINs by keys alone, with a condition, and written as RIGHT JOIN.
OUTER = [
    f"SELECT a.k, b.k AS bk FROM a {_HOUR} LEFT JOIN b {_HOUR} ON a.g = b.g",
    f"SELECT a.k, b.k AS bk FROM a {_HOUR} LEFT JOIN b {_HOUR} ON a.g = b.g AND a.k < b.k + 100",
    f"SELECT a.k, b.k AS bk FROM b {_HOUR} RIGHT JOIN a {_HOUR} ON a.g = b.g",
]


@pytest.mark.parametrize("optimize", [True, False])
@pytest.mark.parametrize("outer", OUTER)
def test_rows_of_an_outer_join_without_a_partner_are_not_made(outer: str, optimize: bool) -> None:
    """Rows of a are suspended once, for the pairs and for the rows without a match."""
    sql = f"SELECT j.k, j.bk, c.g FROM ({outer}) AS j, c {_HOUR} WHERE j.k = c.k"
    engine = engine_of(sql, optimize=optimize)
    feed(engine, 0, a=[(g, k) for g in range(2) for k in range(50)], b=[(0, 9)])
    assert (waiting(engine), made(engine, "Join"), made(engine, "Matching")) == (100, 0, 0)
    assert feed(engine, 1, c=[(7, 3)]) == [(3, 9, 7), (3, None, 7)]
    assert (waiting(engine), made(engine, "Join"), made(engine, "Matching")) == (98, 1, 1)
    assert feed(engine, 2, b=[(1, 8)]) == [(3, 8, 7)]
    assert sorted(answer(engine)) == [(3, 8, 7), (3, 9, 7)]


def test_pairs_of_a_full_join_are_suspended_alone() -> None:
    """The rows of a without a match are needed for those of b."""
    outer = f"SELECT a.k, b.k AS bk FROM a {_HOUR} FULL JOIN b {_HOUR} ON a.g = b.g"
    engine = engine_of(f"SELECT j.k, j.bk, c.g FROM ({outer}) AS j, c {_HOUR} WHERE j.k = c.k")
    feed(engine, 0, a=[(g, k) for g in range(2) for k in range(50)], b=[(0, 9)])
    assert waiting(engine) == 100 and made(engine, "Join") == 0 < made(engine, "Matching")
    assert feed(engine, 1, c=[(7, 3)]) == [(3, 9, 7), (3, None, 7)]


@pytest.mark.parametrize(
    "joined", [f"a {_HOUR}, d {_HOUR} WHERE a.g = d.g AND", f"a {_HOUR} WHERE"]
)
@pytest.mark.parametrize("no", ["", "NOT "])
def test_rows_of_existence_without_a_partner_are_not_made(joined: str, no: str) -> None:
    """What a row has a match for, when it is released, is found among all that has come before."""
    exists = f"{no}EXISTS (SELECT 1 FROM b [RANGE 5 SECONDS] WHERE b.g = a.g AND b.k < a.k + 100)"
    below = f"SELECT a.k, a.g FROM {joined} {exists}"
    sql = f"SELECT j.k, j.g, c.g AS cg FROM ({below}) AS j, c {_HOUR} WHERE j.k = c.k"
    engine = engine_of(sql, optimize=False)
    feed(engine, 0, a=[(g, k) for g in range(2) for k in range(50)], d=[(0, 0), (1, 0)])
    feed(engine, 1, b=[(0, 0)])
    assert (waiting(engine), made(engine, "Join"), made(engine, "Matching")) == (100, 0, 0)
    found = feed(engine, 2, c=[(7, 3)])
    assert found == ([(3, 1, 7)] if no else [(3, 0, 7)]) and waiting(engine) == 98
    assert feed(engine, 3, b=[(1, 0)]) == ([] if no else [(3, 1, 7)])
    assert answer(engine) == ([] if no else [(3, 0, 7), (3, 1, 7)])
    feed(engine, 6.5)  # the first row of b has left
    assert answer(engine) == ([(3, 0, 7)] if no else [(3, 1, 7)])
    assert "feedback: rows of" in engine.queries["q"].explain(analyze=True)


def test_rows_of_a_stream_are_not_suspended_below_existence_by_keys() -> None:
    """There a row costs no more than a gate: it is inserted, and once more above."""
    exists = f"EXISTS (SELECT 1 FROM b {_HOUR} WHERE b.g = a.g)"
    below = f"SELECT a.k FROM a {_HOUR} WHERE {exists}"
    engine = engine_of(f"SELECT j.k FROM ({below}) AS j, c {_HOUR} WHERE j.k = c.k")
    feed(engine, 0, a=[(0, 1), (1, 2)], b=[(0, 0)])
    assert waiting(engine) == 0 and made(engine, "Matching") == 1
    engine.query(
        f"SELECT j.k, j.n FROM (SELECT k, COUNT(*) AS n FROM ({below}) AS e GROUP BY k) AS j, "
        f"c {_HOUR} WHERE j.k = c.k",
        name="counted",
    )
    assert waiting(engine) == 2  # groups cost more


@pytest.mark.parametrize("feedback", ["jit", "auto"])
@pytest.mark.parametrize(
    "below",
    [
        GROUPED,
        DISTINCT,
        f"SELECT a.k, b.k AS n FROM a {_HOUR} LEFT JOIN b {_HOUR} ON a.g = b.g",
        f"SELECT a.k, b.k AS n FROM a {_HOUR}, b {_HOUR} WHERE a.g = b.g",
    ],
)
def test_an_input_that_is_needed_whole_is_made_once(below: str, feedback: str) -> None:
    """The pairs of a LEFT JOIN need some of the left rows, those without a match all of them."""
    sql = f"SELECT j.k, j.n, c.g FROM ({below}) AS j LEFT JOIN c {_HOUR} ON j.k = c.k"
    engine = engine_of(sql, feedback=feedback)
    feed(engine, 0, a=[(0, 1), (0, 2)], b=[(0, 1)], c=[(7, 1)])
    kinds = [o["operator"] for o in engine.stats()["operators"]]
    assert (kinds.count("Join"), waiting(engine)) == (2, 0)
    assert answer(engine) == [(1, 1, 7), (2, 1, None)]


@pytest.mark.parametrize(("partners", "suspended"), [(1, 0), (9, 5_000)])
def test_trials_weigh_what_is_made_of_rows_of_a_stream(partners: int, suspended: int) -> None:
    """Half of the rows can be spared: that pays if each would be in many pairs."""
    below = f"SELECT a.k, b.k AS bk FROM a [RANGE 1 SECOND] LEFT JOIN b {_HOUR} ON a.g = b.g"
    sql = f"SELECT j.k, j.bk FROM ({below}) AS j, c {_HOUR} WHERE j.k = c.k"
    engine = engine_of(sql, feedback="auto")
    feed(engine, 0, b=[(0, k) for k in range(partners)], c=[(0, k) for k in range(5)])
    for second in range(1, 4):
        feed(engine, second, a=[(0, k % 10) for k in range(5_000)])
    feed(engine, 4, a=[(0, k % 10) for k in range(10_000)])
    assert waiting(engine) == suspended


def test_what_a_join_further_up_needs_is_made_below_both_parts() -> None:
    sql = (
        f"SELECT j.k, c.g, d.g AS dg FROM (SELECT a.k FROM a {_HOUR} LEFT JOIN b {_HOUR} "
        f"ON a.g = b.g) AS j LEFT JOIN c {_HOUR} ON j.k = c.k, d {_HOUR} WHERE j.k = d.k"
    )
    engine = engine_of(sql)
    feed(engine, 0, a=[(0, 1), (1, 2)], b=[(0, 9)], c=[(7, 1)])
    assert waiting(engine) == 2
    assert feed(engine, 1, d=[(5, 2)]) == [(2, None, 5)]


def test_a_stream_joined_with_itself_is_not_suspended_where_all_of_it_is_needed() -> None:
    """NOT EXISTS is about all rows of the stream, though only some are asked for."""
    sql = (
        f"SELECT j.k FROM (SELECT a.g, a.k FROM a {_HOUR} WHERE NOT EXISTS "
        f"(SELECT 1 FROM a {_HOUR} AS o WHERE o.g = a.k)) AS j, c {_HOUR} WHERE j.k = c.k"
    )
    engine = engine_of(sql)
    feed(engine, 0, a=[(3, 5), (1, 3)])
    assert feed(engine, 1, c=[(0, 3), (0, 5)]) == [(5,)]


def test_groups_that_several_queries_read_are_made_once() -> None:
    """The second query with other needs, and those after it, read all groups."""
    engine = engine_of(
        f"SELECT j.k, j.n FROM ({GROUPED}) AS j, c {_HOUR} WHERE j.k = c.k", feedback="auto"
    )
    with_d = f"SELECT j.k, j.n FROM ({GROUPED}) AS j, d {_HOUR} WHERE j.k = d.k"
    for name, least in (("r", 5), ("s", 6)):
        engine.query(f"{with_d} AND d.g > {least}", name=name)
    groups = [o for o in engine.stats()["operators"] if o["operator"] == "GroupBy"]
    assert len(groups) == 2
    feed(engine, 0, a=[(0, k) for k in range(9)], b=[(0, 0)])
    engine.drop("q")
    engine = _restarted(engine)
    engine.query(f"{with_d} AND d.g > 0", name="q")
    assert feed(engine, 1, d=[(1, 3)]) == [(3, 1)]
    assert sum(o["operator"] == "GroupBy" for o in engine.stats()["operators"]) == 1


def test_queries_with_the_same_needs_share_groups() -> None:
    sql = f"SELECT j.k, j.n FROM ({GROUPED}) AS j, c {_HOUR} WHERE j.k = c.k"
    engine = engine_of(sql, feedback="auto")
    engine.query(f"{sql} AND j.n > 1", name="r")
    feed(engine, 0, a=[(0, k) for k in range(9)], b=[(0, 0)])
    assert made(engine, "Join") == 0
    text = engine.queries["q"].explain(analyze=True)
    assert "a" in text and engine.stats()["queries"]["q"]["rows_suspended"] >= 9


@pytest.mark.parametrize("feedback", ["off", "doe"])
def test_forms_without_it(feedback: str) -> None:
    engine = engine_of(
        f"SELECT j.k FROM ({GROUPED}) AS j, c {_HOUR} WHERE j.k = c.k", feedback=feedback
    )
    feed(engine, 0, a=[(0, 1)], b=[(0, 0)])
    assert made(engine, "Join") == 1
