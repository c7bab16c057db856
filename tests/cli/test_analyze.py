"""``eddyline analyze``: statistics of sources, as a table and as options."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from eddyline.cli.main import app
from eddyline.errors import DataError
from eddyline.spark.sources.sampling import Sampler
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateStream

COUNT, RATE = 20_000, 50.0

SCRIPT = """
CREATE STREAM trades (ts TIMESTAMP, `the symbol` STRING, price DOUBLE) TIMESTAMP BY ts
  WITH (source = 'parquet', path = 'trades');
CREATE STREAM quotes (ts TIMESTAMP, symbol STRING, bid INT) TIMESTAMP BY ts
  WITH (source = 'csv', path = 'quotes.csv', header = TRUE);
CREATE TABLE names (symbol STRING, name STRING) WITH (source = 'parquet', path = 'names.parquet');
CREATE TABLE halted (symbol STRING) WITH (updates = 'retroactive', source = 'parquet',
  path = 'halted.parquet');
"""
QUERIES = """
CREATE QUERY q AS SELECT t.price FROM trades [NOW] t, quotes [NOW] q, names n, halted h
  WHERE t.`the symbol` = q.symbol AND q.symbol = n.symbol AND h.symbol = q.symbol;
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    rng = np.random.default_rng(2)
    symbols = pa.array([f"S{n}" for n in range(400)])
    gaps = rng.exponential(1e6 / RATE, COUNT)
    trades = pa.table(
        {
            "ts": pa.array(np.cumsum(gaps).astype(np.int64), pa.timestamp("us")),
            "the symbol": symbols.take(pa.array(rng.integers(0, 400, COUNT))),
            "price": rng.random(COUNT),
        }
    )
    (tmp_path / "trades").mkdir()
    for n in range(4):
        part = trades.slice(n * COUNT // 4, COUNT // 4)
        pq.write_table(part, tmp_path / "trades" / f"{n}.parquet")
    quotes = pa.table(
        {
            "ts": ["2026-01-01T00:00:00Z", "2026-01-01T00:00:02Z", "soon", "2026-01-01T00:00:10Z"],
            "symbol": ["A", "B", "A", "B"],
            "bid": [1, 2, 3, 4],
        }
    )
    pc.write_csv(quotes, tmp_path / "quotes.csv")
    pq.write_table(
        pa.table({"symbol": ["A", "B", "B"], "name": ["x", "y", "z"]}), tmp_path / "names.parquet"
    )
    halted = pa.table(
        {
            "_ts": pa.array([0, 10_000_000, 20_000_000, 21_000_000], pa.timestamp("us")),
            "_op": ["+", "+", "+", "-"],
            "symbol": ["A", "B", "C", "A"],
        }
    )
    pq.write_table(halted, tmp_path / "halted.parquet")
    file = tmp_path / "script.sql"
    file.write_text(SCRIPT + QUERIES)
    return file


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["analyze", *arguments])


def test_json_output(script: Path) -> None:
    result = run(str(script), "--json")
    assert result.exit_code == 0, result.output
    found = {e["name"]: e for e in map(json.loads, result.stdout.splitlines())}
    trades, quotes, names, halted = found.values()
    assert trades["rate"] == pytest.approx(RATE, rel=0.03)
    assert trades["distinct"] == {"the symbol": pytest.approx(400, rel=0.02)}
    assert (quotes["sampled"], quotes["bad"], quotes["rate"]) == (4, 1, 0.2)
    assert (names["rows"], names["rate"], names["distinct"]) == (3, None, {"symbol": 2})
    assert (halted["rows"], halted["rate"]) == (2, 0.1)


def test_the_options_can_be_declared(script: Path) -> None:
    result = run(str(script), "--rows", "5000")
    assert result.exit_code == 0, result.output
    line = next(x for x in result.stdout.splitlines() if x.startswith("trades  rate"))
    columns = "CREATE STREAM trades (ts TIMESTAMP, `the symbol` STRING) TIMESTAMP BY ts"
    (statement,) = parse(f"{columns} WITH ({line.removeprefix('trades')})")
    assert isinstance(statement, CreateStream)
    known = statement.definition.sizes
    assert known.rate == pytest.approx(RATE, rel=0.05)
    assert known.distinct == {"the symbol": pytest.approx(400, rel=0.02)}


def test_without_queries_all_columns_count(script: Path) -> None:
    script.write_text(SCRIPT)
    result = run(str(script), "--json")
    assert json.loads(result.stdout.splitlines()[0])["distinct"].keys() == {"the symbol", "price"}


def test_a_file_that_cannot_be_read(script: Path) -> None:
    script.with_name("names.parquet").write_text("no such thing")
    result = run(str(script))
    assert result.exit_code == 2
    assert "'names': cannot read" in result.output


def test_a_missing_column(script: Path) -> None:
    script.write_text(SCRIPT.replace("price DOUBLE", "prize DOUBLE"))
    result = run(str(script))
    assert result.exit_code == 2
    assert "'trades': the rows have no column 'prize'; did you mean 'price'?" in result.output


def stream(options: str) -> Any:
    (statement,) = parse(
        f"CREATE STREAM ticks (timestamp TIMESTAMP, value BIGINT) TIMESTAMP BY timestamp {options}"
    )
    assert isinstance(statement, CreateStream)
    return statement.definition


def test_other_sources_are_read_by_spark(spark: Any) -> None:
    sampler = Sampler(lambda: spark, None, limit=60, seconds=60)
    ticks = sampler.stream(stream("WITH (source = 'rate', rowsPerSecond = 20)"))
    assert ticks.num_rows == 60
    assert {"timestamp", "value"} <= set(ticks.column_names)
    with pytest.raises(DataError, match="did you mean 'rate'"):
        sampler.stream(stream("WITH (source = 'rates')"))
    with pytest.raises(DataError, match="no row arrived within 0 seconds"):
        Sampler(lambda: spark, None, limit=60, seconds=0).stream(
            stream("WITH (source = 'rate', rowsPerSecond = 20)")
        )
