"""Messages that the workers parse are what Spark's ``from_json`` makes of them; others are left."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import (
    BooleanType,
    ByteType,
    DataType,
    DecimalType,
    DoubleType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
)

from eddyline.algebra.catalog import JsonPath
from eddyline.spark.formats.json_columns import JsonColumns
from eddyline.spark.formats.records import Records, nested
from eddyline.spark.sources.parsed_by_columns import parsed_by_columns
from eddyline.types import Field

#: Columns: type and path.
COLUMNS: Mapping[str, tuple[DataType, pa.DataType, JsonPath]] = {
    "id": (LongType(), pa.int64(), ("id",)),
    "i": (IntegerType(), pa.int32(), ("i",)),
    "h": (ShortType(), pa.int16(), ("h",)),
    "t": (ByteType(), pa.int8(), ("t",)),
    "x": (DoubleType(), pa.float64(), ("x",)),
    "d": (DecimalType(10, 2), pa.decimal128(10, 2), ("d",)),
    "whole": (DecimalType(18, 0), pa.decimal128(18, 0), ("w",)),
    "yes": (BooleanType(), pa.bool_(), ("yes",)),
    "s": (StringType(), pa.string(), ("s",)),
    "symbol": (StringType(), pa.string(), ("order", "symbol")),
    "price": (DoubleType(), pa.float64(), ("order", "price")),
    "again": (DoubleType(), pa.float64(), ("order", "price")),
    "second": (StringType(), pa.string(), ("order", "tags", 1)),
    "first": (StringType(), pa.string(), ("order", "tags", 0)),
    "name": (StringType(), pa.string(), ("items", 0, "the nämé")),
    "size": (LongType(), pa.int64(), ("items", 2, "size")),
    "deep": (LongType(), pa.int64(), ("m", 1, 0)),
    "two": (LongType(), pa.int64(), ("two",)),
    "types": (StringType(), pa.string(), ("two",)),
}  # fmt: skip
PATHS = {name: path for name, (_, _, path) in COLUMNS.items()}
FIELDS = nested([StructField(n, t) for n, (t, _, _) in COLUMNS.items()], PATHS)

#: Values as they are written: some are read alike by every parser, some are not.
NUMBERS = (
    "0", "-0", "1", "-1", "127", "128", "255", "-129", "32768", "2147483647", "2147483648",
    "-2147483649", "999999999999999999", "9223372036854775807", "9223372036854775808",
    "-9223372036854775808", "123456789012345678901234567890", "1.5", "-2.25", "0.1", "1e3", "1E-2",
    "1.005", "100.10", "99999999.99", "100000000", "-0.0", "0.0", "1e400", "-1e-400", "5e-324",
    "2.2250738585072011e-308", "1.7976931348623157e308", "0.30000000000000004", "1e23", "9e22",
    "9007199254740993", "9007199254740993.0", "123456789.123456789123456789", "8.5e-20", "1e22",
    "179769313486231580793728971405301e275", "4.35", "0.000001", "01", "1.", ".5",
    "+1", "1e", "--1", "0x1", "NaN", "-Infinity", "1_0", "1" * 40, "0." + "3" * 60, "-", "1e+5",
    "7205759403792793.5", "1.00000000000000011102230246251565", "17.5E+0004",
)  # fmt: skip
STRINGS = (
    '""', '"plain"', '"ü€😀"', '"a\\nb\\t\\"\\\\\\/\\b\\f\\r"', '"\\u00e9\\u20AC"',
    '"\\ud83d\\ude00"', '"\\ud83d"', '"\\ude00x"', '"\\ud83d\\u0041"', '"\\x"', '"\\u12g4"',
    '"tab\tin it"', '"line\nbreak"', '"17"', '"1.5"', '"true"', '"null"', '"\x7f\u2028"', "'a'",
    '"\\u0000"', '"not closed', '"NaN"', '"{}"', '"\ufeff"', '"a//b"', '"\\u005c"', '"\u0000"',
)  # fmt: skip
OTHERS = (
    "true", "false", "null", "True", "nul", "truex", "{}", "[]", "{ }", "[ ]", '{"a":1}', "[1,2]",
    '{ "a" : [ 1 , "b c" ] }', '{"a":1.0}', '["\\u00e9"]', '{"a":-0}', '{"a":{"b":[{}]}}', "[,]",
    "[1,]", '{"a"}', '{"a":}', '{"a":1,}', "[1 2]", "[" * 70 + "]" * 70, "[[[1]]]", "", "/* */1",
    '["x","y"]', "[null,true]", '[{"the nämé":"n","size":1},{"size":"x"}]', '{"symbol":"S"}',
    '{"symbol":[{"a": 1 }], "price": 2}', '{"tags":["a", {"b" :1}, 3]}', '{"tags":[1.5]}',
    '{"tags":{}}', '{"price":{}}', '[{"size":1},2]', '[{"size":1},null,{"size":7}]', "[[],[5,[]]]",
    '{"price":1,"price":2}', '{"price":1,"x":{"price":2}}', '{"pri\\u0063e":3}', "[[1],[2,3],[]]",
)  # fmt: skip
NAMES = ("id", "i", "h", "t", "x", "d", "w", "yes", "s", "order", "items", "m", "two", "more", "")
ENDS = ("", "", "", "", " ", "\n", " x", "{}", "]", "}", ",", "\x00", "//", "\r\n\t")


def written(rng: random.Random) -> bytes:
    """A message, mostly an object of some fields."""
    name = lambda: rng.choice(NAMES)  # noqa: E731
    values = (NUMBERS, STRINGS, OTHERS)
    fields = [(name(), rng.choice(rng.choice(values))) for _ in range(rng.choice((1, 1, 1, 2, 4)))]
    space = rng.choice(("", "", " ", "\n "))
    text = ",".join(f'{space}"{n}"{space}:{space}{v}{space}' for n, v in fields)
    whole = f"{{{text}}}" if rng.random() < 0.97 else text
    return (whole + rng.choice(ENDS)).encode()


def usual(rng: random.Random) -> dict[str, Any]:
    """A message with every field."""
    return {
        "id": rng.randint(-(2**63), 2**63 - 1),
        "i": rng.randint(-(2**31), 2**31 - 1),
        "h": rng.randint(-(2**15), 2**15 - 1),
        "t": rng.randint(-128, 127),
        "x": rng.choice((rng.random(), rng.uniform(-1e9, 1e9), float(rng.randint(0, 99)))),
        "d": rng.randint(-(10**9), 10**9) / 100,
        "w": rng.randint(-(10**17), 10**17),
        "yes": rng.random() < 0.5,
        "s": "".join(rng.choice('aé€😀"\\\n/ ') for _ in range(rng.randint(0, 9))),
        "order": {
            "symbol": "ABC",
            "price": rng.random() * 10 ** rng.randint(-9, 9),
            "tags": [1, "b"],
        },
        "items": [{"the nämé": "n", "other": [1.5]}, {}, {"size": rng.randint(0, 9)}],
        "m": [[], [rng.randint(0, 9)]],
        "more": [{"x": [None, True, {"y": "\x7f"}]}, 1.5e300],
        "two": rng.randint(0, 9),
    }


def changed(rng: random.Random, message: bytes) -> bytes:
    """A message with other bytes, or without some."""
    out = bytearray(message)
    for _ in range(rng.randint(1, 2)):
        if not out:
            break
        place = rng.randrange(len(out))
        kind = rng.random()
        if kind < 0.5:
            out[place] = rng.choice(b'{}[]",:\\ 0-.+tfn/x\xff\xc3\xa9\x00')
        elif kind < 0.75:
            del out[place]
        else:
            out[place:place] = bytes([rng.choice(b'{}[]",:\\ 0-.\xe2')])
    return bytes(out)


def messages(count: int, seed: int) -> Iterator[bytes | None]:
    rng = random.Random(seed)
    for _ in range(count):
        kind = rng.random()
        if kind < 0.4:
            yield written(rng)
        elif kind < 0.98:
            record = usual(rng)
            for name in rng.sample(list(record), rng.choice((0, 0, 3))):
                record[name] = rng.choice((None, "x", 1, 1.5, True, [], {}))
            names = rng.sample(list(record), len(record))
            record = {name: record[name] for name in names} if rng.random() < 0.5 else record
            separators = rng.choice(((",", ":"), (", ", ": ")))
            ascii_ = rng.random() < 0.5
            text = json.dumps(record, ensure_ascii=ascii_, separators=separators).encode()
            yield text if kind < 0.7 else changed(rng, text)
        else:
            yield rng.choice((None, b"", b" ", b"null", b"[{}]", b"\xef\xbb\xbf{}", b"{}{}", b"{"))


def records(spark: SparkSession, sent: Sequence[bytes | None]) -> Records:
    table = pa.table({"value": pa.array(sent, pa.binary()), "n": range(len(sent))})
    rows = spark.createDataFrame(table).coalesce(1).selectExpr("cast(value AS STRING) value", "n")
    columns = (*(Field(n, type_) for n, (_, type_, _) in COLUMNS.items()), Field("n", pa.int64()))
    return Records(rows, "json", {}, FIELDS, columns, PATHS)


def both(given: Records) -> tuple[pa.Table, pa.Table]:
    """The rows of Spark, and those of the workers."""
    found = parsed_by_columns(given)
    assert found is not None
    rows, read = found
    by_columns = pa.Table.from_batches(read(iter(rows.toArrow().to_batches(1_000))))
    return given.parsed().toArrow(), by_columns


def assert_same(given: Records, sent: Sequence[bytes | None]) -> None:
    expected, found = both(given)
    assert found.schema.names == expected.schema.names
    for name in expected.schema.names:
        a, b = (repr_of(t.column(name)) for t in (expected, found))
        assert a.equals(b), next(
            (name, sent[i], x, y)
            for i, (x, y) in enumerate(zip(a.to_pylist(), b.to_pylist(), strict=True))
            if x != y
        )


def repr_of(column: pa.ChunkedArray) -> pa.Array:
    """Doubles by their bits, so that -0.0 is not 0.0; texts by their bytes."""
    values = column.combine_chunks()
    if pa.types.is_floating(values.type):
        return values.view(pa.int64())
    return values.view(pa.binary()) if pa.types.is_string(values.type) else values


@pytest.mark.spark
@pytest.mark.parametrize(
    ("count", "seed"),
    [(4_000, 1), *(pytest.param(400_000, s, marks=pytest.mark.long) for s in range(2, 8))],
)
def test_messages_of_all_kinds(spark: SparkSession, count: int, seed: int) -> None:
    sent = list(messages(count, seed))
    assert_same(records(spark, sent), sent)
    plain = read(sent)
    assert 0.1 < sum(plain) / count < 0.7, "both ways are used"


@pytest.mark.spark
def test_each_value_in_each_place(spark: SparkSession) -> None:
    values = (*NUMBERS, *STRINGS, *OTHERS)
    sent: list[bytes | None] = [f'{{"{n}":{v}}}'.encode() for n in NAMES for v in values]
    sent += [f'{{"order":{{"{n}":{v}}}}}'.encode() for n in ("symbol", "price") for v in values]
    sent += [f'{{"order":{{"tags":[0,{v},2]}}}}'.encode() for v in values]
    sent += [f'{{"m":[0,{v}]}}'.encode() for v in values]
    assert_same(records(spark, sent), sent)


def read(sent: Sequence[bytes | None]) -> list[bool]:
    from pyspark.sql.types import StructType

    columns = JsonColumns(StructType(list(FIELDS)), list(PATHS.values()))
    return columns.read(pa.array(sent, pa.binary()))[1].tolist()


def test_usual_messages_are_plain() -> None:
    rng = random.Random(1)
    texts = (json.dumps(usual(rng), indent=i % 3 or None, ensure_ascii=False) for i in range(1_000))
    assert all(read([text.encode() for text in texts]))


def test_messages_with_escapes_in_names_of_fields_are_not_plain() -> None:
    assert read([b'{"id":1}', b'{"\\u0069d":1}', b'{"s":"\\u0069d"}']) == [True, False, True]
