"""Time goes on without rows: the heartbeat of a job, and what it brings about."""

from __future__ import annotations

import json
import re
import shutil
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

from eddyline.spark import Session
from eddyline.spark.environment import LOCAL_CHECKPOINT_CONF, settings
from eddyline.spark.exchange.batch_time import heartbeat, publish_batch
from eddyline.spark.storage.directory import LocalDirectory
from eddyline.spark.storage.spark_batches import planned_us
from eddyline.types import TIMESTAMP
from spark_cases import SECOND, Feed, wait

pytestmark = pytest.mark.spark

JobInputs = tuple[Feed, Feed]
IDLE_S = 2
QUERIES = {
    "absent": "SELECT k FROM a [RANGE 1 HOUR] AS o WHERE NOT EXISTS "
    "(SELECT 1 FROM b [RANGE 4 SECONDS] AS i WHERE i.k = o.k)",
    "alive": "SELECT COUNT(*) AS n FROM a [RANGE 3 SECONDS]",
    "regular": "SELECT COUNT(*) AS n FROM a [RANGE 3 SECONDS] EMIT SNAPSHOT EVERY 1 SECOND",
}


def rows(*us: int) -> pa.Table:
    return pa.table({"ts": pa.array(us, pa.int64()).cast(TIMESTAMP), "k": [1] * len(us)})


def times_of(checkpoint: Path) -> dict[int, int]:
    """The logged time of each committed batch, in us."""
    offsets, commits = checkpoint / "spark/offsets", checkpoint / "spark/commits"
    done = sorted(int(p.name) for p in commits.iterdir() if p.name.isdigit())
    lines = {n: (offsets / str(n)).read_text().splitlines()[1] for n in done}
    return {n: json.loads(line)["batchTimestampMs"] * 1_000 for n, line in lines.items()}


def passed(checkpoint: Path) -> int:
    """The time from the first to the last committed batch, in us."""
    if not (checkpoint / "spark/commits").exists():
        return 0
    times = times_of(checkpoint).values()
    return max(times, default=0) - min(times, default=0)


def written(path: Path) -> dict[int, list[tuple[str, int, int]]]:
    """Operation, instant in us and value of each change, by batch."""
    found = {}
    for directory in path.glob("eddyline_batch=*"):
        files = list(directory.glob("[!._]*"))
        if not files:
            continue
        table = pa.concat_tables([pq.ParquetFile(file).read() for file in files])
        instants = table["_ts"].cast(TIMESTAMP).cast(pa.int64()).to_pylist()
        values = table.column(table.num_columns - 1).to_pylist()
        changes = zip(table["_op"].to_pylist(), instants, values, strict=True)
        found[int(directory.name.partition("=")[2])] = sorted(changes)
    return found


def session_over(spark: SparkSession, feeds: JobInputs, out: Path) -> Session:
    session = Session(spark, checkpoint=out / "checkpoint", trigger="500 milliseconds")
    for name, feed in zip("ab", feeds, strict=True):
        session.sql(
            f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts "
            f"IDLE AFTER {IDLE_S} SECONDS WITH ({feed.source})"
        )
    for name, sql in QUERIES.items():
        session.sql(f"CREATE QUERY {name} AS {sql} WITH (sink = 'parquet', path = '{out / name}')")
    return session


def undo_last_batch(out: Path) -> int:
    """As if the job had failed before the commit of its last batch."""
    spark = out / "checkpoint/spark"
    last = max(times_of(out / "checkpoint"))
    begun = [int(p.name) for p in (spark / "offsets").iterdir() if p.name.isdigit()]
    for log, numbers in (("commits", [last]), ("offsets", [n for n in begun if n > last])):
        for number in numbers:
            (spark / log / str(number)).unlink()
            (spark / log / f".{number}.crc").unlink(missing_ok=True)
    for name in QUERIES:
        shutil.rmtree(out / name / f"eddyline_batch={last}", ignore_errors=True)
    return last


