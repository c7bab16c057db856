"""Every line of a file is a row or a bad row, whatever it holds."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest
from pyspark.sql import SparkSession

import wrong_lines as fuzz
from eddyline.spark import Session

COLUMNS = "(ts TIMESTAMP, v BIGINT, s STRING) TIMESTAMP BY ts"
#: No line of the others is it.
HEADER = b"ts,v,s"


def check_all_lines_are_accounted_for(
    spark: SparkSession, directory: Path, count: int, seed: int
) -> None:
    json, csv = (fuzz.lines(known, count, seed) for known in (fuzz.JSON, fuzz.CSV))
    csv = [line for line in csv if line != HEADER]
    write(directory / "json/1.json", json)
    write(directory / "csv/1.csv", [HEADER, *csv])
    session = Session(spark, checkpoint=directory / "checkpoint")
    session.sql(
        f"CREATE STREAM json {COLUMNS} WITH (source = 'json', path = '{directory}/json');"
        f"CREATE STREAM csv {COLUMNS} "
        f"WITH (source = 'csv', path = '{directory}/csv', header = 'true');"
    )
    for name in ("json", "csv"):
        session.query(f"of_{name}", f"SELECT v, s FROM {name} [NOW]", sink="memory")
    run = session.start(available_now=True)
    run.finish()
    progress = run.progress()
    assert progress.rows_in == {"json": len(json), "csv": len(csv)}
    for name, written in (("json", json), ("csv", csv)):
        bad = pd.read_parquet(directory / f"checkpoint/bad/{name}")  # which other readers can read
        rows = session.results(f"of_{name}").count()
        assert rows + len(bad) + progress.late[name] == len(written)
        assert rows > 0 and len(bad) > len(written) / 10
        assert bad["_reason"].str.len().min() > 0
        assert any("\\xff" in reason for reason in bad["_reason"]), "bytes are kept, escaped"


def write(file: Path, lines: list[bytes]) -> None:
    file.parent.mkdir()
    hidden = file.with_name(f"_{file.name}")
    hidden.write_bytes(b"\n".join([*lines, b" ", b""]))  # a blank line is none
    os.rename(hidden, file)


def test_some_lines(spark: SparkSession, tmp_path: Path) -> None:
    check_all_lines_are_accounted_for(spark, tmp_path, 300, seed=1)


@pytest.mark.long
def test_many_lines(spark: SparkSession, tmp_path: Path) -> None:
    check_all_lines_are_accounted_for(spark, tmp_path, 100_000, seed=2)
