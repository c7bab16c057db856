"""``eddyline bench figures``: the experiments of the papers, run on the machine at hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from eddyline.bench.figures.cacq import run_cacq
from eddyline.bench.figures.jit import run_jit
from eddyline.bench.figures.overview import write_overview
from eddyline.bench.figures.shared_windows import run_shared_windows
from eddyline.bench.figures.static_optimization import run_static_optimization
from eddyline.bench.figures.update_patterns import run_update_patterns
from eddyline.errors import CatalogError, did_you_mean

#: What can be run: a function of the output directory, whether to be quick, whether to print JSON.
FIGURES: Final[Mapping[str, Callable[[Path, bool, bool], None]]] = {
    "cacq": run_cacq,
    "jit": run_jit,
    "shared-windows": run_shared_windows,
    "static-optimization": run_static_optimization,
    "update-patterns": run_update_patterns,
}


#: All papers one after the other, and the page about them; the page alone, from earlier reports.
ALL: Final = "all"
OVERVIEW: Final = "page"


def run_figures(name: str, out: Path | None, *, quick: bool, json: bool) -> None:
    """Run the experiments of one paper, or of all, and write their figures.

    Args:
        name: a key of :data:`FIGURES`, ``all`` or ``page``.
        out: directory for the results; default ``benchmarks/NAME``. Of ``all`` and ``page`` that of
            the papers' directories, default ``benchmarks``.
        quick: few points, measured once or so: a minute or two instead of tens.
        json: print the results as JSON instead of tables.

    Raises:
        CatalogError: there are no such figures. SetupError: matplotlib is missing.
    """
    if name in (ALL, OVERVIEW):
        folder = out or Path("benchmarks")
        folder.mkdir(parents=True, exist_ok=True)
        for paper, run in FIGURES.items() if name == ALL else ():
            run(folder / paper, quick, json)
        write_overview(folder, list(FIGURES))
        return
    if name not in FIGURES:
        known = [*FIGURES, ALL, OVERVIEW]
        raise CatalogError(f"there are no figures {name!r}; {did_you_mean(name, known)}")
    FIGURES[name](out or Path("benchmarks") / name, quick, json)
