"""The directory of this user for what can be made again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

#: The environment variable that names another directory of connectors.
CONNECTORS: Final = "EDDYLINE_CONNECTORS"


def cache_directory() -> Path:
    """``eddyline`` in the user's cache directory; it may not exist."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "eddyline"


def connectors_directory() -> Path:
    """The directory of fetched connectors of Spark; it may not exist."""
    named = os.environ.get(CONNECTORS)
    return Path(named) if named else cache_directory() / "connectors"
