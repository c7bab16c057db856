"""Where the examples are that come with Eddyline."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from eddyline.errors import SetupError

#: In a checkout; wheels do not hold the examples.
_EXAMPLES: Final = Path(__file__).parents[2] / "examples"


def examples() -> Path:
    """The directory of the examples.

    Raises:
        SetupError: they are not there.
    """
    if (_EXAMPLES / "demo.sql").exists():
        return _EXAMPLES
    raise SetupError(
        f"the examples are not installed (looked in {_EXAMPLES}); they are in the directory "
        "'examples' of the project's source: run `eddyline run examples/demo.sql` there"
    )
