"""SHOW and DESCRIBE."""

from __future__ import annotations

from typing import Any

import pytest

from eddyline import CatalogError, Engine, SqlError

SCRIPT = """
CREATE STREAM trades (ms BIGINT, ts TIMESTAMP AS (timestamp_millis(ms)), price DOUBLE)
  TIMESTAMP BY ts LATENESS 5 SECONDS;
CREATE STREAM quotes (ts TIMESTAMP, tags ARRAY<STRING>) TIMESTAMP BY ts;
CREATE TABLE halted (symbol STRING) WITH (updates = 'retroactive');
CREATE VIEW cheap AS SELECT price, price FROM trades WHERE price < 5;
CREATE FUNCTION twice(x DOUBLE) RETURNS DOUBLE AS x * 2;
CREATE QUERY big AS SELECT twice(price) AS p FROM trades [NOW] EMIT CHANGES;
"""


def shown(statement: str) -> list[dict[str, Any]]:
    engine = Engine()
    engine.sql(SCRIPT)
    (table,) = engine.sql(statement)
    return table.to_pylist()  # type: ignore[union-attr]


def test_show() -> None:
    assert shown("SHOW STREAMS") == [
        {"name": "quotes", "event_time": "ts", "lateness": "0 SECONDS"},
        {"name": "trades", "event_time": "ts", "lateness": "5 SECONDS"},
    ]
    assert shown("show tables") == [{"name": "halted", "updates": "retroactive"}]
    [view] = shown("SHOW VIEWS")
    assert view == {"name": "cheap", "sql": "SELECT price, price FROM trades WHERE price < 5"}
    assert shown("SHOW QUERIES") == [
        {
            "name": "big",
            "emit": "EMIT CHANGES",
            "sql": "SELECT twice(price) AS p FROM trades [NOW]",
            "set_aside": None,
        }
    ]
    functions = {row["name"]: row for row in shown("SHOW FUNCTIONS")}
    assert functions["twice"]["form"] == "twice(DOUBLE) -> DOUBLE"
    assert functions["twice"]["kind"] == "sql"
    assert functions["upper"]["kind"] == "scalar"
    assert functions["median"]["kind"] == "aggregate"


def test_describe() -> None:
    assert [tuple(row.values()) for row in shown("DESCRIBE trades")] == [
        ("ms", "BIGINT", None),
        ("ts", "TIMESTAMP", "event time AS (timestamp_millis(ms))"),
        ("price", "DOUBLE", None),
    ]
    assert [r["type"] for r in shown("DESC STREAM Quotes")] == ["TIMESTAMP", "ARRAY<STRING>"]
    assert [r["column"] for r in shown("DESCRIBE cheap")] == ["price", "price_1"]
    assert [tuple(row.values()) for row in shown("DESCRIBE QUERY big")] == [("p", "DOUBLE", None)]
    assert shown("DESCRIBE halted") == [{"column": "symbol", "type": "STRING", "note": None}]


def test_nothing_to_show() -> None:
    (table,) = Engine().sql("SHOW QUERIES")
    assert table.column_names == ["name", "emit", "sql", "set_aside"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("SHOW SINKS", "SHOW what?.*valid: FUNCTIONS, QUERIES, STREAMS, TABLES, VIEWS"),
        (
            "DESCRIBE trade",
            "there is no stream, table, view or query 'trade'; did you mean 'trades'",
        ),
        ("DESCRIBE", "expected the name of a stream"),
    ],
)
def test_wrong(statement: str, message: str) -> None:
    with pytest.raises((SqlError, CatalogError), match=message):
        shown(statement)
