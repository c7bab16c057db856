"""Durations as text."""

from __future__ import annotations

_UNITS = (
    ("DAY", 86_400_000_000),
    ("HOUR", 3_600_000_000),
    ("MINUTE", 60_000_000),
    ("SECOND", 1_000_000),
    ("MILLISECOND", 1_000),
    ("MICROSECOND", 1),
)


def format_duration(us: int) -> str:
    """A duration in the largest unit that divides it.

    >>> format_duration(90_000_000)
    '90 SECONDS'
    """
    name, size = next((n, s) for n, s in _UNITS if us % s == 0)
    count = us // size
    return f"{count} {name}{'' if count == 1 else 'S'}"
