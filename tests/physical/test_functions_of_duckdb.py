"""Functions that DuckDB has, and Spark has not, give what DuckDB gives; JSON_VALUE with types."""

from __future__ import annotations

import math
import random
from datetime import datetime
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from eddyline import Engine, SqlError

STREAM = "CREATE STREAM r (ts TIMESTAMP, i BIGINT, s STRING, x DOUBLE) TIMESTAMP BY ts"
EXPRESSIONS = (
    "time_bucket(INTERVAL '5' MINUTE, ts)",
    "time_bucket(INTERVAL '7' DAY, ts)",
    "time_bucket(INTERVAL '90' MINUTE, ts, TIMESTAMP '2024-01-01 00:10:00')",
    "time_bucket(INTERVAL '1' DAY, ts, INTERVAL '6' HOUR)",
    "isfinite(x)",
)


def rows(count: int) -> pa.Table:
    rng = random.Random(3)
    texts = [None, "", "abc", "acb", "éabc", "日本"]
    numbers = [None, 0.0, 1.5, -2.0, math.inf, 3.0]
    times = sorted(rng.randrange(-(10**16), 2 * 10**15) for _ in range(count))
    return pa.table(
        {
            "ts": pa.array(times, pa.int64()),
            "i": range(count),
            "s": [rng.choice(texts) for _ in range(count)],
            "x": [rng.choice(numbers) for _ in range(count)],
        }
    )


def ours(sql: str, table: pa.Table) -> list[Any]:
    engine = Engine()
    engine.sql(STREAM)
    engine.query(f"SELECT i, {sql} AS v FROM r [NOW]", name="q")
    changes = engine.process({"r": table})
    assert not changes.bad
    return list(changes["q"].sort_by("i")["v"].to_pylist())


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_values_are_those_of_duckdb(expression: str) -> None:
    table = rows(200)
    stamped = table.set_column(0, "ts", table["ts"].cast(pa.timestamp("us")))
    found = duckdb.from_arrow(stamped).query("r", f"SELECT {expression} AS v FROM r ORDER BY i")
    assert found is not None
    expected = [v for (v,) in found.fetchall()]
    got = [
        v.replace(tzinfo=None) if isinstance(v, datetime) else v for v in ours(expression, table)
    ]
    assert got == expected


def test_a_part_may_become_a_constant() -> None:
    """In rows of an outer join without a match columns are NULL."""
    engine = Engine()
    engine.sql(STREAM)
    engine.query(
        "SELECT instr('xyz', b.s) AS v, contains(a.s, b.s) AS w, levenshtein(a.s, b.s) AS d, "
        "locate(b.s, a.s, b.i) AS l FROM r [RANGE 1 SECOND] AS a LEFT JOIN r [RANGE 1 SECOND] AS b "
        "ON a.i = b.i + 1",
        name="q",
    )
    table = pa.table({"ts": [0, 1], "i": [1, 2], "s": ["z", "y"], "x": [0.0, 0.0]})
    engine.process({"r": table}, watermark=2)
    found = {tuple(r.values()) for r in engine.queries["q"].snapshot().to_pylist()}
    assert found == {(None, None, None, 0), (3, False, 1, 0)}


def test_date_bin_is_that_of_postgresql() -> None:
    minute = 60_000_000
    table = pa.table({"ts": [-1, 0, 29 * minute], "i": [0, 1, 2], "s": [""] * 3, "x": [0.0] * 3})
    assert ours("time_bucket('15 minutes', ts)", table) == ours(
        "time_bucket(INTERVAL '15' MINUTE, ts)", table
    )
    got = ours("date_bin('15 minutes', ts, TIMESTAMP '2001-01-01 00:02:30')", table)
    assert [v.strftime("%Y-%m-%d %H:%M:%S") for v in got] == [
        "1969-12-31 23:47:30",
        "1969-12-31 23:47:30",
        "1970-01-01 00:17:30",
    ]


def test_the_product_of_a_window_is_that_of_duckdb() -> None:
    rng = random.Random(5)
    count = 300
    values = [rng.choice([None, 0.5, -2.0, 4.0, 1.5, 0.0, -0.25]) for _ in range(count)]
    table = pa.table({"ts": list(range(count)), "i": range(count), "s": [""] * count, "x": values})
    engine = Engine()
    engine.sql(STREAM)
    engine.query(
        "SELECT product(x) AS p, product(x) FILTER (WHERE x > 0) AS q, product(DISTINCT x) AS d "
        "FROM r [ROWS 7] EMIT CHANGES",
        name="q",
    )
    connection = duckdb.connect()
    connection.register("r", table)
    for i in range(count):
        engine.process({"r": table.slice(i, 1)})
        (got,) = engine.queries["q"].snapshot().to_pylist()
        (expected,) = connection.execute(
            "SELECT product(x), product(x) FILTER (WHERE x > 0), product(DISTINCT x) FROM r "
            f"WHERE i <= {i} AND i > {i - 7}"
        ).fetchall()
        for a, b in zip(got.values(), expected, strict=True):
            assert (a is None) == (b is None) and (a is None or math.isclose(a, b)), (i, a, b)


def test_values_in_json_have_types() -> None:
    texts = ['{"a":"12","b":1.25}', '{"a":"x"}', '{"a":null}', "{}", "no json"]
    n = len(texts)
    table = pa.table({"ts": [0] * n, "i": range(n), "s": texts, "x": [0.0] * n})
    assert ours("json_value(s, '$.a' RETURNING INT)", table) == [12, None, None, None, None]
    given = "json_value(s, '$.a' RETURNING BIGINT DEFAULT -1 ON EMPTY NULL ON ERROR)"
    assert ours(given, table) == [12, None, None, -1, -1]
    assert ours("json_value(s, '$.b' RETURNING DOUBLE)", table) == [1.25, None, None, None, None]
    assert ours("json_value(s, '$.a' NULL ON EMPTY)", table)[:2] == ["12", "x"]


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("json_value(s, '$.a' RETURNING INT ERROR ON ERROR)", "NULL ON ERROR is the rule"),
        ("json_value(s, '$.a' DEFAULT 1)", "expected ON EMPTY or ON ERROR"),
        ("time_bucket(INTERVAL '0' SECOND, ts)", "the interval of time_bucket is positive"),
        ("time_bucket('1 month', ts)", "a month has no fixed length"),
        ("time_bucket(s, ts)", "takes a constant INTERVAL"),
        ("date_bin(INTERVAL '1' DAY, ts, ts)", "the origin of date_bin is a constant"),
        ("from_json(s, s)", "the type of from_json is a constant text"),
        ("from_json(s, 'a INTERVAL')", "unknown type"),
        ("from_json(s, 'MAP<INT, INT>')", "names of fields in JSON are texts"),
        ("format_string('%d', s)", "%d takes no string"),
        ("format_string('%s')", "more places than there are values"),
        ("format_string('a', i)", "fewer places than there are values"),
        ("format_string('%5.2f', x)", "has the places %s and %d"),
        ("mask(s, 'ab')", "mask takes single characters"),
        ("parse_url(s, 'PORT')", "an address has no part 'PORT'"),
        ("make_interval(1, 0)", "no fixed length"),
        ("s LIKE ANY (SELECT s FROM r)", "take patterns in parentheses"),
    ],
)
def test_what_is_refused(expression: str, message: str) -> None:
    engine = Engine()
    engine.sql(STREAM)
    with pytest.raises(SqlError, match=message):
        engine.query(f"SELECT {expression} AS v FROM r [NOW]", name="q")
