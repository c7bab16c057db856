"""The measurement of the fixed cost per trigger."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from eddyline.bench import floor


@pytest.mark.long
@pytest.mark.spark
def test_both_pipelines_write_eight_files_per_batch(spark: SparkSession, tmp_path: Path) -> None:
    bare, ours, in_shard = floor.measure(spark, tmp_path, rounds=1, batches=1)
    assert len(bare) == len(ours) == 1
    assert {"read", "process", "commit"} <= in_shard.keys()
    for place, batch in (("0/bare/sinks", "batch=1"), ("0/sinks", "eddyline_batch=1")):
        files = sorted((tmp_path / place).glob(f"*/{batch}/*.parquet"))
        assert len(files) == 8, place
        assert all(pq.read_metadata(file).num_rows for file in files)


@pytest.mark.parametrize(("ms", "verdict"), [(240, "holds"), (260, "does not hold")])
def test_the_verdict(ms: int, verdict: str) -> None:
    bare = [{"triggerExecution": n, "addBatch": 90} for n in (100, 200, 900)]
    figures = floor.report(bare, [{"triggerExecution": ms}], {"read": 0.002})
    assert figures["ratio"] == ms / 200
    assert figures["median_ms"]["bare"]["addBatch"] == 90
    console = Console(file=StringIO(), width=120)
    floor.show(figures, console)
    assert isinstance(console.file, StringIO)
    assert console.file.getvalue().splitlines()[-1].endswith(f"at most 1.2: {verdict}")
