"""The version of Eddyline: the one place where it stands."""

from typing import Final

VERSION: Final = "0.1.0"
