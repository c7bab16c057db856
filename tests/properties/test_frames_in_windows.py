"""Aggregates over frames of rows that are in windows, with rows that leave and are taken back: the
values are those of the oracle at every instant, however rows are cut, under each strategy.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eddyline.testing.script import Script
from eddyline.testing.strategies import OPTIONS
from thinned import thinned
from window_rows import rows

DDL: Final = """\
CREATE STREAM s (ts TIMESTAMP, k STRING, x BIGINT) TIMESTAMP BY ts;
CREATE TABLE w (k STRING, w BIGINT) WITH (updates = 'retroactive')"""
SOURCES: Final = (
    "s [RANGE 1 SECOND]",
    "s [RANGE 3 SECONDS]",
    "s [ROWS 5]",
    "s [PARTITION BY k ROWS 4]",
    "s [TUMBLE 2 SECONDS]",
    "s [HOP 2 SECONDS EVERY 1 SECOND]",
    "s [CUMULATE 3 SECONDS EVERY 1 SECOND]",
    "(SELECT s.k, s.x + w.w AS x, s.ts FROM s [RANGE 2 SECONDS] AS s, w WHERE s.k = w.k) AS s",
    "(SELECT k, x + 1 AS x, ts FROM s [RANGE 2 SECONDS] WHERE x <> 2) AS s",
    "(SELECT k, COUNT(*) AS x, MAX(ts) AS ts FROM s [RANGE 2 SECONDS] GROUP BY k, x) AS s",
)
ROWS: Final = (
    "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING",
    "ROWS UNBOUNDED PRECEDING",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING",
    "ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING",
    "ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING",
    "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "ROWS BETWEEN 2 FOLLOWING AND UNBOUNDED FOLLOWING",
    "ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING EXCLUDE CURRENT ROW",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
)
TIMES: Final = (
    "",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN INTERVAL '700' MILLISECONDS PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN INTERVAL '1' SECOND PRECEDING AND INTERVAL '100' MILLISECONDS FOLLOWING",
    "RANGE BETWEEN INTERVAL '1' SECOND PRECEDING AND INTERVAL '1' MICROSECOND PRECEDING",
    "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "RANGE BETWEEN INTERVAL '1' SECOND PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW",
)
NUMBERS: Final = (
    "RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "RANGE BETWEEN 2 PRECEDING AND CURRENT ROW EXCLUDE TIES",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING EXCLUDE GROUP",
    "RANGE BETWEEN 1 FOLLOWING AND 2 FOLLOWING",
)
GROUPS: Final = (
    "GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW",
    "GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW",
    "GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING",
    "GROUPS BETWEEN 1 FOLLOWING AND 2 FOLLOWING",
    "GROUPS BETWEEN 2 PRECEDING AND CURRENT ROW EXCLUDE GROUP",
    "GROUPS CURRENT ROW",
    "GROUPS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING EXCLUDE TIES",
)
AGGREGATES: Final = (
    "COUNT(*)",
    "SUM(x)",
    "AVG(x)",
    "MIN(x)",
    "MAX(k)",
    "COUNT(DISTINCT x)",
    "SUM(x) FILTER (WHERE x > 1)",
    "MEDIAN(x)",
    "VAR_POP(x)",
)
OF_ENDS: Final = (
    "FIRST_VALUE(x)",
    "LAST_VALUE(x)",
    "FIRST_VALUE(x IGNORE NULLS)",
    "LAST_VALUE(x IGNORE NULLS)",
)
OF_KNOWN: Final = (
    "LAG(x IGNORE NULLS) OVER (PARTITION BY k ORDER BY ts)",
    "LEAD(x IGNORE NULLS) OVER (PARTITION BY k ORDER BY ts)",
    "LAG(x, 2) IGNORE NULLS OVER (PARTITION BY k ORDER BY ts)",
    "LAG(x, 2, -1) IGNORE NULLS OVER (ORDER BY ts)",
    "LEAD(x, 2) IGNORE NULLS OVER (PARTITION BY k ORDER BY ts)",
    "LEAD(x, 1, -1) IGNORE NULLS OVER (PARTITION BY k ORDER BY ts)",
    "NTH_VALUE(x, 2) IGNORE NULLS OVER (PARTITION BY k ORDER BY ts ROWS UNBOUNDED PRECEDING)",
    "NTH_VALUE(x, 2) IGNORE NULLS OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND "
    "2 FOLLOWING)",
    "NTH_VALUE(x, 2) OVER (ORDER BY ts ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING EXCLUDE "
    "CURRENT ROW)",
    "NTH_VALUE(x, 2) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING)",
    "LAST_VALUE(x IGNORE NULLS) OVER (ORDER BY ts ROWS UNBOUNDED PRECEDING)",
    "FIRST_VALUE(x IGNORE NULLS) OVER (PARTITION BY k ORDER BY ts ROWS UNBOUNDED PRECEDING)",
    "LAST_VALUE(x) OVER (PARTITION BY k ORDER BY ts)",
    "LAST_VALUE(x) OVER (ORDER BY ts)",
    "FIRST_VALUE(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL '1' SECOND PRECEDING)",
    "FIRST_VALUE(x) OVER (PARTITION BY k ORDER BY ts GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
    "LAST_VALUE(x) OVER (ORDER BY x DESC GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
    "LAST_VALUE(k) OVER (ORDER BY x RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
    "FIRST_VALUE(k) OVER (ORDER BY x RANGE BETWEEN 2 PRECEDING AND CURRENT ROW)",
    "LAST_VALUE(k) OVER (ORDER BY x DESC)",
    "NTH_VALUE(x, 2) OVER (PARTITION BY k ORDER BY ts)",
    "NTH_VALUE(k, 3) OVER (ORDER BY x)",
    "NTH_VALUE(x, 2) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL '1' SECOND PRECEDING)",
    "NTH_VALUE(k, 2) OVER (ORDER BY x DESC RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
    "NTH_VALUE(x, 1) IGNORE NULLS OVER (ORDER BY k GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
    "NTH_VALUE(x, 2) IGNORE NULLS OVER (PARTITION BY k ORDER BY ts)",
    "NTH_VALUE(k, 2) OVER (ORDER BY x GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES)",
)


def value(random: Random, source: str) -> str:
    """A value with OVER."""
    if random.random() < 0.15:
        return random.choice(OF_KNOWN)
    partition = random.choice(["PARTITION BY k ", "PARTITION BY k, x % 2 ", ""])
    of_rows = random.random() < 0.5
    if of_rows and random.random() < 0.4:
        order = random.choice(["ts", "x DESC", "x, ts"])
        return f"{random.choice(OF_ENDS)} OVER ({partition}ORDER BY {order} {random.choice(ROWS)})"
    if of_rows:
        order, frame = random.choice(["ts", "x", "ts DESC", "x DESC, ts"]), random.choice(ROWS)
    elif random.random() < 0.25:
        order = random.choice(["x", "ts", "k, x DESC"])
        frame = random.choice(GROUPS)
    elif random.random() < 0.5:
        order, frame = "ts", random.choice(TIMES)
    else:
        order, frame = random.choice(["x", "x DESC"]), random.choice(("", *NUMBERS))
    return f"{random.choice(AGGREGATES)} OVER ({partition}ORDER BY {order} {frame})"


def query(random: Random) -> str:
    """A query over some values."""
    source = random.choice(SOURCES)
    most = 1 if ", w" in source else 2  # rows equal in all columns have no order
    values = [value(random, source) for _ in range(random.randint(1, most))]
    listed = ", ".join(f"{v} AS v{i}" for i, v in enumerate(values))
    emit = random.choice(["CHANGES", "INSERTS", "SNAPSHOT EVERY 700 MILLISECONDS"])
    return f"SELECT k, x, ts, {listed} FROM {source} EMIT {emit}"


def changed(clock: int, op: str, key: str, number: int) -> pa.Table:
    """A row that comes to the table, or leaves it."""
    return pa.table({"_ts": [clock], "_op": [op], "k": [key], "w": [number]})


def play(random: Random, queries: dict[str, str], options: dict[str, Any], rounds: int) -> Script:
    """Rows, changes of the table, time that passes, and restarts, compared with the oracle."""
    script = Script(DDL, queries, options=options)
    clock = 1_000_000
    for key in "ab":
        script.process(w=changed(clock, "+", key, 1))
    for _ in range(rounds):
        start = [clock]
        script.process(s=rows(random, start, random.choice([1, 4, 9]), "ab"))
        clock = max(clock, start[0])
        if random.random() < 0.3:
            script.process(w=changed(clock, "+", random.choice("ab"), 2))
        if random.random() < 0.3:
            script.restart()
        if random.random() < 0.3:
            clock += random.choice([1, 700_000, 4_000_000])
            script.advance(clock)
    return script.advance(clock + random.choice([0, 1, 900_000, 6_000_000])).finish()


@pytest.mark.parametrize(
    ("frames", "source"), thinned(2, [ROWS, TIMES, NUMBERS, GROUPS], range(len(SOURCES)))
)
def test_each_frame(frames: tuple[str, ...], source: int) -> None:
    order = "x" if frames in (NUMBERS, GROUPS) else "ts"
    queries = {
        f"q{i}": f"SELECT k, x, {AGGREGATES[i % 7]} OVER (PARTITION BY k ORDER BY {order} {frame}) "
        f"AS v FROM {SOURCES[source]} EMIT CHANGES"
        for i, frame in enumerate(frames)
    }
    script = play(Random(source), queries, {"chunk_rows": 3}, 4)
    assert all(script.changes(name).num_rows for name in queries)


@pytest.mark.parametrize("number", thinned(3, range(len(OF_KNOWN))))
def test_each_value_that_ignores_nulls(number: int) -> None:
    for source in SOURCES:
        queries = {"q": f"SELECT k, x, {OF_KNOWN[number]} AS v FROM {source} EMIT CHANGES"}
        assert play(Random(number), queries, {"chunk_rows": 3}, 4).changes("q").num_rows


@given(random=st.randoms(use_true_random=False), options=OPTIONS)
def test_queries_match_the_oracle(random: Random, options: dict[str, Any]) -> None:
    queries = {f"q{i}": query(random) for i in range(random.randint(1, 2))}
    play(random, queries, options, random.randint(1, 3))


def test_the_frame_of_final_results_is_in_their_window() -> None:
    text = (
        "SELECT k, COUNT(*) AS n, SUM(COUNT(*)) OVER (PARTITION BY window_end ORDER BY COUNT(*), k "
        "ROWS UNBOUNDED PRECEDING) AS total, window_end FROM s [TUMBLE 2 SECONDS] GROUP BY k, "
        "window_start, window_end EMIT FINAL"
    )
    play(Random(1), {"q": text}, {"chunk_rows": 3}, 6)
