"""Checks of options of sources and sinks without Spark."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from eddyline.errors import DataError, EddylineError
from eddyline.spark.formats.format_options import OptionError
from eddyline.spark.script import Script
from eddyline.spark.sinks.sinks import SINKS
from eddyline.spark.sources.format_check import Declared, check_sink, check_source
from eddyline.spark.sources.option_check import check_options
from eddyline.sql.parser import parse

ROOT = Path(__file__).parents[3]
STREAM = "CREATE STREAM s (ts TIMESTAMP, v BIGINT) TIMESTAMP BY ts"
SELECT = "SELECT v FROM s [NOW]"


@pytest.mark.parametrize(
    ("options", "of", "valid"),
    [
        ({}, "stream", True),
        ({"source": "ORC", "path": "x"}, "table", True),
        ({"source": "rate"}, "stream", True),
        ({"source": "rate"}, "table", False),
        ({"source": "jdbc", "url": "jdbc:x", "query": "y"}, "table", True),
        ({"source": "jdbc", "url": "jdbc:x", "query": "y"}, "changing table", False),
        ({"source": "csv", "path": "x", "ts_unit": "s"}, "table", False),
        ({"source": "csv", "path": "x", "cleansource": "delete"}, "stream", True),
        ({"source": "text", "path": "x", "header": "true"}, "stream", False),
        ({"path": "x"}, "stream", False),
    ],
)
def test_sources(options: dict[str, str], of: Declared, valid: bool) -> None:
    if valid:
        assert check_source("s", options, of) == []
        return
    with pytest.raises(OptionError, match=r"^(stream|table) 's'"):
        check_source("s", options, of)


def test_the_wrong_option_is_reported() -> None:
    with pytest.raises(OptionError, match=r"did you mean 'kafka\.bootstrap\.servers'") as caught:
        check_sink("q", {"sink": "kafka", "kafka.bootstrap.server": "b"}, of_query=True)
    assert (caught.value.option, caught.value.part) == ("kafka.bootstrap.server", "name")
    with pytest.raises(OptionError) as caught:
        check_source("s", {"source": "csv", "path": "x", "late_sink": "cvs"}, "stream")
    assert (caught.value.option, caught.value.part) == ("late_sink", "value")


def test_side_outputs_are_not_shared() -> None:
    options = {"sink": "csv", "path": "x", "shared": "true"}
    assert check_sink("q", options, of_query=True) == []
    with pytest.raises(OptionError, match="has no option 'shared'"):
        check_sink("late:s", options, of_query=False)


def test_options_from_python_have_no_place() -> None:
    script = Script()
    list(script.run(STREAM))
    with pytest.raises(DataError, match=r"^'q': there is no sink 'parket'; did you mean 'parquet'"):
        script.query("q", SELECT, {"sink": "parket", "path": "x"})
    query = script.query("q", SELECT, {"SINK": "parquet", "Path": "x"})  # the name is still free
    assert query.options == {"sink": "parquet", "path": "x"}


def test_statements_before_a_wrong_one_have_taken_effect() -> None:
    script = Script()
    with pytest.raises(EddylineError, match="'memry'"):
        list(script.run(f"{STREAM}; CREATE QUERY q AS {SELECT} WITH (sink = 'memry')"))
    assert list(script.streams) == ["s"] and not script.queries


@pytest.mark.parametrize("document", sorted((ROOT / "docs").rglob("*.md")), ids=lambda d: d.name)
def test_examples_of_the_documents_pass(document: Path) -> None:
    for text in re.findall(r"```sql\n(.*?)```", document.read_text(), re.DOTALL):
        for statement in parse(text):
            check_options(statement, text)


def test_the_guarantee_of_each_sink_is_documented() -> None:
    text = (ROOT / "docs/sources-and-sinks.md").read_text(encoding="utf-8")
    table = text.partition("| `sink` | options | guarantee |")[2].partition("\n\n")[0]
    rows = [line.split("|") for line in table.splitlines()[2:]]
    for name, sink in SINKS.items():
        (guarantee,) = [row[3] for row in rows if f"`{name}`" in row[1]]
        assert guarantee.strip().lower().startswith(sink.guarantee), name
