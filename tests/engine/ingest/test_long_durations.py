"""Durations at the limits of what the clock can hold."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eddyline import DataError, Engine, SqlError
from eddyline.testing import engine_with

NEW_YEAR_2026 = 1_767_225_600_000_000
LONGEST = "3652059 DAYS"  # from the year 1 to 9999
DDL = "CREATE STREAM s (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts"
TOO_LONG = "is too long: a duration lasts at most 3652059 days"


def engine() -> Engine:
    out = Engine()
    out.sql(DDL)
    return out


@pytest.mark.parametrize("select", ["COUNT(*) AS n", "COUNT(*) + 0 AS n"])
@pytest.mark.parametrize("state", ["upa", "direct", "negative-tuple"])
def test_a_window_that_passes_the_end_of_time_holds_its_rows(select: str, state: str) -> None:
    eng = engine_with(state=state)
    eng.sql(DDL)
    query = eng.query(f"SELECT {select} FROM s [RANGE {LONGEST}]", name="q")
    eng.process({"s": pa.table({"ts": [NEW_YEAR_2026, NEW_YEAR_2026 + 1], "x": [1, 2]})})
    assert query.snapshot().to_pylist() == [{"n": 2}]


@pytest.mark.parametrize("executor", ["tree", "eddy"])
def test_a_row_that_leaves_after_the_end_of_time_never_expires(executor: str) -> None:
    eng = engine_with(executor=executor)
    eng.sql(DDL + "; CREATE STREAM r (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts")
    eng.query(f"SELECT x FROM s [RANGE {LONGEST}]", name="one")
    eng.query(f"SELECT s.x FROM s [RANGE {LONGEST}], r [RANGE {LONGEST}] WHERE s.x = r.x", name="j")
    rows = pa.table({"ts": [NEW_YEAR_2026], "x": [1]})
    out = eng.process({"s": rows, "r": rows}, watermark=NEW_YEAR_2026)
    assert out["one"]["_exp"].to_pylist() == [None]
    assert out["j"]["_exp"].to_pylist() == [None]


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("SELECT COUNT(*) FROM s [RANGE ", "]"),
        ("SELECT x FROM s WINDOW ", ""),
        ("SELECT x FROM s [NOW] EMIT SNAPSHOT EVERY ", ""),
        ("CREATE STREAM r (ts TIMESTAMP) TIMESTAMP BY ts LATENESS ", ""),
        ("SELECT ts + INTERVAL ", " AS t FROM s [NOW]"),
    ],
)
@pytest.mark.parametrize(
    "duration",
    ["3652060 DAYS", "106751991 DAYS", "99999999999 DAYS", "1e999 SECONDS", "1e999999 WEEKS"],
)
def test_a_duration_that_no_clock_can_hold_is_refused(
    before: str, behind: str, duration: str
) -> None:
    with pytest.raises(SqlError, match=TOO_LONG) as error:
        engine().sql(f"{before}{duration}{behind}")
    assert error.value.line == 1
    assert error.value.column is not None
    assert error.value.column > len("SELECT ")


def test_options_that_are_durations_are_checked_too() -> None:
    with pytest.raises(ValueError, match=TOO_LONG):
        engine_with(decide_every="106751991 days")
    with pytest.raises(ValueError, match=TOO_LONG):
        engine_with(lazy_expiry="106751991 days")


def test_the_clock_stays_between_the_years_1_and_9999() -> None:
    eng = engine()
    with pytest.raises(DataError, match="between the years 1 and 9999"):
        eng.advance(1 << 60)
    with pytest.raises(DataError, match="between the years 1 and 9999"):
        eng.process({}, watermark=1 << 60)
    assert eng.clock < 0
