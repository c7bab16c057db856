"""Watermarks: the instants up to which the rows of connected streams can be processed.

Streams and changing tables that a query reads together form a *group* with its own watermark and
clock, so its results do not depend on other streams. Groups are merged when a query reads from
several of them, and stay merged when queries are dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
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
        oldest: before it, the smallest timestamp of rows that other engines process, and of late
            rows; a late row counts as if it came at the instant before which it is late. So the
            group begins at the same instant in all engines, none of which need have the rows.
        leading: the streams that determine its watermark: those that queries read; if there are
            none, all.
        number: its place among all groups.
    """

    members: list[str] = field(default_factory=list)
    leading: list[str] = field(default_factory=list)
    watermark: int = BEGINNING
    clock: int = BEGINNING
    began: int | None = None
    oldest: int = FOREVER
    number: int = 0

    @property
    def reached(self) -> int:
        """The clock; before the first instant the watermark."""
        return self.watermark if self.began is None else self.clock

    def note_beginning(self, ts: int) -> None:
        """Take rows from this instant on into account that do not wait in this engine."""
        if self.began is None:
            self.oldest = min(self.oldest, ts)


class StreamGroups:
    """The groups of an engine. Each stream and each changing table is in one of them; without
    streams there is one empty group. A stream is *read* by queries of this engine, or of others
    with the same clock.

    Attributes:
        by_name: the group of each stream and table. all: the groups, in the order of declaration.
        with_readers: those with streams that are read.
        version: grows when streams and tables change groups.
        moving: groups that have new rows, or other streams that are read, since they were advanced
            to the watermarks of their rows. timed: those that move with the wall clock, too.
        have_followers: whether there are groups of tables only, which follow the others.
    """

    def __init__(self) -> None:
        self.by_name: Names[StreamGroup] = Names()
        self._empty = StreamGroup()
        self._readers: Counter[str] = Counter()
        self._streams: set[str] = set()
        self._may_be_idle: set[str] = set()
        self._read_elsewhere: frozenset[str] = frozenset()
        self.all: list[StreamGroup] = [self._empty]
        self.with_readers: list[StreamGroup] = []
        self.moving: set[StreamGroup] = set()
        self.version = 0
        self.timed: list[StreamGroup] = []
        self.have_followers = False

    @property
    def read_elsewhere(self) -> frozenset[str]:
        """The streams that queries of other engines with the same clock read."""
        return self._read_elsewhere

    @read_elsewhere.setter
    def read_elsewhere(self, names: frozenset[str]) -> None:
        self._read_elsewhere = names
        self._lead(self.all)

    def add(self, name: str, *, is_stream: bool, may_be_idle: bool = False) -> None:
        """Add a stream or a table that changes, as a group of its own."""
        group = self.by_name[name] = StreamGroup([name])
        if is_stream:
            self._streams.add(name)
        if may_be_idle:
            self._may_be_idle.add(name)
        if len(self.by_name) == 1:
            self.all = []
        group.number = len(self.all)
        self.all.append(group)
        self._lead([group])
        self.version += 1

    def drop(self, name: str) -> None:
        """Remove a stream or table from its group, if any."""
        if name in self.by_name:
            group = self.by_name.pop(name)
            group.members.remove(name)
            self._streams.discard(name)
            self._may_be_idle.discard(name)
            self._regroup(group)

    def of(self, names: Iterable[str]) -> StreamGroup:
        """The group of these names; if none is in a group, the one with the latest clock."""
        found = next((self.by_name[name] for name in names if name in self.by_name), None)
        return found or max(self.all, key=lambda g: (g.began is not None, g.reached))

    def among(self, names: Iterable[str]) -> list[StreamGroup]:
        """The distinct groups of these streams and tables, in the order of declaration."""
        found = {self.by_name[name] for name in names if name in self.by_name}
        return [group for group in self.all if group in found]

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
                self.by_name[name] = first
        self._regroup(first)
        return first

    def _regroup(self, group: StreamGroup) -> None:
        """The members of a group have changed."""
        self.all = list(dict.fromkeys(self.by_name.values())) or [self._empty]
        for number, each in enumerate(self.all):
            each.number = number
        self.moving.intersection_update(self.all)
        self._lead([group] if group.members else [])
        self.version += 1

    def add_reader(self, names: Iterable[str]) -> None:
        """Count a query that reads these streams and tables."""
        self._count(names, 1)

    def drop_reader(self, names: Iterable[str]) -> None:
        """Undo ``add_reader``."""
        self._count(names, -1)

    def _count(self, names: Iterable[str], more: int) -> None:
        changed = []
        for name in names:
            before = self._is_read(name)
            self._readers[name] += more
            if before != self._is_read(name) and name in self.by_name:
                changed.append(self.by_name[name])
        if changed:
            self._lead(changed)

    def _is_read(self, name: str) -> bool:
        return self._readers[name] > 0 or name in self._read_elsewhere

    def _lead(self, groups: Iterable[StreamGroup]) -> None:
        """Determine which streams of some groups determine the watermarks."""
        for group in groups:
            streams = [name for name in group.members if name in self._streams]
            group.leading = [s for s in streams if self._is_read(s)] or streams
            self.moving.add(group)
        read = {self.by_name[s] for s in self._streams if self._is_read(s)}
        self.with_readers = [group for group in self.all if group in read]
        self.timed = [self.by_name[name] for name in self._may_be_idle]
        self.have_followers = not all(group.leading for group in self.all)
