"""Aggregates over frames of rows in windows: what they cost, what is kept, what fails."""

from __future__ import annotations

import io
import time

import numpy as np
import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.errors import SqlError

DDL = "CREATE STREAM s (ts TIMESTAMP, k BIGINT, x BIGINT) TIMESTAMP BY ts"
FRAMES = (
    "MAX(x) OVER (PARTITION BY k ORDER BY ts ROWS 3 PRECEDING)",
    "SUM(x) OVER (PARTITION BY k ORDER BY x, ts ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING)",
    "COUNT(*) OVER (PARTITION BY k ORDER BY x RANGE BETWEEN 5 PRECEDING AND 5 FOLLOWING)",
    "AVG(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL '100' MICROSECOND PRECEDING)",
    "MIN(x) OVER (PARTITION BY k ORDER BY x GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
    "SUM(x) OVER (PARTITION BY k ORDER BY x GROUPS 1 PRECEDING EXCLUDE TIES)",
)


def engine_of(value: str, window_us: int) -> Engine:
    engine = Engine()
    engine.sql(DDL)
    text = f"SELECT x, {value} AS v FROM s [RANGE {window_us} MICROSECONDS] EMIT CHANGES"
    engine.query(text, name="q")
    return engine


def rows(start: int, count: int, keys: int) -> pa.Table:
    """Rows of ten microseconds each, with values all over the place."""
    number = np.arange(start, start + count)
    return pa.table({"ts": number * 10, "k": number % keys, "x": (number * 7919) % 1_000_003})


def cpu_time(value: str, size: int) -> float:
    """What some rows cost in partitions of a size, in seconds."""
    engine = engine_of(value, 100_000)
    times = []
    for start in range(0, 16_000, 1_000):
        begun = time.process_time()
        engine.process({"s": rows(start, 1_000, 10_000 // size)})
        times.append(time.process_time() - begun)
    return sorted(times[-5:])[2]


@pytest.mark.parametrize("value", FRAMES)
def test_the_cost_of_a_row_does_not_grow_with_its_partition(value: str) -> None:
    cpu_time(value, 10)  # compiles
    small, large = cpu_time(value, 10), cpu_time(value, 10_000)
    assert large < 10 * small  # which would be 1000 times as many pairs


@pytest.mark.parametrize("value", FRAMES)
def test_what_has_left_is_forgotten(value: str) -> None:
    engine = engine_of(value, 5_000)
    sizes = []
    for start in range(0, 20_000, 2_000):
        engine.process({"s": rows(start, 2_000, 1_000_000 if start % 4_000 else 3)})
        file = io.BytesIO()
        engine.save(file)
        sizes.append(file.tell())
    assert max(sizes[-2:]) <= 1.1 * max(sizes[2:4])


def test_a_row_whose_value_cannot_be_computed_is_reported_and_not_shown() -> None:
    engine = engine_of("SUM(x) OVER (ORDER BY ts ROWS 1 PRECEDING)", 10)
    most = 2**63 - 1
    given = pa.table({"ts": [1, 2, 3], "k": [1] * 3, "x": [most, 1, 2]})
    out = engine.process({"s": given})
    assert out["q"]["v"].to_pylist() == [most, 3]
    (bad,) = out.bad["q"].to_pylist()
    assert (bad["_ts"].microsecond, bad["_reason"]) == (2, "a SUM of the group is no BIGINT")
    later = engine.advance(11)["q"]  # the first row has left
    assert later.select(["_op", "x", "v"]).to_pylist()[-1] == {"_op": "+", "x": 1, "v": 1}


def test_values_of_many_frames_change_together() -> None:
    values = [f"{v} AS v{i}" for i, v in enumerate(FRAMES)]
    engine = Engine()
    engine.sql(DDL)
    text = f"SELECT x, {', '.join(values)} FROM s [RANGE 1 MILLISECOND] EMIT CHANGES"
    engine.query(text, name="q")
    for start in range(0, 600, 50):
        out = engine.process({"s": rows(start, 50, 3)})["q"]
        instants = list(zip(*(out[c].to_pylist() for c in ("_ts", "x", "_op")), strict=True))
        assert len(set(instants)) == len(instants)


def test_plans_say_which_frames() -> None:
    engine = engine_of(FRAMES[3], 1_000)
    (plan,) = (q.explain() for q in engine.queries.values())
    assert "Over  PARTITION BY k ORDER BY ts: AVG(CAST(x AS DOUBLE)) RANGE BETWEEN" in plan


@pytest.mark.parametrize(
    ("value", "part"),
    [
        ("SUM(x) OVER (ORDER BY x, ts RANGE 1 PRECEDING)", "needs one value in ORDER BY"),
        ("SUM(x) OVER (ORDER BY x RANGE INTERVAL '1' SECOND PRECEDING)", "needs a time"),
        ("SUM(x) OVER (ORDER BY ts RANGE 1 PRECEDING)", "needs a number"),
        ("SUM(x) OVER (ORDER BY x ROWS BETWEEN 1 FOLLOWING AND 1 PRECEDING)", "before it starts"),
    ],
)
def test_what_is_refused(value: str, part: str) -> None:
    with pytest.raises(SqlError, match=part):
        engine_of(value, 1_000)
