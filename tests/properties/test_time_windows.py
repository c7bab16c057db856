"""TUMBLE, HOP and CUMULATE: changes and final results are those of the oracle, however the rows are
cut into batches and chunks, with restarts, under each strategy.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, Final

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from eddyline.testing.script import Script
from eddyline.testing.strategies import OPTIONS
from window_rows import rows

DDL: Final = """\
CREATE STREAM s (ts TIMESTAMP, k STRING, x BIGINT) TIMESTAMP BY ts;
CREATE STREAM r (ts TIMESTAMP, k STRING, x BIGINT) TIMESTAMP BY ts;
CREATE VIEW pairs AS SELECT s.k, s.x, r.x AS y FROM s [RANGE 1 SECOND] AS s,
  r [RANGE 700 MILLISECONDS] AS r WHERE s.k = r.k"""
WINDOWS: Final = (
    "s [TUMBLE 1 SECOND]",
    "s [TUMBLE 2 SECONDS OFFSET 300 MILLISECONDS]",
    "TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' SECOND)) AS s",
    "s [HOP 3 SECONDS EVERY 1 SECOND]",
    "HOP(s, ts, INTERVAL '2' SECONDS, INTERVAL '5' SECONDS, INTERVAL '500' MILLISECONDS) AS s",
    "s [HOP 1 SECOND EVERY 2 SECONDS]",
    "TABLE(CUMULATE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '3' SECONDS)) AS s",
    "s [CUMULATE 2 SECONDS EVERY 500 MILLISECONDS OFFSET 200 MILLISECONDS]",
)
#: Queries over windows [W], with the end of each row's window.
QUERIES: Final = (
    "SELECT k, window_start, window_end, COUNT(*) AS n, SUM(x) AS x, MIN(x) AS least, AVG(x) AS a "
    "FROM [W] GROUP BY k, window_start, window_end",
    "SELECT window_end, COUNT(*) FILTER (WHERE x > 1) AS n, MAX(k) AS k FROM [W] "
    "GROUP BY window_start, window_end HAVING COUNT(*) > 1",
    "SELECT k, window_end, COUNT(DISTINCT x) AS n, STDDEV(x) AS d FROM [W] WHERE x > 0 "
    "GROUP BY window_end, k",
    "SELECT DISTINCT k, window_end FROM [W]",
    "SELECT s.x, s.window_end, r.x AS y FROM [W], r [RANGE 1 SECOND] AS r WHERE s.k = r.k",
    "SELECT window_end, MAX(n) AS n FROM (SELECT k, window_end, COUNT(*) AS n FROM [W] "
    "GROUP BY k, window_end) AS q GROUP BY window_end",
    "SELECT s.k, s.window_end FROM [W] WHERE NOT EXISTS (SELECT 1 FROM r [RANGE 1 SECOND] AS r "
    "WHERE s.k = r.k)",
    "SELECT k, window_end, n, place FROM (SELECT k, window_end, COUNT(*) AS n, ROW_NUMBER() OVER "
    "(PARTITION BY window_start, window_end ORDER BY COUNT(*) DESC, k) AS place FROM [W] "
    "GROUP BY k, window_start, window_end) AS q WHERE place <= 1",
    "SELECT k, n, LAG(n) OVER (PARTITION BY window_start, window_end ORDER BY n, k) AS l, RANK() "
    "OVER (PARTITION BY window_end, window_start ORDER BY n) AS r, window_end FROM (SELECT "
    "COALESCE(k, 'z') AS k, x, window_start, window_end, COUNT(*) AS n FROM [W] GROUP BY k, x, "
    "window_start, window_end) AS q",
    "SELECT k, x, window_end, ROW_NUMBER() OVER (PARTITION BY k, window_start, window_end "
    "ORDER BY x DESC, ts) AS place FROM [W] QUALIFY place < 3",
)
#: Whole queries.
OTHERS: Final = (
    "SELECT k, COUNT(*) AS n FROM s [TUMBLE 1 SECOND] GROUP BY k",
    "SELECT a.x, b.x AS y FROM s [TUMBLE 2 SECONDS] AS a, r [TUMBLE 2 SECONDS] AS b "
    "WHERE a.k = b.k",
    "SELECT a.window_end, a.n, b.n AS m FROM (SELECT window_start, window_end, COUNT(*) AS n FROM "
    "s [HOP 2 SECONDS EVERY 1 SECOND] GROUP BY window_start, window_end) AS a JOIN (SELECT "
    "window_start, window_end, COUNT(*) AS n FROM r [HOP 2 SECONDS EVERY 1 SECOND] GROUP BY "
    "window_start, window_end) AS b ON a.window_start = b.window_start AND a.window_end = "
    "b.window_end",
    "SELECT k, window_end, COUNT(*) AS n, SUM(y) AS y FROM TABLE(TUMBLE(TABLE pairs, "
    "DESCRIPTOR(_ts), INTERVAL '2' SECONDS)) GROUP BY k, window_start, window_end",
    "SELECT window_end, COUNT(*) AS n FROM HOP(pairs, _ts, INTERVAL '1' SECOND, INTERVAL '3' "
    "SECONDS) GROUP BY window_start, window_end",
    "SELECT a.k, a.n, a.window_end FROM (SELECT k, window_start, window_end, COUNT(*) AS n FROM "
    "s [HOP 3 SECONDS EVERY 1 SECOND] GROUP BY k, window_start, window_end) AS a JOIN (SELECT "
    "window_start, window_end, MAX(n) AS n FROM (SELECT window_start, window_end, COUNT(*) AS n "
    "FROM s [HOP 3 SECONDS EVERY 1 SECOND] GROUP BY k, window_start, window_end) GROUP BY "
    "window_start, window_end) AS b ON a.window_start = b.window_start AND a.window_end = "
    "b.window_end AND a.n >= b.n",
    "SELECT a.k, a.n, r.x, a.window_end FROM (SELECT k, window_end, SUM(x) AS n FROM "
    "s [TUMBLE 1 SECOND] GROUP BY k, window_end) AS a, r [RANGE 1500 MILLISECONDS] AS r "
    "WHERE a.k = r.k",
    "SELECT b.k, b.x, a.window_end FROM (SELECT window_end, MAX(x) AS x FROM "
    "s [TUMBLE 1 SECOND] GROUP BY window_end) AS a, s [UNBOUNDED] AS b WHERE a.x = b.x "
    "AND b.ts >= a.window_end - INTERVAL '1' SECOND",
    "SELECT a.k, a.n, r.x, a.window_end FROM (SELECT k, window_end, COUNT(*) AS n FROM "
    "s [TUMBLE 2 SECONDS] GROUP BY k, window_end) AS a, r [ROWS 2] AS r WHERE a.k = r.k",
    "SELECT a.k, a.n, a.window_end FROM (SELECT k, window_end, COUNT(*) AS n FROM "
    "s [TUMBLE 1 SECOND] GROUP BY k, window_end) AS a WHERE a.k IN (SELECT k FROM "
    "r [TUMBLE 1500 MILLISECONDS] GROUP BY k)",
    "SELECT a.k, a.n, b.n AS m, a.window_end FROM (SELECT k, window_end, COUNT(*) AS n FROM "
    "s [TUMBLE 1 SECOND] GROUP BY k, window_end) AS a LEFT JOIN (SELECT k, window_end, COUNT(*) "
    "AS n FROM r [TUMBLE 1 SECOND] GROUP BY k, window_end) AS b ON a.k = b.k AND a.window_end = "
    "b.window_end",
    "SELECT k, n, window_end FROM (SELECT k, window_end, COUNT(*) AS n FROM s [TUMBLE 1 SECOND] "
    "GROUP BY k, window_end UNION ALL SELECT k, window_end, MAX(x) AS n FROM r [TUMBLE 1 SECOND] "
    "GROUP BY k, window_end)",
    "SELECT k, x, window_end, COUNT(*) AS n FROM s [TUMBLE 2 SECONDS] GROUP BY k, x, window_end "
    "ORDER BY n DESC, k, x LIMIT 2 OFFSET 1",
    "SELECT k, COUNT(*) AS n FROM s [TUMBLE 1 SECOND] GROUP BY k ORDER BY COUNT(*), k LIMIT 1",
    "SELECT DISTINCT ON (k) k, x, n, window_end FROM (SELECT k, x, window_end, COUNT(*) AS n FROM "
    "s [TUMBLE 2 SECONDS] GROUP BY k, x, window_end) ORDER BY k, n DESC, x",
    "SELECT k, n, SUM(n) OVER (PARTITION BY window_start, window_end) AS t, window_end FROM "
    "(SELECT k, window_start, window_end, COUNT(*) AS n FROM s [HOP 2 SECONDS EVERY 1 SECOND] "
    "GROUP BY k, window_start, window_end)",
    "SELECT window_end, COUNT(*) AS n, MAX(x) AS x FROM (SELECT k, SUM(x) AS x, window_end, "
    "RANK() OVER (ORDER BY COUNT(*) DESC) AS place FROM s [TUMBLE 1 SECOND] GROUP BY k, "
    "window_end) WHERE place = 1 GROUP BY window_end",
)
#: Windows in GROUP BY, each beside the same windows in FROM.
SPELLINGS: Final = (
    (
        "SELECT k, window.end AS window_end, COUNT(*) AS n, SUM(x) AS x FROM s WHERE x > 0 "
        "GROUP BY k, window(ts, '1 second')",
        "SELECT k, window_end, COUNT(*) AS n, SUM(x) AS x FROM s [TUMBLE 1 SECOND] WHERE x > 0 "
        "GROUP BY k, window_start, window_end",
    ),
    (
        "SELECT w.start, w.end AS window_end, COUNT(*) AS n FROM s "
        "GROUP BY window(ts, '3 seconds', INTERVAL '1' SECOND, '300 milliseconds') AS w HAVING "
        "COUNT(*) > 1",
        "SELECT window_start AS start, window_end, COUNT(*) AS n FROM s [HOP 3 SECONDS EVERY 1 "
        "SECOND OFFSET 300 MILLISECONDS] GROUP BY window_start, window_end HAVING COUNT(*) > 1",
    ),
    (
        "SELECT k, HOP_END(ts, INTERVAL '1' SECOND, INTERVAL '3' SECOND) AS window_end, MAX(x) AS "
        "x FROM s GROUP BY HOP(ts, INTERVAL '1' SECOND, INTERVAL '3' SECOND), k",
        "SELECT k, window_end, MAX(x) AS x FROM s [HOP 3 SECONDS EVERY 1 SECOND] GROUP BY k, "
        "window_start, window_end",
    ),
    (
        "SELECT s.k, window.end AS window_end, COUNT(*) AS n, SUM(r.x) AS y FROM s [RANGE 1 SECOND]"
        " AS s, r [RANGE 700 MILLISECONDS] AS r WHERE s.k = r.k GROUP BY s.k, window(_ts, "
        "'2 seconds')",
        "SELECT k, window_end, COUNT(*) AS n, SUM(y) AS y FROM TABLE(TUMBLE(TABLE pairs, "
        "DESCRIPTOR(_ts), INTERVAL '2' SECONDS)) GROUP BY k, window_start, window_end",
    ),
)
EMITS: Final = ("FINAL", "CHANGES", "INSERTS", "SNAPSHOT EVERY 700 MILLISECONDS")


def play(
    random: Random,
    queries: dict[str, str],
    options: dict[str, Any],
    spelled: Sequence[tuple[str, str]] = (),
) -> Script:
    """Rows and restarts, compared with the oracle.

    Args:
        spelled: queries, each beside its text for the oracle.
    """
    script = Script(DDL, queries, options=options)
    for number, (sql, same) in enumerate(spelled):
        script.engine.query(sql, name=f"s{number}")
        script.follow(f"s{number}", same)
    clock = [random.choice([-3_200_000, 1_000_000])]
    for _ in range(random.randint(1, 4)):
        for stream in random.choice([("s", "r"), ("r", "s")]):
            start = [clock[0]]
            batch = rows(random, start, random.choice([1, 4, 12]), "ab")
            script.process(**{stream: batch})
            clock.append(start[0])
        clock = [max(clock)]
        if random.random() < 0.3:
            script.restart()
        if random.random() < 0.3:
            clock[0] += random.choice([1, 700_000, 4_000_000])
            script.advance(clock[0])
    return script.advance(clock[0] + random.choice([0, 900_000, 6_000_000])).finish()


def chosen(random: Random) -> str:
    text = random.choice([*QUERIES, random.choice(OTHERS)])
    return f"{text.replace('[W]', random.choice(WINDOWS))} EMIT {random.choice(EMITS)}"


@pytest.mark.parametrize("windows", WINDOWS)
def test_final_results(windows: str) -> None:
    queries = {f"q{i}": f"{q.replace('[W]', windows)} EMIT FINAL" for i, q in enumerate(QUERIES)}
    scripts = [play(Random(f"{windows} {seed}"), queries, {"chunk_rows": 3}) for seed in range(2)]
    assert any(script.changes("q0").num_rows for script in scripts)


@pytest.mark.parametrize("number", range(len(OTHERS)))
def test_joined_windows(number: int) -> None:
    queries = {emit.split()[0].lower(): f"{OTHERS[number]} EMIT {emit}" for emit in EMITS}
    for seed in range(3):
        play(Random(seed), queries, {})


@pytest.mark.parametrize("emit", EMITS)
def test_windows_in_group_by(emit: str) -> None:
    spelled = [(f"{a} EMIT {emit}", f"{b} EMIT {emit}") for a, b in SPELLINGS]
    queries = {"of_other_windows": f"{OTHERS[0]} EMIT FINAL"}
    for seed in range(3):
        script = play(Random(seed), queries, {"chunk_rows": 3}, spelled)
        assert script.changes("s0").num_rows


@given(st.integers(0, 2**48), OPTIONS)
def test_windows_match_the_oracle(seed: int, options: dict[str, Any]) -> None:
    event(f"state: {options['state']}")
    random = Random(seed)
    queries = {f"q{i}": chosen(random) for i in range(4)}
    play(random, queries, options | {"keep": {}})
