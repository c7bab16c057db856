"""A job that is rescaled goes on exactly where it stopped, with the same results, once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from eddyline import Engine, StateError
from eddyline.cli.main import app
from eddyline.spark import Run, Session, rescale
from eddyline.spark.storage.directory import LocalDirectory
from eddyline.spark.storage.lease import Lease
from eddyline.spark.verify import verify
from eddyline.testing.bags import difference, rows_of
from net_changes import net_changes
from spark_cases import (
    NAMES,
    QUERIES,
    SECOND,
    Feed,
    bag,
    definitions,
    in_order,
    stream_tables,
)

pytestmark = pytest.mark.fault

JobInputs = tuple[Feed, Feed]
CELLS = 4
STEPS = 5
ADDED = "SELECT a.k, MAX(a.v) AS most FROM a [RANGE 4 SECONDS] GROUP BY a.k EMIT CHANGES"


def session_over(spark: SparkSession, feeds: JobInputs, directory: Path, **more: Any) -> Session:
    session = Session(spark, checkpoint=directory / "checkpoint", **more)
    session.sql(definitions({"a": feeds[0].source, "b": feeds[1].source}))
    session.table("names", spark.createDataFrame(NAMES.to_pandas()))
    for name, sql in QUERIES.items():
        session.query(name, sql, sink="parquet", path=str(directory / name))
    return session


def expected(steps: list[dict[str, pa.Table]], added_after: int) -> dict[str, Any]:
    """What one engine emits; ``added`` is a query from this step on."""
    engine = Engine()
    engine.sql(definitions(dict.fromkeys("ab", "source = 'none'")))
    engine.sql("CREATE TABLE names (k BIGINT, name STRING)")
    engine.table("names", NAMES)
    for name, sql in QUERIES.items():
        engine.query(sql, name=name)
    parts: dict[str, list[pa.Table]] = {}
    for number, rows in enumerate(steps):
        if number == added_after:
            engine.query(ADDED, name="added")
        for name, changes in engine.process(rows).items():
            parts.setdefault(name, []).append(changes)
    for name, changes in engine.advance(10**12).items():
        parts.setdefault(name, []).append(changes)
    return {name: bag(pa.concat_tables(tables)) for name, tables in parts.items()}


def errors(directory: Path) -> list[str]:
    found = verify(LocalDirectory(directory / "checkpoint"))
    return [f.text for f in found if f.level == "error"]


def stop(run: Run) -> None:
    run.processAllAvailable()
    run.stop(after_batch=True)


def test_results_are_those_of_one_engine_whatever_the_numbers_of_shards(
    spark: SparkSession, feeds: JobInputs, tmp_path: Path
) -> None:
    streams = [stream_tables(seed, STEPS) for seed in (1, 2)]
    steps = [{"a": a, "b": b} for a, b in zip(*streams, strict=True)]
    shards = iter([3, 1, 4, 2])
    session = session_over(spark, feeds, tmp_path, shards=2, max_shards=CELLS)
    for number, rows in enumerate(steps):
        run = session.start()
        if number == 1:
            run.add("added", ADDED, sink="parquet", path=str(tmp_path / "added"))
        for feed, table in zip(feeds, rows.values(), strict=True):
            feed.write(table)
        run.processAllAvailable()
        engines = run.shards()
        assert sorted(e["cell"] for e in engines if "k" in e["layout"]) == [*range(CELLS)]
        assert any(group["held"] for e in engines for group in e["groups"]), "rows wait"
        if number == STEPS - 1:
            run.finish()
            break
        stop(run)
        wanted = next(shards)
        done = rescale(tmp_path / "checkpoint", wanted, spark)
        assert (done.shards, done.batch is not None) == (wanted, True)
        counts = [sum(p.partition == i for p in done.placement) for i in range(wanted)]
        assert max(counts) - min(counts) <= 1
        assert errors(tmp_path) == []
        session = session_over(spark, feeds, tmp_path)
    assert partitions_with_state(tmp_path) == 2
    of_one = expected(steps, added_after=1)
    for name in (*QUERIES, "added"):
        assert bag(session.results(name)) == of_one[name], name


JOIN = "a [RANGE 4 SECONDS], b [RANGE 9 SECONDS] WHERE a.k = b.k"
MERGED = {
    "total": f"SELECT COUNT(*) AS n, SUM(b.v) AS s, AVG(a.v) AS m FROM {JOIN}",
    "groups": f"SELECT a.v % 3 AS g, MAX(b.v) AS m FROM {JOIN} GROUP BY a.v % 3 EMIT CHANGES",
    "last": "SELECT COUNT(*) AS n, SUM(v) AS s FROM a [ROWS 7]",
}


def test_merged_groups_go_on_with_other_numbers_of_shards(
    spark: SparkSession, feeds: JobInputs, tmp_path: Path
) -> None:
    tables = stream_tables(1, 4), stream_tables(2, 4)
    sizes: dict[str, Any] = {"shards": 2, "max_shards": 3}
    for number, wanted in enumerate((3, 1, 2, None)):
        session = Session(spark, checkpoint=tmp_path / "checkpoint", **sizes)
        session.sql(definitions({"a": feeds[0].source, "b": feeds[1].source}))
        for name, sql in MERGED.items():
            session.query(name, sql, sink="parquet", path=str(tmp_path / name))
        run, sizes = session.start(), {}
        for feed, rows in zip(feeds, tables, strict=True):
            feed.write(rows[number])
        run.processAllAvailable()
        assert run.running.divided.by_name.keys() == MERGED.keys()
        if wanted is None:
            run.finish()
        else:
            stop(run)
            assert rescale(tmp_path / "checkpoint", wanted, spark).shards == wanted
    engine = Engine()
    engine.sql(definitions(dict.fromkeys("ab", "source = 'none'")))
    for name, sql in MERGED.items():
        engine.query(sql, name=name)
    first = engine.process({n: pa.concat_tables(of) for n, of in zip("ab", tables, strict=True)})
    assert engine.newest is not None
    then = engine.advance(engine.newest + 9 * SECOND + 1)
    for name in MERGED:
        rows = in_order(spark.read.load(str(tmp_path / name)).toArrow())
        of_one = rows_of(pa.concat_tables([first[name], then[name]]))
        expected, found = (
            net_changes(engine.queries[name], r, engine.clock) for r in (of_one, rows)
        )
        assert expected
        assert difference(expected, found) == ([], []), name


def partitions_with_state(directory: Path) -> int:
    """Partitions that have a state of the last batch."""
    spark = directory / "checkpoint" / "spark"
    last = max(int(p.name) for p in (spark / "commits").iterdir() if p.name.isdigit())
    states = (spark / "state" / "0").glob(f"[0-9]*/{last + 1}*")
    return len({p.parent.name for p in states})


def test_the_largest_number_is_not_below_the_number(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="max_shards must be at least 3, not 2"):
        Session(spark, shards=3, max_shards=2)
    script = tmp_path / "script.sql"
    script.write_text("")
    result = CliRunner().invoke(app, ["run", str(script), "--shards", "3", "--max-shards", "2"])
    assert (result.exit_code, "below --shards 3" in result.stderr) == (2, True)


# -- a job with one batch ----------------------------------------------


@pytest.fixture
def stopped(spark: SparkSession, feeds: JobInputs, tmp_path: Path) -> Path:
    """The directory of a job that stopped after a batch, with two of at most three shards."""
    session = Session(spark, checkpoint=tmp_path / "checkpoint", shards=2, max_shards=3)
    session.sql(definitions({"a": feeds[0].source}))
    session.query("sums", QUERIES["sums"], sink="parquet", path=str(tmp_path / "sums"))
    feeds[0].write(stream_tables(1, 1)[0])
    stop(session.start())
    return tmp_path


def restarted(spark: SparkSession, feed: Feed, directory: Path, **more: Any) -> list[Any]:
    """All results of the job, from a start to the end of the input."""
    session = Session(spark, checkpoint=directory / "checkpoint", **more)
    session.sql(definitions({"a": feed.source}))
    session.query("sums", QUERIES["sums"], sink="parquet", path=str(directory / "sums"))
    session.start().finish()
    return bag(session.results("sums"))


def test_an_interrupted_rescaling_is_repeated(
    spark: SparkSession, feeds: JobInputs, stopped: Path
) -> None:
    """As after a kill: the batch has begun, its state is written in part, it is not committed."""
    checkpoint = stopped / "checkpoint"
    done = rescale(checkpoint, 3, spark)
    assert done.batch is not None
    commits, state = checkpoint / "spark" / "commits", checkpoint / "spark" / "state" / "0"
    for path in [*commits.glob(f"*{done.batch}*"), *state.glob(f"1/*{done.batch + 1}*")]:
        path.unlink()
    with pytest.raises(StateError, match=r"to 3 shards was interrupted: repeat .*--shards 3"):
        restarted(spark, feeds[0], stopped)
    assert any("was interrupted" in text for text in errors(stopped))
    with pytest.raises(StateError, match=r"to 3 shards was interrupted"):
        rescale(checkpoint, 1, spark)
    repeated = rescale(checkpoint, 3, spark)
    assert (repeated.before, repeated.shards, repeated.batch) == (2, 3, done.batch)
    again = rescale(checkpoint, 3, spark)
    assert (again.before, again.batch) == (3, None), "there is nothing to do"
    assert errors(stopped) == []
    assert restarted(spark, feeds[0], stopped) == sums_of_one_engine()


def sums_of_one_engine() -> list[Any]:
    engine = Engine()
    engine.sql(definitions({"a": "source = 'none'"}))
    engine.query(QUERIES["sums"], name="sums")
    first, then = engine.process({"a": stream_tables(1, 1)[0]}), engine.advance(10**12)
    return bag(pa.concat_tables([first["sums"], then["sums"]]))


def test_a_batch_that_is_not_complete_is_repeated_first(
    spark: SparkSession, feeds: JobInputs, stopped: Path
) -> None:
    checkpoint = stopped / "checkpoint"
    commits = checkpoint / "spark" / "commits"
    last = max(int(p.name) for p in commits.iterdir() if p.name.isdigit())
    for path in commits.glob(f"*{last}*"):
        path.unlink()
    with pytest.raises(StateError, match=f"batch {last} .* is not complete.*start the job again"):
        rescale(checkpoint, 3, spark)
    session = Session(spark, checkpoint=checkpoint)
    session.sql(definitions({"a": feeds[0].source}))
    session.query("sums", QUERIES["sums"], sink="parquet", path=str(stopped / "sums"))
    stop(session.start())
    assert rescale(checkpoint, 3, spark).batch == last + 1
    assert restarted(spark, feeds[0], stopped) == sums_of_one_engine()


def test_what_cannot_be_rescaled_is_refused(
    spark: SparkSession, feeds: JobInputs, stopped: Path, tmp_path: Path
) -> None:
    checkpoint = stopped / "checkpoint"
    with pytest.raises(StateError, match=r"can have 1 to 3 shards .* not 4: .*--max-shards N"):
        rescale(checkpoint, 4, spark)
    with pytest.raises(StateError, match="contains no program of a job"):
        rescale(tmp_path / "other", 2, spark)
    with pytest.raises(StateError, match=r"has 2 shards .* not 3: .*eddyline rescale .*--shards 3"):
        restarted(spark, feeds[0], stopped, shards=3)
    with pytest.raises(StateError, match="max_shards is 3 there and 5 here"):
        restarted(spark, feeds[0], stopped, max_shards=5)
    lease = Lease.take(LocalDirectory(f"file:{checkpoint}"))
    try:
        with pytest.raises(StateError, match="is in use by"):
            rescale(checkpoint, 3, spark)
    finally:
        lease.release()
    assert rescale(checkpoint, 1, spark).before == 2, "nothing was changed"


def test_the_command_reports_where_shards_run(
    spark: SparkSession, stopped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eddyline.spark.environment.local_session", lambda log, properties: spark)
    monkeypatch.setattr(SparkSession, "stop", lambda self: None)
    checkpoint = str(stopped / "checkpoint")
    result = CliRunner().invoke(app, ["rescale", checkpoint, "--shards", "3"])
    assert result.exit_code == 0, result.output
    first, *placed = result.output.splitlines()
    assert first.startswith("rescaled from 2 to 3 shards side by side in ")
    assert placed == [f"  partition {i}: cell {i} of a.k in 3 parts" for i in range(3)]
    result = CliRunner().invoke(app, ["rescale", checkpoint, "--shards", "3", "--json"])
    report = json.loads(result.output)
    assert (report["before"], report["shards"], report["batch"]) == (3, 3, None)
    result = CliRunner().invoke(app, ["rescale", checkpoint, "--shards", "7"])
    assert result.exit_code == 2
    assert "can have 1 to 3 shards" in result.stderr
