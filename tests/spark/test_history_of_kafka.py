"""Histories in files and live messages of Kafka; drivers are killed in the history and after it."""

from __future__ import annotations

import json
import signal
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline.spark import Session
from example_jobs import batches, interrupted
from history_jobs import QUERIES, before, embedded, results, rows_of, since, write

if TYPE_CHECKING:
    from eddyline.bench.kafka_broker import KafkaBroker

pytestmark = [pytest.mark.spark, pytest.mark.fault, pytest.mark.long]


def messages(rows: pa.Table) -> list[str]:
    return [json.dumps({**row, "ts": row["ts"].isoformat()}) for row in rows.to_pylist()]


def test_killed_in_the_history_and_after_it(
    spark: SparkSession, kafka: KafkaBroker, tmp_path: Path
) -> None:
    """The topics have rows of before the seam, too, which the history has as well."""
    suffix = uuid.uuid4().hex[:12]
    rows = {"a": rows_of(1, 0, 60), "b": rows_of(2, 0, 60)}
    script = ""
    for name, table in rows.items():
        write(tmp_path, f"old_{name}", before(table, 40))
        kafka.send(spark, f"{name}{suffix}", messages(since(table, 35)))
        script += (
            f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts "
            f"LATENESS 60 SECONDS WITH (source = 'kafka', format = 'json', "
            f"kafka.bootstrap.servers = '{kafka.servers}', subscribe = '{name}{suffix}', "
            f"startingOffsets = 'earliest', maxOffsetsPerTrigger = 10, history = 'parquet', "
            f"history_path = '{tmp_path}/old_{name}', history_batch_rows = 40, "
            "history_until = '1970-01-01T00:00:40Z');\n"
        )
    for name, select in QUERIES.items():
        path = tmp_path / "out" / name
        script += f"CREATE QUERY {name} AS {select} WITH (sink = 'parquet', path = '{path}');\n"
    file, checkpoint = tmp_path / "job.sql", tmp_path / "checkpoint"
    file.write_text(script)
    for more in (2, 2, 5):
        assert interrupted(file, checkpoint, more, signal.SIGKILL) == -signal.SIGKILL
    assert batches(checkpoint) >= 9
    session = Session(spark, checkpoint=checkpoint, shards=2, base=tmp_path)
    session.sql(script)
    run = session.start(available_now=True)
    run.finish()
    assert results(session) == embedded(rows)
    progress = run.progress()
    assert progress.covered == {"a": 15, "b": 15}
    assert not any(progress.late.values()) and not any(progress.bad.values())
