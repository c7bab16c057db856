"""Up to which instant rows can be processed: the watermark of streams that run together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eddyline.types import BEGINNING


@dataclass(frozen=True, slots=True)
class Bound:
    """What one stream says of the watermark.

    Attributes:
        us: no row before this instant is expected from it: its largest timestamp less its lateness;
            BEGINNING while it has had no row.
        idle: it has brought no row for so long that the others do not wait for it.
    """

    stream: str
    us: int
    idle: bool


def watermark_of(bounds: Sequence[Bound]) -> int:
    """The smallest bound of those that are not idle, and at most the largest of all.

    >>> watermark_of([Bound("a", 9, False), Bound("b", 5, False)])
    5
    >>> watermark_of([Bound("a", 9, False), Bound("b", 5, True)])
    9
    """
    last = max((b.us for b in bounds), default=BEGINNING)
    return min((b.us for b in bounds if not b.idle), default=last)


def holding(bounds: Sequence[Bound]) -> Bound | None:
    """The stream that holds the others up; None: none does."""
    awake = [b for b in bounds if not b.idle]
    first = min(awake, key=lambda b: b.us, default=None)
    return first if first is not None and any(b.us > first.us for b in bounds) else None
