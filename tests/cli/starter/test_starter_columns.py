"""Types and event times of the columns of a sample."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline.cli.starter.columns import columns_of, disorder_of, event_times_in, null_word
from eddyline.types import sql_type

SECONDS = 1_767_225_600  # 2026


def type_of(values: Any, type_: pa.DataType | None = None) -> str:
    (column,), others = columns_of(pa.table({"x": pa.array(values, type_)}))
    assert others == []
    return sql_type(column.type)


def times_in(**columns: Any) -> list[tuple[str, str | None]]:
    found, _ = columns_of(pa.table(columns))
    return [(t.column, t.unit) for t in event_times_in(found)]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["1", "-20", None], "BIGINT"),
        (["1", "2.5", "1e3", "NaN"], "DOUBLE"),
        (["9223372036854775808"], "DOUBLE"),
        (["007", "123"], "STRING"),
        (["0", "0.5", "-0.25"], "DOUBLE"),
        (["true", "FALSE", "yes"], "BOOLEAN"),
        (["t", "f"], "STRING"),
        (["2026-01-31", "2026-2-1"], "DATE"),
        (["2026-01-31", "2026-02-30"], "STRING"),
        (["2026-01-31T10:00:00Z", "2026-01-31 10:00:00.5+02:00"], "TIMESTAMP"),
        (["2026-01-31T10:00:00Z", "soon"], "STRING"),
        (["2026", "2025"], "BIGINT"),
        (["10:30", "11:00"], "STRING"),
        (["", "1"], "STRING"),
        ([None, None], "STRING"),
    ],
)
def test_the_type_of_text_is_what_all_values_can_be_read_as(
    texts: list[str | None], expected: str
) -> None:
    assert type_of(texts, pa.string()) == expected


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        (pa.uint8(), 255, "SMALLINT"),
        (pa.uint32(), 1, "BIGINT"),
        (pa.uint64(), 2**64 - 1, "DECIMAL(20,0)"),
        (pa.float16(), np.float16(1), "FLOAT"),
        (pa.large_string(), "a", "STRING"),
        (pa.dictionary(pa.int8(), pa.string()), "a", "STRING"),
        (pa.timestamp("ns", "Europe/Berlin"), datetime(2026, 1, 1), "TIMESTAMP"),
        (pa.timestamp("s"), datetime(2026, 1, 1), "TIMESTAMP"),
        (pa.date64(), date(2026, 1, 1), "DATE"),
        (pa.decimal128(9, 2), Decimal("1.25"), "DECIMAL(9,2)"),
        (pa.list_(pa.uint8()), [1], "ARRAY<SMALLINT>"),
        (pa.struct([("a", pa.int64())]), {"a": 1}, "STRUCT<a: BIGINT>"),
        (pa.map_(pa.string(), pa.int32()), [("a", 1)], "MAP<STRING, INT>"),
        (pa.binary(2), b"ab", "BINARY"),
    ],
)
def test_types_of_arrow(type_: pa.DataType, value: Any, expected: str) -> None:
    assert type_of([value], type_) == expected


def test_what_cannot_be_a_column_is_named() -> None:
    rows = pa.table({"a": [1], "A": [2], "t": pa.array([1], pa.time64("us"))})
    columns, others = columns_of(rows)
    assert [c.name for c in columns] == ["a"] and others == ["A", "t"]


def test_fields_of_structures_have_paths() -> None:
    rows = pa.table({"order": [{"price": 1.5, "the time": {"ms": 3}}], "id": [2.5]})
    columns, _ = columns_of(rows, parts=True)
    assert [(c.name, c.clause) for c in columns] == [
        ("id", ""),
        ("order_price", "PATH '$.order.price'"),
        ("order_the time_ms", "PATH '$.order[''the time''].ms'"),
    ]


def test_names_of_columns_differ() -> None:
    rows = pa.table({"a": [{"b": 1}], "a_b": [2]})
    columns, others = columns_of(rows, parts=True)
    assert [(c.name, c.clause) for c in columns] == [("a_b", ""), ("a_b_", "PATH '$.a.b'")]
    assert others == []


@pytest.mark.parametrize(
    ("per_second", "unit"), [(1, "s"), (1_000, "ms"), (1_000_000, "us"), (1_000_000_000, "ns")]
)
def test_numbers_are_times_in_their_unit(per_second: int, unit: str) -> None:
    numbers = [(SECONDS + s) * per_second for s in (5, 2, 9)]
    assert times_in(event_time=numbers) == [("event_time", unit)]
    assert times_in(x=numbers) == [], "neither named like a time nor in order"
    assert times_in(x=sorted(numbers)) == [("x", unit)]


def test_the_most_probable_time_comes_first() -> None:
    at = [datetime(2026, 1, 1, 0, 0, s) for s in (3, 1)]
    text = [f"2026-01-01T00:00:0{s}Z" for s in (3, 1)]
    ms = [1000 * (SECONDS + s) for s in (3, 1)]
    found = times_in(note=["a", "b"], seen=at, created_at=text, ms=ms, day=[date(2026, 1, 1)] * 2)
    assert [name for name, _ in found] == ["created_at", "seen", "ms", "day"]
    assert times_in(ts=[at[0], None], updated_time=at)[0] == ("updated_time", None), "none missing"


def test_no_times() -> None:
    assert (
        times_in(time=[1, 2], name=["x", "y"], day=["31.01.2026 10:00", "30.01.2026 11:00"]) == []
    )
    assert times_in(ts=pa.nulls(2, pa.timestamp("us"))) == []


def test_text_is_a_time_if_most_values_are() -> None:
    assert times_in(ts=["2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", "?"]) == [("ts", None)]
    assert times_in(ts=["2026-01-01T00:00:00Z", "?", "?"]) == []


def test_disorder_is_the_distance_to_the_largest_earlier_time() -> None:
    columns, _ = columns_of(pa.table({"ts": [SECONDS + s for s in (0, 9, 4, 10, 8)]}))
    (time,) = event_times_in(columns)
    assert disorder_of(time.us) == 5_000_000 and time.missing == 0


@pytest.mark.parametrize(
    ("columns", "word"),
    [
        ({"a": ["1", "NA"], "b": ["x", "y"]}, "NA"),
        ({"a": ["1", "null"], "b": ["2026-01-01", "null"]}, "null"),
        ({"a": ["one", "NA"]}, None),
        ({"a": ["NA", "NA"]}, None),
        ({"a": ["1", "2"]}, None),
    ],
)
def test_a_word_for_missing_values(columns: dict[str, list[str]], word: str | None) -> None:
    assert null_word(pa.table(columns)) == word
