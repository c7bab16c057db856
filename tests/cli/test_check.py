"""``eddyline check`` finds wrong sources, sinks and options without Spark."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from eddyline.cli.main import app
from eddyline.cli.scripts import runnable, warm_up
from eddyline.errors import SqlError
from eddyline.shipped import examples

GOOD = """CREATE STREAM s (ts TIMESTAMP, v BIGINT) TIMESTAMP BY ts
  WITH (source = 'csv', path = 'in', header = true);
CREATE QUERY q AS SELECT v FROM s [NOW]
  WITH (sink = 'parquet', path = 'out');
"""
SOURCE = "source = 'csv', path = 'in', header = true"
SINK = "sink = 'parquet', path = 'out'"
COLUMNS = "v BIGINT"
KAFKA = "source = 'kafka', kafka.bootstrap.servers = 'b:9', subscribe = 't'"
TO_KAFKA = "sink = 'kafka', kafka.bootstrap.servers = 'b:9', topic = 't'"
DOCUMENTS = Path(__file__).parents[2] / "docs"


@pytest.fixture(autouse=True)
def no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("Spark is started")

    monkeypatch.setattr("pyspark.core.context.SparkContext._ensure_initialized", refuse)


def check(tmp_path: Path, script: str) -> tuple[int, str]:
    file = tmp_path / "script.sql"
    file.write_text(script)
    for name in ("in", "x"):
        (tmp_path / name).mkdir(exist_ok=True)
    result = CliRunner().invoke(app, ["check", str(file)])
    return result.exit_code, result.output


@pytest.mark.parametrize(
    ("instead_of", "given", "at", "message"),
    [
        (SOURCE, "source = 'cvs', path = 'in'", "'cvs'", "did you mean 'csv'"),
        (SOURCE, "SOURCE = 'cvs', path = 'in'", "'cvs'", "did you mean 'csv'"),
        (SOURCE, SOURCE.replace("header", "haeder"), "haeder", "did you mean 'header'"),
        (SOURCE, "source = 'csv'", "'csv'", "the source 'csv' needs the option 'path'"),
        (SOURCE, "source = 'csv', pth = 'in'", "pth", "did you mean 'path'"),
        (SOURCE, "sorce = 'csv', path = 'in'", "sorce", "did you mean 'source'"),
        (SOURCE, "source = 'csv', path = 'in', Path = 'x'", "Path", "is given twice"),
        (SOURCE, f"{SOURCE}, Header = false", "Header", "is given twice"),
        (SOURCE, f"{SOURCE}, ts_unti = 'ms'", "ts_unti", "did you mean 'ts_unit'"),
        (SOURCE, f"{SOURCE}, late_sink = 'parket'", "'parket'", "'late:s': there is no sink"),
        (SOURCE, f"{SOURCE}, bad_sink = 'parquet'", "'parquet'", "needs the option 'path'"),
        (SOURCE, f"{SOURCE}, late_path = 'x'", "late_path", "'print' has no option 'path'"),
        (SOURCE, "source = 'xml', path = 'in'", "'xml'", "needs the option 'rowTag'"),
        (SOURCE, f"{SOURCE}, history = 'parket'", "'parket'", "did you mean 'parquet'"),
        (SOURCE, f"{SOURCE}, history = 'kafka'", "'kafka'", "there is no history 'kafka'"),
        (
            SOURCE,
            f"{SOURCE}, history = 'csv'",
            "'csv'",
            "the history 'csv' needs the option 'path'",
        ),
        (SOURCE, f"{SOURCE}, histroy = 'csv'", "histroy", "did you mean 'history'"),
        (SOURCE, f"{SOURCE}, history_path = 'x'", "history_path", "needs the option 'history'"),
        (
            SOURCE,
            f"{SOURCE}, history = 'csv', history_path = 'x', history_haeder = true",
            "history_haeder",
            "did you mean 'header'",
        ),
        (
            SOURCE,
            f"{SOURCE}, history = 'csv', history_path = 'x', history_until = 'May'",
            "'May'",
            "use ISO 8601",
        ),
        (
            SOURCE,
            f"{SOURCE}, history = 'csv', history_path = 'x', history_batch_rows = 0",
            "0",
            "not a number of rows from 1",
        ),
        (SOURCE, "source = 'socket', host = 'a'", "'socket'", "needs the option 'port'"),
        (SOURCE, "source = 'rate', rowPerSecond = 1", "rowPerSecond", "'rowsPerSecond'"),
        (SOURCE, "source = 'kafka', subscribe = 't'", "'kafka'", "'kafka.bootstrap.servers'"),
        (
            SOURCE,
            "source = 'kafka', kafka.bootstrap.servers = 'b:9'",
            "'kafka'",
            "'subscribe' or 'subscribePattern' or 'assign'",
        ),
        (SOURCE, KAFKA, "'kafka'", "no 'ts'; if it is in the messages, set format = 'json'"),
        (SOURCE, f"{KAFKA}, format = 'jsn'", "'jsn'", "no format 'jsn' of records; did you mean"),
        (SOURCE, f"{KAFKA}, format = 'json', alowComments = 1", "alowComments", "did you mean"),
        (SOURCE, f"{KAFKA}, format = 'json', sep = ';'", "sep", "has no option 'sep'"),
        (SOURCE, f"{SOURCE}, format = 'json'", "format", "has no option 'format'"),
        (COLUMNS, "v BIGINT PATH '$.v'", "PATH", "PATH is for records of JSON"),
        (COLUMNS, "v BIGINT METADATA", "METADATA", "METADATA is for the sources kafka, socket"),
        (SOURCE, "source = 'delta', path = 'x', ignoreDelets = 1", "ignoreDelets", "did you mean"),
        (
            SOURCE,
            "source = 'jdbc', url = 'jdbc:x', dbtable = 't'",
            "'jdbc'",
            "cannot be read as a stream",
        ),
        (SINK, f"{TO_KAFKA}, key = 'v,'", "'v,'", "is not a list of columns"),
        (SINK, f"{TO_KAFKA}, key = 'w'", "'w'", "the query has no column 'w'"),
        (SINK, f"{TO_KAFKA}, topik = 'x'", "topik", "did you mean 'topic'"),
        (SINK, TO_KAFKA.replace(", topic = 't'", ""), "'kafka'", "needs the option 'topic'"),
        (SINK, "sink = 'parket', path = 'out'", "'parket'", "did you mean 'parquet'"),
        (SINK, "sink = 'parquet'", "'parquet'", "'q': the sink 'parquet' needs the option 'path'"),
        (SINK, "snik = 'parquet'", "snik", "did you mean 'sink'"),
        (SINK, f"{SINK}, compresion = 'gzip'", "compresion", "did you mean 'compression'"),
        (SINK, "sink = 'memory', path = 'x'", "path", "'memory' has no option 'path'"),
        (SINK, "rows = 'many'", "'many'", "not a number of rows"),
        (SINK, f"{SINK}, shared = 'yes'", "'yes'", "neither 'true' nor 'false'"),
        (
            SINK,
            "sink = 'jdbc', url = 'jdbc:x', dbtable = 't', pasword = 'p'",
            "pasword",
            "'password'",
        ),
    ],
)
def test_errors_have_their_position(
    tmp_path: Path, instead_of: str, given: str, at: str, message: str
) -> None:
    script = GOOD.replace(instead_of, given)
    code, output = check(tmp_path, script)
    before = script[: script.index(given) + given.rindex(at)]
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    assert code == 2
    assert f"line {line}, column {column}: " in output
    assert message in output


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ("'ofset'", "the source 'kafka' has no METADATA 'ofset'; did you mean 'offset'"),
        ("'header.v'", "did you mean 'headers"),
    ],
)
def test_what_kafka_does_not_tell(tmp_path: Path, metadata: str, message: str) -> None:
    script = GOOD.replace(SOURCE, f"{KAFKA}, format = 'json'")
    script = script.replace(COLUMNS, f"v BIGINT METADATA FROM {metadata}")
    code, output = check(tmp_path, script)
    assert code == 2
    assert f"line 1, column {script.index(metadata) + 1}: " in output
    assert message in output


@pytest.mark.parametrize(
    ("source", "sink", "message"),
    [
        ("csv", "parquet", "stream 's': CSV has no ARRAY<STRUCT<a: INT>>, the type of 'v'"),
        ("json", "csv", "'q': sink 'csv' takes no ARRAY<STRUCT<a: INT>>, the type of 'v'"),
        ("parquet", "text", "'q': files of the format 'text' have one column"),
    ],
)
def test_nested_columns(tmp_path: Path, source: str, sink: str, message: str) -> None:
    script = GOOD.replace("BIGINT", "ARRAY<STRUCT<a: INT>>").replace(", header = true", "")
    script = script.replace("'csv'", f"'{source}'").replace("sink = 'parquet'", f"sink = '{sink}'")
    code, output = check(tmp_path, script)
    assert code == 2
    assert message in output


def test_a_stream_without_source_is_shown(tmp_path: Path) -> None:
    script = GOOD.replace(f"WITH ({SOURCE})", "")
    code, output = check(tmp_path, f"-- a comment\n{script}")
    assert code == 2
    assert "line 2, column 1: stream 's' has no source" in output


def test_a_table_without_source_is_shown(tmp_path: Path) -> None:
    table = "CREATE TABLE t (v BIGINT);\n"
    query = "CREATE QUERY j AS SELECT s.v FROM s [NOW], t WHERE s.v = t.v;"
    code, output = check(tmp_path, GOOD + table + query)
    assert code == 2
    assert "line 5, column 1: table 't' has no source" in output
    assert check(tmp_path, GOOD + table)[0] == 0, "no query reads it, so it is not loaded"


def test_the_load_of_a_script_with_a_view_over_a_query(tmp_path: Path) -> None:
    script = GOOD.replace(SOURCE, f"{SOURCE}, rate = 1e9")
    more = "CREATE VIEW w AS SELECT v FROM q; CREATE QUERY r AS SELECT v FROM w WHERE v > 1;"
    file = tmp_path / "script.sql"
    file.write_text(script + more)
    result = CliRunner().invoke(app, ["check", str(file), "--capacity", "1"])
    assert (result.exit_code, "2 queries" in result.output) == (0, True), result.output


def test_state_above_the_limit_is_said(tmp_path: Path) -> None:
    file = tmp_path / "script.sql"
    hour = "CREATE QUERY h AS SELECT v FROM s [RANGE 1 HOUR] WITH (sink = 'noop');"
    file.write_text(GOOD.replace(SOURCE, f"{SOURCE}, rate = 1000") + hour)
    runner = CliRunner()
    result = runner.invoke(app, ["check", str(file), "--memory", "1 GB"])
    assert result.exit_code == 0, result.output
    assert "of 1 GB of state" in result.output
    assert "feasible" not in result.output
    result = runner.invoke(app, ["check", str(file), "--memory", "10 MB"])
    assert "of 10 MB of state; feasible with " in result.output
    assert "no rows are dropped without ON OVERLOAD SHED in " in result.output
    assert runner.invoke(app, ["check", str(file), "--memory", "much"]).exit_code == 2


def test_which_rows_are_dropped_is_said(tmp_path: Path) -> None:
    file = tmp_path / "script.sql"
    shedding = f"""
        CREATE STREAM s (ts TIMESTAMP, v BIGINT) TIMESTAMP BY ts WITH ({SOURCE}, rate = 1000);
        CREATE QUERY h AS SELECT v FROM s [RANGE 1 HOUR] ON OVERLOAD SHED BY -v
          WITH (sink = 'noop');
    """
    file.write_text(shedding)
    result = CliRunner().invoke(app, ["check", str(file), "--memory", "10 MB"])
    assert "% of s of the lowest negative(v) dropped" in result.output
    assert "of full" not in result.output, "the rows are no sample"
    file.write_text(shedding.replace("BY -v", "BY w"))
    result = CliRunner().invoke(app, ["check", str(file)])
    assert (result.exit_code, "there is no column 'w'" in result.output) == (2, True)


def test_positions_in_similar_statements(tmp_path: Path) -> None:
    """Those that differ in constants only are parsed once; each has its own places."""
    for constant in ("1", "1234567"):
        with pytest.raises(SqlError) as caught:
            text = f"CREATE QUERY q{constant} AS SELECT v FROM s [NOW] WHERE v > {constant}"
            _run(GOOD, f"{text} WITH (sink = 'parket')")
        assert caught.value.column == len(f"{text} WITH (sink = ") + 1


def _run(*scripts: str) -> None:
    from eddyline.spark.script import Script

    script = Script()
    for text in scripts:
        list(script.run(text))


@pytest.mark.parametrize(
    "script",
    [
        GOOD,
        GOOD.replace("header", "HEADER").replace("path", "PATH").replace("source", "Source"),
        GOOD.replace(SINK, ""),
        f"{GOOD} CREATE VIEW w AS SELECT v FROM q; CREATE QUERY r AS SELECT v FROM w WHERE v > 1;",
        GOOD.replace(SOURCE, f"{SOURCE}, maxfilespertrigger = 1, fs.s3a.endpoint = 'x', rate = 5"),
        GOOD.replace(SOURCE, "source = 'org.example.Provider', whatever = 1"),
        GOOD.replace(SINK, "sink = 'org.example.Provider', whatever = 1"),
        GOOD.replace(SINK, "sink = 'noop', shared = 'true'"),
        GOOD.replace(SINK, "sink = 'jdbc', url = 'jdbc:x', dbtable = 't', sslmode = 'require'"),
        GOOD.replace(SOURCE, f"{SOURCE}, late_sink = 'csv', late_path = 'x', late_header = true"),
        GOOD.replace(SOURCE, f"{KAFKA}, format = 'json', allowComments = true, ts_unit = 's'"),
        GOOD.replace(SOURCE, f"{KAFKA}, FORMAT = 'CSV', sep = ';', kafka.group.id = 'g'"),
        GOOD.replace(SOURCE, KAFKA).replace(
            "(ts TIMESTAMP, v BIGINT)",
            "(ts TIMESTAMP METADATA FROM 'Timestamp', v BIGINT METADATA FROM 'headers.v')",
        ),
        GOOD.replace(SOURCE, f"{KAFKA}, format = 'json'").replace(COLUMNS, "v BIGINT PATH '$.v'"),
        GOOD.replace(SOURCE, "source = 'json', path = 'x'").replace(COLUMNS, "v INT PATH '$.v[1]'"),
        GOOD.replace(SOURCE, "source = 'text', path = 'x', format = 'json'"),
        GOOD.replace(SINK, f"{TO_KAFKA}, key = 'V, _ts', ignoreNullFields = false"),
    ],
)
def test_good_scripts_pass(tmp_path: Path, script: str) -> None:
    script = script.replace("WITH ();", ";")
    code, output = check(tmp_path, script)
    assert (code, "warning" in output) == (0, False), output


@pytest.mark.parametrize(
    ("instead_of", "given", "warning"),
    [
        (SOURCE, "source = 'kinesis', strem = 'x'", "stream 's': whether there is a"),
        (SINK, "sink = 'hudi', anything = 1", "'q': whether there is a"),
        (SOURCE, f"{SOURCE}, late_sink = 'hudi'", "'late:s': whether there is a"),
    ],
)
def test_an_unknown_format_is_a_warning(
    tmp_path: Path, instead_of: str, given: str, warning: str
) -> None:
    code, output = check(tmp_path, GOOD.replace(instead_of, given))
    assert code == 0
    assert f"warning: {warning}" in output


def test_the_demo_passes() -> None:
    runnable(examples() / "demo.sql")


def test_queries_of_nested_columns_are_compiled(tmp_path: Path) -> None:
    script = tmp_path / "script.sql"
    script.write_text("""
        CREATE STREAM s (ts TIMESTAMP, o STRUCT<a: DATE>, l ARRAY<INT>) TIMESTAMP BY ts
          WITH (source = 'json', path = 'in');
        CREATE QUERY q AS SELECT o.a, e FROM s [RANGE 1 HOUR], UNNEST(l) AS t (e);
    """)
    warm_up(runnable(script))
