"""Combinations that a consumer has no match for, though it has one for either of their rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.testing import engine_with
from eddyline.testing.feeding import process_all

PAIRS = "SELECT a.x, b.y FROM a [RANGE 1 HOUR] JOIN b [RANGE 1 HOUR] ON a.g = b.g"
ENGINES = [
    {"feedback": "jit", "chunk_rows": chunk_rows, "nested_loops": loops}
    for chunk_rows in (1, 7, 16_384)
    for loops in (False, True)
]


def joined(**options: Any) -> Engine:
    """(a ⋈ b) on g, and c by a column of either."""
    engine = engine_with(executor="tree", optimize=False, combinations=True, **options)
    for name in "abcd":
        engine.sql(
            f"CREATE STREAM {name} (ts TIMESTAMP, g BIGINT, x BIGINT, y BIGINT) TIMESTAMP BY ts"
        )
    engine.query(
        f"SELECT l.x, l.y FROM ({PAIRS}) AS l JOIN c [RANGE 10 SECONDS] ON l.x = c.x AND l.y = c.y",
        name="q",
    )
    return engine


def rows(pairs: Sequence[tuple[int | None, int | None]], second: int = 0) -> pa.Table:
    """x and y; g is 0."""
    ts = pa.array([second * 1_000_000] * len(pairs), pa.timestamp("us"))
    x, y = (pa.array([p[i] for p in pairs], pa.int64()) for i in (0, 1))
    return pa.table({"ts": ts, "g": pa.array([0] * len(pairs)), "x": x, "y": y})


def made(engine: Engine) -> int:
    """Rows of a ⋈ b."""
    return int(next(o for o in engine.stats()["operators"] if "Join" in o["operator"])["rows_out"])


def asked(engine: Engine) -> dict[str, Any]:
    gates = [g for o in engine.stats()["operators"] for g in o.get("feedback", [])]
    return next(g for g in gates if g["rows_of"] == "(a ⋈ b)")


def with_ten_matches(**options: Any) -> Engine:
    """Ten rows of a, of b, and of c: the i-th fit each other."""
    engine = joined(**options)
    process_all(engine, {"c": rows([(i, i) for i in range(10)])})
    tens = rows([(i, i) for i in range(10)], second=1)
    assert process_all(engine, {"a": tens, "b": tens})["q"].num_rows == 10
    return engine


@pytest.mark.parametrize("options", ENGINES, ids=str)
def test_only_combinations_that_have_a_match_are_made(options: dict[str, Any]) -> None:
    engine = with_ten_matches(**options)
    assert made(engine) == 10
    assert asked(engine)["refused"] == 90
    out = process_all(engine, {"c": rows([(3, 7), (3, None), (99, 99)], second=2)})
    assert out["q"].select(["x", "y"]).to_pylist() == [{"x": 3, "y": 7}]
    assert made(engine) == 11
    assert asked(engine)["resumed"] == 1


def test_without_feedback_all_are_made() -> None:
    assert made(with_ten_matches(feedback="off")) == 100


@pytest.mark.parametrize("options", ENGINES, ids=str)
def test_suspended_rows_are_resumed_and_suspended_again(options: dict[str, Any]) -> None:
    """What was made while it was wanted is not made again; what was not, is."""
    engine = with_ten_matches(**options)
    process_all(engine, {"b": rows([(0, 3)], second=20)})  # no row of c is left: nothing is wanted
    process_all(engine, {"a": rows([(3, 0)], second=20)})
    assert made(engine) == 10
    process_all(engine, {"c": rows([(4, 4)], second=21), "b": rows([(0, 4)], second=21)})
    assert made(engine) == 11
    out = process_all(engine, {"c": rows([(3, 3)], second=22)})
    assert out["q"].num_rows == 4
    assert made(engine) == 14
    out = process_all(engine, {"c": rows([(3, 3)], second=23)})
    assert out["q"].num_rows == 4
    assert made(engine) == 14


def test_a_saved_engine_keeps_which_results_were_made(tmp_path: Any) -> None:
    engine = with_ten_matches(feedback="jit")
    engine.save(str(tmp_path / "saved"))
    engine = Engine.load(str(tmp_path / "saved"))
    out = process_all(engine, {"c": rows([(3, 3), (3, 7)], second=2)})
    assert out["q"].num_rows == 2
    assert asked(engine)["resumed"] == 1


def test_a_second_reader_of_the_join_gets_all_of_its_rows() -> None:
    engine = with_ten_matches(feedback="jit")
    engine.query(
        f"SELECT l.x, l.y FROM ({PAIRS}) AS l JOIN d [RANGE 1 HOUR] ON l.x = d.x", name="r"
    )
    assert made(engine) == 100
    out = process_all(engine, {"d": rows([(i, 0) for i in range(10)], second=2)})
    assert out["r"].num_rows == 100
    assert process_all(engine, {"c": rows([(3, 7)], second=3)})["q"].num_rows == 1


def test_auto_ends_combined_feedback_where_every_row_matches() -> None:
    engine = joined(feedback="auto")
    grid = [(i, j) for i in range(30) for j in range(30)]
    process_all(engine, {"c": rows(grid)})
    for second in range(8):
        thirty = rows([(i, i) for i in range(30)], second)
        process_all(engine, {"a": thirty, "b": thirty})
    assert made(engine) == (8 * 30) ** 2
    assert 4_096 <= asked(engine)["asked"] < 40_000
