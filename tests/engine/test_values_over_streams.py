"""OVER on streams without a window: what is kept, what fails, what reads the results."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.errors import SqlError

DDL = "CREATE STREAM s (ts TIMESTAMP, k BIGINT, x BIGINT) TIMESTAMP BY ts"
SECOND = 1_000_000


def engine_of(sql: str) -> Engine:
    engine = Engine()
    engine.sql(DDL)
    engine.query(sql, name="q")
    return engine


def kept(engine: Engine) -> int:
    """The rows that the operator keeps."""
    (found,) = (
        o["rows_kept"] for o in engine.stats()["operators"] if o["operator"] == "RunningOver"
    )
    return int(found)


def saved(engine: Engine) -> int:
    """The size of a checkpoint."""
    file = io.BytesIO()
    engine.save(file)
    return file.tell()


def rows(start: int, count: int, keys: int) -> pa.Table:
    """Rows of a hundredth of a second each, with values that go up and down."""
    number = np.arange(start, start + count)
    return pa.table({"ts": number * 10_000, "k": number % keys, "x": (number * 7919) % 1009})


@pytest.mark.parametrize(
    ("value", "most"),
    [
        ("LAG(x, 2) OVER (PARTITION BY k ORDER BY ts)", 2 * 10),
        ("FIRST_VALUE(x) OVER (PARTITION BY k ORDER BY ts)", 10),
        ("LAG(x) IGNORE NULLS OVER (PARTITION BY k ORDER BY ts)", 2 * 10),
        ("SUM(x) OVER (PARTITION BY k ORDER BY ts ROWS 4 PRECEDING)", 5 * 10),
        ("SUM(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL '1' SECOND PRECEDING)", 102),
        ("SUM(x) OVER (PARTITION BY k ORDER BY ts)", 1),
        ("ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts)", 0),
        ("MAX(x) OVER (PARTITION BY k ORDER BY ts ROWS 4 PRECEDING EXCLUDE TIES)", 5 * 10),
        ("MAX(x) OVER (PARTITION BY k ORDER BY ts GROUPS BETWEEN 4 PRECEDING AND 1 PRECEDING)", 51),
        ("MAX(x) OVER (ORDER BY ts GROUPS BETWEEN UNBOUNDED PRECEDING AND 3 PRECEDING)", 3 + 1),
        (
            "MAX(x) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '1' SECOND PRECEDING "
            "AND INTERVAL '1' SECOND FOLLOWING)",
            102 + 202,
        ),
    ],
)
def test_no_more_rows_are_kept_than_a_later_row_reads(value: str, most: int) -> None:
    engine = engine_of(f"SELECT k, {value} AS v FROM s")
    for start in range(0, 3000, 500):
        engine.process({"s": rows(start, 500, 10)})
        assert kept(engine) <= most


@pytest.mark.parametrize("function", ["MIN", "MAX"])
def test_an_extreme_of_all_rows_keeps_one_value(function: str) -> None:
    engine = engine_of(
        f"SELECT {function}(x) OVER (ORDER BY ts ROWS UNBOUNDED PRECEDING) AS v FROM s"
    )
    sizes = []
    for start in range(0, 100_000, 20_000):
        engine.process({"s": rows(start, 20_000, 10)})
        sizes.append(saved(engine))
    assert sizes[-1] <= 1.1 * sizes[1]


def test_partitions_without_rows_in_a_frame_are_forgotten() -> None:
    engine = engine_of(
        "SELECT k, COUNT(*) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL '1' SECOND PRECEDING) "
        "AS n FROM s"
    )
    sizes = []
    for start in range(0, 50_000, 5_000):
        engine.process({"s": rows(start, 5_000, 1_000_000)})
        sizes.append(saved(engine))
    assert sizes[-1] <= 1.1 * sizes[2]


def test_a_row_whose_value_cannot_be_computed_is_reported() -> None:
    engine = engine_of("SELECT x, SUM(x) OVER (ORDER BY ts ROWS 1 PRECEDING) AS n FROM s")
    most = 2**63 - 1
    out = engine.process({"s": pa.table({"ts": [1, 2, 3, 4], "k": [1] * 4, "x": [most, 1, 2, 3]})})
    assert out["q"]["n"].to_pylist() == [most, 3, 5]
    (bad,) = out.bad["q"].to_pylist()
    assert (bad["_ts"].microsecond, bad["_reason"]) == (2, "a SUM of the group is no BIGINT")


def test_rows_wait_for_those_of_the_same_time() -> None:
    engine = engine_of("SELECT x, SUM(x) OVER (ORDER BY ts) AS n FROM s")
    first = engine.process({"s": pa.table({"ts": [SECOND], "k": [1], "x": [1]})})
    assert first["q"].num_rows == 0
    second = engine.process({"s": pa.table({"ts": [SECOND], "k": [1], "x": [2]})})
    assert second["q"].num_rows == 0
    out = engine.process({"s": pa.table({"ts": [SECOND + 1], "k": [1], "x": [3]})})["q"]
    assert out.select(["x", "n"]).to_pylist() == [{"x": 1, "n": 3}, {"x": 2, "n": 3}]
    assert out["_ts"].cast(pa.int64()).to_pylist() == [SECOND + 1] * 2


def test_rows_wait_for_those_behind_them() -> None:
    engine = engine_of(
        "SELECT x, SUM(x) OVER (ORDER BY ts RANGE BETWEEN CURRENT ROW AND INTERVAL '1' SECOND "
        "FOLLOWING) AS n, LAG(x) OVER (ORDER BY ts) AS b FROM s"
    )
    times = [0, SECOND, SECOND + 1]
    first = engine.process({"s": pa.table({"ts": times, "k": [1] * 3, "x": [1, 2, 4]})})["q"]
    assert first.select(["x", "n", "b"]).to_pylist() == [{"x": 1, "n": 3, "b": None}]
    assert first["_ts"].cast(pa.int64()).to_pylist() == [SECOND + 1]
    assert engine.advance(2 * SECOND)["q"].num_rows == 0
    out = engine.advance(3 * SECOND)["q"]
    assert out.select(["x", "n", "b"]).to_pylist() == [
        {"x": 2, "n": 6, "b": 1},
        {"x": 4, "n": 4, "b": 2},
    ]
    assert out["_ts"].cast(pa.int64()).to_pylist() == [2 * SECOND + 1, 2 * SECOND + 2]


def test_a_row_that_fails_is_reported_once_though_others_read_it_early() -> None:
    engine = engine_of(
        "SELECT SUM(1 / x) OVER (ORDER BY ts RANGE BETWEEN CURRENT ROW AND INTERVAL '1' SECOND "
        "FOLLOWING) AS n FROM s"
    )
    out = engine.process({"s": pa.table({"ts": [1, 2, 3], "k": [1] * 3, "x": [1, 0, 1]})})
    assert out.bad["q"].num_rows == 1
    assert engine.advance(3 * SECOND)["q"]["n"].to_pylist() == [2.0, 1.0]


def test_values_that_are_kept_before_they_enter_a_frame_stay() -> None:
    engine = engine_of(
        "SELECT MAX(x) OVER (ORDER BY ts GROUPS BETWEEN 3 PRECEDING AND 2 PRECEDING) AS n FROM s"
    )
    given = [5, 7, 5, 7, 5, 1, 1, 1, 1, 5]
    found = []
    for i, x in enumerate(given):
        found += engine.process({"s": pa.table({"ts": [i], "k": [1], "x": [x]})})["q"].to_pylist()
    found += engine.advance(SECOND)["q"].to_pylist()
    expected = [max(given[max(i - 3, 0) : max(i - 1, 0)], default=None) for i in range(10)]
    assert [r["n"] for r in found] == expected


def test_frames_of_final_results_with_results_behind_them() -> None:
    engine = engine_of(
        "SELECT k, COUNT(*) AS n, SUM(COUNT(*)) OVER (PARTITION BY k ORDER BY window_end RANGE "
        "BETWEEN INTERVAL '1' SECOND PRECEDING AND INTERVAL '1' SECOND FOLLOWING) AS near "
        "FROM s [TUMBLE 1 SECOND] GROUP BY k, window_start, window_end"
    )
    given = pa.table({"ts": [0, SECOND, SECOND + 1, 2 * SECOND], "k": [1] * 4, "x": [0] * 4})
    early = engine.process({"s": given}, watermark=3 * SECOND)["q"]
    assert early.select(["n", "near"]).to_pylist() == [{"n": 1, "near": 3}]
    late = engine.advance(5 * SECOND)["q"]
    assert late.select(["n", "near"]).to_pylist() == [{"n": 2, "near": 4}, {"n": 1, "near": 3}]


def test_windows_over_the_values() -> None:
    engine = engine_of(
        "SELECT k, SUM(d) AS n, window_end FROM TUMBLE((SELECT ts, k, x - LAG(x) OVER (PARTITION "
        "BY k ORDER BY ts) AS d FROM s), DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY k, "
        "window_start, window_end EMIT FINAL"
    )
    out = [engine.process({"s": rows(0, 1500, 2)})["q"]]
    out.append(engine.advance(100 * SECOND)["q"])
    found = [r for table in out for r in table.select(["k", "n"]).to_pylist()]
    x = np.array(rows(0, 1500, 2)["x"])
    last = [x[998], x[999], x[1498], x[1499]]
    first = [x[0], x[1], x[998], x[999]]
    expected = [
        {"k": i % 2, "n": int(b - a)} for i, (a, b) in enumerate(zip(first, last, strict=True))
    ]
    assert sorted(map(str, found)) == sorted(map(str, expected))


def message(sql: str) -> str:
    with pytest.raises(SqlError) as error:
        engine_of(sql)
    return str(error.value).splitlines()[0]


@pytest.mark.parametrize(
    ("sql", "part"),
    [
        (
            "SELECT k, COUNT(*) FROM (SELECT k, LAG(x) OVER (ORDER BY ts) AS y FROM s) AS q "
            "GROUP BY k",
            "GROUP BY of rows with values of OVER, which never leave, needs a window on them",
        ),
        ("SELECT LEAD(x) OVER (ORDER BY ts) FROM s", "OVER needs a window on stream 's'"),
        ("SELECT SUM(x) OVER (ORDER BY x) FROM s", "write ORDER BY ts"),
        ("SELECT SUM(x) OVER (ORDER BY ts DESC) FROM s", "write ORDER BY ts"),
        ("SELECT LEAD(x) IGNORE NULLS OVER (ORDER BY ts) FROM s", "write a window"),
        ("SELECT SUM(x) OVER (PARTITION BY k ROWS 3 PRECEDING) FROM s", "need ORDER BY"),
        (
            "SELECT SUM(x) OVER (ORDER BY ts ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM s",
            "by RANGE BETWEEN .. AND INTERVAL '1' MINUTE FOLLOWING, or write a window",
        ),
        (
            "SELECT SUM(x) OVER (ORDER BY ts GROUPS BETWEEN 1 FOLLOWING AND 1 FOLLOWING) FROM s",
            "GROUPS that follow may never come",
        ),
        (
            "SELECT MAX(x) OVER (ORDER BY ts ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) "
            "FROM s",
            "no frame has all that follow: end it at CURRENT ROW",
        ),
        (
            "SELECT SUM(x) OVER (ORDER BY ts RANGE 5 PRECEDING) FROM s",
            "RANGE is over times: write INTERVAL '5' MINUTE PRECEDING, or ROWS 5 PRECEDING",
        ),
    ],
)
def test_what_is_refused(sql: str, part: str) -> None:
    assert part in message(sql)


def test_values_of_several_partitions() -> None:
    engine = engine_of(
        "SELECT ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS a, SUM(x) OVER (PARTITION BY x "
        "ORDER BY ts ROWS UNBOUNDED PRECEDING) AS b, LAG(x) OVER (ORDER BY ts) AS c FROM s"
    )
    given: dict[str, Any] = {"ts": [1, 2, 3, 4], "k": [1, 2, 1, 2], "x": [5, 6, 6, 5]}
    out = engine.process({"s": pa.table(given)})["q"]
    assert [tuple(r.values()) for r in out.select(["a", "b", "c"]).to_pylist()] == [
        (1, 5, None),
        (1, 6, 5),
        (2, 12, 6),
        (2, 10, 6),
    ]
