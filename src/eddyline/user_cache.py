"""The directory of this user for what can be made again."""

from __future__ import annotations

import os
from pathlib import Path


def cache_directory() -> Path:
    """``eddyline`` in the user's cache directory; it may not exist."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "eddyline"
