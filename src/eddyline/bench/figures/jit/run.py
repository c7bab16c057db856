"""``eddyline bench figures jit``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from eddyline.bench.figures.jit import busy, dense, fan_out, in_flows, no_help, sweeps
from eddyline.bench.figures.papers import Paper, run_paper

PAPER: Final = Paper(
    "jit",
    "Just-in-time joins",
    "Yang and Papadias, Just-In-Time Processing of Continuous Queries, ICDE 2008, section VI",
    (
        *sweeps.EXPERIMENTS,
        dense.EXPERIMENT,
        busy.EXPERIMENT,
        fan_out.EXPERIMENT,
        no_help.EXPERIMENT,
        in_flows.EXPERIMENT,
    ),
)


def run_jit(out: Path, quick: bool, json: bool) -> None:
    """Measure, write ``figures.json``, ``claims.json``, ``claims.md`` and the PNG files, and show.

    Args:
        out: directory, made if need be.

    Raises:
        SetupError: matplotlib is missing.
        AssertionError: engines with and without feedback disagree on the results.
    """
    run_paper(PAPER, out, quick, json)
