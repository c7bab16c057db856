"""Cases of the mix with thousands of queries: they run, and the report has their limits."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

import eddyline
from eddyline.bench.measure import Figure
from eddyline.bench.mix import large, run
from eddyline.bench.mix.queries import DDL


def test_what_is_added_runs() -> None:
    engine = eddyline.Engine()
    engine.sql(DDL)
    texts = dict(large.added(40))
    assert len(texts) == 40
    for name, sql in texts.items():
        engine.query(sql, name=name)


def test_cases_of_adding() -> None:
    assert len(large.script(20).seconds) == len(large.one_by_one(20).seconds) == 1
    assert len(large.one_more(5).seconds) == 30


@pytest.mark.parametrize("kind", large.WINDOWS)
def test_adding_to_windows(kind: str) -> None:
    figure = large.to_windows(kind, 2_000)
    assert (figure.rows, len(figure.seconds)) == (2_000, 10)


@pytest.mark.parametrize("kind", large.LARGE)
def test_many_of_a_class(kind: str) -> None:
    figure = large.many(kind, only_one=True, quick=True, calls=1)
    assert (figure.name, figure.note, len(figure.seconds)) == (f"{kind}, 1", "1 queries", 1)


def test_rules_that_come() -> None:
    figure = large.rules_that_come(only_one=True, quick=True, calls=1)
    assert figure.note == "1 rules"
    assert len(figure.seconds) == 1


@pytest.mark.parametrize("kind", large.RULES)
def test_rules_of_a_table(kind: str) -> None:
    figure = large.for_each(kind, only_one=True, quick=True, calls=1)
    assert (figure.name, figure.rows) == (f"{kind}, 1", 6_000)


def test_all_classes_have_cases() -> None:
    cases = large.cases(quick=True, calls=1)
    assert cases.keys() >= {*large.LARGE, *large.RULES, *large.LIMITS_S}


def test_the_report_of_limits() -> None:
    def figure(name: str, seconds: float, note: str = "") -> Figure:
        return Figure(name, 10_000, 0, (seconds,), note=note)

    found = {
        "add a script": figure("add a script", 1.25),
        "add to windows, join": figure("add to windows, join", 0.02),
        "rare rows, 1": figure("rare rows, 1", 0.001),
        "rare rows, many": figure("rare rows, many", 0.002, "10,000 queries"),
    }
    report = run.report(found)
    assert report["ratios"] == {"rare rows": 2.0}
    assert report["limits_s"]["add a script"] == 3.0
    console = Console(file=StringIO(), width=120)
    run.show(found, console)
    assert isinstance(console.file, StringIO)
    shown = console.file.getvalue()
    assert "rare rows (10,000 queries)" in shown
    assert "add a script: 1,250.00 ms, limit 3,000 ms" in shown
    assert "add to windows, join of 10,000 rows: 20.00 ms" in shown
