"""``eddyline bench figures update-patterns``."""

from __future__ import annotations

import json as json_
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from eddyline.bench.figures.plots import require_matplotlib
from eddyline.bench.figures.update_patterns.experiment import FULL, QUICK, measure_all
from eddyline.bench.figures.update_patterns.summary import write_all


def run_update_patterns(out: Path, quick: bool, json: bool) -> None:
    """Measure, write ``figures.json``, ``claims.json``, ``claims.md`` and the PNG files, and show.

    Args:
        out: directory, made if need be.

    Raises:
        SetupError: matplotlib or the examples are missing.
        AssertionError: strategies disagree on the size of an answer.
    """
    require_matplotlib()
    out.mkdir(parents=True, exist_ok=True)
    experiment = QUICK if quick else FULL
    command = "eddyline bench figures update-patterns" + (" --quick" if quick else "")
    report = write_all(out, experiment, measure_all(experiment), command)
    if json:
        print(json_.dumps(report, indent=2))
    else:
        show(report, out, Console())


def show(report: Mapping[str, Any], out: Path, console: Console) -> None:
    """The claims as a table, and where everything is."""
    table = Table("source", "claim", "measured", "holds", title="The paper and this machine")
    for claim in report["claims"]:
        table.add_row(claim["source"], claim["claim"], claim["measured"], claim["holds"])
    console.print(table)
    console.print(f"{len(report['points'])} points, figures and claims: {out}")
