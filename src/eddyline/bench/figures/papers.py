"""The experiments of one paper: measure all, write and show the results."""

from __future__ import annotations

import json as json_
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from eddyline.bench.figures.console import progress_bar, show_claims
from eddyline.bench.figures.experiment import Experiment
from eddyline.bench.figures.plots import require_matplotlib
from eddyline.bench.figures.report import CLAIM_COLUMNS, markdown_table, today, write_json
from eddyline.bench.measure import apart, machine


@dataclass(frozen=True)
class Paper:
    """A paper.

    Attributes:
        name: on the command line.
        called: what it is about, for headings.
        cited: authors, title, year, sections.
    """

    name: str
    called: str
    cited: str
    experiments: tuple[Experiment[Any], ...]


def run_paper(paper: Paper, out: Path, quick: bool, json: bool) -> None:
    """Measure, write ``figures.json``, ``claims.json``, ``claims.md`` and the PNG files, and show.

    Args:
        out: directory, made if need be.

    Raises:
        SetupError: matplotlib is missing.
    """
    require_matplotlib()
    out.mkdir(parents=True, exist_ok=True)
    points = _measure_all(paper.experiments, quick)
    command = f"eddyline bench figures {paper.name}" + (" --quick" if quick else "")
    report = _write_all(paper, out, points, command)
    if json:
        print(json_.dumps(report, indent=2))
    else:
        show_claims(report["claims"], sum(map(len, points)), out)


def _measure_all(experiments: Sequence[Experiment[Any]], quick: bool) -> list[list[Any]]:
    """The points of each experiment, each from a process of its own."""
    points = []
    with progress_bar() as progress:
        bar = progress.add_task("", total=len(experiments))
        for experiment in experiments:
            progress.update(bar, description=experiment.title)
            points.append(apart(partial(experiment.measure, quick)))
            progress.advance(bar)
    return points


def _write_all(
    paper: Paper, out: Path, points: Sequence[Sequence[Any]], command: str
) -> dict[str, Any]:
    """Write every file; returns the content of ``figures.json``."""
    claims = []
    for experiment, mine in zip(paper.experiments, points, strict=True):
        experiment.draw(mine, out)
        claims += [claim.judged(mine) for claim in experiment.claims]
    report = {
        "paper": paper.cited,
        "command": command,
        "made": today(),
        "machine": machine(),
        "claims": claims,
        "points": {
            experiment.name: [asdict(point) for point in mine]
            for experiment, mine in zip(paper.experiments, points, strict=True)
        },
    }
    write_json(report, out / "figures.json")
    write_json(claims, out / "claims.json")
    (out / "claims.md").write_text(_as_markdown(paper, report, points))
    return report


def _as_markdown(paper: Paper, report: Mapping[str, Any], points: Sequence[Sequence[Any]]) -> str:
    """``claims.md``: the claims and the points as tables."""
    machine_text = ", ".join(f"{k} {v}" for k, v in report["machine"].items())
    parts = [
        f"# {paper.called}: what the paper says, and what was measured",
        f"Made by `{report['command']}`, {report['made']}. {machine_text}. "
        "Compare numbers within one run only.",
        "## Claims",
        markdown_table(report["claims"], CLAIM_COLUMNS),
    ]
    for experiment, mine in zip(paper.experiments, points, strict=True):
        rows = experiment.table(mine)
        parts += [f"## {experiment.title}", markdown_table(rows, rows[0])]
    return "\n\n".join(parts) + "\n"
