"""ON OVERLOAD SHED BY in a job: the same rows are dropped as by an embedded engine."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from eddyline import CatalogError, EngineOptions, StateError
from eddyline.spark import Session
from eddyline.testing import engine_with
from spark_cases import QUERIES, SECOND, Feed, Twin, bag, definitions, stream_tables

JobInputs = tuple[Feed, Feed]
KEEP = {"a": 0.5, "b": 0.7}
#: The rows of ``a`` are ranked in all, those of ``b`` are drawn.
TEXTS = {
    "pairs": QUERIES["pairs"] + " ON OVERLOAD SHED BY a.v",
    "sums": QUERIES["sums"] + " ON OVERLOAD SHED BY v",
    "last": QUERIES["last"] + " ON OVERLOAD SHED",
}
ROWS = 300


def session_over(
    spark: SparkSession, feeds: JobInputs, directory: Path, texts: dict[str, str] = TEXTS
) -> Session:
    session = Session(spark, checkpoint=directory / "checkpoint", options=EngineOptions(keep=KEEP))
    session.sql(definitions({"a": feeds[0].source, "b": feeds[1].source}))
    for name, sql in texts.items():
        session.query(name, sql, sink="parquet", path=str(directory / name))
    return session


def test_the_job_drops_the_rows_that_the_embedded_engine_drops(
    spark: SparkSession, feeds: JobInputs, tmp_path: Path
) -> None:
    engine = engine_with(keep=KEEP)
    engine.sql(definitions(dict.fromkeys("ab", "source = 'none'")))
    for name, sql in TEXTS.items():
        engine.query(sql, name=name)
    twin = Twin(engine, dict.fromkeys("ab", 5 * SECOND))
    files = [stream_tables(seed, 4, rows=ROWS) for seed in (1, 2)]

    def write(number: int) -> None:
        for feed, tables in zip(feeds, files, strict=True):
            feed.write(tables[number])
        twin.process({name: [t[number]] for name, t in zip("ab", files, strict=True)})

    run = session_over(spark, feeds, tmp_path).start()
    for number in (0, 1):
        write(number)
        run.processAllAvailable()
    with pytest.raises(
        CatalogError, match=r"'more' drops rows of a BY k, and query 'pairs' BY a\.v"
    ):
        run.add("more", "SELECT k FROM a [RANGE 3 SECONDS] ON OVERLOAD SHED BY k")
    run.stop()
    other = {**TEXTS, "pairs": QUERIES["pairs"] + " ON OVERLOAD SHED BY -a.v"}
    other["sums"] = QUERIES["sums"] + " ON OVERLOAD SHED BY -v"
    with pytest.raises(StateError, match=r"SHED BY of stream 'a' is 'BY a\.v' there"):
        session_over(spark, feeds, tmp_path, other).start()

    session = session_over(spark, feeds, tmp_path)
    run = session.start()
    for number in (2, 3):
        write(number)
        run.processAllAvailable()
    run.finish()
    twin.end()
    said = twin.changes()
    assert {name: bag(session.results(name)) for name in TEXTS} == said
    report = engine.shedding
    assert run.progress().dropped == {n: of["seen"] - of["kept"] for n, of in report.items()}
    assert 0.4 < report["a"]["kept"] / report["a"]["seen"] < 0.6
    stats = run.stats()["pairs"]
    assert stats["kept"] == {n: of["kept"] / of["seen"] for n, of in report.items()}
    assert stats["expected_output_share"] is None
    values = {row[1] for row in said["pairs"] if row[0] == "+"}
    assert said["pairs"], values
