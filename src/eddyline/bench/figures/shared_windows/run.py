"""``eddyline bench figures shared-windows``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from eddyline.bench.figures.papers import Paper, run_paper
from eddyline.bench.figures.shared_windows import cpu, end_to_end, equations, model, schedules

PAPER: Final = Paper(
    "shared-windows",
    "Shared window joins",
    "Hammad, Franklin, Aref and Elmagarmid, Scheduling for Shared Window Joins over Data Streams, "
    "Purdue CSD TR 03-001, 2003, sections 3 and 5",
    (
        model.EXPERIMENT,
        equations.EXPERIMENT,
        schedules.HASH_JOIN,
        schedules.NESTED_LOOPS,
        schedules.BURSTS,
        schedules.COSTS,
        end_to_end.EXPERIMENT,
        schedules.SIMULATED,
        schedules.SIMULATED_BURSTS,
        cpu.EXPERIMENT,
    ),
)


def run_shared_windows(out: Path, quick: bool, json: bool) -> None:
    """Measure, write ``figures.json``, ``claims.json``, ``claims.md`` and the PNG files, and show.

    Args:
        out: directory, made if need be.

    Raises:
        SetupError: matplotlib is missing.
        AssertionError: strategies disagree on the number of results.
    """
    run_paper(PAPER, out, quick, json)
