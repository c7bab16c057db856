"""One style for all pictures: a colour and a marker per contender, the same in every figure.

Colours are Okabe and Ito's, distinguishable by colour-blind readers, as are the markers in print.
Blue is what the engine does by default or, where it has no default, what a paper proposes; red is
what a paper starts from. Text stays legible where a picture is half as wide as a page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

_BLUE: Final = "#0072B2"
_RED: Final = "#D55E00"
_GREEN: Final = "#009E73"
_PURPLE: Final = "#CC79A7"
_ORANGE: Final = "#E69F00"
_SKY: Final = "#56B4E9"
_BLACK: Final = "#000000"
_GREY: Final = "#888888"


class LineStyle(NamedTuple):
    """How a contender is drawn; ``dash`` is as in matplotlib."""

    colour: str
    marker: str
    dash: str = "-"


#: By contender; what is not here gets a style that is free in its picture.
_STYLES: Final[Mapping[str, LineStyle]] = {
    # update patterns
    "NT": LineStyle(_RED, "s"),
    "DIRECT": LineStyle(_GREEN, "^"),
    "UPA(10)": LineStyle(_SKY, "v"),
    "UPA(50)": LineStyle(_BLUE, "o"),
    "UPA(50), '-' above": LineStyle(_ORANGE, "D"),
    "UPA(50) hybrid": LineStyle(_ORANGE, "D"),
    "NT (join up)": LineStyle(_PURPLE, "P"),
    "UPA(50) (join up)": LineStyle(_BLACK, "X"),
    # just-in-time joins
    "REF": LineStyle(_RED, "s"),
    "DOE": LineStyle(_GREEN, "^"),
    "JIT": LineStyle(_SKY, "v"),
    "reactive JIT": LineStyle(_PURPLE, "P"),
    "auto": LineStyle(_BLUE, "o"),
    "optimized plan": LineStyle(_ORANGE, "D"),
    "optimized plan, auto": LineStyle(_BLACK, "X"),
    "base rows alone": LineStyle(_GREY, "", ":"),
    # shared windows
    "LWO": LineStyle(_RED, "s"),
    "SWF": LineStyle(_GREEN, "^"),
    "Greedy": LineStyle(_BLUE, "o"),
    "state-slice": LineStyle(_PURPLE, "P"),
    "isolated": LineStyle(_GREY, "D"),
    # CACQ
    "CACQ": LineStyle(_BLUE, "o"),
    "PullUp": LineStyle(_RED, "s"),
    "PushDown": LineStyle(_GREEN, "^"),
    "all queries together": LineStyle(_BLUE, "o"),
    "each query alone": LineStyle(_RED, "s"),
    "one engine for all queries": LineStyle(_BLUE, "o"),
    "an engine per query (reckoned from a sample)": LineStyle(_RED, "s"),
    "best order": LineStyle(_BLACK, "D"),
    "ticket": LineStyle(_BLUE, "o"),
    "back-pressure": LineStyle(_SKY, "v"),
    "random": LineStyle(_ORANGE, "P"),
    "worst order": LineStyle(_RED, "s"),
    # static optimization
    "(a) (A ⋈ B) ⋈ C": LineStyle(_GREEN, "^"),
    "(b) (B ⋈ C) ⋈ A": LineStyle(_RED, "s"),
    "(c) (A ⋈ C) ⋈ B": LineStyle(_PURPLE, "P"),
    "model": LineStyle(_GREY, "D", "--"),
    "engine": LineStyle(_BLUE, "o", "--"),
    "measured": LineStyle(_BLUE, "o"),
    "one engine": LineStyle(_BLUE, "o"),
}
#: What follows a contender's name where a line is computed rather than measured.
_RECKONED: Final = ", reckoned"
_FREE: Final = tuple(
    LineStyle(colour, marker)
    for colour, marker in zip(
        (_BLUE, _RED, _GREEN, _PURPLE, _ORANGE, _SKY, _BLACK), "os^PDvX", strict=True
    )
)

#: Of matplotlib, while a picture is drawn.
SETTINGS: Final[Mapping[str, Any]] = {
    "font.size": 10.0,
    "axes.titlesize": 10.0,
    "axes.labelsize": 10.0,
    "xtick.labelsize": 9.0,
    "ytick.labelsize": 9.0,
    "legend.fontsize": 9.5,
    "axes.grid": True,
    "axes.grid.which": "major",
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 5.5,
    "errorbar.capsize": 2.5,
    "savefig.dpi": 180,
}
#: Inches: a picture of one panel, and each of several panels, of which two are side by side.
ONE: Final = (4.6, 3.0)
EACH: Final = (2.8, 2.4)


def styles_of(names: Sequence[str]) -> dict[str, LineStyle]:
    """The style of each line of a picture."""
    styles = {name: found for name in names if (found := _known(name)) is not None}
    used = {style.colour for style in styles.values()}
    free = [s for s in _FREE if s.colour not in used] or list(_FREE)
    unknown = [name for name in names if name not in styles]
    return styles | {name: free[i % len(free)] for i, name in enumerate(unknown)}


def _known(name: str) -> LineStyle | None:
    measured = name.removesuffix(_RECKONED)
    style = _STYLES.get(measured)
    return style if style is None or measured == name else style._replace(marker="", dash="--")
