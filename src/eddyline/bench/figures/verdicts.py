"""Whether a claim holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Holds = Literal["yes", "in part", "no"]


@dataclass(frozen=True)
class Judgment:
    """What was measured, in words, and whether the claim holds."""

    measured: str
    holds: Holds


def factor(ratio: float, wanted: float) -> Holds:
    """Whether a ratio reaches what is wanted; the right direction alone is a part."""
    if ratio >= wanted:
        return "yes"
    return "in part" if ratio > 1.0 else "no"
