"""Files of the driver have what files of Spark's writer have, for Spark as a reader."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from eddyline.spark.environment import settings
from eddyline.spark.formats.file_encoders import file_encoder
from eddyline.types import TIMESTAMP

pytestmark = pytest.mark.spark

UTC = dt.UTC
STRINGS = [
    "plain", "", None, " spaces at both ends ", "comma, within", 'a "quote"', "\\", "back\\slash",
    'both \\" of them', "tab\tand\x01control\x1f", "\t", '"', "# no comment", "é 漢 😀", ",\\",
    "null", "a,b ", "semi;colon|bar", "line\nbreak", "\x7f\u2028",
]  # fmt: skip
DOUBLES = [
    0.0, -0.0, 1.0, None, 1e7, 12345678.9, 1e-3, 1e-4, 1e21, float("inf"), float("-inf"),
    float("nan"), 0.1 + 0.2, 5e-324, 1.7976931348623157e308, -2.5, 100.0, 3.0, 4.0, 5.0,
]  # fmt: skip
TIMES = [
    dt.datetime(2013, 1, 1, 17, 53, tzinfo=UTC), None, dt.datetime(1970, 1, 1, tzinfo=UTC),
    dt.datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    dt.datetime(1500, 2, 28, 1, 2, 3, 4, tzinfo=UTC),
    dt.datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
]  # fmt: skip


def cycled(values: list[Any], type_: pa.DataType) -> pa.Array:
    return pa.array([values[i % len(values)] for i in range(len(STRINGS))], type_)


FLAT = pa.table(
    {
        "_op": cycled(["+", "-"], pa.string()),
        "_ts": cycled(TIMES, TIMESTAMP),
        "text": pa.array(STRINGS),
        "yes": cycled([True, False, None], pa.bool_()),
        "tiny": cycled([-128, 127, None], pa.int8()),
        "small": cycled([-32768, 32767, None], pa.int16()),
        "int": cycled([-(2**31), 2**31 - 1, None], pa.int32()),
        "long": cycled([-(2**63), 2**63 - 1, None], pa.int64()),
        "float": cycled([1.5, None, 0.1, 3e38, float("nan"), float("-inf")], pa.float32()),
        "double": pa.array(DOUBLES, pa.float64()),
        "day": cycled([dt.date(2013, 1, 1), None, dt.date(1500, 1, 1)], pa.date32()),
        "price": cycled([Decimal("1.50"), None, Decimal("-0.01")], pa.decimal128(10, 2)),
        "sum": cycled([Decimal("12345678901234567890.12345"), None], pa.decimal128(38, 5)),
    }
)
NESTED = FLAT.append_column("bytes", cycled([b"", None, b"\x00\xff"], pa.binary()))
NESTED = NESTED.append_column("list", cycled([[1, None], [], None], pa.list_(pa.int64())))
PARTS = pa.struct([("p", pa.list_(pa.string())), ("at", TIMESTAMP)])
NESTED = NESTED.append_column(
    "parts", cycled([{"p": ["a", None], "at": TIMES[4]}, None, {"p": None, "at": None}], PARTS)
)
NESTED = NESTED.append_column(
    "map", cycled([[("a", 1), ("b", None)], [], None], pa.map_(pa.string(), pa.int64()))
)


SETTINGS = {"spark.sql.session.timeZone": "UTC"}
INT96 = {"spark.sql.parquet.outputTimestampType": "INT96"}
MICROS = {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS"}


def both(
    spark: SparkSession, place: Path, format_: str, table: pa.Table, options: Mapping[str, str]
) -> tuple[str, str]:
    """A directory written by the driver and one written by Spark."""
    ours, theirs = place / "ours", place / "theirs"
    ours.mkdir()
    encode = file_encoder(format_, options, table.schema, lambda n: str(spark.conf.get(n)))
    assert encode is not None
    (ours / f"part-00000.{format_}").write_bytes(encode(table))

    def rows(_: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from table.to_batches()

    df = spark.range(1).coalesce(1).mapInArrow(rows, from_arrow_schema(table.schema))
    df.write.format(format_).options(**options).save(str(theirs))
    return str(ours), str(theirs)


def values(rows: DataFrame) -> list[str]:
    """Rows in the order of their file; NaN is equal to itself."""
    return [repr(row) for row in rows.toArrow().to_pylist()]


@pytest.mark.parametrize(
    ("table", "options", "more"),
    [
        (NESTED, {}, INT96),
        (NESTED, {}, MICROS),
        (FLAT, {"Compression": "GZIP"}, INT96),
        (FLAT, {"compression": "zstd"}, INT96),
        (FLAT, {"compression": "uncompressed"}, INT96),
    ],
    ids=["int96", "micros", "gzip", "zstd", "uncompressed"],
)
def test_parquet(
    spark: SparkSession,
    tmp_path: Path,
    table: pa.Table,
    options: Mapping[str, str],
    more: Mapping[str, str],
) -> None:
    with settings(spark, {**SETTINGS, **more}):
        ours, theirs = both(spark, tmp_path, "parquet", table, options)
        found, expected = spark.read.parquet(ours), spark.read.parquet(theirs)
        assert found.schema == expected.schema
        assert values(found) == values(expected)
        assert len(values(found)) == table.num_rows
    (of_spark,) = Path(theirs).glob("*.parquet")
    files = [pq.ParquetFile(path) for path in (Path(ours, "part-00000.parquet"), of_spark)]
    assert files[0].schema_arrow.equals(files[1].schema_arrow), "for other readers too"
    codecs = {f.metadata.row_group(0).column(0).compression for f in files}
    assert len(codecs) == 1


@pytest.mark.parametrize(
    ("format_", "options", "reading"),
    [
        ("csv", {}, {}),
        ("csv", {"header": "true", "sep": ";"}, {"header": "true", "sep": ";"}),
        ("csv", {"sep": "|"}, {"sep": "|"}),
        ("json", {}, {}),
    ],
)
def test_text(
    spark: SparkSession,
    tmp_path: Path,
    format_: str,
    options: Mapping[str, str],
    reading: Mapping[str, str],
) -> None:
    reading = {**reading, "multiLine": "true"} if format_ == "csv" else reading
    with settings(spark, SETTINGS):
        ours, theirs = both(spark, tmp_path, format_, FLAT, options)
        reader = spark.read.format(format_).options(**reading)
        schema = from_arrow_schema(FLAT.schema)
        declared = [reader.schema(schema).load(path) for path in (ours, theirs)]
        assert values(declared[0]) == values(declared[1])
        assert declared[0].count() == FLAT.num_rows
        guessing = spark.read.format(format_).options(**reading, inferSchema="true")
        found, expected = (guessing.load(path) for path in (ours, theirs))
        assert found.schema == expected.schema
        numbers = [] if format_ == "csv" else ["float", "double"]  # read as strings, for their NaN
        assert values(found.drop(*numbers)) == values(expected.drop(*numbers))


def test_strings_of_csv_are_written_as_by_spark(spark: SparkSession, tmp_path: Path) -> None:
    table = FLAT.select(["_op", "text", "int"])
    for sep in (",", ";", "|"):
        place = tmp_path / str(ord(sep))
        place.mkdir()
        ours, theirs = both(spark, place, "csv", table, {"sep": sep})
        (of_spark,) = Path(theirs).glob("*.csv")
        assert Path(ours, "part-00000.csv").read_text() == of_spark.read_text()


@pytest.mark.parametrize(
    ("format_", "table", "options"),
    [
        ("orc", FLAT, {}),
        ("xml", FLAT, {"rowTag": "row"}),
        ("parquet", FLAT, {"compression": "lz4"}),
        ("parquet", FLAT, {"maxRecordsPerFile": "5"}),
        ("parquet", pa.table({"x": pa.array([1], pa.duration("us"))}), {}),
        ("parquet", pa.table({"x": pa.array([1], pa.timestamp("us"))}), {}),
        ("parquet", pa.table({"x": [1], "X": [1]}), {}),
        ("csv", FLAT, {"sep": "\t"}),
        ("csv", FLAT, {"nullValue": "-"}),
        ("csv", pa.table({"only": [None, "a"]}), {}),
        ("csv", NESTED, {}),
        ("json", FLAT, {"ignoreNullFields": "false"}),
        ("json", NESTED, {}),
    ],
)
def test_what_only_spark_writes(
    spark: SparkSession, format_: str, table: pa.Table, options: Mapping[str, str]
) -> None:
    setting = lambda name: str(spark.conf.get(name))  # noqa: E731
    assert file_encoder(format_, options, table.schema, setting) is None


def test_settings_for_spark_only(spark: SparkSession) -> None:
    for name, value in (
        ("outputTimestampType", "TIMESTAMP_MILLIS"),
        ("writeLegacyFormat", "true"),
        ("datetimeRebaseModeInWrite", "LEGACY"),
        ("compression.codec", "lz4"),
    ):
        with settings(spark, {f"spark.sql.parquet.{name}": value}):
            found = file_encoder("parquet", {}, FLAT.schema, lambda n: str(spark.conf.get(n)))
        assert found is None, name


def test_long_years_have_a_sign(spark: SparkSession, tmp_path: Path) -> None:
    us = pa.array([253_402_300_800_000_000, -1, None]).cast(TIMESTAMP)
    day = pa.array([2_932_897, -1, None], pa.int32()).cast(pa.date32())
    table = pa.table({"n": [1, 2, 3], "ts": us, "day": day})
    for format_ in ("csv", "json"):
        place = tmp_path / format_
        place.mkdir()
        with settings(spark, SETTINGS):
            ours, theirs = both(spark, place, format_, table, {})
        (of_spark,) = Path(theirs).glob(f"*.{format_}")
        assert Path(ours, f"part-00000.{format_}").read_text() == of_spark.read_text()


def test_a_slice_of_a_table_is_written() -> None:
    table = pa.table({"a": ["x", "y", "z"], "b": [1, 2, 3]}).slice(1, 1)
    for format_, content in (("csv", b"y,2\n"), ("json", b'{"a":"y","b":2}\n')):
        encode = file_encoder(format_, {}, table.schema, str)
        assert encode is not None and encode(table) == content
