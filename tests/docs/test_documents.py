"""The documents: Python blocks run, SQL blocks are valid, links and paths exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import eddyline
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateQuery, CreateStream

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "deploy/README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
WITH_SPARK = "eddyline.spark"
#: Its blocks print what the page shows, and read files: see test_tutorial.py.
TUTORIAL = ROOT / "docs" / "tutorial.md"


def blocks(document: Path, language: str) -> Iterator[str]:
    yield from re.findall(rf"```{language}\n(.*?)```", document.read_text(), re.DOTALL)


def python_blocks(document: Path, *, spark: bool) -> list[str]:
    return [code for code in blocks(document, "python") if (WITH_SPARK in code) == spark]


@pytest.mark.parametrize(
    "document",
    [d for d in DOCUMENTS if d != TUTORIAL and python_blocks(d, spark=False)],
    ids=lambda d: d.name,
)
def test_python_runs(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a document, one after the other, as in one session."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for code in python_blocks(document, spark=False):
        exec(compile(code, document.name, "exec"), names)


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(code, id=f"{document.name}-{number}")
        for document in DOCUMENTS
        for number, code in enumerate(python_blocks(document, spark=True))
    ],
)
def test_python_with_spark_runs(code: str, spark: Any, tmp_path: Path) -> None:
    trades = tmp_path / "trades"
    spark.range(3).selectExpr(
        "timestamp_seconds(id) AS ts", "'X' AS symbol", "CAST(id AS DOUBLE) AS price", "id AS qty"
    ).write.parquet(str(trades))
    frame = spark.readStream.schema("ts TIMESTAMP, symbol STRING, price DOUBLE, qty LONG").parquet(
        str(trades)
    )
    companies = spark.createDataFrame([("X", "tools")], "symbol STRING, sector STRING")
    old = spark.read.parquet(str(trades))
    names = {
        "spark": spark,
        "trades_df": frame,
        "old_trades_df": old,
        "companies_df": companies,
    }
    code = code.replace("/data/", f"{tmp_path}/data/")
    exec(compile(code, "document", "exec"), names)
    run: Any = names["run"]
    run.stop()
    assert run.exception() is None


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.name)
def test_sql_is_understood(document: Path) -> None:
    for script in blocks(document, "sql"):
        assert parse(script), script


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.name)
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text()):
        assert (document.parent / target).exists(), target


def test_the_first_results_of_the_readme_are_the_demo_s() -> None:
    """The table under the query in the README, from the demo's script and data, embedded."""
    script = (ROOT / "examples" / "demo.sql").read_text()
    engine = eddyline.Engine()
    data = {}
    for statement in parse(script):
        match statement:
            case CreateStream(definition=stream) if stream.name in (
                "newark",
                "kennedy",
                "laguardia",
            ):
                engine.sql(statement.sql)
                data[stream.name] = pq.read_table(ROOT / "examples" / stream.options["path"])
            case CreateQuery(name="same_place_same_time"):
                engine.sql(statement.sql)
    changes = engine.process(data)["same_place_same_time"]
    readme = (ROOT / "README.md").read_text()
    assert f"three results of {changes.num_rows}" in readme
    for row in changes.slice(0, 3).to_pylist():
        shown = [f"{row['_ts']:%Y-%m-%d %H:%M}", f"{row['_exp']:%Y-%m-%d %H:%M}"]
        shown += [str(v) for k, v in row.items() if not k.startswith("_")]
        assert f"| {row['_op']} | {' | '.join(shown)} |" in readme


def test_paths_of_the_glossary_exist() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    paths = re.findall(r"`([a-z_]+/[a-z_/]*(?:\.py)?)`", text)
    assert len(paths) > 50
    assert [p for p in paths if not (ROOT / "src" / "eddyline" / p).exists()] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_files_that_pages_name_exist(path: Path) -> None:
    ends = {"/" + str(p.relative_to(ROOT)) for p in (ROOT / "src" / "eddyline").rglob("*.py")}
    for folder in ("tests", "scripts"):
        ends |= {"/" + str(p.relative_to(ROOT)) for p in (ROOT / folder).rglob("*.py")}
    named = re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.py)`", path.read_text(encoding="utf-8"))
    assert [n for n in named if not any(end.endswith("/" + n) for end in ends)] == []
