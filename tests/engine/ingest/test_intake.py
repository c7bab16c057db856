"""Rows on their way in: types, bad rows, late rows, held rows."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from eddyline import CatalogError, DataError, Engine
from eddyline.testing import batch, parse_time

SECOND = 1_000_000


def engine(columns: str = "x BIGINT", *, lateness: str = "", name: str = "s") -> Engine:
    out = Engine()
    late = f" LATENESS {lateness}" if lateness else ""
    out.sql(f"CREATE STREAM {name} (ts TIMESTAMP, {columns}) TIMESTAMP BY ts{late}")
    out.query(f"SELECT * FROM {name} [RANGE 1 HOUR]", name="q")
    return out


def taken(changes: Any, column: str = "x") -> list[Any]:
    return changes["q"][column].to_pylist()


@pytest.mark.parametrize(
    ("declared", "given", "reason"),
    [
        ("INT", pa.array(["7", "seven"]), "x: cannot read 'seven' as INT"),
        ("INT", pa.array([7, 1 << 40]), "x: cannot read '1099511627776' as INT"),
        ("TINYINT", pa.array([7, -129]), "x: cannot read '-129' as TINYINT"),
        ("INT", pa.array([7.0, 7.5]), "x: cannot read '7.5' as INT"),
        ("BIGINT", pa.array([7.0, np.nan]), "x: cannot read 'nan' as BIGINT"),
        ("INT", pa.array([7, 3_000_000_000], pa.uint32()), "x: cannot read '3000000000' as INT"),
        ("BIGINT", pa.array([7, 1 << 63], pa.uint64()), f"x: cannot read '{1 << 63}' as BIGINT"),
        ("DOUBLE", pa.array(["7", "7,5"]), "x: cannot read '7,5' as DOUBLE"),
        ("DATE", pa.array(["2026-01-31", "2026-02-31"]), "x: cannot read '2026-02-31' as DATE"),
        ("TIMESTAMP", pa.array(["1970-01-01", "noon"]), "x: cannot read 'noon' as TIMESTAMP"),
    ],
)
def test_a_value_that_does_not_fit_makes_its_row_bad(
    declared: str, given: pa.Array, reason: str
) -> None:
    eng = engine(f"x {declared}")
    out = eng.process({"s": pa.table({"ts": [1, 2], "x": given})})
    assert out["q"].num_rows == 1
    assert out["q"]["x"].null_count == 0
    text = given.cast(pa.string())[1].as_py()
    assert out.bad["s"].to_pylist() == [{"ts": "2", "x": text, "_reason": reason}]
    assert eng.stats()["streams"]["s"]["bad"] == 1


@pytest.mark.parametrize("ts", [pa.array([None, 2]), pa.array([None, "1970-01-01T00:00:01"])])
def test_a_row_without_time_is_bad(ts: pa.Array) -> None:
    out = engine().process({"s": pa.table({"ts": ts, "x": [1, 2]})})
    assert taken(out) == [2]
    assert out.bad["s"].to_pylist() == [{"ts": None, "x": "1", "_reason": "ts is null"}]


def test_a_time_that_is_no_time_is_bad_for_that_reason() -> None:
    out = engine().process({"s": pa.table({"ts": ["soon", "1970-01-01T00:00:01"], "x": [1, 2]})})
    assert taken(out) == [2]
    assert out.bad["s"]["_reason"].to_pylist() == ["ts: cannot read 'soon' as TIMESTAMP"]


def test_a_time_outside_of_what_the_clock_can_hold_is_bad() -> None:
    eng = engine()
    out = eng.process({"s": pa.table({"ts": [1, (1 << 63) - 1, -(1 << 63)], "x": [1, 2, 3]})})
    assert taken(out) == [1]
    assert out.bad["s"]["x"].to_pylist() == ["2", "3"]
    assert eng.clock == 1


def test_rows_that_a_source_could_not_read_are_bad() -> None:
    rows = pa.table({"ts": [1, None], "x": [1, None], "_corrupt_record": [None, "{oops"]})
    out = engine().process({"s": rows})
    assert taken(out) == [1]
    assert out.bad["s"]["_reason"].to_pylist() == ["cannot be read: {oops"]


def test_bad_rows_may_hold_bytes_that_are_no_text() -> None:
    rows = pa.table({"ts": pa.array([None], pa.int64()), "x": pa.array([b"\xff\xfe"])})
    out = engine("x BINARY").process({"s": rows})
    assert out.bad["s"]["_reason"].to_pylist() == ["ts is null"]


def test_a_missing_column_names_the_nearest_one() -> None:
    with pytest.raises(DataError, match=r"no column 'price'; did you mean 'prize'"):
        engine("price DOUBLE").process({"s": pa.table({"ts": [1], "prize": [1.0]})})


def test_a_column_of_a_type_that_cannot_be_converted() -> None:
    with pytest.raises(DataError, match="'x' is declared BIGINT but the rows have"):
        engine().process({"s": pa.table({"ts": [1], "x": [[1, 2]]})})
    with pytest.raises(DataError, match="'ts' is declared TIMESTAMP"):
        engine().process({"s": pa.table({"ts": [1.5], "x": [1]})})


def test_data_of_no_known_kind() -> None:
    with pytest.raises(DataError, match="a row must be a dict, not a int"):
        engine().process({"s": [1, 2]})


def test_an_unknown_stream_is_named_before_anything_is_taken_in() -> None:
    eng = engine()
    with pytest.raises(CatalogError, match="no stream 'r'"):
        eng.process({"s": batch("ts | x\n1s | 1"), "r": batch("ts | x\n1s | 1")})
    assert taken(eng.process({})) == []


def test_nothing_is_taken_in_when_one_stream_does_not_fit() -> None:
    eng = engine()
    eng.sql("CREATE STREAM r (ts TIMESTAMP, y BIGINT) TIMESTAMP BY ts")
    with pytest.raises(DataError):
        eng.process({"s": batch("ts | x\n1s | 1"), "r": batch("ts | x\n1s | 1")})
    assert taken(eng.process({"s": batch("ts | x\n1s | 1")})) == [1]
    assert eng.stats()["streams"]["s"]["rows_in"] == 1
    assert eng.stats()["streams"]["r"]["rows_in"] == 0


TS = [1 * SECOND, 2 * SECOND]


@pytest.mark.parametrize(
    "rows",
    [
        pa.table({"ts": TS, "x": ["a", "b"]}),
        pa.table({"TS": TS, "X": ["a", "b"], "more": [1, 2]}),
        pa.table({"x": pa.array(["a", "b"]).dictionary_encode(), "ts": TS}),
        pa.table({"ts": TS, "x": pa.array(["a", "b"], pa.large_string())}),
        pa.table({"ts": TS, "x": pa.array(["a", "b"], pa.string_view())}),
        pa.table({"ts": pa.array(TS, pa.timestamp("us")), "x": ["a", "b"]}),
        pa.table({"ts": pa.array(TS, pa.timestamp("us", "Asia/Tokyo")), "x": ["a", "b"]}).slice(0),
        pa.table({"ts": pa.array([1, 2], pa.timestamp("s", "Europe/Paris")), "x": ["a", "b"]}),
        pa.table({"ts": pa.array([t * 1000 for t in TS], pa.timestamp("ns")), "x": ["a", "b"]}),
        pa.table({"ts": ["1970-01-01T00:00:01Z", "1970-01-01 01:00:02+01:00"], "x": ["a", "b"]}),
        pa.record_batch({"ts": TS, "x": ["a", "b"]}),
        pa.concat_tables([pa.table({"ts": [t], "x": [x]}) for t, x in zip(TS, "ab", strict=True)]),
        pa.table({"ts": [0, *TS, 0], "x": ["z", "a", "b", "z"]}).slice(1, 2),
        pd.DataFrame({"ts": pd.to_datetime([1, 2], unit="s"), "x": ["a", "b"]}),
        pd.DataFrame({"ts": TS, "x": pd.Categorical(["a", "b"])}, index=[5, 6]),
    ],
    ids=lambda rows: type(rows).__name__,
)  # fmt: skip
def test_the_same_rows_in_many_forms(rows: Any) -> None:
    out = engine("x STRING").process({"s": rows})
    assert out["q"]["x"].to_pylist() == ["a", "b"]
    assert out["q"]["ts"].cast(pa.int64()).to_pylist() == TS
    assert out.bad == out.late == {}


def test_numbers_are_widened_and_typed_columns_read_from_text() -> None:
    rows = {"ts": [1], "i": pa.array([1], pa.int8()), "d": [2], "t": ["2026-01-31"], "b": ["true"]}
    out = engine("i BIGINT, d DOUBLE, t DATE, b BOOLEAN").process({"s": pa.table(rows)})
    row = out["q"].select(["i", "d", "t", "b"]).to_pylist()[0]
    assert row == {"i": 1, "d": 2.0, "t": date(2026, 1, 31), "b": True}


@pytest.mark.parametrize("given", [pa.array([7, -1]), pa.array([7.0, -1.0]), pa.array(["7", "-1"])])
def test_numbers_are_read_as_decimals(given: pa.Array) -> None:
    out = engine("x DECIMAL(9,2)").process({"s": pa.table({"ts": [1, 2], "x": given})})
    assert taken(out) == [Decimal("7.00"), Decimal("-1.00")]


def test_a_column_of_nulls_has_any_type() -> None:
    out = engine("x STRING").process({"s": pa.table({"ts": [1], "x": pa.nulls(1)})})
    assert taken(out) == [None]


def test_empty_input() -> None:
    eng = engine()
    assert taken(eng.process({"s": pa.table({"ts": pa.array([], pa.int64()), "x": []})})) == []
    assert taken(eng.process({})) == []


def test_rows_within_the_lateness_are_held_and_put_in_order() -> None:
    eng = engine(lateness="2 SECONDS")
    out = eng.process({"s": batch("ts | x\n5s | 5\n3s | 3\n4s | 4\n3s | 33")})
    assert taken(out) == [3, 33]
    assert eng.stats()["streams"]["s"]["held"] == 2
    assert taken(eng.process({"s": batch("ts | x\n3s | 333\n7s | 7")})) == [333, 4, 5]
    assert taken(eng.advance("1970-01-01T00:00:07Z")) == [7]


def test_rows_behind_the_watermark_are_late_not_lost() -> None:
    eng = engine(lateness="2 SECONDS")
    eng.process({"s": batch("ts | x\n10s | 1")})
    out = eng.process({"s": batch("ts | x\n7s999ms | 2\n8s | 3")})
    assert taken(out) == [3]
    late = out.late["s"].to_pylist()
    assert [r["x"] for r in late] == [2]
    assert late[0]["_reason"] == "behind the watermark 1970-01-01T00:00:08.000000"
    assert eng.stats()["streams"]["s"]["late"] == 1


def test_an_explicit_watermark_buffers_rows_and_never_decreases() -> None:
    eng = engine()
    rows = batch("ts | x\n1s | 1\n2s | 2\n3s | 3")
    assert taken(eng.process({"s": rows}, watermark=parse_time("2s"))) == [1, 2]
    assert eng.clock == eng.watermark == parse_time("2s")
    assert taken(eng.process({}, watermark=0)) == []
    assert eng.watermark == parse_time("2s")
    assert taken(eng.process({}, watermark=parse_time("9s"))) == [3]
    assert eng.clock == parse_time("9s")


@pytest.mark.parametrize(
    "to", ["1970-01-01T00:00:09Z", "1970-01-01T01:00:09+01:00", "1970-01-01 00:00:09", 9 * SECOND,
           datetime(1970, 1, 1, 0, 0, 9), np.int64(9 * SECOND)],
    ids=str,
)  # fmt: skip
def test_advance_takes_instants_in_many_forms(to: Any) -> None:
    eng = engine()
    eng.advance(to)
    assert eng.clock == 9 * SECOND
    assert eng.process({"s": batch("ts | x\n8s | 8")}).late["s"].num_rows == 1


def test_advance_to_nonsense() -> None:
    with pytest.raises(DataError, match="not an instant: 'tomorrow'"):
        engine().advance("tomorrow")
