"""``eddyline new``: scripts that are valid and fit their data, and errors that say what to do."""

from __future__ import annotations

import gzip
import json
import os
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from eddyline.cli.main import app
from eddyline.shipped import examples
from eddyline_process import eddyline_command

SECONDS = 1_767_225_600  # 2026
CSV = """when,symbol,price,qty,note,zip
2026-01-01T10:00:00Z,ABC,12.5,100,"it's; a, note",00123
2026-01-01T10:00:05Z,XYZ,7.25,NA,,04711
2026-01-01T10:00:02Z,ABC,12.75,50,x,00123
2026-01-01T10:01:05Z,XYZ,7.3,10,y,04711
2026-01-01T10:02:05Z,ABC,13.5,20,z,04711
"""


@pytest.fixture(autouse=True)
def working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"})


def made(source: str, *options: str) -> str:
    """The script for a source, which is valid."""
    done = run("new", source, *options)
    assert done.exit_code == 0, done.output
    (file,) = re.findall(r"wrote (\S+); next: eddyline run \1\n", done.output)
    checked = run("check", file)
    assert checked.exit_code == 0 and "warning" not in checked.output, checked.output
    return Path(file).read_text()


def refused(*arguments: str) -> str:
    done = run("new", *arguments)
    assert done.exit_code == 2, done.output
    assert not list(Path().glob("*.sql"))
    return done.output


def test_csv() -> None:
    Path("trades.csv").write_text(CSV)
    script = made("trades.csv")
    stream = script[script.index("CREATE STREAM") : script.index(";\n\n-- ")]
    assert [" ".join(line.split()) for line in stream.splitlines()] == [
        "CREATE STREAM trades (",
        "`when` TIMESTAMP, -- the event time",
        "symbol STRING, -- 2 values: ABC, XYZ",
        "price DOUBLE, -- 7.25 to 13.5",
        "qty BIGINT, -- 10 to 100",
        "note STRING, -- 4 values: it's; a, note, x, y, ...",
        "zip STRING -- 2 values: 00123, 04711",
        ") TIMESTAMP BY `when` LATENESS 5 SECONDS",
        "-- LATENESS: a row may come so much later than one with a later time.",
        "WITH (source = 'csv', path = '{trades.csv}', header = 'true', nullValue = 'NA')",
    ]
    assert "CREATE QUERY rows_per_minute AS" in script
    assert "SELECT symbol, COUNT(*) AS n, AVG(price) AS mean_price" in script
    assert "WHERE price >= 13.5" in script


def test_csv_of_other_forms() -> None:
    Path("in").mkdir()
    for n in range(2):
        lines = [f"{SECONDS + 10 * n + i};{i % 2 == 0};{i}" for i in range(10)]
        Path(f"in/{n}.tsv").write_text("\n".join(lines) + "\n")
        os.utime(f"in/{n}.tsv", (n, n))
    script = made("in", "-o", "x.sql")
    assert "c1 TIMESTAMP" in script and "c2 BOOLEAN" in script and "c3 BIGINT" in script
    assert "path = 'in', sep = ';', ts_unit = 's'" in script and "header" not in script
    assert "LATENESS" not in script
    os.utime("in/0.tsv", (2, 2))
    assert "LATENESS 30 SECONDS" in made("in", "-o", "x.sql", "--force", "--time", "c1")


def test_json_lines() -> None:
    rows = [
        {"id": i, "order": {"symbol": "AB"[i % 2], "tags": ["x"]}, "at": {"ms": 1000 * at}}
        for i, at in enumerate(range(SECONDS, SECONDS + 10))
    ]
    with gzip.open("orders.json.gz", "wt") as file:
        file.write("\n".join(map(json.dumps, rows)) + "\nnonsense\n[1]\n")
    script = made("orders.json.gz")
    assert "order_symbol STRING PATH '$.order.symbol'" in script
    assert "order_tags ARRAY<STRING> PATH '$.order.tags'" in script
    assert "at_ms TIMESTAMP PATH '$.at.ms'" in script and "TIMESTAMP BY at_ms\n" in script
    assert "path = '{orders.json.gz}', ts_unit = 'ms'" in script
    done = run("new", "orders.json.gz", "--force")
    assert "10 rows read, 2 lines are no rows" in done.output


@pytest.mark.parametrize("format_", ["parquet", "orc"])
def test_binary_files(format_: str) -> None:
    rows = pa.table(
        {
            "group": ["a", "b"] * 5,
            "updated": pa.array([SECONDS + i for i in range(10)], pa.timestamp("s")),
            "list": [[1]] * 10,
            "m": [{"a": i} for i in range(10)],
        }
    )
    write: Any = pq.write_table if format_ == "parquet" else orc.write_table
    write(rows, f"a b.{format_}")
    script = made(f"a b.{format_}", "--output", "out.sql")
    assert "CREATE STREAM a_b (" in script and f"path = '{{a b.{format_}}}'" in script
    assert "`group` STRING" in script and "`list` ARRAY<BIGINT>" in script
    assert "m STRUCT<a: BIGINT>" in script
    assert "WHERE `group` = 'a'" in script or "WHERE `group` = 'b'" in script


