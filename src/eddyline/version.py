"""The version of Eddyline."""

from typing import Final

VERSION: Final = "0.1.0"
