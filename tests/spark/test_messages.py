"""Errors of sources, sinks and checkpoints are reported before the job starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from eddyline import CatalogError, DataError, SetupError, SqlError, StateError
from eddyline.spark import Session
from eddyline.spark.environment import require_java

COLUMNS = "(ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts"


def start(spark: SparkSession, source: str, sink: str = "", columns: str = COLUMNS) -> None:
    session = Session(spark)
    session.sql(
        f"CREATE STREAM s {columns} {source}; CREATE QUERY q AS SELECT x FROM s [NOW] {sink}"
    )
    session.start()


@pytest.fixture
def parquet(tmp_path: Path) -> str:
    pq.write_table(pa.table({"ts": [1], "xx": [1], "x": [b"1"]}), tmp_path / "1.parquet")
    return f"WITH (source = 'parquet', path = '{tmp_path}')"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "stream 's' has no source"),
        ("WITH (sorce = 'parquet')", "did you mean 'source'"),
        ("WITH (source = 'parquet')", "needs the option 'path'"),
        ("WITH (source = 'parquet', pth = '/x')", "did you mean 'path'"),
        ("WITH (source = 'parquet', path = '/no/such')", "no file or directory '/no/such'"),
        ("WITH (source = 'parket', path = '/')", "did you mean 'parquet'"),
        ("WITH (source = 'rate')", "no column 'ts'"),
    ],
)
def test_sources(spark: SparkSession, source: str, message: str) -> None:
    with pytest.raises((DataError, SqlError), match=message):
        start(spark, source)


def test_a_query_without_a_stream(spark: SparkSession) -> None:
    session = Session(spark)
    session.sql(
        "CREATE STREAM s (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts;"
        "CREATE TABLE t (x BIGINT) WITH (updates = 'retroactive');"
        "CREATE QUERY q AS SELECT x FROM s [NOW]; CREATE QUERY r AS SELECT x FROM t"
    )
    with pytest.raises(CatalogError, match="query 'r' reads tables only; on Spark, a query needs"):
        session.start()


def test_state_that_is_deleted_with_the_session(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def warnings(*, available_now: bool, **options: Any) -> list[str]:
        caplog.clear()
        session = Session(spark, **options)
        session.stream("s", spark.readStream.format("rate").load(), timestamp="timestamp")
        session.query("q", "SELECT value FROM s [NOW]", sink="noop")
        session.start(available_now=available_now).stop()
        return [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]

    (message,) = warnings(available_now=False)
    assert "in the temporary directory file:/" in message
    assert "deleted with the session" in message
    assert "Session(checkpoint=DIR), or eddyline run --checkpoint DIR" in message
    assert warnings(available_now=True) == []
    assert warnings(available_now=False, checkpoint=tmp_path / "checkpoint") == []


def test_column_that_files_do_not_have(spark: SparkSession, parquet: str) -> None:
    with pytest.raises(DataError, match="no column 'xxx'; "):
        start(spark, parquet, columns="(ts TIMESTAMP, x STRING, xxx BIGINT) TIMESTAMP BY ts")


def test_type_that_does_not_convert(spark: SparkSession, parquet: str) -> None:
    with pytest.raises(DataError, match="column 'x' is declared DATE but the rows have BINARY"):
        start(spark, parquet, columns="(ts TIMESTAMP, x DATE) TIMESTAMP BY ts")


def test_an_incomplete_file_is_skipped(spark: SparkSession, parquet: str, tmp_path: Path) -> None:
    for hidden in ("_0.parquet", ".0.parquet", "_temporary/0.parquet"):
        (tmp_path / hidden).parent.mkdir(exist_ok=True)
        (tmp_path / hidden).write_bytes(b"PAR1")
    with pytest.raises(DataError, match="no column 'xxx'; "):
        start(spark, parquet, columns="(ts TIMESTAMP, x STRING, xxx BIGINT) TIMESTAMP BY ts")


def test_not_a_parquet_file(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "1.parquet").write_text("no")
    with pytest.raises(DataError, match="stream 's': cannot read"):
        start(spark, f"WITH (source = 'parquet', path = '{tmp_path}')")


@pytest.mark.parametrize(
    ("sink", "message"),
    [
        ("WITH (snik = 'print')", "did you mean 'sink'"),
        ("WITH (sink = 'parquet')", "'q': the sink 'parquet' needs the option 'path'"),
        ("WITH (sink = 'prnt')", "did you mean 'print'"),
        ("WITH (sink = 'memory', path = '/x')", "'memory' has no option 'path'"),
        ("WITH (rows = 'many')", "not a number of rows"),
    ],
)
def test_sinks(spark: SparkSession, parquet: str, sink: str, message: str) -> None:
    with pytest.raises(SqlError, match=message):
        start(spark, parquet, sink, "(ts TIMESTAMP, x STRING) TIMESTAMP BY ts")


def test_a_sink_that_spark_does_not_have(spark: SparkSession, tmp_path: Path) -> None:
    pq.write_table(pa.table({"ts": [1], "x": ["1"]}), tmp_path / "1.parquet")
    source = f"WITH (source = 'parquet', path = '{tmp_path}')"
    columns = "(ts TIMESTAMP, x STRING) TIMESTAMP BY ts"
    with pytest.raises(DataError, match="'q': Spark knows no sink"):
        start(spark, source, "WITH (sink = 'org.example.Nothing')", columns)


def test_checkpoint_of_another_program(spark: SparkSession, tmp_path: Path) -> None:
    def started(select: str) -> None:
        session = Session(spark, checkpoint=tmp_path)
        df = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
        session.stream("s", df, timestamp="timestamp")
        session.query("q", select, sink="memory")
        session.start().stop()

    started("SELECT value FROM s [NOW]")
    with pytest.raises(StateError, match="another program: query 'q' has another SELECT"):
        started("SELECT value + 1 AS v FROM s [NOW]")


def test_errors_count_lines_of_the_whole_script(spark: SparkSession) -> None:
    with pytest.raises(SqlError, match="line 3, column 8: ") as caught:
        Session(spark).sql(f"CREATE STREAM s {COLUMNS};\n\nSELECT y FROM s [NOW]")
    assert (caught.value.line, caught.value.column) == (3, 8)


def test_nothing_to_run(spark: SparkSession) -> None:
    with pytest.raises(CatalogError, match="no query to run"):
        Session(spark).start()


def test_results_that_cannot_be_read_back(spark: SparkSession) -> None:
    session = Session(spark)
    with pytest.raises(CatalogError, match=r"call start\(\) first"):
        session.results("q")


def test_a_static_dataframe_is_refused_as_a_stream(spark: SparkSession) -> None:
    with pytest.raises(DataError, match="the DataFrame is static"):
        Session(spark).stream("s", spark.range(1), timestamp="id")


def test_java_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SetupError, match=r"needs Java 17 or newer: JAVA_HOME is .*has no bin/java"):
        require_java()


def test_java_is_too_old(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/java").touch()
    (tmp_path / "release").write_text('JAVA_VERSION="11.0.2"\n')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SetupError, match=r"is Java 11"):
        require_java()


def session_over_rate(spark: SparkSession, directory: Path, select: str) -> Session:
    session = Session(spark, checkpoint=directory)
    df = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
    session.stream("s", df, timestamp="timestamp")
    session.query("q", select, sink="memory")
    return session


def test_a_checkpoint_is_for_one_session_at_a_time(spark: SparkSession, tmp_path: Path) -> None:
    first = session_over_rate(spark, tmp_path, "SELECT value FROM s [NOW]")
    run = first.start()
    for session in (first, session_over_rate(spark, tmp_path, "SELECT value FROM s [NOW]")):
        with pytest.raises(StateError, match="in use by another session of this process"):
            session.start()
    assert run.isActive
    run.stop()
    again = session_over_rate(spark, tmp_path, "select value\nfrom s [now] -- looks do not count")
    again.start().stop()
    assert not (tmp_path / "lease.json").exists()
    (tmp_path / "program.json").unlink()
    with pytest.raises(StateError, match=r"program\.json is missing"):
        first.start()
    assert not (tmp_path / "lease.json").exists(), "a start that fails keeps no other out"


def test_a_table_whose_file_is_damaged(spark: SparkSession, tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": list(range(1000))}), tmp_path / "1.parquet")
    content = (tmp_path / "1.parquet").read_bytes()
    (tmp_path / "1.parquet").write_bytes(content[:50] + bytes(200) + content[250:])
    session = Session(spark)
    df = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
    session.stream("s", df, timestamp="timestamp")
    session.sql(f"CREATE TABLE t (x BIGINT) WITH (source = 'parquet', path = '{tmp_path}')")
    session.query("q", "SELECT value FROM s [NOW], t WHERE x = value", sink="memory")
    with pytest.raises(DataError, match="table 't': source 'parquet': ") as caught:
        session.start()
    assert "\n" not in str(caught.value)
