"""OVER over divided streams gives the answers of one engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from sharded_runs import run_over_shards

#: With the labels of the layout's axes.
QUERIES = {
    "by key": (
        "SELECT k, x, LAG(x) OVER (PARTITION BY k ORDER BY ts) AS y FROM a [RANGE 2 SECONDS]",
        ["a.k"],
    ),
    "first rows": (
        "SELECT k, x FROM a [RANGE 3 SECONDS] QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY "
        "x DESC, ts) <= 2",
        ["a.k"],
    ),
    "running": (
        "SELECT k, x, x - LAG(x) OVER (PARTITION BY k ORDER BY ts) AS d, SUM(x) OVER (PARTITION BY "
        "k ORDER BY ts RANGE INTERVAL '3' SECOND PRECEDING) AS n FROM a",
        ["a.k"],
    ),
    "running, without NULLs": (
        "SELECT k, LAG(x, 2, 0) IGNORE NULLS OVER (PARTITION BY k ORDER BY ts) AS y, NTH_VALUE(x, "
        "2) IGNORE NULLS OVER (PARTITION BY k ORDER BY ts ROWS UNBOUNDED PRECEDING) AS z FROM a",
        ["a.k"],
    ),
    "running, groups of times": (
        "SELECT k, SUM(x) OVER (PARTITION BY k ORDER BY ts GROUPS 2 PRECEDING) AS n, NTH_VALUE(x, "
        "2) OVER (PARTITION BY k ORDER BY ts GROUPS 2 PRECEDING) AS y FROM a",
        ["a.k"],
    ),
    "the second of a time": (
        "SELECT k, x, NTH_VALUE(x, 2) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL '1' SECOND "
        "PRECEDING) AS n FROM a [RANGE 2 SECONDS] EMIT CHANGES",
        ["a.k"],
    ),
    "frames of groups": (
        "SELECT k, x, SUM(x) OVER (PARTITION BY k ORDER BY x GROUPS BETWEEN 1 PRECEDING AND "
        "CURRENT ROW) AS n FROM a [RANGE 2 SECONDS] EMIT CHANGES",
        ["a.k"],
    ),
    "running, over all rows": ("SELECT k, COUNT(*) OVER (ORDER BY ts) AS n FROM a", []),
    "of all rows": ("SELECT k, x FROM a [RANGE 2 SECONDS] ORDER BY x, ts LIMIT 3", []),
    "whole partition": (
        "SELECT k, x - MIN(x) OVER (PARTITION BY k) AS y FROM a [RANGE 2 SECONDS]",
        ["coalesce(a.k, 0)"],
    ),
    "first groups of each window": (
        "SELECT k, n, window_end FROM (SELECT k, COUNT(*) AS n, window_end, ROW_NUMBER() OVER "
        "(PARTITION BY window_start, window_end ORDER BY COUNT(*) DESC, k) AS place FROM "
        "a [HOP 4 SECONDS EVERY 2 SECONDS] GROUP BY k, window_start, window_end) AS q "
        "WHERE place <= 2",
        [],
    ),
    "first groups of each window and key": (
        "SELECT k, x, COUNT(*) AS n FROM a [TUMBLE 3 SECONDS] GROUP BY k, x, window_end QUALIFY "
        "RANK() OVER (PARTITION BY k ORDER BY COUNT(*) DESC) = 1",
        ["a.k"],
    ),
    "frames of rows": (
        "SELECT k, x, SUM(x) OVER (PARTITION BY k ORDER BY ts, x ROWS BETWEEN 1 PRECEDING AND "
        "1 FOLLOWING) AS n FROM a [RANGE 2 SECONDS] EMIT CHANGES",
        ["a.k"],
    ),
    "running, rows behind": (
        "SELECT k, SUM(x) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '1' SECOND "
        "PRECEDING AND INTERVAL '1' SECOND FOLLOWING EXCLUDE CURRENT ROW) AS n, MAX(x) OVER "
        "(PARTITION BY k ORDER BY ts ROWS 3 PRECEDING EXCLUDE TIES) AS y FROM a",
        ["a.k"],
    ),
    "frames of times": (
        "SELECT k, x, SUM(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL '1' SECOND "
        "PRECEDING) AS n FROM a [RANGE 2 SECONDS] EMIT CHANGES",
        ["a.k"],
    ),
    "from window to window": (
        "SELECT k, COUNT(*) AS n, COUNT(*) - LAG(COUNT(*)) OVER (PARTITION BY k ORDER BY "
        "window_end) AS d, window_end FROM a [TUMBLE 3 SECONDS] GROUP BY k, window_start, "
        "window_end",
        ["a.k"],
    ),
    "windows of windows": (
        "SELECT k, SUM(n) AS n, window_end FROM TUMBLE((SELECT k, COUNT(*) AS n, window_time AS t "
        "FROM a [TUMBLE 2 SECONDS] GROUP BY k, x, window_start, window_end, window_time), t, "
        "INTERVAL '6' SECOND) GROUP BY k, window_start, window_end",
        ["a.k"],
    ),
    "windows of sessions": (
        "SELECT k, COUNT(*) AS n, window_end FROM TUMBLE((SELECT k, x, COUNT(*) AS n FROM "
        "a [SESSION 2 SECONDS BY k, x] GROUP BY k, x, window_start, window_end), _ts, "
        "INTERVAL '6' SECOND) GROUP BY k, window_start, window_end",
        ["a.k"],
    ),
    "groups of first rows": (
        "SELECT k, SUM(x) AS x FROM (SELECT k, x FROM a [RANGE 3 SECONDS] QUALIFY ROW_NUMBER() "
        "OVER (PARTITION BY k ORDER BY x DESC, ts) <= 2) AS q GROUP BY k EMIT CHANGES",
        ["a.k"],
    ),
    "groups of first rows by the first column": (
        "SELECT ts, COUNT(*) AS n FROM (SELECT ts FROM a [RANGE 3 SECONDS] QUALIFY ROW_NUMBER() "
        "OVER (PARTITION BY k ORDER BY x DESC, ts) <= 2) AS q GROUP BY ts EMIT CHANGES",
        ["a.k"],  # in parts, which are merged
    ),
}


@pytest.mark.parametrize("name", QUERIES)
def test_over_on_shards(name: str, tmp_path: Path) -> None:
    run_over_shards(name, *QUERIES[name], tmp_path)
