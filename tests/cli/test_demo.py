"""What the demo says: of its real results, and of its bad rows."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

import eddyline
from eddyline.cli.bad_rows import BadRows
from eddyline.cli.demo_findings import NO_DEPARTURE, STREAMS, SUBJECTS
from eddyline.cli.demo_view import DemoView
from eddyline.engine.changes import Changes
from eddyline.shipped import examples
from eddyline.spark import JobProgress
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateQuery, CreateStream, CreateTable


@pytest.fixture(scope="module")
def changes() -> Changes:
    """The demo's changes over the connections, and over the departures of January."""
    engine, data = eddyline.Engine(), {}
    for statement in parse((examples() / "demo.sql").read_text()):
        engine.sql(statement.sql)
        match statement:
            case CreateStream(definition=made):
                first = sorted((examples() / made.options["path"]).glob("*.parquet"))
                data[made.name] = pq.read_table(first if made.name == "connections" else first[0])
            case CreateTable(definition=made):
                engine.table(made.name, pq.read_table(examples() / made.options["path"]))
    return engine.process(data)


def test_all_streams_and_queries_are_known() -> None:
    statements = parse((examples() / "demo.sql").read_text())
    queries = [s.name for s in statements if isinstance(s, CreateQuery)]
    streams = [s.definition.name for s in statements if isinstance(s, CreateStream)]
    assert list(SUBJECTS) == queries
    assert [name for names, _ in STREAMS for name in names] == streams


def test_each_result_can_be_said(changes: Changes) -> None:
    for name, subject in SUBJECTS.items():
        said = [subject.sentence(r) for r in changes[name].to_pylist() if r["_op"] == "+"]
        assert said and all(s.endswith(".") and "None" not in s for s in said), name


def test_first_results(changes: Changes) -> None:
    said = {n: s.sentence(changes[n].slice(0, 1).to_pylist()[0]) for n, s in SUBJECTS.items()}
    assert said["failed_connections"] == "At 22:00:02 host 57 got no answer from host 58 (smtp)."
    assert said["planes_that_moved"] == (
        "Plane N564JB of JetBlue Airways left Newark at 08:46 and LaGuardia at 16:50."
    )
    assert said["very_late"] == "EV 4321 from EWR to MCI left 6 h 19 min late on 2013-01-01."


def shown(changes: Changes, bad: list[BadRows]) -> str:
    """What a run prints in 80 columns, in a pipe."""
    text = io.StringIO()
    view = DemoView(Console(file=text, width=80), Path("examples/demo.sql"), "2013")
    out: Mapping[str, int] = {name: changes[name].num_rows for name in SUBJECTS}
    for _ in range(2):
        for name, n in out.items():
            view.rows(name, changes[name].slice(0, 10), n)
    progress = JobProgress(3, {"newark": 9}, out)
    view.update(progress)
    view.summary(SUBJECTS, progress, bad)
    return text.getvalue()


def test_each_query_is_said_once_and_counted(changes: Changes) -> None:
    text = shown(changes, [])
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("host 57 got no answer from host 58") == 1
    assert text.count("Within minutes B6 left for MCO from Newark (527)") == 1
    flat = " ".join(text.split())
    for name, subject in SUBJECTS.items():
        assert f"{changes[name].num_rows:,} {name} {subject.results}" in flat
    assert "same_place_same_time: " in text and "_exp" in text
    assert "bad rows" not in text
    assert "For your own data: eddyline new FILE" in text


def test_bad_rows_are_explained(changes: Changes) -> None:
    bad = [
        BadRows("bad:newark", 3_239, [(NO_DEPARTURE, 3_239)], None),
        BadRows("bad:kennedy", 1_863, [(NO_DEPARTURE, 1_863)], None),
        BadRows("bad:connections", 1, [("src: cannot read 'x' as BIGINT", 1)], None),
    ]
    flat = " ".join(shown(changes, bad).split())
    assert "5,102 bad rows are flights that were cancelled" in flat
    assert "bad:newark 3,239, bad:kennedy 1,863" in flat
    assert "eddyline run examples/demo.sql --checkpoint DIR" in flat
    assert "bad:connections: 1 bad row" in flat and "cannot read 'x'" in flat


def test_a_result_that_ends_is_no_finding() -> None:
    text = io.StringIO()
    view = DemoView(Console(file=text, width=80), Path("demo.sql"), "2013")
    view.rows("web_readers", pa.table({"_op": ["-"], "src": [1], "dst": [2]}), 1)
    assert "reads web pages" not in text.getvalue()
