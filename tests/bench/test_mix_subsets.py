"""Queries over subsets of streams: they share an eddy, and their report is right."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

import eddyline
from eddyline.bench.measure import Figure
from eddyline.bench.mix import subsets
from eddyline.engine.placement.eddies import IN_EDDY


def test_all_subsets_share_an_eddy() -> None:
    assert len(set(subsets.SUBSETS)) == 25
    engine = eddyline.Engine()
    engine.sql(subsets.DDL)
    for number, subset in enumerate(subsets.SUBSETS):
        engine.query(subsets.query(subset, number), name=f"q{number}")
    assert {q["why"] for q in engine.stats()["queries"].values()} == {IN_EDDY}


@pytest.mark.parametrize("case", subsets.CASES)
def test_a_case(case: str) -> None:
    figure = subsets.measured(case, 1, call_rows=20)
    assert (figure.name, figure.rows, len(figure.seconds)) == (case, 120, 1)


def test_the_lines() -> None:
    seconds = dict(zip(subsets.CASES, (0.001, 0.002, 0.008), strict=True))
    figures = {case: Figure(case, 100, 25, (s,), note="of a test") for case, s in seconds.items()}
    console = Console(file=StringIO(), width=100)
    subsets.show(figures, console)
    assert isinstance(console.file, StringIO)
    first, *_, last = console.file.getvalue().splitlines()
    assert first == "stream subsets, 1: 1.00 ms a call, 0.250 results per row; of a test"
    assert last == "25 subsets to 25 of one signature: 4.0 (more than 3)"
