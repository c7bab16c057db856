"""Where the examples are that come with Eddyline."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from eddyline.errors import SetupError

#: In a checkout, and in a wheel, which holds the flights of one month.
_PLACES: Final = (
    Path(__file__).parents[2] / "examples",
    Path(__file__).with_name("examples"),
)


def examples() -> Path:
    """The directory of the examples.

    Raises:
        SetupError: they are not there.
    """
    for place in _PLACES:
        if (place / "demo.sql").exists():
            return place
    raise SetupError(
        f"the examples are not installed (looked in {' and '.join(map(str, _PLACES))}); they are "
        "in the directory 'examples' of the project's source"
    )
