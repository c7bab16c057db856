"""ASOF joins over divided streams give the answers of one engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from sharded_runs import run_over_shards

#: With the labels of the layout's axes.
QUERIES = {
    "by key": (
        "SELECT a.k, a.x, b.x AS y FROM a [RANGE 2 SECONDS] ASOF LEFT JOIN b ON a.k = b.k AND "
        "a.ts >= b.ts",
        ["a.k = b.k"],
    ),
    "before": (
        "SELECT a.k, COUNT(*) AS n, SUM(b.x) AS y FROM a [RANGE 2 SECONDS] ASOF JOIN "
        "b [RANGE 3 SECONDS] ON a.k = b.k AND a.ts > b.ts GROUP BY a.k",
        ["a.k = b.k"],
    ),
    "of all rows": (
        "SELECT a.k, a.x, b.x AS y FROM a [RANGE 2 SECONDS] ASOF JOIN b ON a.ts > b.ts",
        ["rows of a"],
    ),
}


@pytest.mark.parametrize("name", QUERIES)
def test_asof_joins_over_shards(name: str, tmp_path: Path) -> None:
    run_over_shards(name, *QUERIES[name], tmp_path)
