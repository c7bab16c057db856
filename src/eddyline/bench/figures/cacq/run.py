"""``eddyline bench figures cacq``."""

from __future__ import annotations

import json as json_
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Final

from eddyline.bench.figures.cacq import (
    adaptivity,
    banks,
    engines,
    joins,
    niagara_report,
    routing,
    tuple_state,
)
from eddyline.bench.figures.cacq.experiment import Experiment
from eddyline.bench.figures.console import progress_bar, show_claims
from eddyline.bench.figures.plots import require_matplotlib
from eddyline.bench.figures.report import markdown_table, write_json
from eddyline.bench.measure import apart, machine

EXPERIMENTS: Final[tuple[Experiment[Any], ...]] = (
    tuple_state.EXPERIMENT,
    banks.QUERIES,
    banks.SOURCES,
    engines.QUERIES,
    engines.SOURCES,
    routing.EXPERIMENT,
    adaptivity.EXPERIMENT,
    niagara_report.EXPERIMENT,
    joins.EXPERIMENT,
)


def run_cacq(out: Path, quick: bool, json: bool) -> None:
    """Measure, write ``figures.json``, ``claims.json``, ``claims.md`` and the PNG files, and show.

    Args:
        out: directory, made if need be.

    Raises:
        SetupError: matplotlib is missing.
        AssertionError: queries have other results together than alone.
    """
    require_matplotlib()
    out.mkdir(parents=True, exist_ok=True)
    points = _measure_all(quick)
    command = "eddyline bench figures cacq" + (" --quick" if quick else "")
    report = _write_all(out, points, command)
    if json:
        print(json_.dumps(report, indent=2))
    else:
        show_claims(report["claims"], sum(map(len, points)), out)


def _measure_all(quick: bool) -> list[list[Any]]:
    """The points of each experiment, each from a process of its own."""
    points = []
    with progress_bar() as progress:
        bar = progress.add_task("", total=len(EXPERIMENTS))
        for experiment in EXPERIMENTS:
            progress.update(bar, description=experiment.title)
            points.append(apart(partial(experiment.measure, quick)))
            progress.advance(bar)
    return points


def _write_all(out: Path, points: Sequence[Sequence[Any]], command: str) -> dict[str, Any]:
    """Write every file; returns the content of ``figures.json``."""
    claims = []
    for experiment, mine in zip(EXPERIMENTS, points, strict=True):
        experiment.draw(mine, out)
        for claim in experiment.claims:
            verdict = claim.judge(mine)
            claims.append({"source": claim.source, "claim": claim.text} | asdict(verdict))
    report = {
        "paper": "Madden, Shah, Hellerstein and Raman, Continuously Adaptive Continuous Queries "
        "over Streams, SIGMOD 2002, sections 2 to 4",
        "command": command,
        "machine": machine(),
        "claims": claims,
        "points": {
            experiment.name: [asdict(point) for point in mine]
            for experiment, mine in zip(EXPERIMENTS, points, strict=True)
        },
    }
    write_json(report, out / "figures.json")
    write_json(claims, out / "claims.json")
    (out / "claims.md").write_text(_as_markdown(report, points))
    return report


def _as_markdown(report: Mapping[str, Any], points: Sequence[Sequence[Any]]) -> str:
    """``claims.md``: the claims and the points as tables."""
    machine_text = ", ".join(f"{k} {v}" for k, v in report["machine"].items())
    parts = [
        "# CACQ: what the paper says, and what was measured",
        f"Made by `{report['command']}`. {machine_text}. Compare numbers within one run only.",
        "## Claims",
        markdown_table(report["claims"], ("source", "claim", "measured", "holds")),
    ]
    for experiment, mine in zip(EXPERIMENTS, points, strict=True):
        rows = experiment.table(mine)
        parts += [f"## {experiment.title}", markdown_table(rows, rows[0])]
    return "\n\n".join(parts) + "\n"
