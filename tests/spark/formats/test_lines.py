"""A line of a JSON or CSV file is one row or one corrupt record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from eddyline import DataError
from eddyline.algebra.catalog import TableDef
from eddyline.spark.formats.lines import are_lines
from eddyline.spark.sources.sources import table_source
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateTable


@pytest.mark.parametrize(
    ("format_", "options", "expected"),
    [
        ("json", {}, True),
        ("csv", {"HEADER": "true", "encoding": "UTF-8", "mode": "PERMISSIVE"}, True),
        ("csv", {"multiLine": "TRUE"}, False),
        ("json", {"mode": "DROPMALFORMED"}, False),
        ("json", {"charset": "UTF-16"}, False),
        ("xml", {}, False),
        ("text", {}, False),
    ],
)
def test_which_files_are_lines(format_: str, options: dict[str, str], expected: bool) -> None:
    assert are_lines(format_, options) == expected


def read(spark: SparkSession, file: Path, content: bytes, columns: str, *options: str) -> Any:
    """The rows of a table over a file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    source = ", ".join((f"source = '{file.suffix[1:]}'", f"path = '{file.parents[0]}'", *options))
    (statement,) = parse(f"CREATE TABLE t ({columns}) WITH ({source})")
    assert isinstance(statement, CreateTable)
    return rows_of(spark, statement.definition)


def rows_of(spark: SparkSession, table: TableDef) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in table_source(spark, table).to_pylist()]


def test_lines_become_rows(spark: SparkSession, tmp_path: Path) -> None:
    json = b'\xef\xbb\xbf{"x":1,"s":"\xc3\xbc"}\n\n {"s":"b","x":2,"more":[]} \r\n{}\n'
    assert read(spark, tmp_path / "a/1.json", json, "x INT, s STRING") == [
        (1, "ü"), (2, "b"), (None, None)
    ]  # fmt: skip
    csv = b'\xef\xbb\xbfs,more,x\n"a,b",z,1\n \t\n\xc3\xbc,,2\n'
    assert read(spark, tmp_path / "b/1.csv", csv, "x INT, s STRING", "header = 'true'") == [
        (1, "a,b"), (2, "ü")
    ]  # fmt: skip
    assert read(spark, tmp_path / "b/1.csv", csv, "x INT, s STRING", "HEADER = 'true'") == [
        (1, "a,b"), (2, "ü")
    ]  # fmt: skip
    csv = b"1;it's\n2;'a;b'\n"
    options = ("sep = ';'", "quote = ''''")
    assert read(spark, tmp_path / "c/1.csv", csv, "x INT, s STRING", *options) == [
        (1, "it's"), (2, "a;b")
    ]  # fmt: skip


def test_directories_name_columns(spark: SparkSession, tmp_path: Path) -> None:
    found = read(spark, tmp_path / "day=7" / "1.json", b'{"x":1}\n', "x INT")
    assert found == [(1,)]
    (statement,) = parse(
        f"CREATE TABLE t (day INT, x INT) WITH (source = 'json', path = '{tmp_path}')"
    )
    assert isinstance(statement, CreateTable)
    assert rows_of(spark, statement.definition) == [(7, 1)]


@pytest.mark.parametrize(
    ("name", "content", "shown"),
    [
        ("1.json", b'[]\n[{"x":1},{"x":2}]\n', r"2 records cannot be read; the first: '\[\]'"),
        ("1.json", b'{"x":1}\n{"x":"\xff"}\n', r"1 records .*\\\\xff"),
        ("1.csv", b"1,2\n", "1 records cannot be read; the first: '1,2'"),
        ("1.csv", b"\x001\n", r"1 records cannot be read"),
        ("1.csv", b",".join([b"1"] * 30_000), r"1 records cannot be read"),
    ],
)
def test_other_lines_cannot_be_read(
    spark: SparkSession, tmp_path: Path, name: str, content: bytes, shown: str
) -> None:
    with pytest.raises(DataError, match=shown):
        read(spark, tmp_path / "in" / name, content, "x INT")
