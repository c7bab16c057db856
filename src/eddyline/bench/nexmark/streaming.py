"""The queries as one Spark job, from Parquet files to ``noop`` sinks."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from eddyline.bench.measure import Figure
from eddyline.bench.nexmark.generator import Auctions
from eddyline.bench.nexmark.workload import definitions, text, views, write
from eddyline.bench.queries.streaming import spark_session
from eddyline.spark.session import Session

_BATCHES: Final = 6  # the first one starts workers and compiles


def measured(names: Sequence[str], events: int, title: str) -> Figure:
    """Rows/s of a batch of a job that has warmed up, from trigger to commit."""
    size = -(-events // _BATCHES)
    with (
        spark_session() as spark,
        tempfile.TemporaryDirectory(prefix="eddyline-bench-") as scratch,
    ):
        folder = Path(scratch)
        write(Auctions(), size * _BATCHES, size, folder)
        session = Session(spark)
        session.sql(definitions(folder))
        for name in names:
            session.sql(views(name))
            session.query(name, text(name), sink="noop")
        run = session.start(available_now=True)
        run.awaitTermination()
        filled = [batch for batch in run.recentProgress if batch.numInputRows]
        assert len(filled) == _BATCHES, f"batches differ: {filled}"
        run.finish()
        results = sum(run.progress().rows_out.values()) // _BATCHES
    seconds = tuple(batch.batchDuration / 1_000 for batch in filled[1:])
    return Figure(title, size, results, seconds, note=f"one job, batches of {size:,} rows")
