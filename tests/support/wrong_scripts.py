"""Scripts that are wrong in one respect; see ``tests/cli/golden/wrong_scripts.sql``."""

from __future__ import annotations

from pathlib import Path

WRONG_SCRIPTS = Path(__file__).parents[1] / "cli" / "golden" / "wrong_scripts.sql"
#: A stream for the cases, in a line before them.
STREAM = (
    "CREATE STREAM s (ts TIMESTAMP, k STRING, v DOUBLE, b BINARY) TIMESTAMP BY ts "
    "WITH (source = 'json', path = 'in');"
)


def script_of(case: str) -> str:
    """The script of a case: its lines, of which the first says what is wrong, are 2, 3, ..."""
    return f"{STREAM}\n{case.partition(chr(10))[2]}\n"
