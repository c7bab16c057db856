"""Feedback of joins by comparisons: who waits for a row that meets a condition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.bench.comparison.reactive import REACTIVE
from eddyline.testing import engine_with
from eddyline.testing.feeding import process_all

ENGINES = [
    {"feedback": feedback, "chunk_rows": chunk_rows, "nested_loops": loops}
    for feedback in ("jit", "auto")
    for chunk_rows in (1, 7, 16_384)
    for loops in (False, True)
]


def joined(where: str, **options: Any) -> Engine:
    """(a ⋈ b) on g, and c by a condition."""
    engine = engine_with(executor="tree", optimize=False, **options)
    for name in "abc":
        engine.sql(f"CREATE STREAM {name} (ts TIMESTAMP, g BIGINT, k BIGINT) TIMESTAMP BY ts")
    engine.query(
        "SELECT l.k, c.k AS c FROM (SELECT a.g, a.k, b.k AS m FROM a [RANGE 60 SECONDS]"
        " JOIN b [RANGE 60 SECONDS] ON a.g = b.g) AS l"
        f" JOIN c [RANGE 10 SECONDS] ON {where}",
        name="q",
    )
    return engine


def rows(keys: Sequence[int | None], g: Sequence[int] | int = 0, second: int = 0) -> pa.Table:
    groups = [g] * len(keys) if isinstance(g, int) else list(g)
    ts = pa.array([second * 1_000_000] * len(keys), pa.timestamp("us"))
    return pa.table({"ts": ts, "g": pa.array(groups), "k": pa.array(keys, pa.int64())})


def made(engine: Engine) -> int:
    """Rows of a ⋈ b."""
    return int(next(o for o in engine.stats()["operators"] if "Join" in o["operator"])["rows_out"])


def gate(engine: Engine, rows_of: str) -> dict[str, Any]:
    gates = [g for o in engine.stats()["operators"] for g in o.get("feedback", [])]
    return next(g for g in gates if g["rows_of"] == rows_of)


@pytest.mark.parametrize("options", ENGINES, ids=str)
def test_rows_wait_for_one_that_is_larger(options: dict[str, Any]) -> None:
    engine = joined("l.k < c.k", **options)
    process_all(engine, {"a": rows(range(100)), "b": rows([0] * 20)})
    assert made(engine) == 0
    assert gate(engine, "a")["waiting"] == 100
    out = process_all(engine, {"c": rows([3], second=1)})
    assert out["q"].num_rows == 60
    assert made(engine) == 60
    out = process_all(engine, {"c": rows([2, 5], second=2)})
    assert out["q"].num_rows == 40 + 100
    assert made(engine) == 100
    assert gate(engine, "a")["waiting"] == 95


@pytest.mark.parametrize("options", ENGINES, ids=str)
def test_a_row_that_has_expired_is_no_match(options: dict[str, Any]) -> None:
    engine = joined("l.k < c.k", **options)
    process_all(engine, {"c": rows([50], second=1)})
    process_all(engine, {"a": rows([1], second=11), "b": rows([0] * 20, second=11)})
    assert made(engine) == 0
    assert process_all(engine, {"c": rows([2], second=12)})["q"].num_rows == 20


@pytest.mark.parametrize("options", ENGINES, ids=str)
def test_an_equal_key_does_not_satisfy_the_other_conditions(options: dict[str, Any]) -> None:
    engine = joined("l.g = c.g AND l.k BETWEEN c.k AND c.k + 1", **options)
    process_all(
        engine, {"a": rows([1, 2, 3, None], [7, 7, 8, 7]), "b": rows([0] * 4, [7, 7, 8, 8])}
    )
    assert made(engine) == 0
    out = process_all(engine, {"c": rows([1, 9], [8, 7], second=1)})
    assert (out["q"].num_rows, made(engine)) == (0, 0)
    out = process_all(engine, {"c": rows([2], [7], second=2)})
    assert out["q"].to_pydict()["k"] == [2, 2]
    assert made(engine) == 2
    assert gate(engine, "a")["waiting"] == 3


def test_each_stream_waits_for_what_it_is_compared_with() -> None:
    """a and b both have matches in c, if not the same: what reads both is for the join on top."""
    engine = joined("l.k < c.k AND l.m > c.k", feedback="jit")
    engine.process({"c": rows([5], second=1)})
    engine.process({"a": rows([4, 5, 6], second=1), "b": rows([4, 5, 6, 7], second=1)})
    assert made(engine) == 2
    assert gate(engine, "a")["waiting"] == 2
    assert gate(engine, "b")["waiting"] == 2


def test_complete_results_show_which_of_their_parts_have_no_match() -> None:
    """With 5 and 9 in c: 9 is no match by itself, nor is 4; 7 and 6 have none in common."""
    engine = joined("l.k < c.k AND l.m > c.k", feedback="jit", feedback_form=REACTIVE)
    process_all(engine, {"c": rows([5, 9], second=1)})
    process_all(engine, {"a": rows([3, 7, 9], second=1), "b": rows([6, 4], second=1)})
    assert made(engine) == 6
    levels = next(o["mns_by_level"] for o in engine.stats()["operators"] if "mns_by_level" in o)
    # (3, 6) is wanted; of (7, 6) both, of (9, 6) the 9, of (3, 4) and (7, 4) the 4, of (9, 4) each
    assert levels == [[0, 1 + 1 + 1 + 2, 1]]
    assert gate(engine, "a")["waiting"] == 1
    assert gate(engine, "b")["waiting"] == 1
    process_all(engine, {"b": rows([20], second=2)})
    assert made(engine) == 6 + 2  # with 3 and 7
    out = process_all(engine, {"c": rows([10], second=3)})
    assert made(engine) == 6 + 2 + 1
    assert out["q"].num_rows == 3


def test_a_condition_over_two_streams_suspends_their_pairs() -> None:
    engine = engine_with(executor="tree", optimize=False, feedback="jit")
    for name in "abcd":
        engine.sql(f"CREATE STREAM {name} (ts TIMESTAMP, g BIGINT, k BIGINT) TIMESTAMP BY ts")
    pairs = "SELECT a.g, a.k, b.k AS m FROM a [RANGE 1 HOUR] JOIN b [RANGE 1 HOUR] ON a.g = b.g"
    triples = f"SELECT l.k, l.m, c.k AS c FROM ({pairs}) AS l JOIN c [RANGE 1 HOUR] ON l.g = c.g"
    engine.query(
        f"SELECT t.k FROM ({triples}) AS t JOIN d [RANGE 1 HOUR] ON t.k + t.m < d.k", name="q"
    )
    engine.process({"d": rows([3])})
    engine.process({"a": rows([1, 2]), "b": rows([0, 1, 2]), "c": rows([0] * 10)})
    joins = [o["rows_out"] for o in engine.stats()["operators"] if "Join" in o["operator"]]
    assert joins == [6, 30, 30]  # 1 + 0, 1 + 1 and 2 + 0 are less than 3


def test_auto_ends_conditional_feedback_where_every_row_matches() -> None:
    engine = joined("l.k < c.k", feedback="auto")
    process_all(engine, {"c": rows([1_000_000])})
    for _ in range(10):
        process_all(engine, {"a": rows(range(1_000))})
    assert 4_096 <= gate(engine, "a")["asked"] < 10_000
    assert gate(engine, "a")["refused"] == 0


def test_user_functions_are_not_evaluated_for_feedback() -> None:
    engine = engine_with(executor="tree", optimize=False, feedback="jit")
    types: dict[str, Any] = {"args": ["BIGINT", "BIGINT"], "returns": "BOOLEAN", "kind": "python"}
    engine.function("near", lambda x, y: abs(x - y) < 2, **types)
    for name in "abc":
        engine.sql(f"CREATE STREAM {name} (ts TIMESTAMP, g BIGINT, k BIGINT) TIMESTAMP BY ts")
    engine.query(
        "SELECT l.k FROM (SELECT a.g, a.k FROM a [RANGE 1 HOUR] JOIN b [RANGE 1 HOUR]"
        " ON a.g = b.g) AS l JOIN c [RANGE 1 HOUR] ON near(l.k, c.k)",
        name="q",
    )
    process_all(engine, {"a": rows([1, 2]), "b": rows([0])})
    assert made(engine) == 0  # there is no row of c at all
    assert process_all(engine, {"c": rows([3], second=1)})["q"].num_rows == 1
    assert made(engine) == 2
