"""The mix of alerts, panels and absences: its queries run, and its report is right."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

import eddyline
from eddyline.bench.feeding import process_all
from eddyline.bench.measure import Figure
from eddyline.bench.mix import run, slow_functions
from eddyline.bench.mix.queries import CLASSES, DDL, MIX, queries, rows
from eddyline.errors import EddylineError

#: Classes whose queries run as trees.
TREES = {"other aggregates"}
#: ``StrategyOptions.selections``.
WAYS = ("push", "pull", "auto")


@pytest.mark.parametrize("kind", CLASSES)
def test_queries_of_a_class_share_a_flow(kind: str) -> None:
    engine = eddyline.Engine()
    engine.sql(DDL)
    for name, sql in queries(kind, 10):
        engine.query(sql, name=name)
    given = rows(0, 100)
    process_all(engine, {"readings": given.readings, "beats": given.beats})
    executors = {q["executor"] for q in engine.stats()["queries"].values()}
    assert executors == ({"tree"} if kind in TREES else {"eddy"})


def test_the_mix_has_a_thousand_queries_of_all_classes() -> None:
    assert sum(MIX.values()) == 1_000
    others = {"NOT EXISTS, other windows", "LEFT JOIN, other windows", "join, last rows of keys"}
    assert CLASSES.keys() - MIX.keys() == {*others, "EXCEPT", "EXCEPT, other windows"}


def test_a_case_counts_rows_and_results() -> None:
    figure = run.measured("DISTINCT", 2, 1)
    assert (figure.rows, len(figure.seconds)) == (6_000, 1)
    assert figure.note.startswith("2 queries, ")


def test_the_places_of_slow_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the join the function is called for each row; all ways give the same results."""
    monkeypatch.setattr(slow_functions, "_COST_S", 0.0)
    monkeypatch.setattr(slow_functions, "_WARM_CALLS", 1)
    found = {way: slow_functions.measured(f"{slow_functions.NAME}, 10%, {way}", 1) for way in WAYS}
    assert len({f.results for f in found.values()}) == 1
    assert found["push"].note == "1,000 calls of the function"
    assert found["pull"].note != found["push"].note
    assert len(list(slow_functions.lines({f.name: f for f in found.values()}))) == len(WAYS)


def figure(name: str, seconds: float, results: int = 0) -> Figure:
    return Figure(name, 6_000, results, (seconds, seconds, 9.0), note="of a test")


def test_the_report() -> None:
    found = {
        name: figure(name, seconds)
        for name, seconds in {"join, 1": 0.001, "join, 100": 0.002, "global, 1": 0.001}.items()
    }
    found["global, 100"] = figure("global, 100", 0.006, 60)
    found["mix"] = figure("mix", 0.02, 600)
    assert run.report(found)["ratios"] == {"join": 2.0, "global": 6.0}
    console = Console(file=StringIO(), width=100)
    run.show(found, console)
    assert isinstance(console.file, StringIO)
    shown = console.file.getvalue()
    assert shown.count("> 5") == 1
    assert "mix: of a test; 300,000 rows/s, 0.10 results per row" in shown


def test_an_unknown_class() -> None:
    with pytest.raises(EddylineError, match="there is no class 'joins'; the classes are filter, "):
        run.run_mix(kind="joins")
