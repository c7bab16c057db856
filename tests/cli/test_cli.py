"""Output and exit codes of the commands."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import eddyline
from eddyline import EngineOptions, StrategyOptions
from eddyline.cli.demo import staged_demo
from eddyline.cli.job import Job
from eddyline.cli.main import app
from eddyline.engine.settings import Settings
from eddyline.shipped import examples
from eddyline.spark.root_cause import root_cause
from eddyline.spark.script import Script
from eddyline_process import eddyline_command

SCRIPT = """
CREATE STREAM s (ts TIMESTAMP, k BIGINT, v DOUBLE) TIMESTAMP BY ts LATENESS 2 SECONDS
  WITH (source = 'parquet', path = 'in');
CREATE QUERY big AS SELECT k, v FROM s [RANGE 5 SECONDS] WHERE v > 1;
CREATE QUERY sums AS SELECT k, SUM(v) AS total FROM s [RANGE 5 SECONDS] GROUP BY k
  EMIT CHANGES WITH (sink = 'parquet', path = 'sums');
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    rows = {"ts": [0, 1_000_000, 9_000_000], "k": [1, 1, 2], "v": [1.0, 2.0, 3.0]}
    table = pa.table(rows).set_column(0, "ts", pa.array(rows["ts"]).cast(pa.timestamp("us", "UTC")))
    pq.write_table(table, tmp_path / "in/1.parquet")
    file = tmp_path / "script.sql"
    file.write_text(SCRIPT)
    return file


def in_process(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.output


def test_version() -> None:
    assert in_process("--version") == (0, f"eddyline {eddyline.__version__}\n")


def test_check_counts(script: Path) -> None:
    code, output = in_process("check", str(script))
    assert code == 0
    assert "1 stream, 0 tables, 2 queries in 1 group" in output


def test_check_points_at_the_word(script: Path) -> None:
    script.write_text(SCRIPT.replace("v > 1", "w > 1"))
    code, output = in_process("check", str(script))
    assert code == 2
    assert "line 4, column" in output
    line, caret = output.rstrip().splitlines()[-2:]
    assert line[caret.index("^")] == "w"


@pytest.mark.parametrize("command", ["check", "explain", "run"])
def test_a_missing_script(command: str, tmp_path: Path) -> None:
    code, output = in_process(command, str(tmp_path / "no.sql"))
    assert code == 2
    assert "there is no file" in output


def test_explain_shows_each_plan(script: Path) -> None:
    code, output = in_process("explain", str(script))
    assert code == 0
    assert "big" in output and "StreamScan" in output and "GroupBy" in output


def test_demo_files_play_in_the_order_of_their_names() -> None:
    with staged_demo() as staged:
        assert staged.read_text() == (examples() / "demo.sql").read_text()
        files = sorted(staged.parent.rglob("*.parquet"))
        times = [file.stat().st_mtime for file in files]
    assert times == sorted(times) and len(set(times)) == len(times)
    assert not staged.exists()


def test_cause_is_the_last_error_of_the_worker() -> None:
    text = """[STREAM_FAILED] Query terminated
Traceback (most recent call last):
  File "shard.py", line 1, in f
eddyline.errors.DataError: column 'x' is bad

	at org.apache.spark.Foo(Bar.scala:1)"""
    assert root_cause(RuntimeError(text)) == "DataError: column 'x' is bad"


def test_keep_rates_are_passed_to_the_job(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs: list[Job] = []
    monkeypatch.setattr("eddyline.cli.starting.starting_spark", lambda *_: nullcontext())
    monkeypatch.setattr("eddyline.cli.job.run_job", lambda job, view, spark: jobs.append(job))
    run = CliRunner().invoke(app, ["run", str(script), "--keep", "a=0.5", "--keep", "b = 1"])
    assert run.exit_code == 0, run.output
    assert jobs[0].settings.options.keep == {"a": 0.5, "b": 1.0}


def test_options_are_set_by_one_flag(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs: list[Job] = []
    monkeypatch.setattr("eddyline.cli.starting.starting_spark", lambda *_: nullcontext())
    monkeypatch.setattr("eddyline.cli.job.run_job", lambda job, view, spark: jobs.append(job))
    flags = [
        "--capacity",
        "2",
        "--memory",
        "4 GB",
        "--set",
        "schedule=swf",
        "--set",
        "CHUNK_ROWS = 7",
        "--set",
    ]
    more = ["set_aside_after=NULL", "--set", "latency=250 ms"]
    run = CliRunner().invoke(app, ["run", str(script), *flags, *more])
    assert run.exit_code == 0, run.output
    options, strategy = jobs[0].settings.options, jobs[0].settings.strategy
    assert (options.capacity, options.chunk_rows, options.set_aside_after) == (2.0, 7, None)
    assert (strategy.schedule, options.latency_us) == ("swf", 250_000)
    assert options.memory_bytes == 4_000_000_000


@pytest.mark.parametrize("command", ["run", "check", "explain"])
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("schedul=swf", "there is no option 'schedul'; did you mean 'schedule'?"),
        ("schedule=swff", "schedule 'swff'; did you mean 'swf'? valid: greedy, lwo, swf"),
        ("chunk_rows=many", "chunk_rows must be an integer, not 'many'"),
        ("chunk_rows", "write name=value, not 'chunk_rows'"),
    ],
)
def test_invalid_options_are_refused(command: str, given: str, said: str, script: Path) -> None:
    arguments = [command, str(script), "--set", given]
    run = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"})
    assert run.exit_code == 2
    assert said in " ".join(run.output.split())


def test_properties_of_spark_are_passed_to_its_start(
    script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[dict[str, str]] = []

    def starting(_: int | None, __: Path, properties: dict[str, str]) -> nullcontext[None]:
        started.append(properties)
        return nullcontext()

    monkeypatch.setattr("eddyline.cli.starting.starting_spark", starting)
    monkeypatch.setattr("eddyline.cli.job.run_job", lambda *given: None)
    options = ["--master", "local[3]", "--jars", "a.jar", "--conf", "spark.x = a=b"]
    assert CliRunner().invoke(app, ["run", str(script), *options]).exit_code == 0
    expected = {"spark.master": "local[3]", "spark.jars": "a.jar", "spark.x": "a=b"}
    assert started == [expected]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--conf", "spark.x"], "'spark.x' is not NAME=VALUE"),
        (["--conf", "=x"], "'=x' is not NAME=VALUE"),
        (["--master", "local", "--conf", "spark.master=local"], "also set by --master"),
    ],
)
def test_invalid_properties_of_spark_are_refused(
    options: list[str], said: str, script: Path
) -> None:
    done = CliRunner().invoke(app, ["run", str(script), *options])
    assert done.exit_code == 2 and said in " ".join(done.output.replace("│", " ").split())


