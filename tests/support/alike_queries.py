"""Queries of many kinds over two streams: those of a kind differ in constants, windows and EMIT."""

from __future__ import annotations

from random import Random
from typing import Final

DDL: Final = """\
CREATE STREAM s (ts TIMESTAMP, k STRING, x BIGINT) TIMESTAMP BY ts;
CREATE STREAM r (ts TIMESTAMP, k STRING, x BIGINT) TIMESTAMP BY ts"""
#: Kinds of queries with constants {c} and {d}, a letter {a}, and windows {w}, those of {v} alike.
KINDS: Final[dict[str, str]] = {
    "rows": "SELECT k, x FROM s {w} WHERE k = '{a}' AND x >= {c}",
    "all rows": "SELECT k, x + {c} AS y FROM s {w}",
    "join": "SELECT s.k, s.x, r.x AS y FROM s {w} AS s, r {v} AS r WHERE s.k = r.k AND s.x > {c}",
    "join without keys": "SELECT s.k, s.x, r.x AS y FROM s {w} AS s, r {v} AS r WHERE s.x < r.x "
    "AND s.x >= {c} AND r.k = '{a}' AND s.x + {d} > r.x",
    "join of last rows": "SELECT s.k, s.x, r.x AS y FROM s [PARTITION BY k ROWS {d}] AS s, r "
    "[PARTITION BY x ROWS {d}] AS r WHERE s.k = r.k AND s.x > {c}",
    "join of last rows, grouped": "SELECT s.k, COUNT(*) AS n, SUM(r.x) AS x FROM s [PARTITION BY k "
    "ROWS {d}] AS s, r {w} AS r WHERE s.k = r.k AND r.x >= {c} GROUP BY s.k",
    "join of a union": "SELECT u.k, u.x, r.x AS y FROM (SELECT s.k, r.x FROM s {w} AS s, r {v} AS "
    "r WHERE s.x = r.x AND s.x <> {c} UNION ALL SELECT k, x FROM s {v} WHERE x >= {c}) AS u, "
    "r {w} AS r WHERE u.k = r.k AND u.x > {d}",
    "groups": "SELECT k, COUNT(*) AS n, SUM(x) AS x FROM s {w} WHERE x > {c} GROUP BY k",
    "thresholds": "SELECT k, SUM(x) AS x FROM s {v} GROUP BY k HAVING SUM(x) > {c}",
    "means": "SELECT k, AVG(x) AS x FROM s {w} WHERE x >= {c} GROUP BY k HAVING AVG(x) > {d}",
    "small sums": "SELECT k, SUM(x) AS x, COUNT(*) AS n FROM s {w} WHERE x <> {c} GROUP BY k "
    "HAVING SUM(x) <= {d} AND COUNT(*) > 1",
    "quotients of groups": "SELECT k, SUM(x) AS x FROM s {w} WHERE x > {c} GROUP BY k HAVING "
    "6 / SUM(x) > {d} AND SUM(x) + COUNT(*) > {c} AND MAX(x) * 2 >= {d}",
    "counts": "SELECT k, COUNT(x) AS n, STDDEV(x) AS d FROM s {w} WHERE k = '{a}' GROUP BY k "
    "HAVING 2 > COUNT(x)",
    "money": "SELECT x, SUM(CAST(x AS DECIMAL(20, 2))) AS m, BIT_XOR(x) AS b, "
    "COVAR_POP(x, x * x) AS r FROM s {w} WHERE x >= {c} GROUP BY x HAVING COUNT(*) < 3",
    "distinct": "SELECT DISTINCT k FROM s {w} WHERE x <> {c}",
    "absent": "SELECT s.k, s.x FROM s {v} AS s WHERE s.x >= {c} AND NOT EXISTS (SELECT 1 FROM "
    "r {v} AS r WHERE r.k = s.k)",
    "absent, other windows": "SELECT s.k, s.x FROM s {w} AS s WHERE s.x >= {c} AND NOT EXISTS "
    "(SELECT 1 FROM r {w} AS r WHERE r.k = s.k)",
    "present, grouped": "SELECT s.k, COUNT(*) AS n FROM s {w} AS s WHERE s.x > {c} AND s.k IN "
    "(SELECT r.k FROM r {w} AS r WHERE r.x <> 2) GROUP BY s.k HAVING COUNT(*) > {c}",
    "absent, of a key": "SELECT s.x FROM s {v} AS s WHERE s.k = '{a}' AND NOT EXISTS (SELECT 1 "
    "FROM r {v} AS r WHERE r.k = s.k AND r.x > s.x)",
    "absent, of equal columns": "SELECT s.x, s.k FROM s {v} AS s WHERE s.x = CASE s.k WHEN 'a' "
    "THEN 1 ELSE 2 END AND s.x <> {c} AND NOT EXISTS (SELECT 1 FROM r {v} AS r WHERE r.x = s.x "
    "AND r.x = CASE r.k WHEN 'a' THEN 1 ELSE 2 END)",
    "absent, of quotients": "SELECT q.k, q.y FROM (SELECT k, 6 / x AS y FROM s {v} WHERE x > {c}) "
    "AS q WHERE NOT EXISTS (SELECT 1 FROM r {v} AS r WHERE r.x = q.y)",
    "quotients of both": "SELECT k, 6 / x AS y, x FROM s {v} WHERE x > {c} UNION ALL "
    "SELECT k, 6 / x AS y, x FROM r {v} WHERE x > {c}",
    "present": "SELECT s.k FROM s {v} AS s WHERE s.x > {c} AND EXISTS (SELECT 1 FROM r {v} AS r "
    "WHERE r.k = s.k AND r.x = {d})",
    "LEFT JOIN": "SELECT s.k, s.x, r.x AS y FROM s {v} AS s LEFT JOIN r {v} AS r ON s.k = r.k "
    "WHERE s.x >= {c}",
    "EXCEPT": "SELECT k, x FROM s {w} WHERE x >= {c} EXCEPT SELECT k, x FROM r {w}",
    "EXCEPT of a key": "SELECT k, x FROM s {w} WHERE k = '{a}' AND x <> {d} EXCEPT SELECT k, x "
    "FROM r {v} WHERE x >= {d}",
    "EXCEPT of groups": "SELECT k, x FROM s {w} WHERE x >= {c} EXCEPT SELECT k, COUNT(*) FROM r "
    "{v} GROUP BY k",
    "distinct, present or absent": "SELECT DISTINCT s.k FROM s {w} AS s WHERE s.x > {c} AND "
    "s.k IN (SELECT r.k FROM r {v} AS r WHERE r.x <> 2) AND NOT EXISTS (SELECT 1 FROM r {w} AS r "
    "WHERE r.k = s.k AND r.x = {d})",
    "groups, absent": "SELECT x, n FROM (SELECT x, COUNT(*) AS n, COUNT(*) * 2 AS m FROM s {w} "
    "WHERE x = {c} GROUP BY x HAVING COUNT(*) > 1) AS q WHERE NOT EXISTS (SELECT 1 FROM r {w} AS r "
    "WHERE r.x = q.x AND r.x = q.n)",
    "INTERSECT": "SELECT x FROM s {w} WHERE k = '{a}' INTERSECT SELECT x FROM r {w} WHERE x <> 2",
    "LEFT JOIN, other windows": "SELECT s.k, s.x, r.x AS y FROM s {w} AS s LEFT JOIN r {w} AS r "
    "ON s.k = r.k WHERE s.x >= {c}",
    "LEFT JOIN, other windows, grouped": "SELECT s.k, COUNT(r.x) AS n FROM s {w} AS s LEFT JOIN "
    "r {w} AS r ON s.k = r.k AND r.x <> 2 WHERE s.x > {c} GROUP BY s.k HAVING COUNT(*) > {c}",
    "LEFT JOIN, of a key": "SELECT s.x, r.x AS y FROM s {v} AS s LEFT JOIN r {v} AS r ON s.k = r.k "
    "AND s.x < r.x WHERE s.k = '{a}'",
    "LEFT JOIN, grouped": "SELECT s.k, COUNT(r.x) AS n FROM s {v} AS s LEFT JOIN r {v} AS r ON "
    "s.k = r.k WHERE s.x > {c} GROUP BY s.k",
    "global": "SELECT COUNT(*) AS n, SUM(x) AS x FROM s {w} WHERE k = '{a}' HAVING COUNT(*) > {c}",
    "global, of groups": "SELECT MAX(n) AS n FROM (SELECT k, COUNT(*) AS n FROM s {w} WHERE x > "
    "{c} GROUP BY k) AS q HAVING MAX(n) >= {d}",
    "global, no rows": "SELECT COUNT(*) AS n, MIN(x) AS x FROM s {w} WHERE x = {c} "
    "HAVING COUNT(*) < 2",
}
WINDOWS: Final = ("[RANGE 1 SECOND]", "[RANGE 300 MILLISECONDS]", "[RANGE 4 SECONDS]", "[ROWS 3]")
EMITS: Final = (
    *("INSERTS", "CHANGES", "CHANGES"),
    *("SNAPSHOT EVERY 700 MILLISECONDS", "SNAPSHOT EVERY 1 SECOND OFFSET 300 MILLISECONDS"),
)


def alike(random: Random, kind: str, count: int) -> list[str]:
    """Queries of a kind; most have one EMIT."""
    window, emit = random.choice(WINDOWS), random.choice(EMITS)
    found = []
    for _ in range(count):
        text = KINDS[kind].format(
            c=random.choice([0, 1, 2]),
            d=random.choice([1, 2]),
            a=random.choice("ab"),
            v=window,
            w=window if random.random() < 0.5 else random.choice(WINDOWS[:3]),
        )
        found.append(f"{text} EMIT {emit if random.random() < 0.8 else random.choice(EMITS)}")
    return found


def mixed(random: Random, kinds: int, most: int) -> list[list[str]]:
    """Queries of some kinds, of each at least two."""
    chosen = random.sample(sorted(KINDS), kinds)
    return [alike(random, kind, random.randint(2, most)) for kind in chosen]
