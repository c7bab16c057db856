"""MATCH_RECOGNIZE as other engines document it.

Flink: the examples of "Pattern Recognition" in its documentation (docs/dev/table/sql/queries/
match_recognize), with a WITHIN where they have none. Esper: what its regression suite sends and
receives (RowRecogOps, RowRecogAfter), its "all matches" being what each query finds here.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.testing.text import parse_time

TICKER = "CREATE STREAM ticker (symbol STRING, rowtime TIMESTAMP, price BIGINT, tax BIGINT) "
EVENTS = "CREATE STREAM events (name STRING, ts TIMESTAMP, value BIGINT) TIMESTAMP BY ts"
#: Longer than all times between rows.
WITHIN = "WITHIN INTERVAL '1' DAY"


def matches(
    ddl: str, stream: str, rows: dict[str, list[Any]], clauses: str, until: str
) -> list[Any]:
    """The values of all results, once time has passed."""
    engine = Engine()
    engine.sql(ddl)
    engine.query(f"SELECT * FROM {stream} MATCH_RECOGNIZE ({clauses}) AS mr", name="q")
    out = [engine.process({stream: pa.table(rows)})["q"], engine.advance(parse_time(until))["q"]]
    names = out[0].column_names[3:]
    columns = [pa.concat_tables(out)[n] for n in names]
    plain = [c.cast(pa.int64()) if pa.types.is_timestamp(c.type) else c for c in columns]
    return list(zip(*(c.to_pylist() for c in plain), strict=True))


def ticker(prices: list[int], clauses: str, *, step: str = "1s", until: str = "5d") -> list[Any]:
    """Matches in rows of one symbol, times in steps from 0."""
    n, us = len(prices), parse_time(step)
    rows: dict[str, list[Any]]
    rows = {"symbol": ["ACME"] * n, "rowtime": [i * us for i in range(n)], "price": prices}
    rows["tax"] = [1] * n
    found = matches(f"{TICKER} TIMESTAMP BY rowtime", "ticker", rows, clauses, until)
    assert {row[0] for row in found} == {"ACME"}, "the partition is the first column"
    return [tuple(v // us if isinstance(v, int) and v >= us else v for v in r[1:]) for r in found]


PARTITION = "PARTITION BY symbol ORDER BY rowtime"


def test_flink_constantly_decreasing_price() -> None:
    found = ticker(
        [12, 17, 19, 21, 25, 18, 15, 14, 24, 25, 19],
        f"{PARTITION} MEASURES START_ROW.rowtime AS start_tstamp, LAST(PRICE_DOWN.rowtime) AS "
        "bottom_tstamp, LAST(PRICE_UP.rowtime) AS end_tstamp ONE ROW PER MATCH "
        f"AFTER MATCH SKIP TO LAST PRICE_UP PATTERN (START_ROW PRICE_DOWN+ PRICE_UP) {WITHIN} "
        "DEFINE PRICE_DOWN AS (LAST(PRICE_DOWN.price, 1) IS NULL AND "
        "PRICE_DOWN.price < START_ROW.price) OR PRICE_DOWN.price < LAST(PRICE_DOWN.price, 1), "
        "PRICE_UP AS PRICE_UP.price > LAST(PRICE_DOWN.price, 1)",
    )
    assert found == [(4, 7, 8)]


def test_flink_aggregations() -> None:
    found = ticker(
        [12, 17, 13, 16, 25, 2, 4, 10, 15, 25, 25, 30],
        f"{PARTITION} MEASURES FIRST(A.rowtime) AS start_tstamp, LAST(A.rowtime) AS end_tstamp, "
        f"AVG(A.price) AS avgPrice AFTER MATCH SKIP PAST LAST ROW PATTERN (A+ B) {WITHIN} "
        "DEFINE A AS AVG(A.price) < 15",
    )
    assert found == [(0, 3, 14.5), (5, 10, 13.5)]


@pytest.mark.parametrize(("sign", "expected"), [("*", [(16,)]), ("*?", [(13,), (16,)])])
def test_flink_greedy_and_reluctant(sign: str, expected: list[Any]) -> None:
    found = ticker(
        [10, 11, 12, 13, 14, 16],
        f"{PARTITION} MEASURES C.price AS lastPrice ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST "
        f"ROW PATTERN (A B{sign} C) {WITHIN} DEFINE A AS A.price > 10, B AS B.price < 15, "
        "C AS C.price > 12",
    )
    assert found == expected


def test_flink_time_constraint() -> None:
    """A match of exactly an hour is one."""
    found = ticker(
        [20, 17, 18, 11, 14, 9, 15, 14, 24, 1, 19],
        f"{PARTITION} MEASURES C.rowtime AS dropTime, A.price - C.price AS dropDiff "
        "PATTERN (A B* C) WITHIN INTERVAL '1' HOUR DEFINE B AS B.price > A.price - 10, "
        "C AS C.price < A.price - 10",
        step="20m",
    )
    assert found == [(9, 14)]


def test_flink_output_mode() -> None:
    found = ticker(
        [10, 12, 13, 11],
        f"{PARTITION} MEASURES FIRST(A.price) AS startPrice, LAST(A.price) AS topPrice, B.price "
        f"AS lastPrice ONE ROW PER MATCH PATTERN (A+ B) {WITHIN} DEFINE A AS LAST(A.price, 1) IS "
        "NULL OR A.price > LAST(A.price, 1), B AS B.price < LAST(A.price)",
    )
    assert found == [(10, 13, 11)]


@pytest.mark.parametrize(
    ("skip", "expected"),
    [
        ("PAST LAST ROW", [(26, 0, 3), (17, 4, 6)]),
        ("TO NEXT ROW", [(26, 0, 3), (24, 1, 4), (25, 2, 5), (22, 3, 6), (17, 4, 6)]),
        ("TO LAST A", [(26, 0, 3), (25, 2, 5), (17, 4, 6)]),
    ],
)
def test_flink_after_match(skip: str, expected: list[Any]) -> None:
    found = ticker(
        [7, 9, 10, 5, 10, 7, 14],
        f"{PARTITION} MEASURES SUM(A.price) AS sumPrice, FIRST(rowtime) AS startTime, "
        f"LAST(rowtime) AS endTime AFTER MATCH SKIP {skip} PATTERN (A+ C) {WITHIN} "
        "DEFINE A AS SUM(A.price) < 30",
        until="7s",  # no later: rows 5 and 6 alone are a match if no row follows
    )
    assert found == expected


def test_flink_skip_to_the_first_row_fails() -> None:
    """Flink ends with an exception; here each such match is a bad row of the query."""
    engine = Engine()
    engine.sql(f"{TICKER} TIMESTAMP BY rowtime")
    engine.query(
        f"SELECT * FROM ticker MATCH_RECOGNIZE ({PARTITION} MEASURES SUM(A.price) AS s AFTER MATCH "
        "SKIP TO FIRST A PATTERN (A+ C) WITHIN INTERVAL '1' DAY DEFINE A AS SUM(A.price) < 30)",
        name="q",
    )
    rows = {"symbol": ["ACME"] * 3, "rowtime": [0, 1, 2], "price": [7, 9, 30], "tax": [1] * 3}
    out = engine.process({"ticker": pa.table(rows)})
    assert out["q"].num_rows == 0
    (bad,) = {r["_reason"] for r in out.bad["q"].to_pylist()}
    assert bad == "AFTER MATCH SKIP TO the first row of the match, which would be found again"


def test_flink_variables_and_offsets() -> None:
    """The tables of "Pattern Variable Referencing" and "Logical Offsets"."""
    found = ticker(
        [10, 15, 20, 31, 35],
        f"{PARTITION} MEASURES COUNT(*) AS n, LAST(B.price) AS b PATTERN (A B+) {WITHIN} DEFINE "
        "A AS A.price >= 10, B AS B.price > A.price AND SUM(price) < 100 AND SUM(B.price) < 80",
    )
    assert found == [(4, 31)]
    found = ticker(
        [10, 15, 20, 31, 35],
        f"{PARTITION} MEASURES COUNT(*) AS n, LAST(B.price) AS b PATTERN (A B+) {WITHIN} DEFINE "
        "A AS A.price >= 10, B AS (LAST(B.price, 1) IS NULL OR B.price > LAST(B.price, 1)) AND "
        "(LAST(B.price, 2) IS NULL OR B.price > 2 * LAST(B.price, 2))",
    )
    assert found == [(4, 31)]
    for prices in ([10, 15, 20], [10, 20]):
        found = ticker(
            prices,
            f"{PARTITION} MEASURES COUNT(B.price) AS b, C.price AS c PATTERN (A B? C) "
            "DEFINE B AS B.price < 20, C AS LAST(price, 1) < C.price",
        )
        assert found == [(len(prices) - 2, 20)]


# -- Esper -------------------------------------------------------------


def esper(sent: list[tuple[str, int]], clauses: str) -> list[Any]:
    """Matches in events, one a second."""
    rows: dict[str, list[Any]] = {
        "name": [name for name, _ in sent],
        "ts": [i * 1_000_000 for i in range(len(sent))],
        "value": [value for _, value in sent],
    }
    return matches(EVENTS, "events", rows, clauses, "5d")


def numbered(*values: int) -> list[tuple[str, int]]:
    return [(f"E{i}", v) for i, v in enumerate(values, 1)]


RISING = numbered(5, 3, 6, 4, 6, 10, 9, 4)


@pytest.mark.parametrize(
    ("skip", "expected"),
    [
        ("SKIP PAST LAST ROW", [("E2", "E3"), ("E4", "E5")]),
        ("SKIP TO NEXT ROW", [("E2", "E3"), ("E4", "E5"), ("E5", "E6")]),
    ],
)
def test_esper_concatenation(skip: str, expected: list[Any]) -> None:
    found = esper(
        RISING,
        f"ORDER BY ts MEASURES A.name AS a, B.name AS b AFTER MATCH {skip} PATTERN (A B) "
        "DEFINE B AS B.value > A.value",
    )
    assert found == expected


@pytest.mark.parametrize(
    ("sign", "values", "expected"),
    [
        (
            "*",
            (12, 10, 8, 10, 12, 8, 10, 12, 12, 12, 9),
            [
                ("E2", None, None, None, "E3"),
                ("E4", "E5", None, None, "E6"),
                ("E7", "E8", "E9", "E10", "E11"),
            ],
        ),
        (
            "+",
            (12, 10, 8, 10, 12, 8, 10, 12, 12, 12, 9),
            [("E4", "E5", None, None, "E6"), ("E7", "E8", "E9", "E10", "E11")],
        ),
        (
            "?",
            (12, 10, 8, 10, 12, 8, 10, 12, 12, 9),
            [("E2", None, None, None, "E3"), ("E4", "E5", None, None, "E6")],
        ),
    ],
)
def test_esper_quantifiers(sign: str, values: tuple[int, ...], expected: list[Any]) -> None:
    found = esper(
        numbered(*values),
        "ORDER BY ts MEASURES A.name AS a, FIRST(B.name) AS b0, FIRST(B.name, 1) AS b1, "
        f"FIRST(B.name, 2) AS b2, C.name AS c PATTERN (A B{sign} C) {WITHIN} "
        "DEFINE A AS A.value = 10, B AS B.value > 10, C AS C.value < 10",
    )
    assert found == expected


def test_esper_partitions() -> None:
    sent = [
        *(("S1", 5), ("S2", 6), ("S3", 3), ("S4", 4), ("S1", 5), ("S2", 5), ("S1", 4), ("S4", -1)),
        *(("S1", 6), ("S4", 10), ("S4", 11), ("S3", 3), ("S4", -2), ("S3", 2), ("S1", 4)),
        *(("S1", 7), ("S4", 12), ("S4", 12), ("S1", 7), ("S2", 4), ("S1", 5), ("S2", 5)),
    ]
    found = esper(
        sent,
        "PARTITION BY name ORDER BY ts MEASURES A.value AS a, B.value AS b PATTERN (A B) "
        "DEFINE B AS B.value > A.value",
    )
    expected = [("S1", 4, 6), ("S4", -1, 10), ("S1", 4, 7), ("S4", -2, 12), ("S2", 4, 5)]
    assert found == expected


def test_esper_a_variable_more_than_once() -> None:
    found = esper(
        numbered(3, 1, 2, 5, 1, 2, 1, 2, 1),
        "ORDER BY ts MEASURES FIRST(A.name) AS a0, B.name AS b, FIRST(A.name, 1) AS a1 "
        "AFTER MATCH SKIP TO NEXT ROW PATTERN (A B A) DEFINE A AS A.value = 1, B AS B.value = 2",
    )
    assert found == [("E5", "E6", "E7"), ("E7", "E8", "E9")]


def test_permute_prefers_the_orders_as_they_are_written() -> None:
    """As Oracle's and Trino's documentation has it: alternatives in lexicographic order."""
    found = esper(
        numbered(1, 2, 3, 3, 2, 1, 1, 3, 2),
        "ORDER BY ts MEASURES A.name AS a, B.name AS b, C.name AS c PATTERN (PERMUTE(A, B, C)) "
        "DEFINE A AS A.value = 1, B AS B.value = 2, C AS C.value = 3",
    )
    assert found == [("E1", "E2", "E3"), ("E6", "E5", "E4"), ("E7", "E9", "E8")]
    labels = esper(
        numbered(5, 5),
        "ORDER BY ts MEASURES A.name AS a, B.name AS b PATTERN (PERMUTE(B, A))",
    )
    assert labels == [("E2", "E1")]


def test_from_the_first_row_of_a_partition() -> None:
    sent = [("S1", 1), ("S2", 2), ("S1", 2), ("S2", 3), ("S1", 1), ("S1", 2), ("S3", 1)]
    found = esper(
        sent,
        "PARTITION BY name ORDER BY ts MEASURES A.value AS a, B.value AS b PATTERN (^ A B) "
        "DEFINE A AS A.value = 1",
    )
    assert found == [("S1", 1, 2)]
