"""OVER, QUALIFY, DISTINCT ON and ORDER BY with LIMIT: changes are those of the oracle at every
instant, however the rows are cut into batches and chunks, with restarts, under each strategy.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final

import pyarrow as pa
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from eddyline.testing.script import Script
from eddyline.testing.strategies import OPTIONS
from window_rows import rows

DDL: Final = """\
CREATE STREAM s (ts TIMESTAMP, k STRING, x BIGINT) TIMESTAMP BY ts;
CREATE STREAM r (ts TIMESTAMP, k STRING, x BIGINT) TIMESTAMP BY ts;
CREATE TABLE w (k STRING, s STRING, w BIGINT) WITH (updates = 'retroactive')"""
WINDOWS: Final = (
    "s [RANGE 1 SECOND]",
    "s [RANGE 3 SECONDS]",
    "s [ROWS 5]",
    "s [PARTITION BY k ROWS 3]",
)
P: Final = "OVER (PARTITION BY k ORDER BY"
#: Of these, streams need no window.
LIMITED: Final = (
    f"SELECT k, x, rn FROM (SELECT k, x, ROW_NUMBER() {P} x DESC) AS rn FROM [W]) AS q WHERE "
    "rn <= 2",
    f"SELECT k, x FROM (SELECT k, x, RANK() {P} x DESC) AS rn FROM [W]) AS q WHERE rn < 3",
    f"SELECT k, x FROM (SELECT k, x, DENSE_RANK() {P} x) AS rn FROM [W]) AS q WHERE rn <= 2 AND "
    "k <> 'b'",
    f"SELECT k, x, ts FROM [W] QUALIFY ROW_NUMBER() {P} ts DESC) = 1",
    f"SELECT k, x FROM [W] QUALIFY 3 >= ROW_NUMBER() {P} ts) AND x > 0",
    "SELECT k, x FROM [W] ORDER BY x DESC, k LIMIT 3",
    "SELECT k AS x, x AS y FROM [W] ORDER BY x DESC, 2 FETCH FIRST 2 ROWS ONLY",
    "SELECT DISTINCT ON (k) k, x, ts FROM [W] ORDER BY k, ts DESC",
    "SELECT k, x FROM [W] ORDER BY x DESC, k LIMIT 2 OFFSET 1",
    f"SELECT k, x, a, b FROM (SELECT k, x, RANK() {P} x) AS n, LAG(x, 2) {P} x) AS a, "
    f"FIRST_VALUE(ts) {P} x) AS b FROM [W]) AS q WHERE n <= 2",
)
QUERIES: Final = (
    *LIMITED,
    f"SELECT k, x, LAG(x) {P} ts) AS a, LEAD(x, 2, -1) {P} ts) AS b FROM [W]",
    f"SELECT k, x - LAG(x) {P} ts) AS d, FIRST_VALUE(x) {P} x DESC) AS f FROM [W] WHERE x <> 2",
    f"SELECT k, x, ROW_NUMBER() {P} x, ts DESC) AS a, RANK() {P} x) AS b, DENSE_RANK() {P} x) AS c "
    "FROM [W]",
    f"SELECT k, NTILE(2) {P} x) AS a, PERCENT_RANK() {P} x DESC NULLS FIRST) AS b, "
    f"CUME_DIST() {P} x) AS c FROM [W]",
    f"SELECT x, LAST_VALUE(k) {P} x, ts ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) "
    f"AS a, NTH_VALUE(x, 2) {P} ts ROWS UNBOUNDED PRECEDING) AS b, FIRST_VALUE(x) {P} ts ROWS "
    "BETWEEN 2 PRECEDING AND CURRENT ROW) AS c FROM [W]",
    "SELECT k, x, LAG(k, 3) OVER (ORDER BY x, k) AS a, RANK() OVER (ORDER BY k DESC) AS b FROM [W]",
    "SELECT DISTINCT x, k FROM [W] ORDER BY x, k DESC LIMIT 3",
    "SELECT k, x, ROW_NUMBER() OVER (PARTITION BY k ORDER BY x) AS a, ROW_NUMBER() OVER (ORDER BY "
    "x DESC) AS b, LAG(x) OVER (ORDER BY k) AS c, RANK() OVER (ORDER BY k) AS d FROM [W]",
    "SELECT k, SUM(x) AS n FROM [W] GROUP BY k ORDER BY n DESC LIMIT 2",
    "SELECT k, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS a, LAG(k) OVER (ORDER BY "
    "SUM(x)) AS b FROM [W] GROUP BY k",
    "SELECT k, MAX(x) AS m FROM [W] GROUP BY k HAVING COUNT(*) > 1 QUALIFY ROW_NUMBER() OVER "
    "(ORDER BY m) <= 2",
    "SELECT k, x, COUNT(*) OVER (PARTITION BY k) AS n, x - MIN(x) OVER () AS d FROM [W]",
    "SELECT k, COUNT(*) AS n, SUM(COUNT(*)) OVER () AS a, MAX(SUM(x)) OVER (PARTITION BY "
    "COUNT(*)) AS b, COUNT(k) FILTER (WHERE COUNT(*) > 1) OVER () AS c FROM [W] GROUP BY k",
    "SELECT k, MIN(x) AS m FROM [W] GROUP BY k HAVING COUNT(*) < 9 QUALIFY COUNT(*) < "
    "AVG(COUNT(*)) OVER () + 1",
    "SELECT k, SUM(x) FILTER (WHERE x > 1) OVER (PARTITION BY k) AS n FROM [W] QUALIFY MAX(x) OVER "
    "(PARTITION BY k) > 1",
    "SELECT s.k, s.x, r.x AS y, ROW_NUMBER() OVER (PARTITION BY s.k ORDER BY s.x, r.x, s.ts, r.ts) "
    "AS n FROM [W], r [RANGE 1 SECOND] AS r WHERE s.k = r.k",
    "SELECT k, AVG(x) AS a, COUNT(p) AS n FROM (SELECT k, x, LAG(x) OVER (PARTITION BY k ORDER BY "
    "ts) AS p FROM [W]) AS q GROUP BY k",
    "SELECT q.k, q.x, r.x AS y FROM (SELECT k, x FROM [W] ORDER BY x LIMIT 2) AS q JOIN "
    "r [RANGE 1 SECOND] AS r ON q.k = r.k",
    "SELECT DISTINCT p FROM (SELECT LAG(x) OVER (ORDER BY ts) AS p FROM [W]) AS q",
    "SELECT k, x, RANK() OVER (PARTITION BY k ORDER BY x) AS n FROM [W] WHERE NOT EXISTS (SELECT "
    "1 FROM r [RANGE 1 SECOND] AS r WHERE r.k = s.k)",
    "SELECT s.k, s.x, w.w, RANK() OVER (PARTITION BY w.w ORDER BY s.x) AS n FROM [W], w WHERE s.k "
    "= w.k",
    "SELECT k, RANK() OVER (PARTITION BY k ORDER BY x) AS n, window_end FROM s [TUMBLE 1 SECOND]",
)
EMITS: Final = ("CHANGES", "INSERTS", "SNAPSHOT EVERY 700 MILLISECONDS")


def changed(clock: int, op: str, keys: list[str], values: list[int]) -> pa.Table:
    """Rows that come to the table, or leave it."""
    n = len(keys)
    return pa.table({"_ts": [clock] * n, "_op": [op] * n, "k": keys, "s": keys, "w": values})


def play(random: Random, queries: dict[str, str], options: dict[str, Any], rounds: int) -> Script:
    """Rows, changes of the table, and restarts, compared with the oracle."""
    script = Script(DDL, queries, options=options)
    clock = 1_000_000
    script.process(w=changed(clock, "+", ["a", "b"], [1, 2]))
    for _ in range(rounds):
        for stream in random.choice([("s", "r"), ("r", "s")]):
            start = [clock]
            batch = rows(random, start, random.choice([1, 4, 12]), "ab")
            script.process(**{stream: batch})
            clock = max(clock, start[0])
        if random.random() < 0.3:
            script.process(w=changed(clock, "+", [random.choice("ab")], [random.choice([1, 3])]))
        if random.random() < 0.3:
            script.restart()
        if random.random() < 0.3:
            clock += random.choice([1, 700_000, 4_000_000])
            script.advance(clock)
    return script.advance(clock + random.choice([0, 900_000, 6_000_000])).finish()


def chosen(random: Random) -> str:
    text = random.choice(QUERIES)
    windows = [*WINDOWS, "s", "s"] if text in LIMITED else WINDOWS
    text = text.replace("[W]", random.choice(windows))
    return f"{text} EMIT {random.choice(EMITS)}"


@pytest.mark.parametrize("number", range(len(QUERIES)))
def test_each_query(number: int) -> None:
    window = WINDOWS[number % 2]
    queries = {"q": f"{QUERIES[number].replace('[W]', window)} EMIT CHANGES"}
    script = play(Random(number), queries, {"chunk_rows": 3}, 5)
    assert script.changes("q").num_rows


@pytest.mark.parametrize("number", range(len(LIMITED)))
def test_each_limit_over_rows_that_never_leave(number: int) -> None:
    queries = {"q": f"{LIMITED[number].replace('[W]', 's')} EMIT CHANGES"}
    script = play(Random(number), queries, {"chunk_rows": 3}, 4)
    assert script.changes("q").num_rows


@given(random=st.randoms(use_true_random=False), options=OPTIONS)
def test_queries_match_the_oracle(random: Random, options: dict[str, Any]) -> None:
    queries = {f"q{i}": chosen(random) for i in range(random.randint(1, 3))}
    for sql in queries.values():
        event(sql.split(" EMIT ")[-1].split()[0])
    play(random, queries, options, random.randint(1, 3))
