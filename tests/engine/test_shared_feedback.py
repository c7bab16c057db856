"""Trees that read one join: no row waits that any of them has a use for."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.testing import engine_with
from eddyline.testing.feeding import process_all

JOIN = "(SELECT a.g, a.k, a.m FROM a [RANGE 1 HOUR], b [RANGE 1 HOUR] WHERE a.g = b.g) AS j"
BY_K = f"SELECT j.k FROM {JOIN}, c [RANGE 1 HOUR] WHERE j.k = c.k"
BY_M = f"SELECT j.k FROM {JOIN}, d [RANGE 1 HOUR] WHERE j.m = d.k"


@pytest.fixture
def engine() -> Engine:
    engine = engine_with(executor="tree", feedback="jit")
    engine.sql("CREATE STREAM a (ts TIMESTAMP, g BIGINT, k BIGINT, m BIGINT) TIMESTAMP BY ts")
    for name in "bcd":
        engine.sql(f"CREATE STREAM {name} (ts TIMESTAMP, g BIGINT, k BIGINT) TIMESTAMP BY ts")
    return engine


def test_the_join_runs_once_and_a_row_waits_for_either_tree(engine: Engine) -> None:
    engine.query(BY_K, name="by_k")
    engine.query(BY_M, name="by_m")
    assert len(joins(engine)) == 3
    process_all(engine, {"a": rows_of_a(10), "b": rows([0])})
    assert waiting(engine) == 10
    out = process_all(engine, {"c": rows([3]), "d": rows([107, 103])})
    assert sorted(out["by_k"]["k"].to_pylist()) == [3]
    assert sorted(out["by_m"]["k"].to_pylist()) == [3, 7]
    assert waiting(engine) == 8
    assert joins(engine)[0]["rows_out"] == 2


def test_a_tree_added_later_gets_suspended_results(engine: Engine) -> None:
    engine.query(BY_K, name="by_k")
    engine.query(
        "SELECT d.k FROM d [RANGE 1 HOUR], c [RANGE 1 HOUR] WHERE d.k = c.k", name="keeps_d"
    )
    engine.process({"a": rows_of_a(10), "b": rows([0]), "c": rows([1]), "d": rows([101, 102])})
    assert waiting(engine) == 9
    late = engine.query(BY_M, name="by_m")
    assert sorted(late.snapshot()["k"].to_pylist()) == [1, 2]
    assert waiting(engine) == 8
    out = engine.process({"c": rows([2, 5])})
    assert sorted(out["by_k"]["k"].to_pylist()) == [2, 5]
    assert sorted(out["by_m"]["k"].to_pylist()) == [1, 2]


def test_feedback_of_a_dropped_tree_ends(engine: Engine) -> None:
    engine.query(BY_K, name="by_k")
    engine.query(BY_M, name="by_m")
    engine.drop("by_m")
    process_all(engine, {"a": rows_of_a(10), "b": rows([0]), "d": rows([107])})
    assert waiting(engine) == 10
    assert process_all(engine, {"c": rows([7])})["by_k"]["k"].to_pylist() == [7]
    assert len(joins(engine)) == 2


def test_nothing_is_left_of_trees_that_came_and_went(engine: Engine) -> None:
    engine.query(BY_K, name="stays")
    engine.process({"a": rows_of_a(10), "b": rows([0])})
    before = lanes(engine)
    for _ in range(3):
        engine.query(BY_M, name="goes")
        engine.process({"d": rows([101])})
        engine.drop("goes")
    assert lanes(engine) <= before + 1  # one says who has passed, since there were two trees
    engine.drop("stays")
    assert engine.stats()["operators"] == []


def rows_of_a(n: int) -> pa.Table:
    times = pa.array([0] * n, pa.timestamp("us"))
    return pa.table({"ts": times, "g": [0] * n, "k": range(n), "m": range(100, 100 + n)})


def rows(keys: list[int]) -> pa.Table:
    n = len(keys)
    return pa.table({"ts": pa.array([0] * n, pa.timestamp("us")), "g": [0] * n, "k": keys})


def joins(engine: Engine) -> list[dict[str, Any]]:
    return [o for o in engine.stats()["operators"] if o["operator"].endswith("Join")]


def waiting(engine: Engine) -> int:
    """Rows of a that wait."""
    gates = [g for o in joins(engine) for g in o.get("feedback", [])]
    return sum(g["waiting"] for g in gates if g["rows_of"] == "a")


def lanes(engine: Engine) -> int:
    """How many columns of numbers the SteM of a has."""
    return len(engine.parts.inputs.stem("a").lane_names)


@pytest.mark.parametrize("dropped", [[], ["p"], ["q"], ["r"], ["p", "q"], ["q", "r"]])
def test_engines_are_loaded_after_any_drop(dropped: list[str]) -> None:
    """Of two joins that would ask each other only one does; alone, the other one would, too."""
    ab = "(SELECT a.g, a.k, b.k AS y FROM a [RANGE 9 SECONDS], b [RANGE 9 SECONDS] WHERE a.g = b.g)"
    cd = "(SELECT c.g, c.k, d.k AS y FROM c [RANGE 9 SECONDS], d [RANGE 9 SECONDS] WHERE c.g = d.g)"
    queries = {
        "p": f"SELECT l.g FROM {ab} AS l, c [RANGE 9 SECONDS] AS z WHERE l.k = z.k",
        "q": f"SELECT l.g FROM {ab} AS l, {cd} AS r WHERE l.k = r.k AND l.y = r.y",
        "r": f"SELECT r.g FROM {cd} AS r, {ab} AS l WHERE l.y = r.k AND l.k = r.y",
    }
    engines = []
    for feedback in ("jit", "jit", "off"):
        engine = engine_with(executor="tree", feedback=feedback)
        for name in "abcd":
            engine.sql(f"CREATE STREAM {name} (ts TIMESTAMP, g BIGINT, k BIGINT) TIMESTAMP BY ts")
        for name, sql in queries.items():
            engine.query(sql, name=name)
        engines.append(engine)
    random = np.random.default_rng(5)
    for second in range(18):
        batch = {}
        for name in "abcd":
            ts = np.sort(random.integers(0, 1_000_000, 4)) + second * 1_000_000
            g, k = random.integers(0, 4, (2, 4))
            batch[name] = pa.table({"ts": ts, "g": g, "k": k})
        found = [engine.process(batch) for engine in engines]
        for name in engines[0].queries:
            rows = [sorted(map(str, changes[name].to_pylist())) for changes in found]
            assert rows[0] == rows[1] == rows[2]
        if second == 8:
            for engine in engines:
                for name in dropped:
                    engine.drop(name)
        if second in (8, 9, 15):
            saved = io.BytesIO()
            engines[0].save(saved)
            saved.seek(0)
            engines[0] = Engine.load(saved)
