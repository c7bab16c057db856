"""``eddyline bench figures static-optimization``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from eddyline.bench.figures.papers import Paper, run_paper
from eddyline.bench.figures.static_optimization import (
    against_engine,
    example,
    example_by_engine,
    orders,
    scarcity,
)

PAPER: Final = Paper(
    "static-optimization",
    "Static optimization and load shedding",
    "Ayad and Naughton, Static Optimization of Conjunctive Queries with Sliding Windows Over "
    "Infinite Streams, SIGMOD 2004, sections 3, 4 and 6",
    (
        example.EXPERIMENT,
        example_by_engine.EXPERIMENT,
        *scarcity.EXPERIMENTS,
        against_engine.EXPERIMENT,
        orders.EXPERIMENT,
    ),
)


def run_static_optimization(out: Path, quick: bool, json: bool) -> None:
    """Measure, write ``figures.json``, ``claims.json``, ``claims.md`` and the PNG files, and show.

    Args:
        out: directory, made if need be.

    Raises:
        SetupError: matplotlib is missing.
    """
    run_paper(PAPER, out, quick, json)