def test_silent_streams_and_a_batch_that_is_repeated(
    spark: SparkSession, feeds: JobInputs, tmp_path: Path
) -> None:
    first = time.time_ns() // 1_000
    for feed in feeds:
        feed.write(rows(first))
    run = session_over(spark, feeds, tmp_path).start()
    wait(run, lambda: passed(tmp_path / "checkpoint") > 8 * SECOND)
    run.stop(after_batch=True)

    times = times_of(tmp_path / "checkpoint")
    for name, after_s, change in (("absent", 4, ("+", 1)), ("alive", 3, ("+", 0))):
        due = first + after_s * SECOND
        made = [
            batch
            for batch, changes in written(tmp_path / name).items()
            if (change[0], due, change[1]) in changes
        ]
        assert made == [min(n for n, t in times.items() if t >= times[0] + after_s * SECOND)], name
    counts = [c for _, batch in sorted(written(tmp_path / "regular").items()) for c in batch]
    seconds = [us // SECOND for _, us, _ in counts]
    assert seconds == list(range(seconds[0], seconds[0] + len(seconds))), "one answer a second"
    assert [n for *_, n in counts] == [1] * 3 + [0] * (len(counts) - 3)
    assert max(us for _, us, _ in counts) <= first + max(times.values()) - times[0]

    before = written(tmp_path / "regular")
    last = undo_last_batch(tmp_path)
    during_the_stop = time.time_ns() // 1_000
    for feed in feeds:
        feed.write(rows(during_the_stop))
    time.sleep(2 * IDLE_S)
    run = session_over(spark, feeds, tmp_path).start()
    wait(run, lambda: sum(run.progress().rows_in.values()) == 4)
    run.stop(after_batch=True)
    assert times_of(tmp_path / "checkpoint")[last] == times[last]
    assert written(tmp_path / "regular").get(last) == before.get(last)
    assert run.progress().late == {"a": 0, "b": 0}


def test_the_heartbeat_after_a_long_stop_is_one_small_batch(
    spark: SparkSession, tmp_path: Path
) -> None:
    checkpoint = tmp_path / "checkpoint"
    began = checkpoint / "sources/0/0"
    seen: list[list[int]] = []

    def look(df: DataFrame, batch: int) -> None:
        planned = planned_us(LocalDirectory(checkpoint), batch)
        publish_batch(spark.sparkContext, batch, planned)
        seen.append([r.shard for r in df.collect()])

    def beat() -> None:
        seen.clear()
        with settings(spark, LOCAL_CHECKPOINT_CONF):
            query = (
                heartbeat(spark, [3, 5])
                .writeStream.foreachBatch(look)
                .option("checkpointLocation", str(checkpoint))
                .start()
            )
        end = time.monotonic() + 60
        while not any(seen):
            assert query.isActive and time.monotonic() < end, query.exception()
            time.sleep(0.1)
        query.stop()

    beat()
    began.write_text(re.sub(r"\d{13}", lambda ms: str(int(ms[0]) - 86_400_000), began.read_text()))
    began.with_name(".0.crc").unlink(missing_ok=True)
    beat()
    shards = next(filter(None, seen))
    assert sorted(set(shards)) == [3, 5]
    assert len(shards) <= 2 * 602, "of a day's seconds only the last ones"


def test_a_bounded_run_ends_although_time_goes_on(
    spark: SparkSession, feeds: JobInputs, tmp_path: Path
) -> None:
    feeds[0].write(rows(1_000_000), rows(2_000_000))
    session = Session(spark, checkpoint=tmp_path / "checkpoint")
    session.sql(
        "CREATE STREAM a (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts IDLE AFTER 1 HOUR "
        f"WITH ({feeds[0].source})"
    )
    session.query("q", "SELECT k FROM a [NOW]", sink="memory")
    run = session.start(available_now=True)
    run.awaitTermination(60)
    assert not run.isActive
    assert session.results("q").count() == 2
