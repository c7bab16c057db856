"""The average response times that the paper reckons: Equations 1 and 2, and Figures 3 and 5.

``m`` tuples arrive at once in one stream. Query i has a window of ``S_i`` tuples of the other
stream, and it takes ``t_p`` seconds to look at a pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from eddyline.bench.figures.experiment import Claim, Experiment
from eddyline.bench.figures.plots import Panel, draw_panels
from eddyline.bench.figures.shared_windows.server import LWO, SWF, TABLE_1
from eddyline.bench.figures.verdicts import Judgment

ISOLATED: Final = "isolated"

#: Values of Figures 3 and 5.
_SECONDS_PER_PAIR: Final = 1e-8
_TUPLES_PER_S: Final = 100
AT_ONCE: Final = 50
WINDOWS_S: Final = TABLE_1["Uniform"]


def largest_window_only(scan_s: Sequence[float], pair_s: float, m: int) -> list[float]:
    """Equation 1.

    Args:
        scan_s: seconds to scan each window, ascending: ``S_i * t_p``.
        pair_s: ``t_p``.
    """
    return [(scan + pair_s + (m - 1) * scan_s[-1]) / 2 for scan in scan_s]


def smallest_window_first(scan_s: Sequence[float], m: int) -> list[float]:
    """Equation 2; arguments as for Equation 1."""
    below = [0.0, *scan_s[:-1]]
    return [m * b + (m + 1) / 2 * (s - b) for s, b in zip(scan_s, below, strict=True)]


def isolated(scan_s: Sequence[float], pair_s: float, m: int) -> list[float]:
    """Each query by itself: Equation 1 with its own window as the largest (section 3.1.1)."""
    return [(m * scan + pair_s) / 2 for scan in scan_s]


@dataclass(frozen=True)
class Reckoned:
    """Seconds by window under one strategy."""

    strategy: str
    windows_s: tuple[int, ...]
    average_s: tuple[float, ...]


def measure(quick: bool) -> list[Reckoned]:
    """Nothing is measured: the lines of Figures 3 and 5."""
    scan_s = [w * _TUPLES_PER_S * _SECONDS_PER_PAIR for w in WINDOWS_S]
    lines = {
        LWO: largest_window_only(scan_s, _SECONDS_PER_PAIR, AT_ONCE),
        SWF: smallest_window_first(scan_s, AT_ONCE),
        ISOLATED: isolated(scan_s, _SECONDS_PER_PAIR, AT_ONCE),
    }
    return [Reckoned(name, WINDOWS_S, tuple(line)) for name, line in lines.items()]


def draw(points: Sequence[Reckoned], out: Path) -> None:
    """``figure-03-05.png``."""
    lines = {p.strategy: [1e3 * s for s in p.average_s] for p in points}
    places = [str(w) for w in WINDOWS_S]
    about = {"Figure 3: LWO": LWO, "Figure 5: SWF": SWF}
    draw_panels(
        out / "figure-03-05.png",
        "Figures 3 and 5: average response times as reckoned",
        f"{AT_ONCE} tuples at once, {_TUPLES_PER_S} tuples/s, 0.01 µs per pair",
        [
            Panel(
                title, places, {n: lines[n] for n in (name, ISOLATED)}, "window, s", "ms", log=False
            )
            for title, name in about.items()
        ],
    )


def table(points: Sequence[Reckoned]) -> list[Mapping[str, Any]]:
    """A row per window."""
    return [
        {"window, s": w, **{f"{p.strategy}, ms": f"{1e3 * p.average_s[i]:.2f}" for p in points}}
        for i, w in enumerate(WINDOWS_S)
    ]


def _penalty(points: Sequence[Reckoned]) -> Judgment:
    by_name = {p.strategy: p.average_s for p in points}
    ratio = by_name[LWO][0] / by_name[ISOLATED][0]
    return Judgment(f"{ratio:,.0f}x the response time of isolation", "yes" if ratio > 10 else "no")


def _at_the_expense(points: Sequence[Reckoned]) -> Judgment:
    by_name = {p.strategy: p.average_s for p in points}
    small, large = (by_name[SWF][i] / by_name[LWO][i] for i in (0, -1))
    text = f"{small:.4f}x LWO's time for the smallest window, {large:.2f}x for the largest"
    return Judgment(text, "yes" if small < 0.1 and large > 1 else "no")


EXPERIMENT: Final = Experiment(
    "model",
    "Reckoned: Equations 1 and 2",
    measure,
    draw,
    table,
    (
        Claim(
            "Figure 3",
            "LWO severely penalises the query with the smallest window",
            "more than 10x",
            _penalty,
        ),
        Claim(
            "Figure 5",
            "SWF greatly reduces the response time of small windows at the expense of larger ones",
            "smallest window: less than a tenth of LWO's time; largest: more than LWO's",
            _at_the_expense,
        ),
    ),
)
