"""``eddyline bench figures update-patterns``."""

from __future__ import annotations

import json as json_
from pathlib import Path

from eddyline.bench.figures.console import show_claims
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
        show_claims(report["claims"], len(report["points"]), out)
