"""Queries begin with the first row or change, or when somebody says what time it is.

What the watermark does before then has no effect: how far it lags behind the first rows depends on
how these were cut into batches.
"""

from __future__ import annotations

from itertools import pairwise

import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.testing import batch, pretty
from eddyline.testing.script import Script
from eddyline.types import BEGINNING

DDL = """
    CREATE STREAM s (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts LATENESS 4 SECONDS;
    CREATE TABLE fixed (k BIGINT);
    CREATE TABLE live (k BIGINT) WITH (updates = 'retroactive');
"""
TABLES = {"fixed": "k:int\n1\n2", "live": "k:int\n1\n1"}
#: Rows of the stream and changes of the table, in the order in which they come.
ARRIVALS = (
    ("live", "_ts | _op | k:int\n3s | - | 1"),
    ("s", "ts | k:int\n6s | 1"),
    ("s", "ts | k:int\n5s | 2"),
    ("live", "_ts | _op | k:int\n7s | + | 2"),
    ("s", "ts | k:int\n9s | 1"),
    ("s", "ts | k:int\n15s | 3"),
)
QUERIES = (
    "SELECT k FROM live",
    "SELECT k FROM fixed EXCEPT ALL SELECT k FROM s [RANGE 3 SECONDS]",
    "SELECT k FROM fixed AS f WHERE NOT EXISTS (SELECT * FROM s [RANGE 3 SECONDS] WHERE k = f.k)",
    "SELECT COUNT(*) AS n FROM live",
    "SELECT k, COUNT(*) AS n FROM live GROUP BY k",
    "SELECT DISTINCT k FROM live",
    "SELECT COUNT(*) AS n FROM s [RANGE 3 SECONDS]",
    "SELECT l.k, s.k AS j FROM live AS l LEFT JOIN s [RANGE 3 SECONDS] ON l.k = s.k",
)
EMITS = ("", " EMIT CHANGES", " EMIT SNAPSHOT EVERY 1 SECOND")
CUTS = [(i,) for i in range(1, len(ARRIVALS))] + [(1, 3), (2, 4), (1, 2, 3, 4, 5)]


def play(cuts: tuple[int, ...], emit: str, *, restart: bool, **options: object) -> Script:
    """The arrivals in batches that end at these places."""
    queries = {f"q{i}": sql + emit for i, sql in enumerate(QUERIES)}
    script = Script(DDL, queries, tables=TABLES, options=options)
    for a, b in pairwise((0, *cuts, len(ARRIVALS))):
        rows: dict[str, list[pa.Table]] = {}
        for name, text in ARRIVALS[a:b]:
            rows.setdefault(name, []).append(batch(text))
        script.process(**{name: pa.concat_tables(parts) for name, parts in rows.items()})
        if restart:
            script.restart()
    return script.advance("30s")


@pytest.mark.parametrize("restart", [False, True], ids=["at once", "with restarts"])
@pytest.mark.parametrize("emit", EMITS)
def test_no_first_answer_depends_on_how_rows_are_cut_into_batches(emit: str, restart: bool) -> None:
    whole = play((), emit, restart=False).finish()
    for cuts in CUTS:
        other = play(cuts, emit, restart=restart, chunk_rows=2, state="direct")
        for name in whole.tracked:
            found, expected = (s.changes(name).sort_by("_ts") for s in (other, whole))
            assert pretty(found) == pretty(expected), (cuts, QUERIES[int(name[1:])])


def test_the_first_instant_is_that_of_the_first_row_or_change() -> None:
    for cuts in ((), (1,), (2,), (1, 2, 3)):
        changes = play(cuts, "", restart=False).changes("q1")
        assert changes["_ts"].cast(pa.int64())[0].as_py() == 3_000_000


def test_an_explicit_instant_can_be_the_first() -> None:
    script = Script(DDL, {"q": QUERIES[0], "n": QUERIES[6]}, tables=TABLES)
    script.advance("2s")
    script.expect("_op | _ts | _exp | k:int\n+ | 2s | . | 1\n+ | 2s | . | 1", "q")
    script.expect("_op | _ts | _exp | n:int\n+ | 2s | . | 0", "n")
    script.process(s="ts | k:int\n2s | 1\n8s | 1").advance("20s").finish()


@pytest.mark.parametrize("emit", EMITS)
def test_queries_added_before_the_first_row_begin_together(emit: str) -> None:
    """Also if rows have come that wait for the watermark, which has moved."""
    said = []
    for early in (True, False):
        engine = Engine()
        engine.sql(DDL)
        for name, rows in TABLES.items():
            engine.table(name, batch(rows))
        if early:
            engine.query(QUERIES[0] + emit, name="q")
        engine.process({"s": batch("ts | k:int\n6s | 1")})
        assert engine.watermark == 2_000_000
        if not early:
            engine.query(QUERIES[0] + emit, name="q")
        out = engine.process({"s": batch("ts | k:int\n11s | 1")})
        said.append(pretty(out["q"]))
    assert said[0] == said[1]
    assert "6s" in said[0]


@pytest.mark.parametrize("watermarks", [(1, 5), (5, 5), (2, 3), (None, 5)])
def test_a_declared_watermark_is_not_the_first_instant(
    watermarks: tuple[int | None, int],
) -> None:
    engine = Engine()
    engine.sql(DDL)
    engine.table("live", batch(TABLES["live"]))
    engine.query("SELECT k FROM live EMIT SNAPSHOT EVERY 2 SECONDS", name="q")
    said = []
    for rows, watermark in zip(("6s | 1", "8s | 2"), watermarks, strict=True):
        us = BEGINNING if watermark is None else watermark * 1_000_000
        said.append(engine.process({"s": batch(f"ts | k:int\n{rows}")}, watermark=us)["q"])
    said.append(engine.process({}, watermark=9_000_000)["q"])
    shown = [t["_ts"].cast(pa.int64()).to_pylist() for t in said]
    assert shown == [[], [], [6_000_000] * 2 + [8_000_000] * 2]


@pytest.mark.parametrize("emit", EMITS)
def test_a_count_added_over_empty_windows_begins_with_zero(emit: str) -> None:
    script = Script(DDL, "SELECT k FROM s [RANGE 3 SECONDS]", tables=TABLES)
    script.process(s="ts | k:int\n1s | 1").advance("10s")
    script.add("n", f"SELECT COUNT(*) AS n, MAX(k) AS m FROM s [RANGE 2 SECONDS]{emit}")
    script.advance("12s").process(s="ts | k:int\n17s | 1").advance("30s").finish()


@pytest.mark.parametrize("emit", EMITS)
@pytest.mark.parametrize("steps", [["100s"], ["50s", "100s"]])
def test_a_group_without_rows_begins_when_it_is_merged(emit: str, steps: list[str]) -> None:
    ddl = "".join(f"CREATE STREAM {s} (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts;" for s in "ab")
    count = "SELECT COUNT(*) AS n FROM b [RANGE 3 SECONDS]" + emit
    script = Script(ddl, {"n": count})
    script.add("rows", "SELECT k FROM a [RANGE 3 SECONDS]").process(a=batch("ts | k:int\n7s | 1"))
    assert not script.engine.queries["n"].snapshot().num_rows
    script.add("both", "SELECT a.k FROM a [NOW], b [NOW] WHERE a.k = b.k")
    assert script.engine.queries["n"].snapshot().to_pylist() == [{"n": 0}]
    for step in steps:
        script.advance(step)
    script.finish()
