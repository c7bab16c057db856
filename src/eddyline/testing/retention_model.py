"""A reference model of retention: the rows of each stream that are surely stored.

A SteM stores rows as long as a window of some query needs them. A query that is added at ``c``
finds all rows of its windows if other queries have needed them; otherwise rows are missing, and its
answer is right once all rows that may be missing would have left its windows::

    clock          0 ............ 6 ..... c ............ 6 + T
    [RANGE 2 S]    ------------------|                            kept up to c - 2 s: 6
    [RANGE T]                             |--------------|====    right from 6 + T on
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from sqlglot import exp

from eddyline.testing.reading import WindowText, read_query, stream_of
from eddyline.types import BEGINNING, FOREVER

_Read = tuple[str, WindowText]  # (stream, its window)
_EVERYTHING: Final = WindowText()


@dataclass(frozen=True)
class MissingRows:
    """For a query added at ``added_us``: by stream, rows before this instant may be missing."""

    added_us: int
    before_us: Mapping[str, int]
    reads: tuple[_Read, ...]

    def right_from(self, times_us: Mapping[str, Iterable[int]]) -> int:
        """The first instant from which on the answer is right; FOREVER if there may be none.

        Args:
            times_us: by stream, the timestamps of all rows.
        """
        ends = (self._left_by(stream, window, times_us[stream]) for stream, window in self.reads)
        return max([self.added_us, *ends])

    def _left_by(self, stream: str, window: WindowText, times_us: Iterable[int]) -> int:
        """The instant when all rows that may be missing have left a window."""
        before = self.before_us[stream]
        if min(times_us, default=FOREVER) >= before:
            return BEGINNING
        if window.range_us is not None:
            return before - 1 + window.range_us
        if window.rows is None or window.partition:
            return FOREVER
        known = sorted(t for t in times_us if t >= before)
        return known[window.rows - 1] if len(known) >= window.rows else FOREVER


@dataclass
class RetentionModel:
    """The instants from which on all rows of streams are stored.

    Args:
        views: their SELECTs by name. tables: the names of tables, which store all rows.

    Attributes:
        before_us: by stream, rows before this instant may have been removed.
    """

    views: Mapping[str, str] = field(default_factory=dict)
    tables: Container[str] = ()
    before_us: defaultdict[str, int] = field(
        default_factory=lambda: defaultdict(lambda: BEGINNING), init=False
    )
    _kept_by: dict[str, list[tuple[str, int]]] = field(default_factory=dict, init=False)

    def pass_time(self, clock_us: int, queries: Iterable[str], streams: Iterable[str]) -> None:
        """Record that rows have been processed up to the clock with these queries (SELECTs)."""
        kept: dict[str, int] = {}
        for sql in queries:
            if sql not in self._kept_by:
                self._kept_by[sql] = list(self._keeps(sql))
            for stream, length in self._kept_by[sql]:
                kept[stream] = max(kept.get(stream, 0), length)
        for stream in streams:
            length = kept.get(stream, 0)
            if length < FOREVER:
                self.before_us[stream] = max(self.before_us[stream], clock_us - length + 1)

    def missing(self, sql: str, clock_us: int) -> MissingRows:
        """The rows that a query added now may miss."""
        reads = self._reads(sql)
        return MissingRows(clock_us, {stream: self.before_us[stream] for stream, _ in reads}, reads)

    def reads(self, sql: str) -> frozenset[str]:
        """The streams and tables of a query."""
        return frozenset(name for name, _ in _reads(sql, self.views))

    def _keeps(self, sql: str) -> Iterable[tuple[str, int]]:
        """The streams whose rows a query surely stores, and for how long.

        DISTINCT stores values only. Rows of an unbounded stream are stored if they are joined.
        """
        select = read_query(sql).select
        if list(select.find_all(exp.Distinct, exp.SetOperation)):
            return
        reads = self._reads(sql)
        joined = len(reads) > 1 and len(list(select.find_all(exp.Query))) == 1
        joined = joined and not list(select.find_all(exp.AggFunc))
        for stream, window in reads:
            if window.range_us is not None:
                yield stream, window.range_us
            elif window == _EVERYTHING and joined:
                yield stream, FOREVER

    def _reads(self, sql: str) -> tuple[_Read, ...]:
        return tuple(r for r in _reads(sql, self.views) if r[0] not in self.tables)


def _reads(sql: str, views: Mapping[str, str], outer: WindowText | None = None) -> Iterable[_Read]:
    """The streams (and tables) of a query with their windows, with views expanded."""
    reading = read_query(sql)
    trailing = reading.trailing or outer
    if reading.for_each is not None:
        yield reading.for_each, _EVERYTHING
    for table in reading.select.find_all(exp.Table):
        name, number = stream_of(table)
        window = trailing if number is None else reading.windows[number]
        if name in views:
            yield from _reads(views[name], views, window)
        else:
            yield name, window or _EVERYTHING
