"""Final results of windows over divided streams are those of one engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from sharded_runs import run_over_shards

#: With the labels of the layout's axes.
QUERIES = {
    "sessions": (
        "SELECT k, window_end, COUNT(*) AS n, SUM(x) AS x FROM a [SESSION 2 SECONDS BY k] "
        "GROUP BY k, window_start, window_end",
        ["a.k"],
    ),
    "groups in sessions": (
        "SELECT k, x, window_end, COUNT(*) AS n FROM SESSION(TABLE a PARTITION BY k, "
        "DESCRIPTOR(ts), INTERVAL '3' SECOND) WHERE x > 1 GROUP BY k, x, window_end",
        ["a.k"],
    ),
    "early results of sessions": (
        "SELECT k, window_end, COUNT(*) AS n, SUM(x) AS x FROM a [SESSION 2 SECONDS BY k] "
        "WHERE x > 1 GROUP BY k, window_start, window_end EMIT CHANGES",
        ["a.k"],
    ),
    "early results of groups in sessions": (
        "SELECT k, x, window_end, COUNT(*) AS n FROM a [SESSION 2 SECONDS BY k] "
        "GROUP BY k, x, window_end EMIT CHANGES",
        ["coalesce(a.k, 0)"],
    ),
    "rows of sessions": (
        "SELECT k, x, window_start, window_end FROM a [SESSION 2 SECONDS BY k] EMIT CHANGES",
        ["a.k"],
    ),
    "final rows of sessions": (
        "SELECT x, k, window_start, window_end FROM a [SESSION 2 SECONDS BY k] WHERE x > 1",
        ["a.k"],
    ),
    "rows without a match": (
        "SELECT a.k, a.x FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE a.k = b.k AND b.ts BETWEEN "
        "a.ts - INTERVAL '2' SECOND AND a.ts + INTERVAL '1' SECOND)",
        ["a.k = b.k"],
    ),
    "rows with an earlier match": (
        "SELECT a.k, a.x FROM a WHERE a.k IN (SELECT b.k FROM b WHERE b.x > 1 AND b.ts BETWEEN "
        "a.ts - INTERVAL '2' SECOND AND a.ts)",
        ["a.k = b.k"],
    ),
    "rows with a match": (
        "SELECT a.k, a.x FROM a WHERE EXISTS (SELECT 1 FROM b WHERE a.k = b.k AND b.ts BETWEEN "
        "a.ts - INTERVAL '2' SECOND AND a.ts + INTERVAL '1' SECOND)",
        ["a.k = b.k"],
    ),
    "sessions of all rows": (
        "SELECT window_end, k, COUNT(*) AS n FROM a [SESSION 1 SECOND] GROUP BY k, window_end",
        [],
    ),
    "session_window": (
        "SELECT k, x, COUNT(*) AS n FROM a WHERE x > 0 GROUP BY k, x, session_window(ts, "
        "'2 seconds')",
        ["(a.k, a.x)"],
    ),
    "sessions of pairs": (
        "SELECT a.k, COUNT(*) AS n FROM a [RANGE 2 SECONDS], b [RANGE 1 SECOND] WHERE a.k = b.k "
        "GROUP BY a.k, session_window(_ts, '2 seconds')",
        ["a.k = b.k"],
    ),
    "a pattern": (
        "SELECT k, first_x, last_x, n FROM a MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES "
        "A.x AS first_x, LAST(B.x) AS last_x, COUNT(*) AS n PATTERN (A B* C) WITHIN INTERVAL '4' "
        "SECOND DEFINE B AS B.x >= A.x, C AS C.x < PREV(C.x)) AS m",
        ["a.k"],
    ),
    "all rows of a pattern": (
        "SELECT * FROM a MATCH_RECOGNIZE (PARTITION BY x, k ORDER BY ts MEASURES CLASSIFIER() AS "
        "c ALL ROWS PER MATCH PATTERN (A B?) WITHIN INTERVAL '2' SECOND) AS m",
        ["(a.x, a.k)"],
    ),
    "a pattern of all rows": (
        "SELECT * FROM a MATCH_RECOGNIZE (ORDER BY ts MEASURES A.k AS k, B.x AS x PATTERN (A B) "
        "DEFINE B AS B.x > A.x) AS m",
        [],
    ),
    "outer interval join": (
        "SELECT a.k, a.x, b.k AS bk, b.x AS y FROM a FULL JOIN b ON a.k = b.k AND a.ts BETWEEN "
        "b.ts - INTERVAL '2' SECOND AND b.ts + INTERVAL '1' SECOND",
        ["a.k = b.k"],
    ),
    "interval join": (
        "SELECT a.k, a.x, b.x AS y FROM a JOIN b ON a.k = b.k AND a.ts BETWEEN b.ts - INTERVAL '2' "
        "SECOND AND b.ts + INTERVAL '1' SECOND",
        ["a.k = b.k"],
    ),
    "window": (
        "SELECT k, window.end AS till, COUNT(*) AS n FROM a GROUP BY k, window(ts, '3 seconds', "
        "'1 second')",
        ["a.k"],
    ),
}


@pytest.mark.parametrize("name", QUERIES)
def test_windows_over_shards(name: str, tmp_path: Path) -> None:
    run_over_shards(name, *QUERIES[name], tmp_path)
