"""Computed columns and event times of streams."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline import Engine, SqlError
from eddyline.engine.ingest.row_reader import ELSEWHERE, OWN, ROLE

NEW_YEAR = 1_767_225_600_000  # 2026, in milliseconds
TRADES = (
    "CREATE STREAM s (ms BIGINT, price DOUBLE, ts TIMESTAMP AS (to_timestamp_millis(ms)), "
    "cents BIGINT AS (CAST(price * 100 AS BIGINT))) TIMESTAMP BY ts LATENESS 2 SECONDS"
)


def engine(stream: str, query: str = "SELECT * FROM s [NOW]") -> Engine:
    out = Engine()
    out.sql(stream)
    out.query(query, name="q")
    return out


def process(stream: str, **columns: Any) -> Any:
    eng = engine(stream)
    return eng.process({"s": pa.table(columns)}, watermark=10**17)


def us(table: pa.Table, column: str = "ts") -> list[int | None]:
    found: list[int | None] = table[column].cast(pa.int64()).to_pylist()
    return found


def test_a_computed_column_is_computed_for_each_row() -> None:
    out = process(TRADES, ms=[NEW_YEAR, NEW_YEAR + 1], price=[1.25, None])
    assert out["q"].column_names[3:] == ["ms", "price", "ts", "cents"]
    assert us(out["q"]) == [NEW_YEAR * 1000, (NEW_YEAR + 1) * 1000]
    assert out["q"]["cents"].to_pylist() == [125, None]
    assert not out.bad


def test_a_column_of_that_name_is_not_read() -> None:
    out = process(TRADES, ms=[NEW_YEAR], price=[1.0], cents=["never"], ts=[0])
    assert out["q"]["cents"].to_pylist() == [100]
    assert us(out["q"]) == [NEW_YEAR * 1000]


def test_a_row_for_which_the_expression_fails_is_bad_with_the_reason() -> None:
    out = process(TRADES, ms=[NEW_YEAR, NEW_YEAR, None], price=[1e300, 2.0, 3.0])
    assert out["q"]["cents"].to_pylist() == [200]
    bad = out.bad["s"].to_pylist()
    assert [list(row) for row in bad] == [["ms", "price", "ts", "cents", "_reason"]] * 2
    assert bad[0]["cents"] is None
    assert bad[0]["ts"] == "2026-01-01 00:00:00.000000Z"
    assert bad[0]["_reason"].startswith("cents: ")
    assert "1e+302" in bad[0]["_reason"] or "1.0E302" in bad[0]["_reason"]
    assert bad[1]["_reason"] == "ts is null"


def test_a_late_row_has_its_computed_columns() -> None:
    eng = engine(TRADES)
    eng.process({"s": pa.table({"ms": [NEW_YEAR + 10_000], "price": [1.0]})})
    out = eng.process({"s": pa.table({"ms": [NEW_YEAR], "price": [0.5]})})
    (late,) = out.late["s"].to_pylist()
    assert late["cents"] == 50
    assert us(out.late["s"]) == [NEW_YEAR * 1000]


@pytest.mark.parametrize("shown", ["(timestamp_millis(ms))", "(ms) WITH (ts_unit = 'ms')"])
def test_an_event_time_that_is_no_column(shown: str) -> None:
    out = process(
        f"CREATE STREAM s (ms BIGINT, x BIGINT) TIMESTAMP BY {shown}",
        ms=[NEW_YEAR + 1, None, NEW_YEAR],
        x=[1, 2, 3],
    )
    assert out["q"].column_names == ["_op", "_ts", "_exp", "ms", "x"]
    assert out["q"]["x"].to_pylist() == [3, 1]
    assert us(out["q"], "_ts") == [NEW_YEAR * 1000, (NEW_YEAR + 1) * 1000]
    (bad,) = out.bad["s"].to_pylist()
    assert list(bad) == ["ms", "x", "_reason"]
    assert bad["_reason"].endswith("ms is null") or bad["_reason"].endswith("(ms) is null")


def test_a_column_in_parentheses_is_the_column() -> None:
    out = process("CREATE STREAM s (ts TIMESTAMP) TIMESTAMP BY (ts)", ts=["2026-01-01", "soon"])
    assert us(out["q"]) == [NEW_YEAR * 1000]
    assert out.bad["s"]["_reason"].to_pylist() == ["ts: cannot read 'soon' as TIMESTAMP"]


YEARS = "since 1970 is not between the years 1 and 9999"


@pytest.mark.parametrize(
    ("expression", "number", "reason"),
    [
        ("CAST(n AS TIMESTAMP)", NEW_YEAR, f"seconds {YEARS}; milliseconds? write timestamp_mil"),
        ("timestamp_seconds(n)", NEW_YEAR, f"seconds {YEARS}; milliseconds? write timestamp_mil"),
        ("timestamp_millis(n)", NEW_YEAR * 1000, f"milliseconds {YEARS}; microseconds? write tim"),
        ("to_timestamp_micros(n)", NEW_YEAR * 10**6, f"microseconds {YEARS}; nanoseconds? write t"),
        ("n", NEW_YEAR, "microseconds since 1970 is in the first weeks of that year; millis"),
        ("n", NEW_YEAR // 1000 + 1, "microseconds since 1970 is in the first weeks of that year"),
    ],
)
@pytest.mark.parametrize("form", ["column", "expression"])
def test_a_number_that_is_no_sensible_time_is_bad_with_a_hint(
    expression: str, number: int, reason: str, form: str
) -> None:
    computed, by = (f", ts TIMESTAMP AS ({expression})", "ts")
    if form == "expression":
        computed, by = "", f"({expression})"
    eng = engine(f"CREATE STREAM s (n BIGINT{computed}) TIMESTAMP BY {by}")
    out = eng.process({"s": pa.table({"n": [number]})})
    (bad,) = out.bad["s"].to_pylist()
    assert f"{number} {reason}" in bad["_reason"]
    assert eng.watermark < 0  # it moves nothing


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (
            [NEW_YEAR],
            "microseconds since 1970 is in the first weeks of that year; milliseconds? de",
        ),
        ([NEW_YEAR // 1000], "seconds? declare it BIGINT, and a column TIMESTAMP AS (timestamp_se"),
        ([NEW_YEAR * 10**6], f"microseconds {YEARS}; nanoseconds? declare it BIGINT, and a column"),
        (pa.array([NEW_YEAR], pa.timestamp("s")), "at is not between the years 1 and 9999"),
    ],
)
def test_timestamps_beside_the_event_time_are_judged_too(values: Any, reason: str) -> None:
    stream = "CREATE STREAM s (ts TIMESTAMP, at TIMESTAMP) TIMESTAMP BY ts"
    out = process(stream, ts=["2026-01-01"], at=values)
    (bad,) = out.bad["s"].to_pylist()
    assert bad["_reason"].startswith("at")
    assert reason in bad["_reason"]


def test_small_timestamps_beside_small_event_times_are_accepted() -> None:
    stream = "CREATE STREAM s (ts TIMESTAMP, at TIMESTAMP) TIMESTAMP BY ts"
    out = process(stream, ts=[0], at=[NEW_YEAR])
    assert us(out["q"], "at") == [NEW_YEAR]


def test_nanoseconds_are_rounded_down() -> None:
    stream = "CREATE STREAM s (n BIGINT, t TIMESTAMP AS (timestamp_nanos(n))) TIMESTAMP BY t"
    assert us(process(stream, n=[-1, 1_999, 2_000])["q"], "t") == [-1, 1, 2]
    eng = engine("CREATE STREAM s (ts TIMESTAMP, n BIGINT) TIMESTAMP BY ts",
                 "SELECT to_timestamp_nanos(n) AS t FROM s [NOW]")  # fmt: skip
    out = eng.process({"s": pa.table({"ts": [0, 1, 2], "n": [-1, None, 1_999]})})
    assert us(out["q"], "t") == [-1, None, 1]


def test_a_fraction_needs_a_unit() -> None:
    stream = "CREATE STREAM s (ms BIGINT) TIMESTAMP BY (ms / 1000) WITH (ts_unit = 's')"
    assert us(process(stream, ms=[NEW_YEAR + 1])["q"], "_ts") == [(NEW_YEAR + 1) * 1000]
    with pytest.raises(SqlError, match=r"DOUBLE needs WITH \(ts_unit = 's'\)"):
        Engine().sql("CREATE STREAM s (ms BIGINT) TIMESTAMP BY (ms / 1000)")


def test_rows_of_other_engines_have_event_times_only() -> None:
    """A column that fails for the missing values does not make a row of another engine bad."""
    eng = engine(
        "CREATE STREAM s (ms BIGINT, v BIGINT, ts TIMESTAMP AS (timestamp_millis(ms)), "
        "w BIGINT AS (10 DIV coalesce(v, 0))) TIMESTAMP BY ts"
    )
    rows = {"ms": [NEW_YEAR, NEW_YEAR + 5], "v": [5, None], ROLE: [OWN, ELSEWHERE]}
    out = eng.process({"s": pa.table(rows)})
    assert not out.bad
    assert out["q"]["w"].to_pylist() == [2]
    assert eng.watermark == (NEW_YEAR + 5) * 1000


def test_explain_shows_what_is_computed() -> None:
    eng = engine(TRADES)
    line = "computed for each row of s: ts = timestamp_millis(ms), cents = CAST((price * 100"
    assert line in eng.query("SELECT ms FROM s [NOW]", name="r").explain()
    assert line in eng.explain("SELECT ms FROM s [NOW]")
    eng.sql("CREATE STREAM h (ms BIGINT) TIMESTAMP BY (timestamp_millis(ms))")
    hidden = "computed for each row of h: the event time = timestamp_millis(ms)"
    assert hidden in eng.explain("SELECT ms FROM h [NOW]")


def test_a_saved_engine_computes_on(tmp_path: Path) -> None:
    one = engine(TRADES, "SELECT SUM(cents) AS c FROM s [RANGE 1 HOUR]")
    batches = [
        pa.table({"ms": [NEW_YEAR + i * 3_000 + j for j in range(5)], "price": [i + 0.5] * 5})
        for i in range(4)
    ]
    for batch in batches[:2]:
        one.process({"s": batch})
    one.save(tmp_path / "saved")
    two = Engine.load(tmp_path / "saved")
    for batch in batches[2:]:
        assert one.process({"s": batch})["q"].equals(two.process({"s": batch})["q"])


@pytest.mark.parametrize("seed", range(5))
def test_the_same_results_as_with_the_same_values_supplied(seed: int) -> None:
    chance = np.random.default_rng(seed)
    columns = "ts TIMESTAMP{}, ms BIGINT, price DOUBLE, cents BIGINT{}, k BIGINT{}"
    expressions = (
        " AS (timestamp_millis(ms))",
        " AS (CAST(price * 100 AS BIGINT))",
        " AS (ms % 7)",
    )
    options = " LATENESS 1 SECONDS WITH (lateness_by = 'row')"
    computing, given = Engine(), Engine()
    for eng, parts in ((computing, expressions), (given, ("", "", ""))):
        eng.sql(f"CREATE STREAM s ({columns.format(*parts)}) TIMESTAMP BY ts{options}")
        eng.query("SELECT k, SUM(cents) AS c FROM s [RANGE 2 SECONDS] GROUP BY k", name="sums")
        eng.query("SELECT a.ms, b.cents FROM s [ROWS 4] AS a, s [ROWS 9] AS b WHERE a.k = b.k",
                  name="pairs")  # fmt: skip
    for start in range(0, 20_000, 4_000):
        ms = NEW_YEAR + start + chance.integers(0, 6_000, 60)
        price = chance.integers(0, 10_000, 60) / 8
        supplied = pa.table({"ms": ms, "price": price})
        whole = supplied.append_column("ts", pa.array(ms * 1000))
        whole = whole.append_column("cents", pa.array(np.trunc(price * 100).astype(np.int64)))
        whole = whole.append_column("k", pa.array(ms % 7))
        found, expected = computing.process({"s": supplied}), given.process({"s": whole})
        for name in ("sums", "pairs"):
            assert found[name].equals(expected[name])
        assert found.late.keys() == expected.late.keys()
        if "s" in found.late:
            assert found.late["s"].equals(expected.late["s"])
    assert computing.stats()["streams"]["s"] == given.stats()["streams"]["s"]
    assert computing.stats()["streams"]["s"]["late"] > 0


def test_any_cut_into_batches_gives_the_same_bad_rows() -> None:
    chance = random.Random(3)
    ms = [chance.choice([NEW_YEAR, 5, None, NEW_YEAR * 10**6, 2**62]) for _ in range(40)]
    stream = "CREATE STREAM s (n BIGINT, ts TIMESTAMP AS (n)) TIMESTAMP BY ts LATENESS 1000000 DAYS"
    whole = process(stream, n=pa.array(ms, pa.int64())).bad["s"]
    for cut in (1, 7, 25):
        eng = engine(stream)
        parts = [
            eng.process({"s": pa.table({"n": pa.array(part, pa.int64())})}).bad
            for part in (ms[:cut], ms[cut:])
        ]
        assert pa.concat_tables(p["s"] for p in parts if "s" in p).equals(whole)
