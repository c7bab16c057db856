"""Amounts of memory as text: ``4 GB``."""

from __future__ import annotations

import re
from typing import Final

_UNITS: Final = ("B", "kB", "MB", "GB", "TB")
_BINARY: Final = {"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40}
_BYTES: Final[dict[str, int]] = {
    unit.lower(): 1000**power for power, unit in enumerate(_UNITS)
} | _BINARY
_TEXT: Final = re.compile(r"\s*(\d{1,15}(?:\.\d{1,15})?)\s*([A-Za-z]+)\s*")


def parse_bytes(text: str) -> int:
    """The number of bytes.

    >>> parse_bytes("4 GB"), parse_bytes("1.5MiB")
    (4000000000, 1572864)

    Raises:
        ValueError: the text is something else.
    """
    found = _TEXT.fullmatch(text)
    unit = None if found is None else _BYTES.get(found[2].lower())
    if found is None or unit is None:
        raise ValueError(f"{text[:40]!r} is not an amount of memory such as '4 GB' or '512 MiB'")
    return round(float(found[1]) * unit)


def part_of(memory: str | None, share: float) -> str | None:
    """A share of an amount of memory; None: there is no limit.

    >>> part_of("4 GB", 0.25)
    '1000000000 B'
    """
    return None if memory is None else f"{max(1, round(parse_bytes(memory) * share))} B"


def bytes_text(value: float) -> str:
    """An amount of memory.

    >>> bytes_text(2_500_000)
    '2.5 MB'
    """
    for unit in _UNITS[:-1]:
        if abs(value) < 1000:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} {_UNITS[-1]}"
