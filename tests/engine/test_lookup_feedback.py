"""Feedback of look-ups: rows of joins wait for rows of tables that change, or are never made."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pytest

from eddyline import Engine, Query
from eddyline.bench.comparison.reactive import REACTIVE
from eddyline.physical.strategy import FeedbackForm
from eddyline.testing import engine_with
from eddyline.testing.feeding import process_all
from eddyline.testing.script import Script

SECOND = 1_000_000

NRR = """
    CREATE STREAM a (ts TIMESTAMP, p BIGINT, k BIGINT) TIMESTAMP BY ts;
    CREATE STREAM b (ts TIMESTAMP, p BIGINT) TIMESTAMP BY ts;
    CREATE TABLE t (k BIGINT, w BIGINT) WITH (updates = 'non-retroactive');
"""
INNER = """
    SELECT l.k, t.w FROM
      (SELECT a.k FROM a [RANGE 20 SECONDS], b [RANGE 20 SECONDS] WHERE a.p = b.p) AS l, t
    WHERE l.k = t.k
"""
SEMI = """
    SELECT a.k, 1 AS w FROM a [RANGE 20 SECONDS], b [RANGE 20 SECONDS]
    WHERE a.p = b.p AND EXISTS (SELECT t.k FROM t WHERE t.k = a.k)
