"""Batches that a sink does not take wait, and are delivered in order, also after a restart."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from eddyline import DataError, StateError
from eddyline.engine.changes import QUERY_COLUMN
from eddyline.spark.delivery import sink_queues
from eddyline.spark.delivery.collected import CollectedBatch
from eddyline.spark.delivery.sink_factory import SinkFactory
from eddyline.spark.delivery.sink_queues import SinkQueues
from eddyline.spark.delivery.sink_rows import SinkRows
from eddyline.spark.delivery.sink_uses import SinkUse
from eddyline.spark.exchange.packed_batches import OUTPUT_ARROW, pack
from eddyline.spark.exchange.query_rows import QueryRows
from eddyline.spark.sinks.failure_policy import FailurePolicy, OnFailure, RefusedError
from eddyline.spark.sinks.sink_bases import DriverSink

KEY = ("changes", "route")


class Switched(DriverSink):
    """Takes rows while there is no error."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.taken: list[tuple[int, list[int], list[str]]] = []
        self.attempts = 0

    def deliver(
        self,
        batch_id: int,
        parts: Sequence[QueryRows],
        counts: Mapping[str, int],
        emptied: Sequence[str] = (),
    ) -> None:
        self.attempts += 1
        if self.error is not None:
            raise self.error
        self.taken.append(
            (batch_id, [n for p in parts for n in p.rows["n"].to_pylist()], [*emptied])
        )


class Job:
    """The queue of one sink in a checkpoint, as after a start."""

    def __init__(
        self,
        place: Path,
        on_failure: OnFailure = "wait",
        max_bytes: int = 1 << 20,
        spark: SparkSession | None = None,
    ) -> None:
        self.sink = Switched()
        sinks = SinkFactory(cast(SparkSession, spark), None, print, "job")
        policy = FailurePolicy(on_failure, max_bytes)
        sinks.uses[self.sink] = SinkUse("postgres", "here", policy, ["q"])
        self.queues = SinkQueues(cast(SparkSession, spark), sinks, f"file:{place}")

    def deliver(self, batch_id: int, *numbers: int, emptied: Sequence[str] = ()) -> None:
        """Deliver a batch of changes with these numbers."""
        n = len(numbers)
        query = pa.repeat("q", n).dictionary_encode()
        table = pa.table(
            {QUERY_COLUMN: query, "_op": ["+"] * n, "n": pa.array(numbers, pa.int64())}
        )
        row = dict(zip(OUTPUT_ARROW.names, (0, *KEY, n, True, pack(table)), strict=True))
        batch = CollectedBatch(pa.Table.from_pylist([row] if n else [], schema=OUTPUT_ARROW))
        keys = batch.with_rows()
        self.queues.deliver(SinkRows(self.sink, batch_id, keys, batch, emptied=emptied))

    @property
    def waiting(self) -> int:
        state = self.queues.undelivered().get("q")
        return 0 if state is None else state.batches


def test_batches_wait_in_order_and_survive_a_restart(tmp_path: Path) -> None:
    first = Job(tmp_path)
    first.deliver(0, 10)
    first.sink.error = ConnectionError("connection refused")
    first.deliver(1, 11, 12)
    first.deliver(2, 13)
    first.sink.error = None
    first.deliver(3, 14)
    assert first.sink.taken == [(0, [10], [])], "the others are behind those that wait"
    state = first.queues.undelivered()["q"]
    assert (state.sink, state.batches, state.attempts) == ("postgres", 3, 1)
    assert state.cause == "connection refused" and state.text.startswith("3 batches (")

    again = Job(tmp_path)
    assert again.waiting == 3
    again.deliver(3, 14)  # repeated, because it was not committed
    again.deliver(4, emptied=["q"])
    again.queues.finish()
    again.deliver(5, 15)
    taken = [(1, [11, 12], []), (2, [13], []), (3, [14], []), (4, [], ["q"]), (5, [15], [])]
    assert again.sink.taken == taken
    assert not again.waiting and not list((tmp_path / "undelivered").iterdir())


