"""Watermarks: the instants up to which the rows of connected streams can be processed.

Streams and changing tables that a query reads together form a *group* with its own watermark and
clock, so its results do not depend on other streams. Groups are merged when a query reads from
several of them, and stay merged when queries are dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from eddyline.sql.catalog import Names
from eddyline.types import BEGINNING, FOREVER


@dataclass(frozen=True, slots=True)
class StreamBound:
    """The watermark of one stream.

    Attributes:
        us: its largest timestamp minus its lateness; BEGINNING before its first row.
        idle: it had no row for its IDLE AFTER or longer, so its group does not wait for it.
        active_us: the wall clock at its last usable row; before any row, since when it is read.
    """

    stream: str
    us: int
    idle: bool
    active_us: int = BEGINNING


def watermark_of(bounds: Sequence[StreamBound], now_us: int) -> int:
    """The smallest bound of the streams that are not idle.

    If all are idle, time goes on by itself: the largest bound, plus the wall-clock time since the
    last row of all. So rows that arrive with the same delay as before the silence are not late.
    Time that goes on by itself stays behind the wall clock; before the first row it stands still.

    Args:
        now_us: the wall clock.

    >>> a, b = StreamBound("a", 9, True, 20), StreamBound("b", 5, False, 22)
    >>> watermark_of([a, b], 30)
    5
    >>> watermark_of([a, StreamBound("b", 5, True, 22)], 30)
    17
    """
    awake = [b.us for b in bounds if not b.idle]
    if awake:
        return min(awake)
    begun = [b for b in bounds if b.us > BEGINNING]
    if not begun:
        return BEGINNING
    last = max(b.us for b in begun)
    silence = now_us - max(b.active_us for b in begun)
    return max(last, min(last + silence, now_us))


def slowest(bounds: Sequence[StreamBound]) -> StreamBound | None:
    """The stream with the smallest bound in its group; None if all bounds are equal."""
    active = [b for b in bounds if not b.idle]
    last = min(active, key=lambda b: b.us, default=None)
    return last if last is not None and any(b.us > last.us for b in bounds) else None


@dataclass(eq=False, slots=True)
class StreamGroup:
    """Streams and tables with one watermark and one clock.

    Attributes:
        members: their names.
        watermark: rows before this instant are late, in microseconds.
        clock: the instant up to which everything is processed, in microseconds.
        began: the first instant that was processed; None before it.
        oldest: before it, the smallest timestamp of rows that other engines process.
    """

    members: list[str] = field(default_factory=list)
    watermark: int = BEGINNING
    clock: int = BEGINNING
    began: int | None = None
    oldest: int = FOREVER

    @property
    def reached(self) -> int:
        """The clock; before the first instant the watermark."""
        return self.watermark if self.began is None else self.clock


class StreamGroups:
    """The groups of an engine. Each stream and each changing table is in one of them; without
    streams there is one empty group.

    Attributes:
        read_elsewhere: streams that queries of other engines with the same clock read.
    """

    def __init__(self) -> None:
        self._of: Names[StreamGroup] = Names()
        self._empty = StreamGroup()
        self._readers: Counter[str] = Counter()
        self.read_elsewhere: frozenset[str] = frozenset()

    def __iter__(self) -> Iterator[StreamGroup]:
        return iter(dict.fromkeys(self._of.values()) or [self._empty])

    def add(self, name: str) -> None:
        """Add a stream or a table that changes, as a group of its own."""
        self._of[name] = StreamGroup([name])

    def drop(self, name: str) -> None:
        """Remove a stream or table from its group, if any."""
        if name in self._of:
            self._of.pop(name).members.remove(name)

    def of(self, names: Iterable[str]) -> StreamGroup:
        """The group of these names; if none is in a group, the one with the latest clock."""
        found = next((self._of[name] for name in names if name in self._of), None)
        return found or max(self, key=lambda g: (g.began is not None, g.reached))

    def among(self, names: Iterable[str]) -> list[StreamGroup]:
        """The distinct groups of these streams and tables, in the order of declaration."""
        found = {self._of[name] for name in names if name in self._of}
        return [group for group in self if group in found]

    def outside(self, group: StreamGroup) -> frozenset[str]:
        """The streams and tables of all other groups."""
        return frozenset(name for name, other in self._of.items() if other is not group)

    def merge(self, groups: Iterable[StreamGroup]) -> StreamGroup:
        """Merge groups whose clocks are equal into the first one."""
        first, *others = groups
        for other in others:
            first.watermark = max(first.watermark, other.watermark)
            first.clock = max(first.clock, other.clock)
            first.oldest = min(first.oldest, other.oldest)
            first.began = min(
                (b for b in (first.began, other.began) if b is not None), default=None
            )
            first.members += other.members
            for name in other.members:
                self._of[name] = first
        return first

    def add_reader(self, names: Iterable[str]) -> None:
        """Count a query that reads these streams and tables."""
        self._readers.update(names)

    def drop_reader(self, names: Iterable[str]) -> None:
        """Undo ``add_reader``."""
        self._readers.subtract(names)

    def is_read(self, name: str) -> bool:
        """Whether a query reads this stream or table, of this engine or one with the same clock."""
        return self._readers[name] > 0 or name in self.read_elsewhere