def test_the_demo_s_flights() -> None:
    script = made(str(examples() / "data" / "flights" / "newark"))
    assert "CREATE STREAM newark" in script and "TIMESTAMP BY sched_dep_ts\n" in script
    assert "CREATE QUERY by_carrier" in script and "CREATE QUERY rows_per_day" in script


def test_only_a_time() -> None:
    Path("beats.csv").write_text("ts\n2026-01-01 00:00:00\n2026-01-01 00:00:01\n")
    script = made("beats.csv")
    assert script.count("CREATE QUERY") == 2


def test_another_event_time() -> None:
    Path("a.csv").write_text("ts,other,text,n\n2026-01-01 00:00:00,2025-01-01,31.12.2024 23:00,1\n")
    assert "TIMESTAMP BY other\n" in made("a.csv", "--time", "OTHER")
    expression = "to_timestamp(text, 'dd.MM.yyyy HH:mm')"
    assert f"TIMESTAMP BY ({expression})\n" in made("a.csv", "--force", "--time", expression)
    assert (
        "its values are no usable times, such as 1"
        in run("new", "a.csv", "-o", "b.sql", "--time", "n").output
    )
    wrong = run("new", "a.csv", "-o", "b.sql", "--time", "to_timestamp(txt, 'yyyy')")
    assert wrong.exit_code == 2 and "did you mean 'text'?" in wrong.output
    none = run("new", "a.csv", "-o", "b.sql", "--time", "try_to_timestamp(text, 'yyyy-MM-dd')")
    assert none.exit_code == 2 and "no row has a usable time" in none.output
    assert not Path("b.sql").exists()


def test_a_script_is_overwritten_only_if_told() -> None:
    Path("trades.csv").write_text(CSV)
    Path("trades.sql").write_text("mine")
    done = run("new", "trades.csv")
    assert done.exit_code == 2 and "'trades.sql' exists: overwrite it with --force" in done.output
    assert Path("trades.sql").read_text() == "mine"
    assert "CREATE STREAM" in made("trades.csv", "--force")


def test_a_script_elsewhere_has_an_absolute_path(tmp_path: Path) -> None:
    Path("trades.csv").write_text(CSV)
    Path("scripts").mkdir()
    assert f"path = '{tmp_path}/{{trades.csv}}'" in made("trades.csv", "-o", "scripts/a.sql")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", "", "'a.csv' has no rows"),
        ("a.csv", "ts,x\n", "'a.csv' has no rows"),
        ("a.json", "\n", "'a.json' has no rows"),
        ("a.json", "1\n2\n", "'a.json' has no rows: 2 lines are no rows"),
        ("a.json", '[{"ts": 1}]', "is one JSON array: a stream reads one object per line"),
        ("a.json", '{"a": 1}\n{"a": "x"}', "a field has values of several types"),
        ("a.xlsx", "x", "files '.xlsx' are of no known format"),
        ("data", "x", "files without an ending are of no known format"),
        ("a.parquet", "x", "cannot read 'a.parquet'"),
        ("a.csv", "x,y\na,31.12.2024\n", "  y STRING, such as 31.12.2024\na time is a timestamp"),
    ],
)
def test_data_that_are_no_stream(name: str, content: str, said: str) -> None:
    Path(name).write_text(content)
    assert said in refused(name)


def test_places_without_data() -> None:
    assert "there is no file or directory 'no.csv'" in refused("no.csv")
    Path("in").mkdir()
    assert "the directory 'in' has no files" in refused("in")
    Path("in/a.csv").write_text(CSV)
    Path("in/a.json").write_text("{}")
    assert "files of several formats (csv, json)" in refused("in")
    Path("trades.csv").write_text(CSV)
    assert "cannot write 'no/a.sql'" in refused("trades.csv", "-o", "no/a.sql")


@pytest.mark.parametrize("place", ["kafka://localhost:9092", "kafka:///topic", "kafka://h:1/a/b"])
def test_places_that_are_no_topic(place: str) -> None:
    assert "write kafka://HOST:PORT/TOPIC" in refused(place, "-o", "a.sql")


def test_kafka_needs_the_connector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDDYLINE_CONNECTORS", str(tmp_path / "none"))
    done = run("new", "kafka://localhost:9092/trades")
    assert done.exit_code == 1
    assert "the connector for Kafka is not here: `eddyline connectors` fetches it" in done.output


@pytest.mark.long
@pytest.mark.spark
def test_a_script_of_csv_runs() -> None:
    Path("trades.csv").write_text(CSV + "a line of other length\n")
    made("trades.csv")
    done = eddyline_command("run", "trades.sql")
    assert done.returncode == 0, done.stderr
    assert "rows_per_minute: 3 rows" in done.stdout
    assert "by_symbol: 5 rows" in done.stdout
    assert "high_price: 1 row" in done.stdout
    assert "6 rows in" in done.stdout
