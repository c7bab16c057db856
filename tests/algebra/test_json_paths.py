"""Where columns are in a record: PATH and METADATA."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.algebra.json_paths import parse_path, path_text
from eddyline.errors import SqlError
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateStream, CreateTable

TS = "ts TIMESTAMP"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("$.a", ("a",)),
        ("$.a.b_1.c", ("a", "b_1", "c")),
        ("$.a[0][12].b", ("a", 0, 12, "b")),
        ("$['a.b'].c", ("a.b", "c")),
        ('$["it\'s"]', ("it's",)),
        ("$.ü-1", ("ü-1",)),
    ],
)
def test_paths(text: str, path: tuple[str | int, ...]) -> None:
    assert parse_path(text) == path
    assert parse_path(path_text(path)) == path


@pytest.mark.parametrize(
    "text",
    [
        "",
        "$",
        "a",
        "$a",
        "$.",
        "$..a",
        "$.a.",
        "$.a[",
        "$.a[-1]",
        "$.a[*]",
        "$[0].a",
        "$.a b",
        "$[]",
    ],
)
def test_texts_that_are_no_paths(text: str) -> None:
    with pytest.raises(ValueError, match=r"path|object"):
        parse_path(text)


def test_columns_of_a_stream_and_of_a_table() -> None:
    (stream,) = parse(
        "CREATE STREAM s (price DOUBLE PATH '$.order.price', k STRING METADATA FROM 'key', "
        "topic STRING METADATA, ms BIGINT PATH '$.ms', ts TIMESTAMP AS (timestamp_millis(ms)), "
        "path STRING, metadata BIGINT) TIMESTAMP BY ts"
    )
    assert isinstance(stream, CreateStream)
    assert stream.definition.columns.paths == {"price": ("order", "price"), "ms": ("ms",)}
    assert stream.definition.columns.metadata == {"k": "key", "topic": "topic"}
    assert [f.name for f in stream.definition.schema][-2:] == ["path", "metadata"]
    (table,) = parse("CREATE TABLE t (x DECIMAL(10, 2) PATH '$.a', y INT METADATA FROM 'offset')")
    assert isinstance(table, CreateTable)
    assert table.definition.columns.paths == {"x": ("a",)}
    assert table.definition.columns.metadata == {"y": "offset"}


@pytest.mark.parametrize(
    ("columns", "at", "message"),
    [
        (f"{TS}, x INT PATH 'a'", "'a'", r"'a' is no path; write it like '\$\.order"),
        (f"{TS}, x INT PATH '$.a..b'", "'$.a..b'", r"from '\.\.b' on"),
        (f"{TS}, x INT PATH 3", "3", "expected a text in quotes"),
        (f"{TS}, x INT METADATA FROM y", "y", "expected a text in quotes"),
        (f"{TS}, x INT PATH '$.a' AS (1)", "AS", "read from the source, or computed: not both"),
        (
            f"{TS}, a INT PATH '$.x', b STRING PATH '$.x'",
            "'$.x'",
            r"'b' and 'a' read \$\.x, as STRING and as INT",
        ),
        (
            f"{TS}, a STRING PATH '$.x', b INT PATH '$.x.y'",
            "'$.x.y'",
            r"'a' reads \$\.x as a whole, and 'b' a part",
        ),
        (f"{TS}, a INT PATH '$.x[1]', b INT PATH '$.x.y'", "'$.x.y'", "reads an array where"),
        (f"{TS}, a INT PATH '$.x[1]', b STRING PATH '$.x[0]'", "'$.x[0]'", "STRING and as INT"),
        (f"{TS}, a INT PATH '$.x.y', b INT PATH '$.X.z'", "'$.X.z'", "differ in case only"),
        (f"{TS}, order STRING, b INT PATH '$.order.z'", "'$.order.z'", "'order' reads"),
    ],
)
def test_wrong_columns_have_their_position(columns: str, at: str, message: str) -> None:
    sql = f"CREATE STREAM s ({columns}) TIMESTAMP BY ts"
    with pytest.raises(SqlError, match=message) as caught:
        parse(sql)
    assert caught.value.column == sql.rindex(at) + 1


def test_an_engine_gets_the_columns_by_their_names() -> None:
    engine = Engine()
    engine.sql(f"CREATE STREAM s ({TS} PATH '$.at', k STRING METADATA FROM 'key') TIMESTAMP BY ts")
    engine.query("SELECT k FROM s [NOW]", name="q")
    changes = engine.process({"s": pa.table({"ts": [1], "k": ["a"]})})
    assert changes["q"]["k"].to_pylist() == ["a"]
