"""The load of joins follows the results that they have had: of skewed values, in any join order."""

from __future__ import annotations

import io
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest

from eddyline import Engine, EngineOptions, StrategyOptions
from eddyline.optimizer.prices import TYPICAL

SECOND: Final = 1_000_000
JOIN: Final = (
    "SELECT a.k, x, y FROM a [RANGE {0}] AS a, b [RANGE {0}] AS b WHERE a.k = b.k ON OVERLOAD SHED"
)


def engine(sql: str, capacity: float = 0.02, **options: Any) -> Engine:
    of_user = EngineOptions(capacity=capacity, prices=TYPICAL, costs="modelled")
    made = Engine(of_user, StrategyOptions(**options))
    for name, column in (("a", "x"), ("b", "y"), ("c", "z")):
        made.sql(f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, {column} BIGINT) TIMESTAMP BY ts")
    made.query(sql, name="q")
    return made


def second(
    at: int, streams: str = "ab", *, skewed: bool = True, rows: int = 1_000
) -> dict[str, pa.Table]:
    """Rows of streams; half of them have the same key, or none."""
    found = {}
    for name in streams:
        random = np.random.default_rng([at, ord(name)])
        k = random.integers(1, 1_000, rows)
        if skewed:
            k[random.random(rows) < 0.5] = 0
        ts = at * SECOND + np.arange(rows) * (SECOND // rows)
        found[name] = pa.table({"ts": ts, "k": k, {"a": "x", "b": "y", "c": "z"}[name]: k})
    return found


@pytest.mark.parametrize("executor", ["tree", "eddy"])
def test_a_skewed_join_is_shed_within_ten_seconds(executor: Any) -> None:
    made = engine(JOIN.format("5 SECONDS"), executor=executor)
    results, needed = [0], []
    for at in range(14):
        results.append(made.process(second(at))["q"].num_rows)
        found = made.verdict
        if found is not None:
            needed.append((at, found.needed))
    assert needed[0][0] < 10
    assert needed[-1][1] > 5 * 0.02, "half of the rows meet half of the others"
    assert max(results[11:]) < max(results) / 3


def test_no_more_is_dropped_than_has_to_be() -> None:
    made = engine(JOIN.format("5 SECONDS"))
    for at in range(14):
        made.process(second(at, skewed=False))
    found = made.verdict
    assert found is not None
    assert found.feasible
    assert not found.keep


def test_windows_that_fill_are_not_taken_for_full_ones() -> None:
    """A join over an hour has few results in its first seconds, and its load grows."""
    made = engine(JOIN.format("1 HOUR"), capacity=100.0)
    for at in range(14):
        made.process(second(at, skewed=False))
    found = made.verdict
    assert found is not None
    steady = 1_000 * 3_600 * 1_000 * 2 / 1_000  # results per second of full windows
    assert found.needed > 0.5 * steady * TYPICAL.make_s


@pytest.mark.parametrize("stops", [(), (3, 8), (5, 6, 7)])
def test_a_restart_decides_as_if_there_had_been_none(stops: tuple[int, ...]) -> None:
    shares = []
    for restarts in ((), stops):
        made = engine(JOIN.format("5 SECONDS"))
        for at in range(24):
            made.process(second(at))
            if at in restarts:
                saved = io.BytesIO()
                made.save(saved)
                saved.seek(0)
                made = Engine.load(saved)
        shares.append({name: stream["keep"] for name, stream in made.shedding.items()})
    assert shares[0] == shares[1]
    assert shares[0]["a"] < 0.5


def test_other_orders_of_the_joins_know_it_too() -> None:
    sql = (
        "SELECT x, y, z FROM a [RANGE 2 SECONDS] AS a, b [RANGE 2 SECONDS] AS b, "
        "c [RANGE 2 SECONDS] AS c WHERE a.k = b.k AND b.y = c.z ON OVERLOAD SHED"
    )
    made = engine(sql, capacity=1.0, executor="tree")
    needed = []
    for at in range(24):
        made.process(second(at, "abc", rows=40))
        found = made.verdict
        if found is not None:
            needed.append(found.needed)
    assert needed[-1] > 1e-3
    assert max(needed[-8:]) < 2 * min(needed[-8:]), "it does not go to and fro"


def test_the_load_is_known_without_shedding() -> None:
    made = engine(JOIN.format("5 SECONDS").removesuffix(" ON OVERLOAD SHED"))
    assert made.advice is None
    for at in range(10):
        changes = made.process(second(at))["q"].num_rows
    assert made.advice is not None
    assert "of 0.02 cores; feasible with" in made.advice
    assert "no rows are dropped without ON OVERLOAD SHED in q" in made.advice
    shown = made.queries["q"].explain().splitlines()
    (join,) = (line for line in shown if "Join" in line)
    expected = float(join.split("WK")[1].split()[0].replace(",", ""))
    assert 0.5 * changes < expected < 2 * changes


def test_what_is_measured_does_not_grow_with_the_age_of_the_job() -> None:
    made = Engine(EngineOptions(decide_every="1 second"))
    made.sql("CREATE STREAM a (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts")
    made.query("SELECT k FROM a [RANGE 1 SECOND]", name="q")
    for at in range(15_000):
        made.process({"a": pa.table({"ts": [at * SECOND], "k": [1]})})
    saved = io.BytesIO()
    made.save(saved)
    assert len(saved.getvalue()) < 20_000


def test_a_join_that_is_added_within_a_period_is_judged_by_whole_ones() -> None:
    made = engine("SELECT k FROM a [RANGE 1 SECOND]", capacity=100.0)
    results = 0
    for at in range(37):  # periods end after 6, 16 and 36 seconds
        if at == 27:
            made.query(JOIN.format("2 SECONDS"), name="late")
        results = made.process(second(at, skewed=False)).get("late", pa.table({})).num_rows
    shown = made.queries["late"].explain().splitlines()
    (join,) = (line for line in shown if "Join" in line)
    expected = float(join.split("WK")[1].split()[0].replace(",", ""))
    assert expected == pytest.approx(results, rel=0.25)
