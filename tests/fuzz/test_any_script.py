"""``eddyline check`` and ``explain`` take any file: exit code 0, or 2 and a message.

The files are declarations with sources, and behind them a statement of the project after some
accidents, with all that is planned for shards. A text that fails is printed.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eddyline.cli.main import app
from mutations import mutated, statements

#: Seconds that a file may take on a machine that does other things as well.
MOST_S = 5.0

SCHEMA = """
CREATE STREAM trades (ts TIMESTAMP, symbol STRING, price DOUBLE, qty BIGINT) TIMESTAMP BY ts
  WITH (source = 'parquet', path = '/data/trades', rate = 1000, distinct = 'symbol: 300');
CREATE STREAM quotes (ts TIMESTAMP, symbol STRING, bid DOUBLE, size INT) TIMESTAMP BY ts
  LATENESS 5 SECONDS IDLE AFTER 1 MINUTE
  WITH (source = 'csv', path = '/data/quotes', rate = 500, distinct = 'symbol: 300, size: 10');
CREATE STREAM orders (ts TIMESTAMP, id BIGINT, symbol STRING PATH '$.of.symbol', qty INT)
  TIMESTAMP BY ts
  WITH (source = 'kafka', kafka.bootstrap.servers = 'b:1', subscribe = 'o', format = 'json');
CREATE TABLE companies (symbol STRING, sector STRING)
  WITH (source = 'json', path = '/data/companies', rows = 1000000, distinct = 'symbol: 1000000');
CREATE TABLE limits (symbol STRING, most BIGINT)
  WITH (updates = 'retroactive', source = 'parquet', path = '/data/limits');
CREATE TABLE rules (id BIGINT, symbol STRING, least INT, active BOOLEAN)
  WITH (updates = 'retroactive', source = 'parquet', path = '/data/rules');
CREATE VIEW averages AS SELECT symbol, AVG(price) AS mean FROM trades GROUP BY symbol;
CREATE QUERY known AS SELECT symbol, MAX(price) AS most FROM trades [RANGE 1 MINUTE] GROUP BY symbol
  WITH (sink = 'parquet', path = '/data/known');
"""


def attempt(file: Path, sql: str, *options: str) -> str:
    """The output of ``check`` or ``explain`` for a text; its time is bounded."""
    file.write_bytes(f"{SCHEMA}\n{sql}".encode("utf-8", "surrogatepass"))
    command = "explain" if options else "check"
    for _ in range(2):  # one long time may be that of the machine
        started = time.perf_counter()
        result = CliRunner().invoke(app, [command, str(file), *options])
        seconds = time.perf_counter() - started
        if not isinstance(result.exception, SystemExit | None) or result.exit_code not in (0, 2):
            raise AssertionError(f"{command}: {sql[:5_000]!r}") from result.exception
        if seconds < MOST_S:
            return result.output
    raise AssertionError(f"{command}: {seconds:.1f} s for {sql[:5_000]!r}")


def check_accidents(file: Path, seed: int, texts: int) -> None:
    """Check some texts, and explain others over four shards."""
    rng = random.Random(seed)
    for number in range(texts):
        attempt(file, mutated(rng, statements()), *(("--shards", "4") if number % 2 else ()))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "script.sql"


def test_the_declarations_are_right(file: Path) -> None:
    assert "3 streams, 3 tables, 1 query in 1 group" in attempt(file, "")
    assert "known" in attempt(file, "", "--shards", "4")
    assert "error" in attempt(file, "SELECT")


def test_a_query_for_each_row_of_a_table_without_rows(file: Path) -> None:
    """Once an error in the estimate of its load."""
    attempt(
        file,
        "CREATE QUERY q FOR EACH ROW OF rules AS SELECT t.price FROM trades t, quotes q WHERE "
        "t.symbol = q.symbol AND t.symbol = rules.symbol AND q.bid > rules.least WINDOW 1 MINUTE",
    )


@pytest.mark.parametrize("seed", range(2))
def test_accidents(file: Path, seed: int) -> None:
    check_accidents(file, seed, 60)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 180))
def test_many_accidents(file: Path, seed: int) -> None:
    check_accidents(file, seed, 500)