def test_a_thread_tries_again_with_growing_pauses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sink_queues, "_FIRST_S", 0.05)
    monkeypatch.setattr(sink_queues, "_POLL_S", 0.01)
    caplog.set_level("INFO", logger="eddyline")
    job = Job(tmp_path)
    job.queues.open()
    job.sink.error = ConnectionError("no route\nto the host")
    job.deliver(0, 1)
    threading.Event().wait(0.8)
    assert 3 <= job.sink.attempts <= 6, "at 0, 0.05, 0.15, 0.35 and 0.75 s"
    job.sink.error = None
    until = threading.Event()
    for _ in range(500):
        if not job.waiting:
            break
        until.wait(0.01)
    job.queues.close()
    assert job.sink.taken == [(0, [1], [])]
    lines = [r.getMessage() for r in caplog.records]
    assert lines[0].startswith("'q', sink 'postgres': no route to the host; its results wait")
    assert lines[1:] == ["'q', sink 'postgres': the sink works again; 1 batches delivered"]


def test_too_much_that_waits_fails_the_job_with_the_cause(tmp_path: Path) -> None:
    job = Job(tmp_path, max_bytes=3_000)
    job.sink.error = ConnectionError("connection refused")
    message = r"'q', sink 'postgres': .* above max_waiting_bytes = 3000: connection refused\. "
    with pytest.raises(StateError, match=message):
        for batch in range(20):
            job.deliver(batch, batch)
    kept = job.waiting
    assert 1 <= kept < 10
    with pytest.raises(StateError, match=rf"'q': {kept} batch.*: connection refused\. They are"):
        job.queues.finish(0)

    again = Job(tmp_path, max_bytes=3_000)
    again.queues.finish()
    again.deliver(kept, kept)
    assert [batch for batch, *_ in again.sink.taken] == list(range(kept + 1))


def test_a_sink_may_fail_the_job(tmp_path: Path) -> None:
    waiting = Job(tmp_path)
    waiting.sink.error = ConnectionError("connection refused")
    waiting.deliver(0, 1)
    job = Job(tmp_path, "fail")
    job.sink.error = DataError("'q': no")
    with pytest.raises(DataError, match="'q': no"):
        job.deliver(1, 2)
    job.sink.error = None
    job.deliver(1, 2)
    assert job.sink.taken == [(0, [1], []), (1, [2], [])], "what waited before is first"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    job = Job(tmp_path)
    job.sink.error = ConnectionError("connection refused")
    job.deliver(0, 1)
    (file,) = tmp_path.glob("undelivered/here/*.arrow")
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(StateError, match=rf"{file.name} cannot be read .*restore it"):
        Job(tmp_path).queues.finish(0)


def test_refused_rows_and_what_is_too_much_are_dead_letters(
    spark: SparkSession, tmp_path: Path
) -> None:
    job = Job(tmp_path, "dead_letter", 3_000, spark)
    job.sink.error = RefusedError("'q': two rows have the same key")
    job.deliver(0, 1)
    job.sink.error = None
    job.deliver(1, 2)
    assert job.sink.taken == [(1, [2], [])] and not job.waiting
    job.sink.error = ConnectionError("connection refused")
    for batch in range(2, 12):
        job.deliver(batch, batch)
    assert job.queues.undelivered()["q"].batches == 10
    with pytest.raises(StateError):
        job.queues.finish(0)
    kept = job.waiting
    assert 1 <= kept < 10
    job.sink.error = None
    job.queues.finish()
    assert [batch for batch, *_ in job.sink.taken] == [1, *range(12 - kept, 12)]
    (place,) = (tmp_path / "dead_letter").iterdir()
    rows = pq.read_table(place, partitioning="hive").to_pylist()
    found = [(r["eddyline_batch"], r["_query"], r["n"], r["_reason"]) for r in rows]
    given_up = [(n, "q", n, "connection refused") for n in range(2, 12 - kept)]
    assert sorted(found) == [(0, "q", 1, "two rows have the same key"), *given_up]
