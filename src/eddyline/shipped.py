"""Where the examples are that come with Eddyline."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from eddyline.errors import SetupError

_PACKAGE: Final = Path(__file__).parent
#: In an installed package, and in a checkout.
_PLACES: Final = (_PACKAGE / "examples", _PACKAGE.parent.parent / "examples")


def examples() -> Path:
    """The directory of the examples.

    Raises:
        SetupError: they are not there.
    """
    for place in _PLACES:
        if (place / "demo.sql").exists():
            return place
    looked = " and ".join(str(p) for p in _PLACES)
    raise SetupError(
        f"the examples are not installed (looked in {looked}); they are in the directory "
        "'examples' of the project's source: run `eddyline run examples/demo.sql` there"
    )
