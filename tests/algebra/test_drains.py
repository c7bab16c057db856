"""How long a query has results after its last row."""

from __future__ import annotations

import pytest

from eddyline import Engine
from eddyline.algebra.drains import drain_us

SECOND = 1_000_000
GROUPED = "GROUP BY window_start, window_end"


@pytest.mark.parametrize(
    ("select", "seconds"),
    [
        ("SELECT k FROM s", 0),
        ("SELECT k FROM s [UNBOUNDED]", 0),
        ("SELECT k FROM s [ROWS 3]", 0),
        ("SELECT k, COUNT(*) FROM s [RANGE 9 SECONDS] GROUP BY k", 9),
        ("SELECT s.k FROM s [RANGE 9 SECONDS], r [RANGE 4 SECONDS] WHERE s.k = r.k", 9),
        (f"SELECT COUNT(*) FROM s [TUMBLE 8 SECONDS] {GROUPED}", 8),
        (f"SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE v, DESCRIPTOR(ts), INTERVAL '8' SECOND)) "
         f"{GROUPED}", 8),
        (f"SELECT COUNT(*) FROM TABLE(HOP(TABLE v, DESCRIPTOR(ts), INTERVAL '2' SECOND, "
         f"INTERVAL '6' SECOND)) {GROUPED}", 6),
        (f"SELECT COUNT(*) FROM (SELECT window_end FROM TABLE(TUMBLE(TABLE v, DESCRIPTOR(ts), "
         f"INTERVAL '8' SECOND)) {GROUPED}), s [RANGE 3 SECONDS]", 8),
        (f"SELECT k, COUNT(*) FROM s [SESSION 7 SECONDS BY k] {GROUPED}, k", 7),
        ("SELECT k, COUNT(*) FROM v GROUP BY k, SESSION(ts, INTERVAL '7' SECOND)", 7),
    ],
)  # fmt: skip
def test_windows_and_sessions(select: str, seconds: int) -> None:
    assert drained(select) == seconds * SECOND


def test_rows_that_wait_a_microsecond() -> None:
    assert drained("SELECT s.k FROM s ASOF JOIN r ON s.k = r.k AND s.ts >= r.ts") == 1
    assert (
        drained(
            "SELECT * FROM s MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts "
            "MEASURES A.ts AS a PATTERN (A B+) WITHIN INTERVAL 5 SECONDS "
            "DEFINE A AS k < 3, B AS k > 5) AS m"
        )
        == 5 * SECOND + 1
    )


def drained(select: str) -> int:
    engine = Engine()
    engine.sql(
        "CREATE STREAM s (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts;"
        "CREATE STREAM r (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts;"
        "CREATE VIEW v AS SELECT * FROM s [UNBOUNDED]"
    )
    return drain_us(engine.query(select).plan)