"""


@pytest.mark.parametrize("form", [None, REACTIVE])
@pytest.mark.parametrize("chunk_rows", [1, 2, 100])
def test_a_row_waits_for_one_of_a_table_that_changes(
    form: FeedbackForm | None, chunk_rows: int
) -> None:
    """What it would have been joined with before that one was there is no result, ever."""
    options = {"feedback": "jit", "feedback_form": form, "chunk_rows": chunk_rows}
    script = Script(NRR, INNER, options={"executor": "tree"} | options)
    script.process_all(t="_ts | k | w\n0s | 1 | 0")
    script.process_all(a="ts | p | k\n1s | 5 | 1\n1s | 5 | 7", b="ts | p\n2s | 5")
    script.process_all(t="_ts | k | w\n3s | 7 | 1").restart()
    script.process_all(b="ts | p\n4s | 5")
    script.process_all(t="_ts | _op | k | w\n5s | - | 7 | 1").process(b="ts | p\n6s | 5")
    script.process_all(t="_ts | k | w\n7s | 7 | 1", b="ts | p\n8s | 5")
    script.finish().expect(
        """
        _op | _ts | _exp | k | w
        +   | 2s  | 21s  | 1 | 0
        +   | 4s  | 21s  | 1 | 0
        +   | 4s  | 21s  | 7 | 1
        +   | 6s  | 21s  | 1 | 0
        +   | 8s  | 21s  | 1 | 0
        +   | 8s  | 21s  | 7 | 1
    """
    )
    (gate,) = [g for o in script.engine.stats()["operators"] for g in o.get("feedback", [])][:1]
    assert gate["rows_of"] == "a"


@pytest.mark.parametrize("sql", [INNER, SEMI])
@pytest.mark.parametrize("feedback", ["jit", "off"])
def test_a_table_row_removed_at_an_instant_is_visible_at_it(feedback: str, sql: str) -> None:
    """A row at the instant of the deletion that arrived before it matches."""
    engine = engine_with(executor="tree", feedback=feedback)
    engine.sql(NRR)
    engine.query(sql, name="q")
    process_all(
        engine,
        {
            "t": pa.table({"_ts": [0], "k": [7], "w": [1]}),
            "b": pa.table({"ts": [SECOND], "p": [5]}),
        },
    )
    gone = pa.table({"_ts": [5 * SECOND], "_op": ["-"], "k": [7], "w": [1]})
    out = process_all(engine, {"a": pa.table({"ts": [5 * SECOND], "p": [5], "k": [7]}), "t": gone})
    assert out["q"].num_rows == 1
    assert process_all(engine, {"b": pa.table({"ts": [6 * SECOND], "p": [5]})})["q"].num_rows == 0
    back = {"t": pa.table({"_ts": [7 * SECOND], "k": [7], "w": [2]})}
    assert process_all(engine, back)["q"].num_rows == 0
    assert process_all(engine, {"b": pa.table({"ts": [8 * SECOND], "p": [5]})})["q"].num_rows == 1


@pytest.mark.parametrize("again", [False, True])
def test_a_query_added_later_finds_the_earlier_rows_of_the_table(again: bool) -> None:
    """Rows have waited for c alone; some of what they make is older than what the table holds."""
    with_feedback, without = (changes_of_a_late_query(f, again=again) for f in ("jit", "off"))
    assert with_feedback == without
    assert ("1970-01-01 00:00:02", 1) in without


def changes_of_a_late_query(feedback: str, *, again: bool) -> list[tuple[str, int]]:
    engine = engine_with(executor="tree", feedback=feedback)
    engine.sql(NRR + "CREATE STREAM c (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts")
    pairs = "(SELECT a.k FROM a [RANGE 20 SECONDS], b [RANGE 20 SECONDS] WHERE a.p = b.p) AS l"
    engine.query("SELECT a.k, t.w FROM a [RANGE 20 SECONDS], t WHERE a.k = t.k", name="keeper")
    engine.query(f"SELECT l.k FROM {pairs}, c [RANGE 20 SECONDS] WHERE l.k = c.k", name="q1")

    def change(second: int, op: str, w: int) -> dict[str, pa.Table]:
        return {"t": pa.table({"_ts": [second * SECOND], "_op": [op], "k": [7], "w": [w]})}

    def row(second: int, **values: int) -> pa.Table:
        return pa.table({"ts": [second * SECOND]} | {n: [v] for n, v in values.items()})

    process_all(engine, change(0, "+", 1))
    process_all(engine, {"a": row(1, p=5, k=7), "b": row(2, p=5)})
    process_all(engine, change(3, "-", 1))
    if again:
        process_all(engine, change(4, "+", 2))
    engine.query(f"SELECT l.k, t.w FROM {pairs}, t WHERE l.k = t.k", name="q2")
    told = [process_all(engine, {"b": row(5, p=5)})["q2"]]
    told.append(process_all(engine, {"c": row(6, k=7)} | change(6, "+", 3))["q2"])
    told.append(process_all(engine, {"b": row(7, p=5)})["q2"])
    rows = pa.concat_tables(told).to_pylist()
    return sorted((str(r["_ts"])[:19], r["w"]) for r in rows)


def test_exists_over_group_keys_gives_feedback_to_the_join_below() -> None:
    made = {feedback: rows_grouped(feedback) for feedback in ("jit", "off")}
    assert made == {"jit": 10, "off": 1_000}


def rows_grouped(feedback: str) -> int:
    """How many rows a join makes of a hundred of a and ten of b, if one group is wanted."""
    engine = engine_with(executor="tree", feedback=feedback)
    engine.sql(NRR + "CREATE TABLE known (k BIGINT)")
    engine.table("known", pa.table({"k": [7, 1_000]}))
    engine.query(
        "SELECT g.k, g.n FROM (SELECT a.k, COUNT(*) AS n FROM a [RANGE 9 SECONDS], b [RANGE 9"
        " SECONDS] WHERE a.p = b.p GROUP BY a.k) AS g WHERE g.k IN (SELECT k FROM known)",
        name="q",
    )
    a = pa.table({"ts": [0] * 100, "p": [5] * 100, "k": list(range(100))})
    out = process_all(engine, {"a": a, "b": pa.table({"ts": [1] * 10, "p": [5] * 10})})["q"]
    assert out.select(["k", "n"]).to_pylist()[-1] == {"k": 7, "n": 10}
    operators: list[dict[str, Any]] = engine.stats()["operators"]
    return next(int(o["rows_out"]) for o in operators if o["operator"].endswith("Join"))


@pytest.mark.parametrize("restarts", [0, 1, 2, 3])
def test_what_the_table_holds_is_known_after_restarts_without_rows(restarts: int) -> None:
    """Queries that call the table otherwise share what is known of it, also when one has gone."""
    engine = engine_with(executor="tree", feedback="jit")
    for name in "ab":
        engine.sql(f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts")
    engine.sql("CREATE TABLE rates (k BIGINT) WITH (updates = 'non-retroactive')")
    engine.table("rates", pa.table({"k": [1]}))
    for name, seconds in (("t", 10), ("u", 20)):
        engine.query(
            f"SELECT a.k FROM a [RANGE {seconds} SECONDS] JOIN b [RANGE 3 SECONDS] ON a.k = b.k"
            f" JOIN rates AS {name} ON {name}.k = a.k",
            name=name,
        )
    engine.drop("t")
    for _ in range(restarts):
        saved = io.BytesIO()
        engine.save(saved)
        saved.seek(0)
        engine = Engine.load(saved)
    rows = pa.table({"ts": [15_000_000], "k": [1]})
    assert engine.process({"a": rows, "b": rows})["u"].num_rows == 1


def test_a_query_added_after_a_restart_sees_the_rows_of_a_table_that_feedback_probes() -> None:
    engine = engine_with(executor="eddy", feedback="jit", chunk_rows=1)
    engine.sql("CREATE STREAM a (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts")
    engine.sql("CREATE TABLE rates (k BIGINT) WITH (updates = 'non-retroactive')")
    engine.table("rates", pa.table({"k": [2, 5]}))
    engine.query(
        "SELECT SUM(x.v) AS s FROM a [NOW] AS x, rates, a [RANGE 5 SECONDS] AS y"
        " WHERE y.k = x.k AND rates.k = x.k"
    )
    engine.process({"a": pa.table({"ts": [10_000_000], "k": [2], "v": [4]})})
    saved = io.BytesIO()
    engine.save(saved)
    saved.seek(0)
    engine = Engine.load(saved)
    (late,) = engine.sql(
        "CREATE QUERY late AS SELECT y.v * y.k AS c"
        " FROM a [RANGE 10 SECONDS] AS y, a [RANGE 1 SECOND] AS x, rates"
        " WHERE rates.k = x.k AND y.k = x.k EMIT CHANGES"
    )
    assert isinstance(late, Query)
    assert late.snapshot()["c"].to_pylist() == [8]
