"""Predicates over some of the sources are applied as soon as these are joined."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.engine.changes import Changes
from eddyline.runtime.eddy.between_stems import BetweenSteMs
from eddyline.testing import engine_with

CHAIN = (
    "SELECT a.x, b.x AS y, c.x AS z FROM a [RANGE {} SECONDS], b [RANGE 4 SECONDS], "
    "c [RANGE 5 SECONDS] WHERE a.k = b.k AND b.l = c.l AND {}"
)


def engine(*conditions: str, executor: str = "eddy", **options: Any) -> Engine:
    made = engine_with(executor=executor, feedback="off", **options)
    made.function("slow", lambda x: pa.array(np.asarray(x) % 3), args=["BIGINT"], returns="BIGINT")
    for name in "abc":
        made.sql(
            f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, l BIGINT, x BIGINT) TIMESTAMP BY ts"
        )
    for number, condition in enumerate(conditions):
        made.query(CHAIN.format(3 + number, condition), name=f"q{number}")
    return made


def fed(made: Engine, rows: int = 80, most: int = 1_000) -> Changes:
    random = np.random.default_rng(7)
    tables = {}
    for name in "abc":
        ts = np.sort(random.integers(0, 8_000_000, rows))
        columns = {c: random.integers(0, 4, rows) for c in "kl"}
        tables[name] = pa.table({"ts": ts, **columns, "x": random.integers(0, most, rows)})
    return made.process(tables, watermark=10_000_000)


def joined(made: Engine) -> int:
    """Rows that the joins have made, results among them."""
    counts = (o for o in made.stats()["operators"] if o["operator"] == "Flow")
    return sum(of["rows_out"] for of in counts)


def results(changes: Changes, name: str) -> list[dict[str, Any]]:
    return sorted(changes[name].to_pylist(), key=str)


@pytest.mark.parametrize(
    "condition",
    [
        "a.x + b.x < 100",
        "b.x + c.x < 600 AND a.x < c.x",
        "(a.x < b.x OR c.x > 900) AND a.x + c.x > 1700",
        "slow(a.x + b.x) = 1 AND a.x + b.x < 300",
    ],
)
def test_results_are_those_of_a_tree(condition: str) -> None:
    several = engine(condition, "a.x < b.x", "TRUE")
    tree = engine(condition, "a.x < b.x", "TRUE", executor="tree")
    changes, expected = fed(several), fed(tree)
    for name in several.queries:
        assert results(changes, name) == results(expected, name) != []


def test_pairs_that_no_query_accepts_are_not_joined_further(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    early = engine("a.x + b.x < 100", "a.x + b.x < 150")
    found = fed(early)
    monkeypatch.setattr(BetweenSteMs, "narrowed", lambda self, target, rows: rows)
    late = engine("a.x + b.x < 100", "a.x + b.x < 150")
    expected = fed(late)
    for name in early.queries:
        assert results(found, name) == results(expected, name) != []
    assert joined(early) < joined(late) / 2


def test_rows_for_which_a_predicate_fails_are_bad_once_if_they_are_joined(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    most = 2**62  # a sum of two may be too large
    found = fed(engine("a.x + b.x < 100"), most=most * 2)
    monkeypatch.setattr(BetweenSteMs, "narrowed", lambda self, target, rows: rows)
    expected = fed(engine("a.x + b.x < 100"), most=most * 2)
    assert found.bad["q0"].num_rows > 0
    assert results(found, "q0") == results(expected, "q0")
    assert sorted(found.bad["q0"].to_pylist(), key=str) == sorted(
        expected.bad["q0"].to_pylist(), key=str
    )


def test_functions_of_users_are_called_for_results_only() -> None:
    seen: list[int] = []

    def noted(x: Any) -> Any:
        seen.extend(np.asarray(x).tolist())
        return x

    made = engine()
    made.function("noted", noted, args=["BIGINT"], returns="BIGINT")
    made.query(CHAIN.format(3, "noted(a.x + b.x) >= 0"), name="q")
    found = fed(made)
    assert len(seen) == found["q"].num_rows > 0
