"""The summary of a backtest, and its input errors; nothing here starts Spark."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from eddyline.cli.backtest import Fired, Period, fired_in
from eddyline.cli.main import app

DAY = 86_400_000_000


def changes(*rows: tuple[str, int]) -> pa.Table:
    ops, times = zip(*rows, strict=True)
    return pa.table({"_op": list(ops), "_ts": pa.array(times).cast(pa.timestamp("us", "UTC"))})


def test_what_counts(tmp_path: Path) -> None:
    """Results before the period (of a warm-up) and behind it do not count."""
    batches = {
        2: changes(("+", 5), ("+", DAY), ("+", DAY), ("-", DAY + 1)),
        10: changes(("+", 2 * DAY), ("+", 3 * DAY - 1), ("-", 3 * DAY)),
    }
    for number, rows in batches.items():
        directory = tmp_path / "raw" / f"eddyline_batch={number}"
        directory.mkdir(parents=True)
        pq.write_table(rows, directory / "part-00000.parquet")
    found = fired_in("q", tmp_path / "raw", Period(DAY, 3 * DAY), tmp_path / "kept")
    kept = tmp_path / "kept" / "q.parquet"
    first, last = "1970-01-02 00:00:00", "1970-01-03 23:59:59"
    assert found == Fired("q", 4, 1, 3, 2.0, first, last, str(kept))
    assert pq.read_table(kept)["_op"].to_pylist() == ["+", "+", "-", "+", "+"]
    nothing = fired_in("q", tmp_path / "none", Period(DAY, 3 * DAY), tmp_path / "kept")
    assert nothing == Fired("q", 0, 0, 0, 0.0, None, None, None)
    assert not kept.exists(), "it is of an earlier backtest"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--from", "May", "--to", "2025-06-01"], "not an instant: 'May'"),
        (["--from", "2025-06-01", "--to", "2025-06-01"], "is empty"),
        (["--from", "2025-06-01", "--to", "2025-07-01", "--warm-up", "long"], "--warm-up"),
    ],
)
def test_wrong_input(tmp_path: Path, options: list[str], message: str) -> None:
    script = tmp_path / "s.sql"
    script.write_text("SELECT 1")
    result = CliRunner().invoke(app, ["backtest", str(script), *options])
    assert result.exit_code == 2
    assert message in result.output
