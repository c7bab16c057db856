"""Queries of a job get other sinks, while it runs and at a restart; no row is lost or doubled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from eddyline import CatalogError, DataError, Engine
from eddyline.spark import Run, Session
from eddyline.spark.delivery import sink_queues
from eddyline.spark.storage.control import ControlStream
from eddyline.spark.storage.directory import LocalDirectory
from spark_cases import SECOND, Feed, Twin, bag, definitions, stream_tables, wait

PLAIN = "SELECT k, v FROM a [RANGE 5 SECONDS] WHERE v > 20 EMIT CHANGES"
#: Its groups lie across the shards of the others: the driver merges them.
MERGED = "SELECT v, COUNT(*) AS n FROM a [RANGE 4 SECONDS] GROUP BY v EMIT CHANGES"
BY_KEY = "SELECT k, COUNT(*) AS n FROM a [RANGE 4 SECONDS] GROUP BY k EMIT CHANGES"


class Job:
    """A job, and an engine with the same input."""

    def __init__(self, spark: SparkSession, place: Path, queries: dict[str, str]) -> None:
        self.spark = spark
        self.place = place
        self.feed = Feed(place / "a")
        self.rows = stream_tables(3, 8)
        engine = Engine()
        engine.sql(definitions({"a": "source = 'none'"}))
        for name, select in queries.items():
            engine.query(select, name=name)
        self.twin = Twin(engine, {"a": 5 * SECOND})
        self.queries = queries
        self.sinks: dict[str, dict[str, str]] = {name: {} for name in queries}
        self.printed: list[int] = []

    def start(self) -> Run:
        session = Session(
            self.spark,
            checkpoint=self.place / "c",
            shards=2,
            base=self.place,
            printer=lambda name, rows, n: self.printed.append(n),
        )
        session.sql(definitions({"a": self.feed.source}))
        for name, select in self.queries.items():
            session.query(name, select, **self.sinks[name])
        return session.start()

    def write(self, run: Run, n: int = 2) -> None:
        """Process n files."""
        files, self.rows = self.rows[:n], self.rows[n:]
        self.feed.write(*files)
        self.twin.process({"a": files})
        run.processAllAvailable()

    def read(self, path: str, query: str | None = None) -> list[tuple[Any, ...]]:
        """The changes in files below a path, of a query if several are there."""
        files = sorted((self.place / path).glob("eddyline_batch=*/*.parquet"))
        rows = [pq.read_table(f, coerce_int96_timestamp_unit="us") for f in files]
        if query is not None:
            rows = [t.filter([q == query for q in t["_query"].to_pylist()]) for t in rows]
            rows = [t.drop_columns("_query") for t in rows]
        return sorted((row for table in rows for row in bag(table)), key=repr)

    def expected(self, query: str) -> list[tuple[Any, ...]]:
        return sorted(self.twin.changes().get(query, []), key=repr)

    @property
    def requests(self) -> int:
        return len(ControlStream(LocalDirectory(self.place / "c/control")).statements())


def files(path: str) -> dict[str, str]:
    return {"sink": "parquet", "path": path}


def test_sinks_are_altered_while_the_job_runs(spark: SparkSession, tmp_path: Path) -> None:
    job = Job(spark, tmp_path, {"p": PLAIN, "x": PLAIN, "y": PLAIN, "m": MERGED, "k": BY_KEY})
    job.sinks |= {"x": files("both"), "y": files("both"), "m": files("m"), "k": files("k")}
    run = job.start()
    job.write(run)
    printed = sum(job.printed)
    with pytest.raises(CatalogError, match="there is no query 'q'"):
        run.alter("q", sink="noop")
    with pytest.raises(DataError, match="needs the option 'path'"):
        run.alter("p", sink="parquet")
    with pytest.raises(DataError, match="belongs to 'm'"):
        run.alter("p", **files("m"))
    before = {name: len(job.expected(name)) for name in job.queries}
    assert printed == before["p"]
    run.alter("p", **files("p"))
    run.alter("y", **files("y"))
    run.sql("ALTER QUERY m WITH (sink = 'parquet', path = 'm2'); ALTER QUERY k WITH (rows = 3)")
    assert run.queries["m"].options["path"] == "m2"
    job.write(run)
    assert len(job.read("p")) == len(job.expected("p")) - before["p"]
    run.stop()

    run = job.start()  # with the same script
    job.write(run)
    assert job.read("both", "x") == job.expected("x")
    parts = {"y": [job.read("both", "y"), job.read("y")], "m": [job.read("m"), job.read("m2")]}
    for name, (first, then) in parts.items():
        assert sorted([*first, *then], key=repr) == job.expected(name), name
        assert first and then
    assert len(job.read("p")) == len(job.expected("p")) - before["p"] > 0
    assert len(job.read("k")) == before["k"] > 0
    run.alter("m", **files("m"))
    job.write(run)
    found = [row for path in ("m", "m2") for row in job.read(path)]
    assert sorted(found, key=repr) == job.expected("m")
    run.stop()


def test_a_restart_with_other_sinks(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    job = Job(spark, tmp_path, {"p": PLAIN, "m": MERGED})
    job.sinks |= {"p": files("p1"), "m": files("m1")}
    run = job.start()
    job.write(run)
    run.stop()
    job.sinks |= {"p": files("p2"), "m": files("m2")}
    run = job.start()
    warned = [r.getMessage() for r in caplog.records if "another sink than" in r.getMessage()]
    assert [text.partition(":")[0] for text in warned] == ["query 'p'", "query 'm'"]
    job.write(run)
    assert job.read("p2") and job.read("m2")
    sent = job.requests
    run.stop()
    run = job.start()
    assert job.requests == sent
    run.alter("p", **files("p3"))
    run.stop()
    run = job.start()
    assert run.queries["p"].options["path"] == "p3", "the script is the same"
    job.write(run)
    run.stop()
    job.sinks["p"] = files("p1")
    run = job.start()
    job.write(run)
    run.stop()
    for name, numbers in {"p": (1, 2, 3), "m": (1, 2)}.items():
        found = [row for n in numbers for row in job.read(f"{name}{n}")]
        assert sorted(found, key=repr) == job.expected(name), name
        assert all(job.read(f"{name}{n}") for n in numbers)


def test_what_waits_goes_to_the_other_sink(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sink_queues, "_MOST_S", 0.5)
    job = Job(spark, tmp_path, {"p": PLAIN, "x": PLAIN, "y": PLAIN})
    job.sinks |= {"p": files("p"), "x": files("both"), "y": files("both")}
    for path in ("p", "both"):
        (tmp_path / path).write_text("a file is in the way")
    run = job.start()
    job.write(run)
    run.alter("p", **files("p2"))
    run.alter("y", **files("y"))
    run.stop()
    run = job.start()
    job.write(run)
    wait(run, lambda: run.progress().undelivered.keys() <= {"x"})
    assert job.read("p2") == job.expected("p")
    assert job.read("y") == job.expected("y")
    (tmp_path / "both").unlink()
    wait(run, lambda: not run.progress().undelivered)
    assert job.read("both", "x") == job.expected("x")
    assert not job.read("both", "y")
    run.stop()