def test_explain_and_check_use_the_options(tmp_path: Path) -> None:
    script = tmp_path / "nested.sql"
    script.write_text(
        "CREATE STREAM a (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts WITH (source = 'json', "
        f"path = '{tmp_path}'); CREATE QUERY q AS "
        "SELECT y FROM (SELECT x + 1 AS y FROM a [NOW]) AS i WHERE y > 1"
    )
    plain = CliRunner().invoke(app, ["explain", str(script)]).output
    pulled = CliRunner().invoke(app, ["explain", str(script), "--set", "optimize=false"]).output
    assert plain != pulled
    assert CliRunner().invoke(app, ["check", str(script), "--set", "sharing=FALSE"]).exit_code == 0


def test_a_script_sets_the_strategy_of_its_job() -> None:
    script = Script(Settings(EngineOptions(chunk_rows=7), StrategyOptions(schedule="lwo")))
    for _ in script.run("SET executor = 'tree'; SET chunk_rows = 8"):
        pass
    assert script.strategy == StrategyOptions(schedule="lwo", executor="tree")
    assert script.options.chunk_rows == 8


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("a", "keep must be shares by stream, like 'trades=0.5, quotes=0.2', not 'a'"),
        ("a=half", "like 'trades=0.5, quotes=0.2', not 'a=half'"),
        ("a=1.5", "the share of a to keep must be above 0 and at most 1, not 1.5"),
    ],
)
def test_invalid_keep_rates_are_refused(given: str, said: str, script: Path) -> None:
    run = CliRunner().invoke(app, ["run", str(script), "--keep", given], env={"COLUMNS": "200"})
    assert run.exit_code == 2
    assert said in " ".join(run.output.split())


@pytest.mark.spark
def test_run_prints_progress_rows_and_the_first_reasons_of_bad_rows(script: Path) -> None:
    rows = ['{"ts":"2026-01-01T00:00:00Z","v":1}', '{"ts":"x","v":2}', "no JSON", '{"ts":"y"}']
    rows.append('{"ts":"2026-01-01T00:00:09Z","v":0}')
    (script.parent / "lines").mkdir()
    (script.parent / "lines" / "a.json").write_text("\n".join(rows))
    more = (
        "CREATE STREAM j (ts TIMESTAMP, v BIGINT) TIMESTAMP BY ts "
        "WITH (source = 'json', path = 'lines');"
        "CREATE QUERY q AS SELECT 10 % v AS r FROM j [NOW] WITH (sink = 'noop');"
    )
    script.write_text(SCRIPT + more)
    done = eddyline_command("run", str(script))
    assert done.returncode == 0, done.stderr
    assert "8 rows in" in done.stdout
    assert "big: 2 rows" in done.stdout
    assert "sums: 8 rows" in done.stdout, "windows run out at the end of the input"
    assert len(pq.read_table(script.parent / "sums")) == 8
    place = "(in the temporary checkpoint: --checkpoint DIR keeps them)"
    assert f"bad:j: 3 bad rows {place}" in done.stdout
    assert f"bad:q: 1 bad row {place}" in done.stdout
    assert "  1 x division by zero: 10 % 0" in done.stdout
    assert "no JSON" in done.stdout
    assert done.stderr == "", "Spark's chatter goes to the log"
