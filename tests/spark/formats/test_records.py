"""Columns at paths of JSON, in files and in records of other sources."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline.spark import Session
from spark_cases import wait

pytestmark = pytest.mark.spark

NEW_YEAR = 1_767_225_600_000  # 2026, in milliseconds
COLUMNS = """
    id BIGINT, price DOUBLE PATH '$.order.price', cents DECIMAL(10, 2) PATH '$.order.fee',
    second STRING PATH '$.order.tags[1]', name STRING PATH '$.items[0][''the name'']',
    ms BIGINT PATH '$.at.ms', ts TIMESTAMP AS (timestamp_millis(ms))
"""


def record(i: int, **more: Any) -> dict[str, Any]:
    return {
        "id": i,
        "order": {"price": i / 4, "fee": 0.25, "tags": ["a", f"b{i}"]},
        "items": [{"the name": f"n{i}"}],
        "at": {"ms": NEW_YEAR + i},
        **more,
    }


GOOD = [
    record(1),
    record(2, order=None),
    record(3, order={"tags": ["only"]}, items=[]),
    record(4, other={"x": [1, {"y": None}]}, ID=7),
]
#: As texts, with what the reason of the bad row says.
BAD = [
    ('{"id": 5', '{"id": 5'),
    ("[]", "[]"),
    (json.dumps(record(6, order=17)), '"order": 17'),
    (json.dumps(record(7, id="seven")), '"id": "seven"'),
    (json.dumps(record(8, at=None)), "ts is null"),
]
EXPECTED = [
    (1, 0.25, "0.25", "b1", "n1"),
    (2, None, None, None, "n2"),
    (3, None, None, None, None),
    (4, 1.0, "0.25", "b4", "n4"),
]


@pytest.mark.parametrize(
    "source",
    ["source = 'json'", "source = 'json', multiLine = 'true'", "source = 'text', format = 'json'"],
)
def test_columns_at_paths(spark: SparkSession, tmp_path: Path, source: str) -> None:
    (tmp_path / "in").mkdir()
    lines = [*map(json.dumps, GOOD), *(text for text, _ in BAD)]
    several = "multiLine" in source
    if several:  # a file is a record, or an array of records
        for number, line in enumerate(lines):
            text = line.replace(", ", ",\n").replace(": ", "\n:\t")
            (tmp_path / "in" / f"{number}.json").write_text(text)
    else:
        (tmp_path / "in" / "1.json").write_text("\n".join(lines))
    session = Session(spark, shards=1)
    session.sql(
        f"CREATE STREAM s ({COLUMNS}) TIMESTAMP BY ts WITH ({source}, path = '{tmp_path / 'in'}')"
    )
    session.query("q", "SELECT id, price, cents, second, name FROM s [NOW]", sink="memory")
    session.start(available_now=True).finish()
    assert rows_of(session) == EXPECTED
    reasons = session.results("bad:s").toArrow()["_reason"].to_pylist()
    expected = [part for text, part in BAD if not (several and text == "[]")]
    assert len(reasons) == len(expected)
    for part in expected:
        wanted = "".join(part.split())
        assert any(wanted in "".join(reason.split()) for reason in reasons), (part, reasons)


def rows_of(session: Session) -> list[tuple[Any, ...]]:
    rows = session.results("q").toArrow().sort_by("id")
    columns = [rows[name] for name in ("id", "price", "cents", "second", "name")]
    texts = (c.cast(pa.string()) if pa.types.is_decimal(c.type) else c for c in columns)
    return list(zip(*(c.to_pylist() for c in texts), strict=True))


def test_a_table_has_columns_at_paths(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "1.json").write_text('{"k": {"id": 1}, "v": "one"}\n{"k": {"id": 2}}\n')
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.json").write_text('{"ts": "2026-01-01T00:00:00Z", "k": 1}\n')
    session = Session(spark, shards=1)
    session.sql(f"""
        CREATE TABLE t (k BIGINT PATH '$.k.id', v STRING)
          WITH (source = 'json', path = '{tmp_path}/1.json');
        CREATE STREAM s (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts
          WITH (source = 'json', path = '{tmp_path}/in');
    """)
    session.query("q", "SELECT t.v FROM s [NOW], t WHERE s.k = t.k", sink="memory")
    session.start(available_now=True).finish()
    assert [row["v"] for row in session.results("q").collect()] == ["one"]


@pytest.mark.parametrize("unit", ["", "ts_unit = 'ms', "])
def test_event_times_at_paths(spark: SparkSession, tmp_path: Path, unit: str) -> None:
    at = NEW_YEAR if unit else "2026-01-01T00:00:00Z"
    (tmp_path / "1.json").write_text(json.dumps({"at": {"t": at}, "t": {"begin": "2026-01-01"}}))
    session = Session(spark, shards=1)
    session.sql(
        "CREATE STREAM s (ts TIMESTAMP PATH '$.at.t', begin DATE PATH '$.t.begin') TIMESTAMP BY ts "
        f"WITH ({unit}source = 'json', path = '{tmp_path}')"
    )
    session.query("q", "SELECT ts, begin FROM s [NOW]", sink="memory")
    session.start(available_now=True).finish()
    (row,) = session.results("q").toArrow().to_pylist()
    assert (row["ts"].isoformat(), str(row["begin"])) == ("2026-01-01T00:00:00+00:00", "2026-01-01")


def test_records_of_a_socket(spark: SparkSession) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        session = Session(spark, shards=1)
        session.sql(
            "CREATE STREAM s (ts TIMESTAMP PATH '$.at.t', x INT, seen TIMESTAMP METADATA FROM "
            "'timestamp') TIMESTAMP BY ts LATENESS 1 SECOND WITH (source = 'socket', "
            f"host = '127.0.0.1', port = {port}, format = 'json')"
        )
        session.query("q", "SELECT x, seen FROM s [NOW]", sink="memory")
        run = session.start()
        connection, _ = server.accept()
        with connection:
            for second in (1, 9):
                at = f"2026-01-01T00:00:0{second}Z"
                connection.sendall(b'{"x": %d, "at": {"t": "%s"}}\n' % (second, at.encode()))
            connection.sendall(b"nothing\n")
            wait(run, lambda: run.progress().rows_in.get("s") == 3)
            run.finish()
    found = session.results("q").toArrow().to_pylist()
    assert sorted(row["x"] for row in found) == [1, 9]
    assert all(row["seen"].year >= 2026 for row in found)
    (bad,) = session.results("bad:s").collect()
    assert bad["_reason"] == "cannot be read: nothing"
