"""The command ``eddyline``, also as ``python -m eddyline``."""

from __future__ import annotations

import sys

from eddyline.errors import SetupError
from eddyline.extras import extras_named


def main() -> None:
    """Run the command; a missing optional dependency is an error with exit code 1."""
    try:
        with extras_named():
            from eddyline.cli.main import app

            app()
    except SetupError as e:
        sys.exit(f"error: {e}")


if __name__ == "__main__":
    main()
