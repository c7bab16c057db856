"""EXPLAIN where rates are known: what a plan is expected to emit, to keep and to take."""

from __future__ import annotations

import pytest

from eddyline import Engine
from eddyline.optimizer.prices import TYPICAL, Prices
from eddyline.optimizer.statistics import Statistics
from eddyline.testing import engine_with

STREAMS = """
CREATE STREAM a (ts TIMESTAMP, k BIGINT, x DOUBLE) TIMESTAMP BY ts{a};
CREATE STREAM b (ts TIMESTAMP, k BIGINT, y DOUBLE) TIMESTAMP BY ts{b};
"""
JOIN = "SELECT a.x, b.y FROM a [RANGE 10 SECONDS], b [RANGE 1 MINUTE] WHERE a.k = b.k"
#: Each step takes a tenth of a millisecond; aggregates nothing.
PRICES = Prices(1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 0.0, 0.0)


def engine(a: str = "", b: str = "", **options: object) -> Engine:
    made = engine_with(**options)
    made.sql(STREAMS.format(a=a, b=b))
    return made


def test_without_statistics_only_the_plan_is_shown() -> None:
    assert engine().explain(JOIN).splitlines() == [
        "EMIT INSERTS",
        "Project  a.x, b.y                     WK",
        "  Join  a.k = b.k                     WK",
        "    StreamScan  a [RANGE 10 SECONDS]  WKS",
        "    StreamScan  b [RANGE 1 MINUTE]    WKS",
    ]


def test_rates_windows_memory_and_utilisation() -> None:
    known = " WITH (rate = {}, distinct = 'k: 100')"
    text = engine(known.format(10), known.format(20), prices=PRICES).explain(JOIN)
    # 100 and 1,200 rows alive, of which one pair in 100 matches: 10 * 1,200 / 100 results for rows
    # of a, 20 * 100 / 100 for those of b. Three steps per row that comes, one per result.
    assert text.splitlines() == [
        "EMIT INSERTS",
        "                                           rows/s  rows alive   memory    CPU",
        "Project  a.x, b.y                     WK      140       1,200        -  1.4 %",
        "  Join  a.k = b.k                     WK      140       1,200  31.2 kB  2.3 %",
        "    StreamScan  a [RANGE 10 SECONDS]  WKS      10         100     4 kB  0.1 %",
        "    StreamScan  b [RANGE 1 MINUTE]    WKS      20       1,200    48 kB  0.2 %",
        "",
        "expected: 4 % of one core, 83.2 kB of state",
    ]


def test_assumptions_are_shown() -> None:
    text = engine(a=" WITH (rate = 10)", prices=TYPICAL).explain(JOIN)
    assert "assumed rate of b: 1,000 rows/s" in text
    assert "prices of a typical machine: run `eddyline calibrate` to measure this one" in text


def test_explain_of_a_standing_query_is_the_same() -> None:
    made = engine(statistics=Statistics(rates={"a": 10.0, "b": 20.0}))
    assert made.query(JOIN).explain() == made.explain(JOIN)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k FROM a [NOW]",
        "SELECT DISTINCT k FROM a [RANGE 1 MINUTE]",
        "SELECT k, SUM(x) AS s FROM a [ROWS 10] GROUP BY k HAVING SUM(x) > 3",
        "SELECT k FROM a [RANGE 1 MINUTE] EXCEPT ALL SELECT k FROM b [RANGE 1 MINUTE]",
        "SELECT a.k FROM a [RANGE 1 MINUTE] WHERE NOT EXISTS "
        "(SELECT * FROM b [RANGE 1 MINUTE] WHERE b.k = a.k)",
        "SELECT k FROM a [NOW] UNION ALL SELECT k FROM b [UNBOUNDED]",
        "SELECT a.k FROM a [RANGE 1 MINUTE] LEFT JOIN b [PARTITION BY k ROWS 3] ON a.k = b.k",
    ],
)
def test_every_operator_has_its_columns(sql: str) -> None:
    idle = " IDLE AFTER 1 SECOND"
    plain = engine(idle, idle).explain(sql)
    text = engine(f"{idle} WITH (rate = 3)", idle).explain(sql)
    nodes = plain.splitlines()[1:]
    assert len(nodes) == len(text.split("\n\n")[0].splitlines()) - 2
    for node, line in zip(nodes, text.splitlines()[2:], strict=False):
        label, pattern = node.rsplit(None, 1)
        assert line.startswith(label.rstrip())
        cells = line[len(label.rstrip()) :].split()
        assert cells[0] == pattern
        assert cells[-1] == "%"


ABSENT = "SELECT k FROM a [RANGE 1 HOUR] WHERE NOT EXISTS (SELECT 1 FROM b [{}] WHERE b.k = a.k)"


@pytest.mark.parametrize(
    ("sql", "waits"),
    [
        (ABSENT.format("RANGE 5 SECONDS"), "a, b"),
        (f"{JOIN} EMIT CHANGES", "a, b"),
        ("SELECT COUNT(*) AS n FROM a [RANGE 5 SECONDS]", "a"),
        ("SELECT x FROM a [ROWS 3] EMIT SNAPSHOT EVERY 1 MINUTE", "a"),
        ("SELECT COUNT(*) AS n FROM a [ROWS 3]", None),
        (JOIN, None),
    ],
)
def test_results_that_wait_for_the_next_row_are_shown(sql: str, waits: str | None) -> None:
    line = (
        f"without a row of {waits} (no IDLE AFTER) time stands still: results that change by "
        "expiry alone wait for the next row"
    )
    without, running = engine(), engine()
    texts = [without.explain(sql), running.query(sql, name="q").explain()]
    assert [line in text.splitlines() for text in texts] == [waits is not None] * 2
    assert ["IDLE AFTER" in text for text in texts] == [waits is not None] * 2
    assert "IDLE AFTER" not in engine(" IDLE AFTER 1 SECOND", " IDLE AFTER 1 SECOND").explain(sql)
    if waits == "a, b":
        assert "without a row of a (no IDLE" in engine(b=" IDLE AFTER 1 MINUTE").explain(sql)


def test_analyze_tells_where_rows_are_kept() -> None:
    """By the update pattern of each input (Golab and Ozsu 2005, section 5.3.2)."""
    engine = Engine()
    for name in "ab":
        engine.sql(f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts")
    engine.query(
        "SELECT DISTINCT a.k FROM a [RANGE 6400 MILLISECONDS] AS a, b [ROWS 3] AS b "
        "WHERE a.k = b.k EMIT CHANGES",
        name="q",
    )
    engine.query("SELECT k, COUNT(*) AS n FROM a [RANGE 1 SECOND] GROUP BY k", name="n")
    text = engine.queries["q"].explain(analyze=True)
    assert "\nDistinct    partitions of 100 ms by expiry (WK)\n" in text
    assert "\nSpool       a hash table with ids (STR)\n" in text
    assert "a queue by expiry (WKS)" in engine.queries["n"].explain(analyze=True)
