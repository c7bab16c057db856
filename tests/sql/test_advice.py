"""What the errors of the hundred idioms say to write is accepted."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from eddyline.sql.binder import bind
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateQuery, SelectStatement
from golden import cases, example_catalog

FILES: Final = sorted(Path(__file__).parent.glob("idioms/*.sql"))
_GROUPED: Final = "SELECT symbol, COUNT(*) AS n FROM {} GROUP BY symbol, window_start, window_end"
_LISTED: Final = "SELECT {} AS v FROM trades [RANGE 1 MINUTE] GROUP BY symbol"
_OF_ROW: Final = "SELECT {} AS v FROM trades [NOW]"
_WHERE: Final = "SELECT qty FROM trades [NOW] WHERE {}"
_STREAM: Final = "CREATE STREAM s (ts TIMESTAMP, k STRING) TIMESTAMP BY ts LATENESS 5 SECONDS"
_SINK: Final = "CREATE QUERY q AS SELECT qty FROM trades [NOW] WITH (sink = 'memory')"
_PYTHON: Final = "CREATE FUNCTION twice(x DOUBLE) RETURNS DOUBLE LANGUAGE PYTHON AS 'operator.neg'"
_CHANGES: Final = "CREATE QUERY q AS SELECT qty FROM trades [NOW] EMIT CHANGES"
_LAST: Final = "SELECT qty FROM trades [PARTITION BY symbol ROWS 1]"
#: By a part of an error, a script that does what it says; None: it says something else than SQL.
ADVICE: Final[dict[str, str | None]] = {
    "write FROM s [RANGE 10 SECONDS]": "SELECT qty FROM trades [RANGE 10 SECONDS]",
    "write FROM s [ROWS 5]": "SELECT qty FROM trades [ROWS 5]",
    "write FROM s [ROWS 1]": "SELECT qty FROM trades [ROWS 1]",
    "write FROM s [UNBOUNDED]": "SELECT qty FROM trades [UNBOUNDED]",
    "write FROM s [TUMBLE 10 SECONDS], with GROUP BY": _GROUPED.format(
        "trades [TUMBLE 10 SECONDS]"
    ),
    "write FROM s [TUMBLE 1 MINUTE] and GROUP BY": _GROUPED.format(
        "TABLE(TUMBLE(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
    ),
    "write FROM s [HOP 5 MINUTES EVERY 1 MINUTE]": _GROUPED.format(
        "TABLE(HOP(TABLE trades, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE))"
    ),
    "write FROM s [SESSION 30 SECONDS BY k]": _GROUPED.format(
        "trades [SESSION 30 SECONDS BY symbol]"
    ),
    "write FROM s [TUMBLE 1 MINUTE] and EMIT FINAL": "SELECT qty FROM trades [TUMBLE 1 MINUTE] "
    "EMIT FINAL",
    "[PARTITION BY k ROWS 1]": _LAST,
    "write FROM s [PARTITION BY k ROWS 3]": "SELECT qty FROM trades [PARTITION BY symbol ROWS 3]",
    "FROM s [PARTITION BY k ROWS 10]": "SELECT qty FROM trades [PARTITION BY symbol ROWS 10]",
    "write FROM s MATCH_RECOGNIZE": "SELECT * FROM trades MATCH_RECOGNIZE (PARTITION BY symbol "
    "ORDER BY ts MEASURES A.qty AS a PATTERN (A B) WITHIN INTERVAL '10' SECOND DEFINE B AS "
    "B.qty > A.qty) AS m; SELECT t.qty FROM trades AS t WHERE NOT EXISTS (SELECT * FROM quotes q "
    "WHERE q.symbol = t.symbol AND q.ts BETWEEN t.ts AND t.ts + INTERVAL '1' MINUTE)",
    "write EMIT INSERTS": "SELECT qty FROM trades [RANGE 1 MINUTE] EMIT INSERTS",
    "write EMIT CHANGES behind": "SELECT qty FROM trades [RANGE 1 MINUTE] EMIT CHANGES",
    "write EMIT SNAPSHOT EVERY 5 SECONDS": "SELECT qty FROM trades [RANGE 1 MINUTE] EMIT SNAPSHOT "
    "EVERY 5 SECONDS",
    "or write EMIT SNAPSHOT EVERY 1 MINUTE": "SELECT qty FROM trades [RANGE 1 HOUR] EMIT SNAPSHOT "
    "EVERY 1 MINUTE",
    "write CREATE QUERY name AS SELECT ... EMIT CHANGES": _CHANGES,
    "write CREATE QUERY name AS SELECT ... WITH (sink = ...)": _SINK,
    "CREATE QUERY name AS SELECT ... WITH (sink = 'webhook', url = '...')": "CREATE QUERY q AS "
    "SELECT qty FROM trades [NOW] WITH (sink = 'webhook', url = 'http://h/x')",
    "sinks are options of a query": _SINK,
    "write CREATE QUERY for each INSERT": _SINK,
    "write CREATE QUERY": "CREATE QUERY q AS SELECT qty FROM trades [NOW]",
    "or CREATE QUERY with a sink": _SINK,
    "write CREATE STREAM name (columns) TIMESTAMP BY ts": _STREAM,
    "write CREATE STREAM, or CREATE TABLE": f"{_STREAM}; CREATE TABLE t (k STRING)",
    "write CREATE STREAM name; if there may be": f"{_STREAM}; DROP STREAM s",
    "CREATE STREAM ... LATENESS 10 SECONDS": _STREAM,
    "write TIMESTAMP BY ts LATENESS 5 SECONDS": _STREAM,
    "the column behind TIMESTAMP BY": _STREAM,
    "write CREATE VIEW name AS SELECT": "CREATE VIEW v AS SELECT * FROM trades [RANGE 1 MINUTE]",
    "write CREATE VIEW: it is there": "CREATE VIEW v AS SELECT qty FROM trades",
    "write CREATE TABLE: it is there": "CREATE TABLE t (k STRING)",
    "CREATE TABLE ... WITH (updates = 'retroactive')": "CREATE TABLE t (k STRING) WITH (updates = "
    "'retroactive')",
    "write CREATE FUNCTION: it is there": _PYTHON,
    "LANGUAGE PYTHON AS 'module.name'": _PYTHON,
    "names of options have no quotes": "CREATE STREAM s (ts TIMESTAMP) TIMESTAMP BY ts WITH ("
    "source = 'kafka', subscribe = 'topic', format = 'json', kafka.bootstrap.servers = 'h:1')",
    "where a source is, is said by its options": "CREATE STREAM s (ts TIMESTAMP) TIMESTAMP BY "
    "ts WITH (source = 'kafka', kafka.bootstrap.servers = 'h:1', subscribe = 't', format = 'json')",
    "key STRING METADATA FROM 'key'": "CREATE STREAM s (ts TIMESTAMP, k STRING METADATA FROM 'key'"
    ") TIMESTAMP BY ts WITH (source = 'kafka', subscribe = 't', format = 'json', "
    "kafka.bootstrap.servers = 'h:1')",
    "write SET option = value": "SET chunk_rows = 4096",
    "a sink updates a table": "CREATE QUERY q AS SELECT symbol, SUM(qty) AS n FROM trades [RANGE 1 "
    "MINUTE] GROUP BY symbol EMIT CHANGES WITH (sink = 'postgres', mode = 'upsert', key = "
    "'symbol', table = 't', url_env = 'URL')",
    "password_env, url_env": None,
    "write LAG(x) OVER": "SELECT LAG(qty) OVER (PARTITION BY symbol ORDER BY ts) AS v FROM trades",
    "write QUALIFY ROW_NUMBER()": "SELECT qty FROM trades [TUMBLE 1 MINUTE] QUALIFY ROW_NUMBER() "
    "OVER (PARTITION BY symbol, window_start ORDER BY ts) = 1",
    "give the times in ON": "SELECT t.qty FROM trades AS t JOIN quotes AS q ON t.symbol = q.symbol "
    "AND t.ts BETWEEN q.ts - INTERVAL '5' MINUTE AND q.ts + INTERVAL '5' MINUTE; SELECT t.qty FROM "
    "trades [RANGE 5 MINUTES] AS t JOIN quotes [RANGE 5 MINUTES] AS q ON t.symbol = q.symbol",
    "ORDER BY x DESC LIMIT 10 in front of EMIT": "SELECT qty FROM trades [RANGE 1 MINUTE] ORDER BY "
    "qty DESC LIMIT 10 EMIT CHANGES",
    "write last(value)": _LISTED.format("last(qty)"),
    "write array_agg(x)": _LISTED.format("array_agg(qty)"),
    "write to_json(array_agg(x))": _LISTED.format("to_json(array_agg(qty))"),
    "to_json(map_from_entries(array_agg(struct(k, v))))": _LISTED.format(
        "to_json(map_from_entries(array_agg(struct(symbol, qty))))"
    ),
    "write date_format(ts, 'pattern')": _OF_ROW.format("date_format(ts, 'yyyy-MM-dd HH:mm:ss')"),
    "'yyyy-MM-dd HH:mm:ss'": _OF_ROW.format("to_char(ts, 'yyyy-MM-dd HH:mm:ss')"),
    "write json_value(text, '$.field')": _OF_ROW.format("json_value(symbol, '$.a')"),
    "write text ->> '$.a.b'": _OF_ROW.format("symbol ->> '$.a.b'"),
    "write json_exists(x, '$.name')": _WHERE.format("json_exists(symbol, '$.name')"),
    "write named_struct('name', value, ...)": _OF_ROW.format("named_struct('name', qty)"),
    "write timestamp_micros(n)": _OF_ROW.format("timestamp_micros(qty)"),
    "write window_start, window_end": _GROUPED.format("trades [TUMBLE 1 MINUTE]"),
    "write FROM s, UNNEST(sequence(1, 3))": "SELECT n FROM trades [NOW], UNNEST(sequence(1, 3)) AS "
    "t (n)",
    "write text RLIKE 'pattern', or contains": _WHERE.format(
        "symbol RLIKE 'a' OR contains(symbol, 'w')"
    ),
    "write x >= 1 AND x < 5, or array_contains": _WHERE.format(
        "qty >= 1 AND qty < 5 OR array_contains(array(qty), 1)"
    ),
    "write array_contains(list, x), or text ->>": _WHERE.format(
        "array_contains(array(qty), 1) OR symbol ->> '$.a' = 'x'"
    ),
    "write b - a for an INTERVAL": _OF_ROW.format("timestampdiff(SECOND, ts, ts), ts - ts"),
    "write a DIV b": _OF_ROW.format("qty DIV 2"),
    "write power(x, y)": _OF_ROW.format("power(qty, 2) + ((qty | 3) - (qty & 3))"),
    "write one position, as in list[0]": _OF_ROW.format("array(qty)[0]"),
    "compare it with others by = or IN": _WHERE.format("(qty, symbol) IN ((1, 'a'))"),
    "as in ts > now() - INTERVAL": _WHERE.format("ts > now() - INTERVAL '5' MINUTE"),
    "write ts > now() - INTERVAL": _WHERE.format("ts > now() - INTERVAL '5' MINUTE"),
    "write plain WITH": "WITH a AS (SELECT qty FROM trades [NOW]) SELECT qty FROM a",
    "write EXPLAIN SELECT": "EXPLAIN SELECT qty FROM trades [NOW]",
    "write DESCRIBE name": "DESCRIBE trades",
    "DROP it first and CREATE it again": f"{_STREAM}; DROP STREAM s; {_STREAM}",
    "the engine keeps": None,
    "all queries are one job": None,
    "leave it out": None,
    "a column has a name and a type": _STREAM,
    "Engine.stats has the watermarks": None,
    "compute it before the stream": None,
    "queries only read": None,
    "ON OVERLOAD SHED drops rows": "SELECT qty FROM trades [NOW] ON OVERLOAD SHED",
    "rows come from the source": None,
    "read Query.snapshot()": None,
}


@pytest.mark.parametrize("part", [p for p, script in ADVICE.items() if script])
def test_what_is_advised_is_accepted(part: str) -> None:
    script, catalog = ADVICE[part], example_catalog()
    assert script is not None, "see above"
    for statement in parse(script):
        if isinstance(statement, SelectStatement | CreateQuery):
            bind(statement.select, statement.emit, catalog)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_each_idiom_has_advice_of_these(path: Path) -> None:
    for question, said in cases(path):
        assert any(part in said for part in ADVICE), f"{question}: {said.splitlines()[0]}"


def test_all_advice_is_given() -> None:
    said = "\n".join(text for path in FILES for _, text in cases(path))
    assert not [part for part in ADVICE if part not in said]
