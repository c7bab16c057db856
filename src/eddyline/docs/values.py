"""Values and tables of results as text for pages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta


def shown(value: object) -> str:
    """A value of a result, much as SQL writes it; a list of pairs is a map.

    >>> shown(["a", None])
    "['a', NULL]"
    """
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case str():
            return f"'{value}'"
        case bytes():
            return f"X'{value.hex()}'"
        case datetime():
            return value.replace(tzinfo=None).isoformat(" ")
        case timedelta():
            return f"INTERVAL '{value}'"
        case dict():
            return f"{{{', '.join(f'{name}: {shown(part)}' for name, part in value.items())}}}"
        case list() if value and all(isinstance(entry, tuple) for entry in value):
            return f"{{{', '.join(f'{shown(key)}: {shown(part)}' for key, part in value)}}}"
        case list():
            return f"[{', '.join(map(shown, value))}]"
    return str(value)


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines
    )
