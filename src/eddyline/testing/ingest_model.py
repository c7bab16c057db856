"""A reference model of ingestion: which rows are accepted, and the clocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.catalog import StreamDef
from eddyline.engine.ingest.arrow_values import flat
from eddyline.engine.overload.drop_box import DropBox
from eddyline.testing.live import LiveTable, LiveUpdates, as_changes, change_schema
from eddyline.types import BEGINNING, arrow_schema


@dataclass(frozen=True)
class StreamRules:
    """The schema of a stream, its event-time column and the rules of its watermark.

    Attributes:
        lateness_us: maximum lateness of its rows. row_by_row: whether lateness is decided by the
            previous rows of the stream, or by the watermark after the previous batch.
        idle_us: time without rows after which other streams do not wait for it; None: they always
            wait.
        ahead_us: maximum distance of its timestamps ahead of the wall clock; None: no limit.
    """

    schema: pa.Schema
    timestamp: str = "ts"
    lateness_us: int = 0
    row_by_row: bool = False
    idle_us: int | None = None
    ahead_us: int | None = None

    @classmethod
    def of(cls, stream: StreamDef) -> StreamRules:
        """The rules of a declared stream."""
        return cls(
            arrow_schema(stream.schema),
            stream.timestamp,
            stream.lateness_us,
            stream.lateness_by == "row",
            stream.idle_us,
            stream.ahead_us,
        )


_ANY: Final = StreamRules(pa.schema([]))


@dataclass(frozen=True)
class TableRules:
    """The initial contents of a live table, and its kind of updates."""

    contents: pa.Table
    updates: LiveUpdates = "retroactive"


@dataclass(eq=False)
class ClockGroup:
    """Streams and live tables with a common clock, because queries join them."""

    names: set[str]
    clock_us: int = BEGINNING


@dataclass
class IngestModel:
    """Input rows, separated into accepted, late and bad ones, and the clocks.

    - The streams and live tables that a query reads form one group; merged groups continue from
      the latest of their clocks. Queries begin with the first row of their group that a query
      reads, or when it is merged with a group that has begun. A late row counts as if it came at
      the instant before which it is late.
    - The clock of a group is its watermark: the smallest of (largest timestamp - lateness) over its
      streams, or the argument of ``advance``. Streams without readers are ignored if others have
      readers, idle streams if others are not idle, and tables always. If all are idle, it goes on
      with the wall clock from the largest bound.
    - A group of tables follows the smallest clock of the streams with readers, or, if there are
      none, the largest clock of all streams.
    - A row before the clock of its group is late. One without a timestamp, or too far ahead of the
      wall clock, is bad and moves no clock. Changes of tables are treated like rows; a ``-`` is
      also bad if the table has no such row when the clock passes it.
    - With a drop box, only the rows that it keeps are accepted; the others also move the clock. A
      stream without readers has none.

    Attributes:
        rules, tables: of the streams and of the live tables.
        keep: keep rates of streams with a drop box.
        groups: rows up to a group's clock have been processed, later ones are buffered.
        accepted, late, bad: rows by stream or table, in the order of arrival.
    """

    rules: Mapping[str, StreamRules]
    tables: Mapping[str, TableRules] = field(default_factory=dict)
    keep: Mapping[str, float] = field(default_factory=dict)
    groups: list[ClockGroup] = field(init=False)
    accepted: dict[str, pa.Table] = field(init=False)
    late: dict[str, pa.Table] = field(init=False)
    bad: dict[str, pa.Table] = field(init=False)

    def __post_init__(self) -> None:
        self._schemas = {name: r.schema for name, r in self.rules.items()}
        self._schemas |= {n: change_schema(t.contents.schema) for n, t in self.tables.items()}
        self.groups = [ClockGroup({name}) for name in self._schemas] or [ClockGroup(set())]
        self._readers: Counter[str] = Counter()
        self._newest: dict[str, int] = {}
        self._active_us: dict[str, int] = {}
        self._oldest: dict[str, int] = {}  # of the rows that came while a query read the stream
        self._began: dict[str, int] = {}  # by stream or table, of groups merged since then
        self.accepted, self.late, self.bad = (
            {name: schema.empty_table() for name, schema in self._schemas.items()} for _ in range(3)
        )

    def read(self, names: Iterable[str]) -> None:
        """Register a query that reads these streams and tables."""
        self._readers.update(list(names))
        together = [g for g in self.groups if g.names.intersection(names)]
        if len(together) > 1:
            clock_us = max(g.clock_us for g in together)
            for group in together:
                self._move(group, clock_us)
            firsts = [self.first_of(g.names) for g in together]
            begun = [first is not None and first <= clock_us for first in firsts]
            if any(begun):
                for group, first in zip(together, firsts, strict=True):
                    began = clock_us if first is None else min(first, clock_us)
                    self._began |= dict.fromkeys(group.names - self._began.keys(), began)
            self.groups = [g for g in self.groups if g not in together[1:]]
            together[0].names.update(*(g.names for g in together[1:]))

    def unread(self, names: Iterable[str]) -> None:
        """Unregister a query."""
        self._readers.subtract(list(names))

    def process(
        self, batches: Mapping[str, pa.Table], watermark_us: int | None = None, now_us: int = 0
    ) -> None:
        """Add one batch per stream or table, and move the clocks, by default as the engine does,
        else to the watermark. ``now_us``: the wall clock.
        """
        for name, rows in batches.items():
            self._judge(name, rows, now_us)
        if watermark_us is not None:
            self.advance(watermark_us)
            return
        of_streams = [g for g in self.groups if g.names.intersection(self.rules)]
        for group in of_streams:
            self._move(group, self._watermark(group, now_us))
        read = [g.clock_us for g in of_streams if any(self._readers[n] > 0 for n in g.names)]
        latest_clock = max((g.clock_us for g in of_streams), default=BEGINNING)
        for group in self.groups:
            if group not in of_streams:
                self._move(group, min(read, default=latest_clock))

    def advance(self, to_us: int) -> None:
        """Move the clocks that are before an instant to it."""
        for group in self.groups:
            self._move(group, to_us)

    @property
    def clock_us(self) -> int:
        """The latest clock of all groups."""
        return max(g.clock_us for g in self.groups)

    def clock_of(self, names: Collection[str]) -> int:
        """The clock of a query that reads these; the latest clock for static tables."""
        found = (g.clock_us for g in self.groups if g.names.intersection(names))
        return next(found, self.clock_us)

    def first_of(self, names: Collection[str]) -> int | None:
        """The instant at which queries that read these begin; None without rows. A group of tables
        begins with those whose clocks it follows.
        """
        if known := [self._began[name] for name in names if name in self._began]:
            return min(known)
        found = {n for g in self.groups if g.names.intersection(names) for n in g.names}
        if not found.intersection(self.rules):
            read = [g.names for g in self.groups if any(self._readers[n] > 0 for n in g.names)]
            streams = [n for g in read for n in g if n in self.rules] or self.rules
            found.update(streams)
        return min((self._oldest[n] for n in found if n in self._oldest), default=None)

    @property
    def first_us(self) -> int | None:
        """The smallest accepted timestamp; None without rows."""
        starts = [
            pc.min(event_times(rows, self._timestamp(name))).as_py()
            for name, rows in self.accepted.items()
        ]
        return min((t for t in starts if t is not None), default=None)

    def _watermark(self, group: ClockGroup, now_us: int) -> int:
        streams = sorted(group.names.intersection(self.rules))
        streams = [n for n in streams if self._readers[n] > 0] or streams
        bounds = {
            n: self._newest[n] - self.rules[n].lateness_us if n in self._newest else BEGINNING
            for n in streams
        }
        awake = [bounds[n] for n in streams if not self._is_idle(n, now_us)]
        return min(awake) if awake else self._by_wall_clock(bounds, now_us)

    def _by_wall_clock(self, bounds: Mapping[str, int], now_us: int) -> int:
        """The watermark of streams that are all idle: as if the row with the largest timestamp had
        aged since the last row, but not ahead of the wall clock.
        """
        started = self._newest.keys() & bounds.keys()
        if not started:
            return BEGINNING
        reached = max(bounds.values())
        quiet_since = max(self._active_us[n] for n in started)
        return max(reached, min(reached + now_us - quiet_since, now_us))

    def _is_idle(self, stream: str, now_us: int) -> bool:
        since_us = self._active_us.setdefault(stream, now_us)
        idle_us = self.rules[stream].idle_us
        return idle_us is not None and now_us - since_us >= idle_us

    def _move(self, group: ClockGroup, to_us: int) -> None:
        group.clock_us = max(group.clock_us, to_us)
        for name in group.names.intersection(self.tables):
            self._reject_orphans(name)

    def live(self, name: str) -> LiveTable:
        """A live table with its accepted changes."""
        return LiveTable(self.tables[name].updates, self.tables[name].contents, self.accepted[name])

    def _judge(self, name: str, rows: pa.Table, now_us: int) -> None:
        """Separate rows into accepted, late and bad ones."""
        if name in self.tables:
            rows = as_changes(rows, self.tables[name].contents.schema)
        times = event_times(rows, self._timestamp(name)).to_pylist()
        rules = self.rules.get(name, _ANY)
        bad: list[int] = []
        late: list[int] = []
        good: list[int] = []
        starts: list[int] = []
        for row, us in enumerate(times):
            limit = self.clock_of([name])
            if us is None or (rules.ahead_us is not None and us > now_us + rules.ahead_us):
                bad.append(row)
                continue
            if rules.row_by_row and name in self._newest:
                limit = max(limit, self._newest[name] - rules.lateness_us)
            if us < limit:
                late.append(row)
                starts.append(limit)
            else:
                good.append(row)
            self._newest[name] = max(us, self._newest.get(name, us))
            self._active_us[name] = now_us
        self._add(self.bad, name, rows.take(pa.array(bad, pa.int64())))
        self._add(self.late, name, rows.take(pa.array(late, pa.int64())))
        accepted = self._kept(name, rows.take(pa.array(good, pa.int64())))
        self._add(self.accepted, name, accepted)
        if accepted.num_rows:
            starts.append(pc.min(event_times(accepted, self._timestamp(name))).as_py())
        if self._readers[name] > 0 and starts:
            self._oldest[name] = min(*starts, self._oldest.get(name, starts[0]))

    def _kept(self, name: str, rows: pa.Table) -> pa.Table:
        if name not in self.keep or not self._readers[name]:
            return rows
        box = DropBox(name, self.keep[name])
        columns = (flat(c) for c in rows.cast(self._schemas[name]).columns)
        return rows.filter(pa.array(box.keeps(list(columns))))

    def _reject_orphans(self, name: str) -> None:
        """Move changes up to the clock that delete no row to the bad ones."""
        changes = self.accepted[name]
        us = event_times(changes, "_ts").to_pylist()
        orphans = {i for i in self.live(name).orphans() if us[i] <= self.clock_of([name])}
        self._add(self.bad, name, changes.take(pa.array(sorted(orphans), pa.int64())))
        kept = [i for i in range(changes.num_rows) if i not in orphans]
        self.accepted[name] = changes.take(pa.array(kept, pa.int64()))

    def _timestamp(self, name: str) -> str:
        return self.rules[name].timestamp if name in self.rules else "_ts"

    def _add(self, side: dict[str, pa.Table], name: str, rows: pa.Table) -> None:
        side[name] = pa.concat_tables([side[name], rows.cast(self._schemas[name])])


def event_times(rows: pa.Table, timestamp: str) -> pa.ChunkedArray:
    """The event times of a table in us, int64, NULL where missing."""
    column = rows.column(timestamp)
    return column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())


def latest(rows: Mapping[str, pa.Table], timestamps: Mapping[str, str]) -> int | None:
    """The largest timestamp of rows and changes, in us; None without rows.

    Args:
        timestamps: the event-time column of each stream; that of tables' changes is ``_ts``.
    """
    found = (pc.max(event_times(t, timestamps.get(n, "_ts"))).as_py() for n, t in rows.items())
    return max((us for us in found if us is not None), default=None)
