"""Numbers as event times: their unit, and what is refused because it is improbable."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline import DataError, Engine, SqlError

NEW_YEAR = 1_767_225_600  # 2026, in seconds
WEEKS = "since 1970 is in the first weeks of that year"


def engine(options: str = "") -> Engine:
    out = Engine()
    with_ = f" WITH ({options})" if options else ""
    out.sql(f"CREATE STREAM s (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts{with_}")
    out.query("SELECT ts, x FROM s [NOW]", name="q")
    return out


def process(eng: Engine, ts: Any) -> Any:
    return eng.process({"s": pa.table({"ts": ts, "x": range(len(ts))})})


def times(out: Any) -> list[int]:
    return out["q"]["ts"].cast(pa.int64()).to_pylist()


@pytest.mark.parametrize(
    ("unit", "ts"),
    [
        ("s", [NEW_YEAR, NEW_YEAR + 1]),
        ("s", pa.array([NEW_YEAR, NEW_YEAR + 1], pa.int32())),
        ("s", pa.array([NEW_YEAR, NEW_YEAR + 1], pa.uint64())),
        ("s", [float(NEW_YEAR), NEW_YEAR + 1.0]),
        ("s", pa.array([Decimal(NEW_YEAR), Decimal(NEW_YEAR + 1)])),
        ("s", [f"{NEW_YEAR}", f" +{NEW_YEAR + 1}.0 "]),
        ("ms", [NEW_YEAR * 1000, (NEW_YEAR + 1) * 1000]),
        ("ms", [f"{NEW_YEAR}000", f"{NEW_YEAR + 1}000"]),
        ("ms", [f"{NEW_YEAR}000", "2026-01-01T00:00:01Z"]),
        ("ms", pa.array([NEW_YEAR, NEW_YEAR + 1], pa.timestamp("s"))),
        ("us", [NEW_YEAR * 1_000_000, (NEW_YEAR + 1) * 1_000_000]),
        ("ns", [NEW_YEAR * 10**9 + 999, (NEW_YEAR + 1) * 10**9]),
    ],
)
def test_numbers_of_a_declared_unit(unit: str, ts: Any) -> None:
    out = process(engine(f"ts_unit = '{unit}'"), ts)
    assert not out.bad
    assert times(out) == [NEW_YEAR * 1_000_000, (NEW_YEAR + 1) * 1_000_000]


def test_fractions_and_instants_before_1970() -> None:
    assert times(process(engine("ts_unit = 's'"), [-1.5, 0.000_001])) == [-1_500_000, 1]
    assert times(process(engine("ts_unit = 'ns'"), [-1, 1_999])) == [-1, 1]


def test_text_that_is_no_number_is_bad_beside_numbers() -> None:
    out = process(engine("ts_unit = 's'"), ["1", "soon", None])
    assert times(out) == [1_000_000]
    reasons = ["ts: cannot read 'soon' as TIMESTAMP", "ts is null"]
    assert out.bad["s"]["_reason"].to_pylist() == reasons


@pytest.mark.parametrize("ts", [np.nan, np.inf, -np.inf, 1e30])
def test_a_number_that_is_no_instant_is_bad(ts: float) -> None:
    out = process(engine("ts_unit = 's'"), [1.0, ts])
    assert times(out) == [1_000_000]
    assert out.bad["s"].num_rows == 1


@pytest.mark.parametrize(
    ("unit", "ts", "reason"),
    [
        (
            "",
            NEW_YEAR,
            f"ts: {NEW_YEAR} microseconds {WEEKS}; seconds? declare ts_unit = 's'",
        ),
        (
            "",
            NEW_YEAR * 1000,
            f"ts: {NEW_YEAR}000 microseconds {WEEKS}; milliseconds? declare ts_unit = 'ms'",
        ),
        (
            "",
            NEW_YEAR * 10**9,
            f"ts: {NEW_YEAR}000000000 microseconds since 1970 is not between the years 1 and 9999; "
            "nanoseconds? declare ts_unit = 'ns'",
        ),
        (
            "ts_unit = 's'",
            NEW_YEAR * 1000,
            f"ts: {NEW_YEAR}000 seconds since 1970 is not between the years 1 and 9999; "
            "milliseconds? declare ts_unit = 'ms'",
        ),
        (
            "",
            f"{NEW_YEAR}000",
            f"ts: cannot read '{NEW_YEAR}000' as TIMESTAMP; "
            "milliseconds? declare ts_unit = 'ms'",
        ),
    ],
)  # fmt: skip
def test_an_improbable_instant_is_refused_with_a_hint(unit: str, ts: Any, reason: str) -> None:
    eng = engine(unit)
    out = process(eng, [ts])
    assert out.bad["s"].to_pylist() == [{"ts": str(ts), "x": "0", "_reason": reason}]
    assert times(out) == []
    assert eng.watermark < 0  # it moves nothing
    assert times(process(eng, ["2026-01-01"])) == [NEW_YEAR * 1_000_000]


def test_microseconds_that_are_meant_are_declared() -> None:
    eng = engine("ts_unit = 'us'")
    assert times(process(eng, [NEW_YEAR])) == [NEW_YEAR]
    assert times(process(eng, [NEW_YEAR * 1000])) == [NEW_YEAR * 1000]


@pytest.mark.parametrize("step", [1, 1_000_000, 3_600_000_000])
def test_a_clock_that_starts_near_zero_is_not_refused(step: int) -> None:
    ts = np.arange(0, 2 * NEW_YEAR * 1000, max(step, NEW_YEAR * 1000 // 1_000))
    assert len(times(process(engine(), ts))) == ts.size


def test_whole_seconds_in_microseconds_are_accepted() -> None:
    assert times(process(engine(), [1_000_000_000, 1_000_000_001])) == [10**9, 10**9 + 1]


def test_a_row_at_zero_does_not_let_milliseconds_pass() -> None:
    out = process(engine(), [0, NEW_YEAR * 1000, NEW_YEAR * 1000 + 1])
    assert times(out) == [0]
    assert out.bad["s"].num_rows == 2


@pytest.mark.parametrize("cut", range(1, 8))
def test_refused_rows_do_not_depend_on_the_batches(cut: int) -> None:
    ts = [NEW_YEAR, None, NEW_YEAR * 1000, 5, NEW_YEAR, NEW_YEAR * 1000, NEW_YEAR * 1001, 8]
    whole = process(engine(), ts)
    eng = engine()
    parts = [process(eng, pa.array(ts[:cut], pa.int64())), process(eng, ts[cut:])]
    bad = pa.concat_tables(p.bad["s"] for p in parts if "s" in p.bad)
    assert bad["ts"].equals(whole.bad["s"]["ts"])
    assert len(bad) == 3


def test_a_batch_of_nothing_but_bad_rows() -> None:
    eng = engine()
    assert process(eng, [NEW_YEAR * 1000] * 3).bad["s"].num_rows == 3
    assert eng.stats()["streams"]["s"]["bad"] == 3


def test_changes_of_tables_have_units_too() -> None:
    eng = Engine()
    eng.sql("CREATE TABLE t (k INT) WITH (updates = 'retroactive', ts_unit = 'ms')")
    query = eng.query("SELECT k FROM t", name="q")
    eng.process({"t": pa.table({"_ts": [NEW_YEAR * 1000], "k": [1]})})
    eng.advance("2026-01-02")
    assert query.snapshot().num_rows == 1


def test_other_numbers_need_a_unit() -> None:
    with pytest.raises(DataError, match=r"unit declare it, as in WITH \(ts_unit = 's'\)"):
        process(engine(), [1.5])


def test_a_unit_that_does_not_exist_is_refused_at_its_place() -> None:
    with pytest.raises(SqlError, match="unknown option ts_unit = 'millis'") as error:
        engine("ts_unit = 'millis'")
    assert error.value.column == 74
    with pytest.raises(SqlError, match=r"declare it TIMESTAMP and their unit"):
        Engine().sql("CREATE STREAM s (ts BIGINT) TIMESTAMP BY ts WITH (ts_unit = 'ms')")
