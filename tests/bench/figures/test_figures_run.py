"""A tiny run from end to end: every strategy finds the same answers, every file is there."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import eddyline
from eddyline.bench.figures import run_figures
from eddyline.bench.figures.cacq.run import PAPER as CACQ
from eddyline.bench.figures.jit.run import PAPER as JIT
from eddyline.bench.figures.on_off import common_sources, on_off_trace
from eddyline.bench.figures.plots import require_matplotlib
from eddyline.bench.figures.points import Effort, measure, rows_kept
from eddyline.bench.figures.reasons import REASONS
from eddyline.bench.figures.recorded import lbl_trace
from eddyline.bench.figures.shared_windows.run import PAPER as SHARED_WINDOWS
from eddyline.bench.figures.static_optimization.run import PAPER as STATIC_OPTIMIZATION
from eddyline.bench.figures.synthetic import synthetic_trace
from eddyline.bench.figures.trace import Trace
from eddyline.bench.figures.update_patterns import experiment, run
from eddyline.bench.figures.update_patterns.cases import CASES
from eddyline.bench.figures.update_patterns.claims import CLAIMS
from eddyline.bench.figures.update_patterns.experiment import PatternExperiment, Series
from eddyline.cli.main import app
from eddyline.errors import SetupError

PAPERS = (CACQ, JIT, SHARED_WINDOWS, STATIC_OPTIMIZATION)
TINY = Effort(rounds=2, least_rows=800, chunk_rows=100)
MAKE = partial(synthetic_trace, 3_000)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> PatternExperiment:
    """The experiment that the command runs, in this process."""
    recorded = Series(lbl_trace, (100,), Effort(rounds=1, least_rows=400, chunk_rows=100))
    eager = Series(MAKE, (300,), Effort(rounds=1, least_rows=400, chunk_rows=50), ("query3",))
    others = tuple(name for name in CASES if name != "query5")
    on_off = tuple(Series(partial(on_off_trace, w), (w,), TINY, ("query5",)) for w in (300, 600))
    main = Series(MAKE, (300, 600), TINY, others)
    whole = PatternExperiment(main, on_off, (recorded,), (eager,))
    monkeypatch.setattr(run, "QUICK", whole)
    monkeypatch.setattr(experiment, "apart", lambda case: case())
    return whole


@pytest.mark.parametrize("name", CASES)
def test_all_contenders_agree(name: str) -> None:
    points = measure(MAKE, CASES[name], 500, TINY)
    assert [p.contender for p in points] == [c.label for c in CASES[name].contenders]
    assert len({p.answer_rows for p in points}) == 1
    assert all(len(p.ms_per_1000) == 2 and p.state_rows > 0 for p in points)


def test_a_trace_that_is_too_short_is_refused() -> None:
    with pytest.raises(AssertionError, match="too few"):
        measure(MAKE, CASES["query3"], 5_000, TINY)


def test_budget_ends_the_rounds() -> None:
    effort = Effort(rounds=3, least_rows=400, chunk_rows=100, budget_s=0.0)
    points = measure(MAKE, CASES["query2-src"], 300, effort)
    assert {len(p.ms_per_1000) for p in points} == {1}


def test_rows_kept_counts_streams_and_operators() -> None:
    engine = eddyline.Engine()
    engine.sql("CREATE STREAM s (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts")
    engine.query("SELECT DISTINCT x FROM s [RANGE 10 SECONDS]")
    assert rows_kept(engine) == 0
    engine.process({"s": pa.table({"ts": [0, 1, 2], "x": [1, 1, 2]})})
    stats = engine.stats()
    kept = stats["streams"]["s"]["rows_kept"] + sum(o["rows_kept"] for o in stats["operators"])
    assert rows_kept(engine) == kept > 0


@pytest.mark.long  # the page of all claims is made by it
def test_command(tiny: PatternExperiment, tmp_path: Path) -> None:
    arguments = ["bench", "figures", "update-patterns", "--quick", "--json", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report == json.loads((tmp_path / "figures.json").read_text())
    assert report["claims"] == json.loads((tmp_path / "claims.json").read_text())
    _check_points(report)
    names = {f"figure-{n:02}.png" for n in range(9, 18)} | {"lbl.png", "eager-query3.png"}
    assert {f.name for f in tmp_path.glob("*.png")} == names
    text = (tmp_path / "claims.md").read_text()
    assert "| Figure 10 | DIRECT is by far the slowest | largest window: at least 2x |" in text
    assert "Query 1, smtp" in text  # what stands for telnet in the recorded trace


def _check_points(report: dict[str, Any]) -> None:
    per_trace = sum(len(case.contenders) for case in CASES.values())
    assert len(report["points"]) == 3 * per_trace  # two windows, and one of the recorded trace
    assert len(report["eager"]) == len(CASES["query3"].contenders)
    for p in report["points"]:
        assert 0 < p["least_ms"] <= p["ms_per_1000"] <= p["most_ms"]


def test_unknown_figures_are_refused() -> None:
    result = CliRunner().invoke(app, ["bench", "figures", "update-pattern"])
    assert result.exit_code == 2
    assert "did you mean 'update-patterns'?" in result.output


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(SetupError, match=r"eddyline\[figures\]"):
        require_matplotlib()


def test_traces_are_named(tiny: PatternExperiment) -> None:
    traces: list[Trace] = [series.make() for series in tiny.series()[1:4]]
    assert [t.name for t in traces] == ["on-off", "on-off", "lbl"]
    traces = [series.make() for series in tiny.series()[:1]]
    assert traces[0].name == "synthetic"
    assert traces[0].about.startswith("synthetic")


# -- sources that come and go ------------------------------------------


def test_sources_of_the_second_link_come_and_go() -> None:
    """Each is there for a quarter of a window in every two."""
    window = 4_000
    second = on_off_trace(window, 30_000).links[1]
    ts, src = second["ts"].cast(pa.int64()).to_numpy() / 1e6, second["src"].to_numpy()
    assert np.isin(src, common_sources()).mean() == pytest.approx(0.5, abs=0.02)
    found = 0
    for source in common_sources()[::50]:
        mine = ts[src == source]
        gaps = np.diff(mine)
        assert ((gaps < 0.3 * window) | (gaps > 1.4 * window)).all()
        found += int((gaps > 1.4 * window).sum())
    assert found > 20


def test_two_of_five_results_of_query_5_are_taken_back() -> None:
    window = 6_000
    case = replace(CASES["query5"], contenders=CASES["query5"].contenders[:1])
    make = partial(on_off_trace, window, 80_000)
    effort = Effort(rounds=3, least_rows=36_000, chunk_rows=1_000)
    (point,) = measure(make, case, window, effort)
    assert 0.3 < point.taken_back / point.inserted < 0.5


# -- the page of all papers --------------------------------------------


def test_one_page_has_the_claims_of_all_papers(tiny: PatternExperiment, tmp_path: Path) -> None:
    run_figures("update-patterns", tmp_path / "update-patterns", quick=True, json=False)
    run_figures("page", tmp_path, quick=True, json=False)
    text = (tmp_path / "papers.md").read_text()
    assert "## update-patterns" in text and "## jit" not in text  # which has no report here
    report = json.loads((tmp_path / "update-patterns" / "figures.json").read_text())
    for claim in report["claims"]:
        assert f"| {claim['source']} | {claim['claim']} | {claim['asked']} |" in text
    assert "[figure-17](update-patterns/figure-17.png)" in text
    counted = [line for line in text.splitlines() if line.startswith("| [update-patterns]")]
    numbers = [int(cell) for line in counted for cell in line.split(" | ")[2:5]]
    assert sum(numbers) == len(report["claims"])


def test_reasons_are_of_claims() -> None:
    """A reason whose claim has changed would never be shown."""
    claims = {("update-patterns", claim.text) for claim in CLAIMS}
    for paper in PAPERS:
        claims |= {(paper.name, c.text) for e in paper.experiments for c in e.claims}
    assert {(key[0], key[-1]) for key in REASONS} <= claims
