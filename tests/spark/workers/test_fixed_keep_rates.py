"""With fixed keep rates a job drops the same rows as the embedded engine, at ingest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from test_durable import ManyValues, OneValue

from eddyline import CatalogError, Engine, EngineOptions, StateError
from eddyline.spark import Session
from eddyline.spark.exchange.packed_batches import Arrivals, unpack
from eddyline.spark.exchange.row_files import ShardFiles
from eddyline.spark.partitioning.layouts import one_cell
from eddyline.spark.workers.batch_log import BatchLog
from eddyline.spark.workers.durable import CommitRecord, DurableState
from eddyline.spark.workers.ingest import Destination, task_packer
from eddyline.spark.workers.shard_engine import ShardEngine, counted
from eddyline.spark.workers.shard_input import ShardInput, engine_batch
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateStream
from eddyline.testing import engine_with
from spark_cases import QUERIES, SECOND, Feed, Twin, bag, definitions, stream_tables

JobInputs = tuple[Feed, Feed]
KEEP = {"a": 0.5, "b": 0.7}
SHED = " ON OVERLOAD SHED"
NAMES = ("pairs", "sums", "last")


def with_leave(name: str) -> str:
    return QUERIES[name] + SHED


def session_over(
    spark: SparkSession, feeds: JobInputs, directory: Path, keep: dict[str, float] = KEEP
) -> Session:
    session = Session(spark, checkpoint=directory / "checkpoint", options=EngineOptions(keep=keep))
    session.sql(definitions({"a": feeds[0].source, "b": feeds[1].source}))
    for name in NAMES:
        session.query(name, with_leave(name), sink="parquet", path=str(directory / name))
    return session


def test_the_job_keeps_the_same_rows_as_the_embedded_engine(
    spark: SparkSession, feeds: JobInputs, tmp_path: Path
) -> None:
    engine = new_engine()
    twin = Twin(engine, dict.fromkeys("ab", 5 * SECOND))
    a, b = stream_tables(1, 4, rows=150), stream_tables(2, 4, rows=150)

    def write(files: slice) -> None:
        feeds[0].write(*a[files])
        # the source's types are not those declared: what counts is the row as declared
        narrow = pa.schema([a[0].schema.field("ts"), ("k", pa.int32()), ("v", pa.int16())])
        feeds[1].write(*(t.cast(narrow) for t in b[files]))
        twin.process({"a": a[files], "b": b[files]})

    session = session_over(spark, feeds, tmp_path)
    write(slice(0, 2))
    run = session.start()
    run.processAllAvailable()
    with pytest.raises(CatalogError, match="reads the stream 'a', of which this job drops rows"):
        run.add("all", "SELECT k, v FROM a [RANGE 3 SECONDS]")
    more = "SELECT k, v FROM a [RANGE 3 SECONDS]" + SHED
    run.add("more", more, sink="parquet", path=str(tmp_path / "more"))
    engine.query(more, name="more")
    run.processAllAvailable()
    run.stop()
    with pytest.raises(StateError, match=r"keep is .* there and .* here"):
        session_over(spark, feeds, tmp_path, {"a": 0.5}).start()

    session = session_over(spark, feeds, tmp_path)
    write(slice(2, 4))
    run = session.start()
    run.finish()
    twin.end()
    said = {name: bag(session.results(name)) for name in (*NAMES, "more")}
    assert said == twin.changes()
    counts = {name: (told["seen"], told["kept"]) for name, told in engine.shedding.items()}
    progress = run.progress()
    assert progress.rows_in == {"a": 600, "b": 600}
    assert progress.dropped == {name: seen - kept for name, (seen, kept) in counts.items()}
    assert 200 < progress.dropped["a"] < 400
    assert 100 < progress.dropped["b"] < 260
    assert run.stats()["pairs"]["kept"] == {n: kept / seen for n, (seen, kept) in counts.items()}
    assert run.stats()["pairs"]["expected_output_share"] == pytest.approx(0.35)


def test_keep_rates_of_unknown_streams_are_refused(spark: SparkSession, feeds: JobInputs) -> None:
    session = Session(spark, options=EngineOptions(keep={"c": 0.5}))
    session.sql(definitions({"a": feeds[0].source}))
    session.query("q", "SELECT k FROM a" + SHED, sink="noop")
    with pytest.raises(CatalogError, match="there is no stream 'c'; valid: a"):
        session.start()


def packed(keep: float, *tables: pa.Table, stream: str = "a") -> list[dict[str, Any]]:
    (statement,) = parse(definitions({stream: "source = 'none'"}).rstrip(";"))
    assert isinstance(statement, CreateStream)
    batches = (batch for t in tables for batch in t.to_batches())
    to = Destination(one_cell({stream: None}), (3,))
    made = task_packer(None, [to], statement.definition, keep)(batches)
    return [row for batch in made for row in batch.to_pylist()]


def new_engine() -> Engine:
    engine = engine_with(keep=KEEP)
    engine.sql(definitions(dict.fromkeys("ab", "source = 'none'")))
    for name in NAMES:
        engine.query(with_leave(name), name=name)
    return engine


def test_results_of_shed_batches_equal_those_of_an_embedded_engine() -> None:
    twin = Twin(new_engine(), dict.fromkeys("ab", 5 * SECOND))
    live, head = ShardEngine(new_engine()), CommitRecord()
    state = DurableState(OneValue(), BatchLog(ManyValues()), ManyValues())
    said: dict[str, int] = dict.fromkeys(NAMES, 0)
    for part in range(4):
        rows = {n: stream_tables(i, 4, rows=150)[part] for i, n in enumerate("ab", start=1)}
        fat = [row for name, t in rows.items() for row in packed(KEEP[name], t, stream=name)]
        files = ShardFiles("", 0)
        arrivals = ShardInput.read(iter([pd.DataFrame(fat)]), files, now_us=0, number=part)
        assert {n: of.rows for n, of in arrivals.arrivals.items()} == {"a": 150, "b": 150}
        assert 30 < arrivals.arrivals["b"].dropped < arrivals.arrivals["a"].dropped < 120
        step = engine_batch(head, arrivals)
        for name, n in counted(live.apply(step)).items():
            said[name] += n
        head.version += 1
        state.commit(head, step, live)
        if part == 2:  # restored from the snapshot and the log
            committed = state.commit_record()
            assert committed is not None
            assert committed.log_bytes, "the log has dropped rows to count"
            live = state.restored(committed, ShardEngine.load)
            for logged in state.logged(committed):
                live.apply(logged)
        twin.process({name: [t] for name, t in rows.items()})
    assert said == {name: len(rows) for name, rows in twin.changes().items()}
    assert min(said.values()) > 20
    assert live.engine.shedding == twin.engine.shedding
    assert live.engine.shedding["a"]["seen"] == 600


def test_ingest_counts_the_rows_that_it_drops_and_reports_their_latest_timestamp() -> None:
    table = stream_tables(1, 1, rows=500)[0]
    row, clock = packed(0.25, table)
    content, arrivals = unpack(row["blob"]), Arrivals.read(clock["blob"])
    assert (row["kind"], clock["kind"]) == ("rows", "clock")
    assert row["n"] == content.num_rows
    assert content.num_rows + arrivals.dropped == arrivals.rows == 500
    assert 60 < content.num_rows < 190
    (clock,) = packed(1e-9, table)
    all_dropped = Arrivals.read(clock["blob"])
    assert (clock["n"], all_dropped.dropped) == (0, 500)
    times = table["ts"].cast(pa.int64()).to_pylist()
    assert arrivals.newest == all_dropped.newest == max(times)
    assert arrivals.oldest == all_dropped.oldest == min(times)
    row, clock = packed(1.0, table)
    assert row["n"] == 500
    assert Arrivals.read(clock["blob"]) == Arrivals(rows=500)


def test_ingest_never_drops_bad_rows() -> None:
    texts = pa.table(
        {
            "ts": ["2026-01-01T00:00:00", "yesterday", None, "2026-01-01T00:00:01"],
            "k": ["1", "2", "3", "four"],
            "v": ["1", "2", "3", "4"],
        }
    )
    row, clock = packed(1e-9, texts)
    assert unpack(row["blob"])["ts"].to_pylist() == ["yesterday", None, "2026-01-01T00:00:01"]
    assert Arrivals.read(clock["blob"]).dropped == 1
