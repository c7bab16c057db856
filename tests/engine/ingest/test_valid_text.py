"""Rows with bytes that are not UTF-8 are bad rows, with these escaped, from any source."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eddyline import DataError, Engine
from eddyline.engine.ingest import arrow_values
from eddyline.engine.ingest.arrow_values import is_valid_text, with_valid_text
from eddyline.runtime.stores.columns import taken


def text(values: list[bytes | None]) -> pa.Array:
    """Unvalidated strings of these bytes, as from files and sockets."""
    return pa.array(values, pa.binary()).view(pa.string())


def test_such_rows_are_bad_and_readable(tmp_path: Path) -> None:
    engine = Engine()
    engine.sql("CREATE STREAM s (ts TIMESTAMP, a STRING, b STRING) TIMESTAMP BY ts")
    query = engine.query("SELECT a, b FROM s [NOW]")
    rows = pa.table(
        {
            "ts": [1, 2, 3, 4],
            "a": text([b"x", b"\xff\xfey", None, "ü".encode()]),
            "b": text([b"x", b"z", b"\xc3", b"\\xc3"]),
        }
    )
    changes = engine.process({"s": rows})
    bad = changes.bad["s"]
    bad.validate(full=True)
    assert bad.select(["a", "b", "_reason"]).to_pylist() == [
        {"a": "\\xff\\xfey", "b": "z", "_reason": "a is not UTF-8"},
        {"a": None, "b": "\\xc3", "_reason": "b is not UTF-8"},
    ]
    assert changes[query.name].column("a").to_pylist() == ["x", "ü"]
    pq.write_table(bad, tmp_path / "bad.parquet")
    assert len(pd.read_parquet(tmp_path / "bad.parquet")) == 2


def test_a_record_that_cannot_be_read_is_escaped() -> None:
    engine = Engine()
    engine.sql("CREATE STREAM s (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts")
    engine.query("SELECT x FROM s [NOW]")
    record = text([None, b'{"x":\xff'])
    rows = pa.table({"ts": [1, 2], "x": [1, 2], "_corrupt_record": record})
    (bad,) = engine.process({"s": rows}).bad["s"].to_pylist()
    assert bad["_reason"] == 'cannot be read: {"x":\\xff'


def test_all_such_rows_are_found() -> None:
    random_ = random.Random(1)
    valid = [f"{i} ü".encode() if i % 7 else None for i in range(1000)]
    places = sorted(random_.sample(range(1000), 30))
    values = [b"\x80" if i in places else v for i, v in enumerate(valid)]
    table = pa.table({"A": text(values)})
    made, broken = with_valid_text(table, {"a"})
    assert np.flatnonzero(broken["A"].to_numpy(zero_copy_only=False)).tolist() == places
    expected = ["\\x80" if i in places else v and v.decode() for i, v in enumerate(valid)]
    assert made.column("A").to_pylist() == expected


def test_other_columns_and_valid_ones_stay_as_they_are() -> None:
    table = pa.table({"a": ["ü", None], "b": text([b"\xff", b""]), "c": [1, 2]})
    made, broken = with_valid_text(table, {"a", "c"})
    assert made is table and broken == {}
    sliced = pa.table({"a": text([b"\xff", b"x", b"\xfe"]).slice(1)})
    made, _ = with_valid_text(sliced, {"a"})
    assert made.column("a").to_pylist() == ["x", "\\xfe"]


def test_tables_are_refused() -> None:
    engine = Engine()
    engine.sql("CREATE TABLE t (name STRING)")
    with pytest.raises(DataError, match=r"column 'name': the text of 2 rows .*the first: '\\xff'"):
        engine.table("t", pa.table({"name": text([b"a", b"\xff", b"\xfe"])}))


@pytest.mark.parametrize("least", [0, 1_024])
def test_validity_is_as_of_arrow(least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """For slices, NULLs, lists of texts, and arrays whose offsets are wrong; many and few."""
    monkeypatch.setattr(arrow_values, "_LEAST_ASCII", least)
    good = text([b"x", None, b"", b"yy"])
    ends = pa.array([0, 3, 1, 2], pa.int32()).buffers()[1]
    cases = {
        "ASCII": (good, True),
        "a slice": (text([b"\xff", b"x", b"y"]).slice(1), True),
        "not ASCII": (text(["ü".encode()]), True),
        "not UTF-8": (text([b"x", b"\xff"]), False),
        "empty": (text([]), True),
        "only NULLs": (text([None, None]), True),
        "lists": (pa.ListArray.from_arrays([0, 2], text([b"a", b"\xff"])), False),
        "falling offsets": (
            pa.Array.from_buffers(pa.string(), 3, [None, ends, pa.py_buffer(b"abc")]),
            False,
        ),
    }
    for name, (values, is_valid) in cases.items():
        assert is_valid_text(values) == is_valid, name


@pytest.mark.parametrize(
    "type_",
    [pa.int8(), pa.int16(), pa.int64(), pa.float32(), pa.float64(), pa.bool_(), pa.string()],
    ids=str,
)
@pytest.mark.parametrize("nulls", [False, True])
def test_values_are_taken_as_arrow_takes_them(type_: pa.DataType, nulls: bool) -> None:
    numbers = np.random.default_rng(1).integers(0, 2 if type_ == pa.bool_() else 100, 50)
    values = pa.array([None if nulls and n % 3 == 0 else int(n) for n in numbers]).cast(type_)
    rows = np.array([0, 3, 4, 39], np.int64)
    for column in (values, values.slice(10)):
        (found,) = taken([column], rows)
        found.validate(full=True)
        assert found == column.take(pa.array(rows))
