"""``eddyline bench figures cacq``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from eddyline.bench.figures.cacq import (
    adaptivity,
    banks,
    engines,
    joins,
    niagara_report,
    routing,
    tuple_state,
)
from eddyline.bench.figures.papers import Paper, run_paper

PAPER: Final = Paper(
    "cacq",
    "CACQ",
    "Madden, Shah, Hellerstein and Raman, Continuously Adaptive Continuous Queries over Streams, "
    "SIGMOD 2002, sections 2 to 4",
    (
        tuple_state.EXPERIMENT,
        banks.QUERIES,
        banks.SOURCES,
        engines.QUERIES,
        engines.SOURCES,
        routing.EXPERIMENT,
        adaptivity.EXPERIMENT,
        niagara_report.EXPERIMENT,
        joins.EXPERIMENT,
    ),
)


def run_cacq(out: Path, quick: bool, json: bool) -> None:
    """Measure, write ``figures.json``, ``claims.json``, ``claims.md`` and the PNG files, and show.

    Args:
        out: directory, made if need be.

    Raises:
        SetupError: matplotlib is missing.
        AssertionError: queries have other results together than alone.
    """
    run_paper(PAPER, out, quick, json)
