"""The rows of static tables, from files and from Python."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eddyline import CatalogError, DataError, Engine
from eddyline.testing import batch, engine_with

DDL = """
    CREATE STREAM a (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts;
    CREATE TABLE names (k BIGINT, name STRING)
"""
NAMES = pa.table({"k": [1, 2], "name": ["one", "two"]})


def engine() -> Engine:
    out = engine_with()
    out.sql(DDL)
    return out


@pytest.mark.parametrize("format_", ["parquet", "csv"])
def test_tables_are_read_from_files(format_: str, tmp_path: Path) -> None:
    path = tmp_path / f"t.{format_}"
    if format_ == "csv":
        path.write_text("name,k,more\none,1,x\ntwo,2,y\n")
    else:
        pq.write_table(NAMES, path)
    eng = Engine()
    eng.sql(
        DDL.replace("name STRING)", f"name STRING) WITH (source = '{format_}', path = '{path}')")
    )
    eng.query("SELECT name FROM a [RANGE 9 SECONDS], names WHERE a.k = names.k", name="q")
    assert eng.process({"a": batch("ts | k | v\n1s | 2 | 1")})["q"]["name"].to_pylist() == ["two"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("source = 'parquet', path = '{path}/none.parquet'", "'names'"),
        ("source = 'parquet', path = '{path}/broken.parquet'", "'names'"),
        ("source = 'parqet', path = 'x'", "did you mean 'parquet'"),
        ("source = 'parquet'", "lacks path"),
    ],
)
def test_tables_that_cannot_be_read(options: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "broken.parquet").write_text("nope")
    eng = Engine()
    eng.sql(DDL.replace("name STRING)", f"name STRING) WITH ({options.format(path=tmp_path)})"))
    with pytest.raises(DataError, match=message):
        eng.query("SELECT name FROM a [RANGE 9 SECONDS], names WHERE a.k = names.k")


def test_tables_are_given_once_and_must_fit() -> None:
    eng = engine()
    with pytest.raises(DataError, match="no column 'name'"):
        eng.table("names", pa.table({"k": [1]}))
    with pytest.raises(DataError, match="column 'k'"):
        eng.table("names", pa.table({"k": ["x"], "name": ["one"]}))
    eng.table("NAMES", pa.table({"K": pa.array([1], pa.int8()), "NAME": ["one"]}))
    with pytest.raises(CatalogError, match="already has its rows"):
        eng.table("names", NAMES)
