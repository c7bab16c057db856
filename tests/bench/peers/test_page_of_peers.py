"""The page: tables, and every case in which a peer is faster, with the reason."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from eddyline.bench.peers.bags import Bag
from eddyline.bench.peers.cases import Case
from eddyline.bench.peers.page import page, winners
from eddyline.bench.peers.process import Run
from eddyline.bench.peers.run import show
from eddyline.bench.peers.turns import Measured, Outcome
from eddyline.bench.peers.why import UNKNOWN, WHY

_TITLES = {"eddyline": "Eddyline", "esper": "Esper", "duckdb": "DuckDB", "x": "X"}
_ABOUT = {
    "command": "eddyline bench peers",
    "date": "2026-11-27",
    "machine": "a processor, 2 cores",
    "cores": "1 core",
    "memory": 6_000,
    "rounds": 3,
    "versions": ["Eddyline 1", "Esper 2"],
}


def measured(*seconds: float, peak_mb: float | None = 100.0) -> Measured:
    runs = tuple(Run(Bag(10, 1), s, 2 * s) for s in seconds)
    return Measured("query", 2_000, runs, peak_mb)


def outcome() -> Outcome:
    found = {
        "eddyline": measured(2.0, 1.0, 4.0),
        "esper": measured(1.0, 1.0, 0.5, peak_mb=None),
        "duckdb": measured(8.0),
        "x": measured(0.1),
    }
    return Outcome(Case("a join", "join", 1_000), found, {"x": "has no windows"})


def test_figures() -> None:
    ours = outcome().measured["eddyline"]
    assert ours.rows_per_s == 1_000 and ours.spread == (500, 2_000) and ours.rows_per_cpu_s == 500
    assert winners(outcome()) == ["x", "esper"]


def test_the_page() -> None:
    text = page([outcome()], _TITLES, _ABOUT)
    assert "Made by `eddyline bench peers` on 2026-11-27: a processor, 2 cores." in text
    assert "- Eddyline 1\n- Esper 2\n" in text
    assert "| | Eddyline | Esper | DuckDB | X |\n|---|---|---|---|---|\n" in text
    assert "| a join | 1,000 | **0.50** | 4.0 | **0.05** |" in text
    assert "2,000 rows, 10 results." in text
    assert "| **Eddyline** | query | 1,000 | 500 - 2,000 | 500 | 100 | 1.00 |" in text
    assert "| Esper | query | 2,000 | 2,000 - 4,000 | 1,000 | - | 2.00 |" in text
    assert f"- a join: X, 20.00 times: {UNKNOWN}." in text
    assert f"- a join: Esper, 2.00 times: {WHY['join', 'esper']}." in text
    assert "a join: DuckDB" not in text
    assert "- X: has no windows: a join." in text


def test_a_page_without_losses() -> None:
    won = Outcome(Case("a join", "join", 1_000), {"eddyline": measured(1.0)})
    text = page([won], _TITLES, _ABOUT)
    assert "| a join | 2,000 | - | - | - |" in text
    assert "Nowhere in this run." in text and "Nothing." in text


def test_the_table() -> None:
    console = Console(file=StringIO(), width=120)
    show([outcome()], _TITLES, console)
    assert isinstance(console.file, StringIO)
    shown = console.file.getvalue()
    assert "a join: equal results" in shown and "without X: has no windows" in shown
