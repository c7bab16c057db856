"""OVER on streams without a window: rows get the values of the oracle at every instant, however
they are cut into batches and chunks, with restarts, under each strategy.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from eddyline.testing.script import Script
from eddyline.testing.strategies import OPTIONS
from thinned import thinned
from window_rows import rows

DDL: Final = """\
CREATE STREAM s (ts TIMESTAMP, k STRING, x BIGINT) TIMESTAMP BY ts;
CREATE TABLE w (k STRING, w BIGINT)"""
TABLES: Final = {"w": "k | w\na | 1\nb | 2"}
FRAMES: Final = (
    "",
    "RANGE BETWEEN INTERVAL '2' SECOND PRECEDING AND CURRENT ROW",
    "RANGE INTERVAL 700 MILLISECONDS PRECEDING",
    "RANGE BETWEEN CURRENT ROW AND CURRENT ROW",
    "GROUPS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN INTERVAL '2' SECOND PRECEDING AND INTERVAL '700' MILLISECOND PRECEDING",
    "RANGE BETWEEN INTERVAL '1' SECOND PRECEDING AND INTERVAL '1' MICROSECOND PRECEDING",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL '1' SECOND PRECEDING",
    "GROUPS CURRENT ROW",
    "GROUPS 1 PRECEDING",
    "GROUPS BETWEEN 3 PRECEDING AND CURRENT ROW",
    "ROWS UNBOUNDED PRECEDING",
    "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
    "ROWS 0 PRECEDING",
    "ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING",
    "ROWS BETWEEN 3 PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW",
    "ROWS BETWEEN 4 PRECEDING AND CURRENT ROW EXCLUDE GROUP",
    "ROWS BETWEEN 4 PRECEDING AND CURRENT ROW EXCLUDE TIES",
    "ROWS BETWEEN 5 PRECEDING AND 1 PRECEDING EXCLUDE TIES",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE GROUP",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING EXCLUDE TIES",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW",
    "ROWS BETWEEN CURRENT ROW AND CURRENT ROW EXCLUDE CURRENT ROW",
    "GROUPS BETWEEN 2 PRECEDING AND 1 PRECEDING",
    "GROUPS BETWEEN 3 PRECEDING AND 2 PRECEDING EXCLUDE TIES",
    "GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING",
    "GROUPS BETWEEN 2 PRECEDING AND CURRENT ROW EXCLUDE GROUP",
    "GROUPS BETWEEN 2 PRECEDING AND CURRENT ROW EXCLUDE TIES",
    "GROUPS BETWEEN CURRENT ROW AND CURRENT ROW EXCLUDE CURRENT ROW",
    "GROUPS BETWEEN CURRENT ROW AND CURRENT ROW EXCLUDE GROUP",
    "GROUPS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE TIES",
    "RANGE BETWEEN INTERVAL '2' SECOND PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW",
    "RANGE BETWEEN INTERVAL '1' SECOND PRECEDING AND CURRENT ROW EXCLUDE GROUP",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE TIES",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW",
    "RANGE BETWEEN INTERVAL '2' SECOND PRECEDING AND INTERVAL '100' MILLISECOND PRECEDING "
    "EXCLUDE TIES",
    *(
        f"RANGE BETWEEN INTERVAL '1' SECOND PRECEDING AND INTERVAL '700' MILLISECOND FOLLOWING {e}"
        for e in ("", "EXCLUDE CURRENT ROW", "EXCLUDE GROUP", "EXCLUDE TIES")
    ),
    "RANGE BETWEEN CURRENT ROW AND INTERVAL '1' SECOND FOLLOWING",
    "RANGE BETWEEN INTERVAL '100' MILLISECOND FOLLOWING AND INTERVAL '2' SECOND FOLLOWING",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL '400' MILLISECOND FOLLOWING",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL '1' SECOND FOLLOWING EXCLUDE GROUP",
)
AGGREGATES: Final = (
    "COUNT(*)",
    "SUM(x)",
    "AVG(x)",
    "MIN(x)",
    "MAX(k)",
    "COUNT(x)",
    "COUNT(DISTINCT x)",
    "SUM(x) FILTER (WHERE x > 1)",
    "SUM(CAST(x AS DECIMAL(9, 2)))",
    "MAX(x) FILTER (WHERE k = 'a')",
    "MEDIAN(x)",
    "VAR_POP(x)",
    "BOOL_OR(x > 2)",
)
OF_PLACES: Final = (
    "LAG(x) OVER (PARTITION BY k ORDER BY ts)",
    "LAG(k, 2, 'none') OVER (ORDER BY ts)",
    "x - LAG(x, 0) OVER (ORDER BY ts)",
    "ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts)",
    "FIRST_VALUE(x) OVER (PARTITION BY k ORDER BY ts)",
    "FIRST_VALUE(ts) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
    "NTH_VALUE(x, 3) OVER (PARTITION BY k ORDER BY ts ROWS UNBOUNDED PRECEDING)",
    "NTH_VALUE(x, 2) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
    "LAST_VALUE(x) OVER (ORDER BY ts ROWS UNBOUNDED PRECEDING)",
    "LAST_VALUE(x IGNORE NULLS) OVER (PARTITION BY k ORDER BY ts ROWS UNBOUNDED PRECEDING)",
    "COALESCE(x, LAG(x) IGNORE NULLS OVER (PARTITION BY k ORDER BY ts))",
    "FIRST_VALUE(x) IGNORE NULLS OVER (ORDER BY ts)",
    "FIRST_VALUE(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL '2' SECOND PRECEDING)",
    "FIRST_VALUE(x) IGNORE NULLS OVER (ORDER BY ts RANGE INTERVAL '1' SECOND PRECEDING)",
    "LAST_VALUE(x) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN CURRENT ROW AND CURRENT ROW)",
    "LAST_VALUE(x) OVER (ORDER BY ts RANGE UNBOUNDED PRECEDING)",
    "LAST_VALUE(x) OVER (PARTITION BY k ORDER BY ts)",
    "LAST_VALUE(x IGNORE NULLS) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING)",
    "FIRST_VALUE(x IGNORE NULLS) OVER (ORDER BY ts ROWS BETWEEN 4 PRECEDING AND 1 PRECEDING)",
    "LAST_VALUE(x) OVER (ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING)",
    "FIRST_VALUE(x) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND "
    "2 PRECEDING)",
    "LAG(x, 2) IGNORE NULLS OVER (PARTITION BY k ORDER BY ts)",
    "LAG(x, 3, -1) IGNORE NULLS OVER (ORDER BY ts) + LAG(x, 2) IGNORE NULLS OVER (ORDER BY ts)",
    "LAG(x, 1, -1) IGNORE NULLS OVER (PARTITION BY k ORDER BY ts)",
    "NTH_VALUE(x, 2) IGNORE NULLS OVER (PARTITION BY k ORDER BY ts ROWS UNBOUNDED PRECEDING)",
    "NTH_VALUE(x, 2) IGNORE NULLS OVER (PARTITION BY k ORDER BY ts ROWS 3 PRECEDING)",
    "NTH_VALUE(x, 1) IGNORE NULLS OVER (ORDER BY ts ROWS BETWEEN 4 PRECEDING AND 2 PRECEDING)",
    "NTH_VALUE(x, 2) OVER (ORDER BY ts ROWS BETWEEN 4 PRECEDING AND 2 PRECEDING)",
    "FIRST_VALUE(k) OVER (ORDER BY ts ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING)",
    "FIRST_VALUE(x) OVER (PARTITION BY k ORDER BY ts GROUPS 1 PRECEDING)",
    "LAST_VALUE(x IGNORE NULLS) OVER (ORDER BY ts GROUPS 2 PRECEDING)",
    "NTH_VALUE(x, 2) OVER (PARTITION BY k ORDER BY ts)",
    "NTH_VALUE(x, 1) OVER (ORDER BY ts RANGE UNBOUNDED PRECEDING)",
    "NTH_VALUE(x, 3) IGNORE NULLS OVER (ORDER BY ts)",
    "NTH_VALUE(x, 2) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL '2' SECOND PRECEDING)",
    "NTH_VALUE(k, 3) OVER (ORDER BY ts RANGE INTERVAL '1' SECOND PRECEDING)",
    "NTH_VALUE(x, 2) IGNORE NULLS OVER (ORDER BY ts RANGE BETWEEN INTERVAL '2' SECOND PRECEDING "
    "AND CURRENT ROW)",
    "NTH_VALUE(x, 2) OVER (PARTITION BY k ORDER BY ts GROUPS 1 PRECEDING)",
    "FIRST_VALUE(x) OVER (ORDER BY ts RANGE BETWEEN INTERVAL '2' SECOND PRECEDING AND INTERVAL "
    "'1' SECOND PRECEDING)",
    "FIRST_VALUE(x) OVER (ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW EXCLUDE TIES)",
    "LAST_VALUE(x) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 4 PRECEDING AND CURRENT ROW "
    "EXCLUDE GROUP)",
    "NTH_VALUE(x, 2) OVER (ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE "
    "CURRENT ROW)",
    "LAST_VALUE(x) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '1' SECOND PRECEDING "
    "AND INTERVAL '1' SECOND FOLLOWING EXCLUDE CURRENT ROW)",
    "FIRST_VALUE(k) OVER (ORDER BY ts RANGE BETWEEN INTERVAL '1' MICROSECOND FOLLOWING AND "
    "INTERVAL '1' SECOND FOLLOWING)",
    "NTH_VALUE(x, 2) IGNORE NULLS OVER (ORDER BY ts GROUPS BETWEEN 2 PRECEDING AND 1 PRECEDING)",
    "FIRST_VALUE(x) OVER (PARTITION BY k ORDER BY ts GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW "
    "EXCLUDE TIES)",
    "ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts ROWS 3 PRECEDING)",
    "LAG(x) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW EXCLUDE "
    "GROUP)",
    "NTH_VALUE(x, 2) IGNORE NULLS OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN UNBOUNDED "
    "PRECEDING AND INTERVAL '100' MILLISECOND PRECEDING)",
)
SOURCES: Final = (
    "SELECT k, x, ts, [V] FROM s",
    "SELECT k, [V] FROM s WHERE x <> 2",
    "SELECT k, x, v FROM (SELECT k, x, [V] AS v FROM s) AS q WHERE k <> 'b'",
    "SELECT x, ts FROM s QUALIFY [V] IS NOT NULL",
    "SELECT s.x, w.w FROM (SELECT k, x, ts, [V] AS v FROM s) AS s JOIN w ON s.k = w.k",
)


def value(random: Random) -> str:
    """A value with OVER."""
    if random.random() < 0.3:
        return random.choice(OF_PLACES)
    partition = random.choice(["PARTITION BY k ", "PARTITION BY k, x % 2 ", ""])
    over = f"OVER ({partition}ORDER BY ts {random.choice(FRAMES)})"
    return f"{random.choice(AGGREGATES)} {over}"


def query(random: Random) -> str:
    """A query over some values."""
    source = random.choice(SOURCES)
    values = [value(random) for _ in range(random.randint(1, 3) if source == SOURCES[0] else 1)]
    listed = ", ".join(f"{v} AS v{i}" for i, v in enumerate(values))
    text = source.replace("[V]", listed if source in SOURCES[:2] else values[0])
    return f"{text} EMIT {random.choice(['CHANGES', 'INSERTS', 'SNAPSHOT EVERY 700 MILLISECONDS'])}"


def play(random: Random, queries: dict[str, str], options: dict[str, Any], rounds: int) -> Script:
    """Rows, time that passes, and restarts, compared with the oracle."""
    script = Script(DDL, queries, tables=TABLES, options=options)
    clock = 1_000_000
    for _ in range(rounds):
        start = [clock]
        script.process(s=rows(random, start, random.choice([1, 4, 12]), "ab"))
        clock = max(clock, start[0])
        if random.random() < 0.3:
            script.restart()
        if random.random() < 0.3:
            clock += random.choice([1, 700_000, 4_000_000])
            script.advance(clock)
    return script.advance(clock + random.choice([0, 1, 900_000, 6_000_000])).finish()


@pytest.mark.parametrize("aggregate", AGGREGATES)
def test_each_aggregate_over_each_frame(aggregate: str) -> None:
    listed = (f"{aggregate} OVER (PARTITION BY k ORDER BY ts {f})" for f in FRAMES)
    queries = {f"q{i}": f"SELECT k, x, {v} AS v FROM s" for i, v in enumerate(listed)}
    script = play(Random(len(aggregate)), queries, {"chunk_rows": 3}, 4)
    assert all(script.changes(name).num_rows for name in queries)


@pytest.mark.parametrize("number", thinned(2, range(len(OF_PLACES))))
def test_each_function_of_a_place(number: int) -> None:
    queries = {"q": f"SELECT k, x, {OF_PLACES[number]} AS v FROM s EMIT CHANGES"}
    assert play(Random(number), queries, {"chunk_rows": 3}, 4).changes("q").num_rows


@given(random=st.randoms(use_true_random=False), options=OPTIONS)
def test_queries_match_the_oracle(random: Random, options: dict[str, Any]) -> None:
    queries = {f"q{i}": query(random) for i in range(random.randint(1, 3))}
    for sql in queries.values():
        event(sql.split(" EMIT ")[-1].split()[0])
    play(random, queries, options, random.randint(1, 3))
