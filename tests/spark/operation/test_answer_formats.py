"""Answers as JSON and CSV, and which format a client gets."""

from __future__ import annotations

import csv
import json
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from eddyline import DataError
from eddyline.spark.operation.answer_formats import FORMATS, accepted_format
from eddyline.types import TIMESTAMP

ROWS = pa.table(
    {
        "n": pa.array([1, None], pa.int64()),
        "t": pa.array(['a,"b"\n', ""], pa.string()),
        "d": pa.array([Decimal("1.50"), Decimal("-2.00")], pa.decimal128(9, 2)),
        "ts": pa.array([datetime(2026, 1, 2, 3, 4, 5, 678901, UTC), None], TIMESTAMP),
        "day": pa.array([date(2026, 1, 2), None], pa.date32()),
        "f": pa.array([0.5, float("nan")], pa.float64()),
        "b": pa.array([True, False], pa.bool_()),
    }
)


def test_json_is_an_array_of_objects() -> None:
    assert json.loads(FORMATS["json"].encode(ROWS)) == [
        {
            "n": 1,
            "t": 'a,"b"\n',
            "d": 1.5,
            "ts": "2026-01-02T03:04:05.678901Z",
            "day": "2026-01-02",
            "f": 0.5,
            "b": True,
        },
        {"t": "", "d": -2.0, "f": "NaN", "b": False},
    ]
    assert json.loads(FORMATS["json"].encode(ROWS.slice(0, 0))) == []
    assert json.loads(FORMATS["json"].encode(ROWS.select(["n"]))) == [{"n": 1}, {}]


def test_csv_has_a_header() -> None:
    header, first, second = csv.reader(FORMATS["csv"].encode(ROWS).decode().splitlines(True))
    assert header == ROWS.column_names
    assert first == [
        "1", 'a,"b"\n', "1.50", "2026-01-02T03:04:05.678901Z", "2026-01-02", "0.5", "true",
    ]  # fmt: skip
    assert second == ["", "", "-2.00", "", "", "nan", "false"]
    assert FORMATS["csv"].encode(ROWS.slice(0, 0).select(["n"])) == b'"n"\n'


@pytest.mark.parametrize("name", ["json", "csv"])
def test_types_without_a_text_are_refused(name: str) -> None:
    rows = pa.table({"x": pa.array([b"\xff"], pa.binary())})
    with pytest.raises(DataError, match=r"column 'x' is BINARY, which (JSON|CSV) does not hold"):
        FORMATS[name].encode(rows)


def test_the_accepted_format_with_the_highest_quality() -> None:
    for accept, name in {
        "": "json",
        "*/*": "json",
        "text/*": "csv",
        "application/*;q=0.5, text/csv;q=0.4": "json",
        "application/json;q=0.1, text/csv": "csv",
        "image/png, Application/Vnd.Apache.Arrow.Stream": "arrow",
        "application/json;q=0, text/csv;q=x, */*;q=0.2": "json",
    }.items():
        assert accepted_format(accept) is FORMATS[name], accept
    with pytest.raises(DataError, match="no format is accepted: 'image/png'; valid: application"):
        accepted_format("image/png")
