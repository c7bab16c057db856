"""Jobs that call: functions of Python (sink ``python``), and servers (sink ``webhook``)."""

from __future__ import annotations

import time
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline import DataError, Engine
from eddyline.spark import Session
from eddyline.spark.run import Run
from spark_cases import SECOND, Feed, Twin, bag, definitions, stream_tables, wait
from webhook_server import WebhookServer

PLAIN = "SELECT k, v FROM a [RANGE 5 SECONDS] WHERE v > 50"
COUNTS = "SELECT k, COUNT(*) AS n FROM a [RANGE 4 SECONDS] GROUP BY k"


class Called:
    """A function that keeps what it gets, by batch.

    Attributes:
        errors: raised by the next calls.
    """

    def __init__(self) -> None:
        self.batches: dict[int, pa.Table] = {}
        self.errors: list[Exception] = []
        self.calls = 0

    def __call__(self, batch: int, rows: pa.Table) -> None:
        self.calls += 1
        self.batches[batch] = rows
        if self.errors:
            raise self.errors.pop(0)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        found = pa.concat_tables(self.batches.values())
        own = found.filter(pa.compute.equal(found["_query"], query)).drop_columns("_query")
        return sorted(bag(own), key=repr)


class Job:
    """A job, and an engine with the same input."""

    def __init__(self, spark: SparkSession, place: Path) -> None:
        self.spark = spark
        self.place = place
        self.feed = Feed(place / "a")
        self.files = stream_tables(3, 6)
        engine = Engine()
        engine.sql(definitions({"a": "source = 'none'"}))
        for name, select in (("plain", PLAIN), ("counts", COUNTS)):
            engine.query(select, name=name)
        self.twin = Twin(engine, {"a": 5 * SECOND})

    def session(self) -> Session:
        session = Session(self.spark, checkpoint=self.place / "c", shards=2)
        session.sql(definitions({"a": self.feed.source}))
        return session

    def write(self, n: int) -> None:
        files, self.files = self.files[:n], self.files[n:]
        self.feed.write(*files)
        self.twin.process({"a": files})

    def expected(self, query: str) -> list[tuple[Any, ...]]:
        return sorted(self.twin.changes()[query], key=repr)


@pytest.fixture
def job(spark: SparkSession, tmp_path: Path) -> Job:
    return Job(spark, tmp_path)


def test_a_function_gets_each_batch_also_after_failures(job: Job) -> None:
    called, counts = Called(), Called()

    def start() -> Run:
        session = job.session()
        session.query("plain", PLAIN, sink=called)
        session.query("counts", COUNTS, sink=counts, on_failure="dead_letter")
        return session.start()

    job.write(2)
    called.errors = [OSError("the line is dead")]
    run = start()
    run.processAllAvailable()
    wait(run, lambda: called.calls > 1 and not run.progress().undelivered)
    assert called.rows("plain") == job.expected("plain")
    assert called.batches[0].column_names[:4] == ["_query", "_op", "_ts", "_exp"]
    called.errors = [OSError("the line is dead")] * 9
    counts.errors = [DataError("never")]
    job.write(2)
    run.processAllAvailable()
    assert "python" in run.progress().undelivered["plain"].text
    assert run.progress().undelivered["plain"].cause == "OSError: the line is dead"
    run.stop()
    called.errors = []
    run = start()
    job.write(2)
    run.processAllAvailable()
    wait(run, lambda: not run.progress().undelivered)
    assert called.rows("plain") == job.expected("plain")
    assert counts.rows("counts") == job.expected("counts")
    run.stop()
    (dead,) = (job.place / "c" / "dead_letter").iterdir()
    rows = job.spark.read.parquet(str(dead)).collect()
    assert rows and {row["_reason"] for row in rows} == {"never"}


def test_a_function_of_a_module(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    place = job.place / "modules"
    place.mkdir()
    (place / "alerts_of_test.py").write_text(
        "seen = []\ndef take(batch, rows): seen.append((batch, rows))\nnothing = 1\n"
    )
    monkeypatch.syspath_prepend(place)
    job.write(2)
    session = job.session()
    sink = "WITH (sink = 'python', function = 'alerts_of_test:take')"
    session.sql(f"CREATE QUERY plain AS {PLAIN} {sink}; CREATE QUERY again AS {PLAIN} {sink}")
    session.start(available_now=True).awaitTermination()
    seen = import_module("alerts_of_test").seen
    found = [rows for _, rows in seen]
    assert len(found) == len({batch for batch, _ in seen}), "one call for both"
    for query in ("plain", "again"):
        own = [t.filter(pa.compute.equal(t["_query"], query)) for t in found]
        rows = pa.concat_tables(own).drop_columns("_query")
        assert sorted(bag(rows), key=repr) == job.expected("plain")
    for function, message in {
        "alerts_of_test:none": r"function = 'alerts_of_test:none': .*no attribute 'none'",
        "no_such_module:f": "No module named 'no_such_module'; modules are looked for in",
        "alerts_of_test:nothing": "function = 'alerts_of_test:nothing' is no function",
        "given": "the session has no such function: add the query by",
        "a:b:c": "function = 'a:b:c' is not of the form module:name",
    }.items():
        session = Session(job.spark)
        session.sql(definitions({"a": job.feed.source}))
        with pytest.raises(DataError, match=message):
            session.query("q", PLAIN, sink="python", function=function)
            session.start()
    with pytest.raises(TypeError, match="'q': path is 1, and text is wanted"):
        Session(job.spark).query("q", PLAIN, sink="parquet", path=1)  # type: ignore[arg-type]


def test_a_server_that_hangs_holds_up_one_batch_for_its_timeout(
    job: Job, server: WebhookServer
) -> None:
    other = Called()
    session = job.session()
    session.query("counts", COUNTS, sink=other)
    for name, timeout in (("plain", "3"), ("second", "2.9"), ("third", "2.8")):
        session.query(name, PLAIN, sink="webhook", url=server.url, timeout=timeout)
    job.write(2)
    server.slow.clear()
    run = session.start()
    wait(run, lambda: 0 in other.batches)
    began = time.monotonic()
    assert not run.progress().undelivered and not server.posts
    wait(run, lambda: set(run.progress().undelivered) == {"plain", "second", "third"})
    assert time.monotonic() - began < 2 * 3, "side by side"
    job.write(2)
    run.processAllAvailable()
    assert other.rows("counts") == job.expected("counts"), "others go on"
    server.slow.set()
    wait(run, lambda: not run.progress().undelivered)
    job.write(2)
    run.processAllAvailable()
    run.stop()
    by_key: dict[str, list[dict[str, Any]]] = dict(server.posts)
    keys = [key for key, _ in server.posts if "-plain-" in key]
    assert keys == sorted(keys, key=lambda key: int(key.rpartition("-")[2])), "in order"
    for query in ("plain", "second", "third"):
        rows = [row for key, rows in by_key.items() if f"-{query}-" in key for row in rows]
        assert {row["_query"] for row in rows} == {query}
        values = sorted((row["_ts"], row["k"], row["v"]) for row in rows)
        assert [v[1:] for v in values] == [
            c[-2:] for c in sorted(job.twin.changes()["plain"], key=lambda c: (c[1], *c[3:]))
        ]
