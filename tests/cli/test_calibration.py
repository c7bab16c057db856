"""``eddyline calibrate``: measured prices are stored and used by engines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eddyline import Engine
from eddyline.cli.calibration import run
from eddyline.cli.calibration.cases import CASES
from eddyline.cli.main import app
from eddyline.optimizer.prices import TYPICAL, Prices


@pytest.fixture(autouse=True)
def few_cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(run, "CASES", [c for c in CASES if c.name in ("a filter", "few values")])


def test_it_measures_and_keeps_prices_for_engines() -> None:
    result = CliRunner().invoke(app, ["calibrate", "--json"])
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert [c["case"] for c in told["cases"]] == ["a filter", "few values"]
    for case in told["cases"]:
        assert 0 < case["cores"] < 100
        assert case["predicted_cores"] > 0
    assert Path(told["file"]).is_file()
    assert Engine().options.prices == Prices(**told["prices"]) != TYPICAL


def test_text_output() -> None:
    result = CliRunner().invoke(app, ["calibrate"])
    assert result.exit_code == 0, result.output
    for words in ("probe_s", "a filter", "half of the cases are told within", "kept in"):
        assert words in result.output


def test_rows_are_those_of_the_cost_model() -> None:
    """Selectivities and rates: the results of a case are as many as its plan's estimate says."""
    from eddyline.cli.calibration.cases import RATE, Rows

    joins = ("ten matches", "a third of the matches", "nested loops", "rules over pairs")
    rules = ("rules on three columns", "rules, a result per row")
    for name in ("a filter", *joins, *rules):
        case = next(c for c in CASES if c.name == name)
        engine = run.engine_of(case)
        rows = Rows(case)
        engine.process(rows.between(0.0, 0.5))
        made = sum(t.num_rows for t in engine.process(rows.between(0.5, 0.7)).batches()) / 0.2
        expected = sum(
            work.count * work.rate(case.statistics)
            for work in engine.parts.queries.workload.works()
        )
        assert made == pytest.approx(expected, rel=0.15), name
    assert case.statistics.rate("a") == RATE
