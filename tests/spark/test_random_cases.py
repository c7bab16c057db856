"""Random queries over random streams, through Spark: many in one job, each against the oracle.

Each case has streams and a table of its own, so that each gets an engine and a watermark of its
own; its rows come in four batches, and the job stops and starts again half way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings
from pyspark.sql import SparkSession

from eddyline.spark import JobProgress, Session
from eddyline.testing.history import check_history
from eddyline.testing.ingest_model import IngestModel
from eddyline.testing.oracle import Oracle
from eddyline.testing.strategies import Case, cases, play
from eddyline.testing.strategies.streams import TABLES, tables_of
from spark_cases import Feed

BATCHES = 4


def random_cases(count: int) -> list[Case]:
    """Cases in which something happens, of all sizes, with tables that do not change."""
    found: list[Case] = []

    @settings(max_examples=8 * count, phases=[Phase.generate])
    @given(cases())
    def collect(case: Case) -> None:
        static = all(TABLES[name] == "static" for name in case.tables)
        if len(found) < count and static and play(case, check=False).changes().num_rows > 3:
            found.append(case)

    collect()
    assert len(found) == count
    return found


@dataclass
class JobCase:
    """A case with its number in all names, and its input for the job."""

    number: int
    case: Case
    directory: Path
    batches: list[dict[str, pa.Table]] = field(init=False)
    feeds: dict[str, Feed] = field(init=False)

    def __post_init__(self) -> None:
        rows = [r for step in self.case.steps for r in step.rows]
        size = -(-len(rows) // BATCHES) or 1
        names = [n for n in self.case.rules if re.search(rf"\b{n} \[", self.case.sql)]
        self.batches = [
            {self.name(n): t for n, t in tables_of(rows[i * size : (i + 1) * size], names).items()}
            for i in range(BATCHES)
        ]
        self.feeds = {}
        for name in names:
            self.feeds[self.name(name)] = Feed(self.directory / self.name(name))

    def name(self, of: str) -> str:
        return f"{of}{self.number}"

    @property
    def sql(self) -> str:
        sql = re.sub(r"\b([abcd]) \[", lambda m: f"{self.name(m[1])} [", self.case.sql)
        return sql.replace(" dim AS ", f" {self.name('dim')} AS ")

    def declare(self, session: Session, spark: SparkSession) -> None:
        for line in self.case.ddl.splitlines():
            name = self.name(line.split()[2])
            if name in self.feeds:
                source = f" WITH ({self.feeds[name].source})"
                session.sql(line.replace(line.split()[2], name, 1).replace(";", source))
        for name, rows in self.case.tables.items():
            size = 1_000_000 if self.number % 2 else None  # a large one is divided
            session.table(self.name(name), spark.createDataFrame(rows), rows=size)
        session.query(self.name("q"), self.sql, sink="memory")

    def write(self, batches: slice) -> None:
        for batch in self.batches[batches]:
            for name, rows in batch.items():
                self.feeds[name].write(rows)

    def check(self, changes: pa.Table, progress: JobProgress) -> None:
        """What the job delivered, against the oracle over what the watermark lets through."""
        rules = {self.name(n): r for n, r in self.case.rules.items() if self.name(n) in self.feeds}
        arrivals = IngestModel(rules)
        arrivals.read(rules)
        for batch in self.batches:
            arrivals.process(batch)
        for name in rules:
            assert progress.late[name] == arrivals.late[name].num_rows
            assert progress.bad[name] == arrivals.bad[name].num_rows
        first, now = arrivals.first_us, progress.watermark_us[", ".join(rules)]
        if first is None or now is None:
            assert changes.num_rows == 0
            return
        tables = {self.name(name): rows for name, rows in self.case.tables.items()}
        oracle = Oracle(arrivals.accepted, tables, {}, dict.fromkeys(rules, "ts"))
        check_history(oracle, self.sql, changes, first_us=first, until_us=now)


def declared(found: list[JobCase], spark: SparkSession, directory: Path) -> Session:
    session = Session(spark, checkpoint=directory / "checkpoint", shards=2)
    for case in found:
        case.declare(session, spark)
    return session


@pytest.mark.parametrize("count", [16, pytest.param(96, marks=pytest.mark.long)])
def test_answers_of_the_job_are_correct_at_every_instant(
    spark: SparkSession, tmp_path: Path, count: int
) -> None:
    found = [JobCase(i, case, tmp_path) for i, case in enumerate(random_cases(count))]
    for c in found:
        c.write(slice(0, 2))
    before = declared(found, spark, tmp_path)
    run = before.start()
    run.processAllAvailable()
    run.stop()
    for c in found:
        c.write(slice(2, BATCHES))
    after = declared(found, spark, tmp_path)
    run = after.start(available_now=True)
    run.finish()
    progress = run.progress()
    for c in found:
        parts = [session.results(c.name("q")).toArrow() for session in (before, after)]
        c.check(pa.concat_tables(parts), progress)
