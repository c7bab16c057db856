"""Sub-queries over divided streams give the answers of one engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from sharded_runs import run_over_shards

#: With the labels of the layout's axes.
QUERIES = {
    "scalar of a key": (
        "SELECT a.k, a.x, (SELECT MAX(b.x) FROM b [RANGE 2 SECONDS] WHERE b.k = a.k) AS m "
        "FROM a [RANGE 2 SECONDS]",
        ["a.k = b.k"],
    ),
    "scalar of all": (
        "SELECT a.k FROM a [RANGE 2 SECONDS] WHERE a.x > (SELECT AVG(x) FROM b [RANGE 2 SECONDS])",
        ["rows of a"],
    ),
    "not in": (
        "SELECT a.x FROM a [RANGE 2 SECONDS] WHERE a.x NOT IN (SELECT x FROM b [RANGE 1 SECOND])",
        ["rows of a"],
    ),
    "exists below OR": (
        "SELECT a.k, a.x FROM a [RANGE 2 SECONDS] WHERE a.x > 2 OR EXISTS (SELECT 1 FROM "
        "b [RANGE 1 SECOND] WHERE b.k = a.k)",
        ["a.k = b.k"],
    ),
    "exists by times below OR": (
        "SELECT a.k, a.x FROM a WHERE a.x > 2 OR EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.ts "
        "BETWEEN a.ts - INTERVAL '2' SECOND AND a.ts + INTERVAL '1' SECOND)",
        ["a.k = b.k"],
    ),
    "exists by times as a value": (
        "SELECT a.k, a.x, NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.ts BETWEEN a.ts AND "
        "a.ts + INTERVAL '2' SECOND) AS alone FROM a",
        ["a.k = b.k"],
    ),
    "in as a value": (
        "SELECT a.k, a.x IN (SELECT b.x FROM b [RANGE 1 SECOND] WHERE b.k = a.k) AS i "
        "FROM a [RANGE 2 SECONDS]",
        ["a.k = b.k"],
    ),
    "any": (
        "SELECT a.k, a.x > ANY (SELECT b.x FROM b [RANGE 1 SECOND] WHERE b.k = a.k) AS i "
        "FROM a [RANGE 2 SECONDS]",
        ["a.k = b.k"],
    ),
    "lateral": (
        "SELECT a.k, a.x, l.x AS y FROM a [RANGE 2 SECONDS], LATERAL (SELECT b.x FROM "
        "b [RANGE 2 SECONDS] WHERE b.k = a.k ORDER BY b.x LIMIT 1) AS l",
        ["a.k = b.k"],
    ),
    "outer join": (
        "SELECT a.k, b.x FROM a [RANGE 2 SECONDS] LEFT JOIN b [RANGE 2 SECONDS] ON a.k = b.k AND "
        "EXISTS (SELECT 1 FROM b [RANGE 1 SECOND] AS c WHERE c.k = b.k AND c.x > b.x)",
        ["a.k = b.k"],
    ),
    "having": (
        "SELECT a.k, COUNT(*) AS n FROM a [RANGE 2 SECONDS] GROUP BY a.k HAVING COUNT(*) > "
        "(SELECT COUNT(*) FROM b [RANGE 2 SECONDS] WHERE b.k = a.k)",
        ["a.k = b.k"],
    ),
}


@pytest.mark.parametrize("name", QUERIES)
def test_sub_queries_over_shards(name: str, tmp_path: Path) -> None:
    run_over_shards(name, *QUERIES[name], tmp_path, seeds=2, batches=6)
