"""Statements: what each form parses to."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eddyline.algebra.catalog import DeclaredSizes, Emit, StreamDef, TableDef
from eddyline.errors import SqlError
from eddyline.sql.parser import parse
from eddyline.sql.statements import (
    CreateQuery,
    CreateStream,
    CreateTable,
    CreateView,
    Drop,
    Explain,
    ForEach,
    SelectStatement,
    Statement,
)
from eddyline.sql.window_syntax import StreamWindow
from eddyline.types import TIMESTAMP, Field


def one(sql: str) -> Statement:
    (statement,) = parse(sql)
    return statement


def windows(sql: str) -> list[tuple[str, int | None, list[str]]]:
    statement = one(sql)
    assert isinstance(statement, SelectStatement)
    return [
        (w.args["kind"], w.args.get("size"), [c.name for c in w.expressions])
        for w in statement.select.ast.find_all(StreamWindow)
    ]


def test_create_stream() -> None:
    statement = one(
        "CREATE STREAM trades (ts TIMESTAMP, `my price` DECIMAL(10, 2), n BIGINT) TIMESTAMP BY TS "
        "LATENESS 1.5 SECONDS WITH (source = 'kafka', kafka.group.id = -1, header = TRUE)"
    )
    assert isinstance(statement, CreateStream)
    assert statement.definition == StreamDef(
        name="trades",
        schema=(
            Field("ts", TIMESTAMP),
            Field("my price", pa.decimal128(10, 2)),
            Field("n", pa.int64()),
        ),
        timestamp="ts",
        lateness_us=1_500_000,
        options={"source": "kafka", "kafka.group.id": "-1", "header": "true"},
    )


@pytest.mark.parametrize("updates", ["static", "non-retroactive", "retroactive"])
def test_create_table(updates: str) -> None:
    statement = one(f"CREATE TABLE c (symbol STRING) WITH (path = 'c.csv', updates = '{updates}')")
    assert isinstance(statement, CreateTable)
    schema = (Field("symbol", pa.string()),)
    assert statement.definition == TableDef("c", schema, updates, {"path": "c.csv"})  # type: ignore[arg-type]


def test_declared_sizes_are_not_options_of_the_source() -> None:
    stream = one(
        "CREATE STREAM s (ts TIMESTAMP, symbol STRING, `odd, name` INT) TIMESTAMP BY ts "
        "WITH (source = 'kafka', rate = 1000, distinct = 'Symbol: 300, `odd, name`: 2.5e4')"
    )
    assert isinstance(stream, CreateStream)
    assert stream.definition.options == {"source": "kafka"}
    assert stream.definition.sizes == DeclaredSizes(
        1_000, None, {"symbol": 300, "odd, name": 25_000}
    )
    table = one("CREATE TABLE t (a INT) WITH (updates = 'retroactive', rows = 1e4, rate = 0.5)")
    assert isinstance(table, CreateTable)
    assert table.definition.options == {}
    assert table.definition.sizes == DeclaredSizes(0.5, 10_000)


def test_create_view_and_query() -> None:
    view, query = parse(
        "CREATE VIEW v AS SELECT x FROM s; "
        "CREATE QUERY q AS SELECT x FROM s EMIT CHANGES WITH (sink = 'parquet')"
    )
    assert isinstance(view, CreateView)
    assert view.name == "v"
    assert isinstance(query, CreateQuery)
    assert (query.name, query.emit, query.options) == ("q", Emit("changes"), {"sink": "parquet"})


@pytest.mark.parametrize(
    ("text", "table", "name"),
    [
        ("rules AS SELECT x FROM s", "rules", "rules"),
        ("rules AS (SELECT x FROM s)", "rules", "rules"),
        ("rules AS WITH w AS (SELECT x FROM s) SELECT x FROM w", "rules", "rules"),
        ("rules AS r AS SELECT x FROM s", "rules", "r"),
        ("`the rules` r AS (SELECT x FROM s)", "the rules", "r"),
    ],
)
def test_for_each(text: str, table: str, name: str) -> None:
    start = "CREATE QUERY q for each row of "
    query = one(f"{start}{text} EMIT CHANGES WITH (sink = 'memory')")
    assert isinstance(query, CreateQuery)
    assert query.select.for_each == ForEach(table, name, at=len(start))
    assert (query.emit, query.options) == (Emit("changes"), {"sink": "memory"})
    again = one(query.sql)
    assert isinstance(again, CreateQuery)
    assert again.select.ast == query.select.ast


@pytest.mark.parametrize("kind", ["stream", "table", "view", "query"])
def test_drop(kind: str) -> None:
    statement = one(f"drop {kind} `The Name`")
    assert isinstance(statement, Drop)
    assert (statement.kind, statement.name) == (kind, "The Name")


def test_explain() -> None:
    by_select, by_name = parse("EXPLAIN ANALYZE SELECT x FROM s EMIT CHANGES; explain q")
    assert isinstance(by_select, Explain)
    assert by_select.analyze
    assert by_select.emit == Emit("changes")
    assert isinstance(by_name, Explain)
    assert (by_name.target, by_name.analyze) == ("q", False)


@pytest.mark.parametrize(
    ("text", "kind", "size", "columns"),
    [
        ("[RANGE 5 MINUTES]", "RANGE", 300_000_000, []),
        ("[range 1 minute]", "RANGE", 60_000_000, []),
        ("[RANGE 1.5 SECONDS]", "RANGE", 1_500_000, []),
        ("[RANGE INTERVAL '5' MINUTES]", "RANGE", 300_000_000, []),
        ("[RANGE INTERVAL '5 minutes']", "RANGE", 300_000_000, []),
        ("[RANGE '2 weeks']", "RANGE", 1_209_600_000_000, []),
        ("[NOW]", "RANGE", 1, []),
        ("[ROWS 100]", "ROWS", 100, []),
        ("[PARTITION BY a, `b c` ROWS 3]", "ROWS", 3, ["a", "b c"]),
        ("[UNBOUNDED]", "UNBOUNDED", None, []),
    ],
)
@pytest.mark.parametrize("form", ["s {}", "s {} AS t", "s {} t", "s AS t {}", "s t {}"])
def test_windows(form: str, text: str, kind: str, size: int | None, columns: list[str]) -> None:
    assert windows(f"SELECT x FROM {form.format(text)} WHERE x > 1") == [(kind, size, columns)]


def test_windows_of_joined_streams() -> None:
    sql = "SELECT x FROM a [NOW] t, b AS u [ROWS 2] JOIN (SELECT y FROM c) [ROWS 3] AS v ON TRUE"
    assert [size for _, size, _ in windows(sql)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "kind", "size"),
    [
        ("WINDOW 10 SECONDS", "RANGE", 10_000_000),
        ("WINDOW [RANGE 10 SECONDS]", "RANGE", 10_000_000),
        ("WINDOW RANGE 10 SECONDS", "RANGE", 10_000_000),
        ("WINDOW ROWS 7", "ROWS", 7),
        ("WINDOW [UNBOUNDED]", "UNBOUNDED", None),
    ],
)
def test_trailing_window(text: str, kind: str, size: int | None) -> None:
    assert windows(f"SELECT x FROM s GROUP BY x {text} EMIT CHANGES") == [(kind, size, [])]


@pytest.mark.parametrize(
    ("text", "emit"),
    [
        ("", Emit()),
        ("EMIT INSERTS", Emit()),
        ("emit changes", Emit("changes")),
        ("EMIT SNAPSHOT EVERY 10 SECONDS", Emit("snapshot", 10_000_000)),
        (
            "EMIT SNAPSHOT EVERY 10 SECONDS OFFSET -3 SECONDS",
            Emit("snapshot", 10_000_000, offset_us=7_000_000),
        ),
    ],
)
@pytest.mark.parametrize("body", ["SELECT x FROM s", "SELECT x FROM s [NOW]", "SELECT x FROM s t"])
def test_emit(body: str, text: str, emit: Emit) -> None:
    statement = one(f"{body} {text}")
    assert isinstance(statement, SelectStatement)
    assert statement.emit == emit


def test_emit_may_name_a_column() -> None:
    statement = one("SELECT emit, x AS emit FROM s")
    assert isinstance(statement, SelectStatement)
    assert statement.emit == Emit()
    assert statement.select.ast.named_selects == ["emit", "emit"]


def test_statements_carry_their_text_and_place() -> None:
    script = "-- first\nSELECT ';' FROM a; -- then\n\n  DROP VIEW v ; /* end; */;"
    first, second = parse(script)
    assert (first.sql, first.line, first.column) == ("SELECT ';' FROM a", 2, 1)
    assert (second.sql, second.line, second.column) == ("DROP VIEW v", 4, 3)


def test_a_statement_parses_again_from_its_own_text() -> None:
    script = (
        "CREATE STREAM s (ts TIMESTAMP) TIMESTAMP BY ts LATENESS 2 DAYS;\nSELECT ts FROM s [NOW]"
    )
    stream, select = parse(script)
    assert isinstance(stream, CreateStream)
    assert isinstance(select, SelectStatement)
    (stream_again,) = parse(stream.sql)
    assert isinstance(stream_again, CreateStream)
    assert stream_again.definition == stream.definition
    (select_again,) = parse(select.sql)
    assert isinstance(select_again, SelectStatement)
    assert select_again.select.ast == select.select.ast


@pytest.mark.parametrize("text", ["", " ;; ", "-- nothing", "/* nothing */ ;"])
def test_no_statement(text: str) -> None:
    assert parse(text) == []


def test_error_positions_count_in_the_whole_script() -> None:
    with pytest.raises(SqlError) as caught:
        parse("SELECT x FROM s;\n\nSELECT y FROM t [RANGE 3 FORTNIGHTS]")
    assert (caught.value.line, caught.value.column) == (3, 26)
