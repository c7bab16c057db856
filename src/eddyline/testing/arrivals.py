"""What reaches the answer, and when: the watermark's rules, told again in their simplest form."""

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
        lateness_us: how late its rows may come. row_by_row: whether that is judged by the rows of
            the stream before, one by one, or by where the batches before have left the watermark.
        idle_us: after so long without rows others do not wait for it; None: they always do.
        ahead_us: how far its timestamps may be ahead of the wall clock; None: any.
    """

    schema: pa.Schema
    timestamp: str = "ts"
    lateness_us: int = 0
    row_by_row: bool = False
    idle_us: int | None = None
    ahead_us: int | None = None

    @classmethod
    def of(cls, stream: StreamDef) -> StreamRules:
        """The rules of a stream that was declared."""
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
    """What a live table holds before everything, and what its changes count for."""

    contents: pa.Table
    updates: LiveUpdates = "retroactive"


@dataclass(eq=False)
class Group:
    """Streams and live tables that queries bring together, and how far they are."""

    names: set[str]
    clock_us: int = BEGINNING


@dataclass
class Arrivals:
    """The rows that came in, sorted into accepted, late and bad ones, and the clocks.

    - The streams and live tables that a query reads are one group from then on; groups that come
      together go on from the foremost one's clock.
    - The clock of a group is its watermark: the smallest of (largest timestamp - lateness) over its
      streams, or what ``advance`` said. Streams that no query reads have no say among others, nor
      have those that are idle, and tables never have; where all are idle the largest counts.
    - A group of tables goes by the smallest clock of the streams that queries read, or, if they
      read none, by the largest of all streams.
    - A row behind the clock of its group is late. One without a timestamp, or too far ahead of the
      wall clock, is bad and moves nothing. Changes of tables are judged like rows; a ``-`` is bad,
      too, if there is no such row in the table when the clock passes it.
    - Where a drop box stands, only the rows that it keeps are accepted; the others move the clock
      like them.

    Attributes:
        rules, tables: of the streams and of the live tables.
        keep: the share of rows that is kept, by stream, if it is not all.
        groups: everything up to their clocks has been processed; rows later than that are held.
        accepted, late, bad: rows by stream or table, in the order of arrival.
    """

    rules: Mapping[str, StreamRules]
    tables: Mapping[str, TableRules] = field(default_factory=dict)
    keep: Mapping[str, float] = field(default_factory=dict)
    groups: list[Group] = field(init=False)
    accepted: dict[str, pa.Table] = field(init=False)
    late: dict[str, pa.Table] = field(init=False)
    bad: dict[str, pa.Table] = field(init=False)

    def __post_init__(self) -> None:
        self._schemas = {name: r.schema for name, r in self.rules.items()}
        self._schemas |= {n: change_schema(t.contents.schema) for n, t in self.tables.items()}
        self.groups = [Group({name}) for name in self._schemas] or [Group(set())]
        self._readers: Counter[str] = Counter()
        self._newest: dict[str, int] = {}
        self._active_us: dict[str, int] = {}
        self.accepted, self.late, self.bad = (
            {name: schema.empty_table() for name, schema in self._schemas.items()} for _ in range(3)
        )

    def read(self, names: Iterable[str]) -> None:
        """A query is added that reads these streams and tables."""
        self._readers.update(list(names))
        together = [g for g in self.groups if g.names.intersection(names)]
        if len(together) > 1:
            clock_us = max(g.clock_us for g in together)
            for group in together:
                self._move(group, clock_us)
            self.groups = [g for g in self.groups if g not in together[1:]]
            together[0].names.update(*(g.names for g in together[1:]))

    def unread(self, names: Iterable[str]) -> None:
        """It is dropped."""
        self._readers.subtract(list(names))

    def process(
        self, batches: Mapping[str, pa.Table], watermark_us: int | None = None, now_us: int = 0
    ) -> None:
        """Take in one batch per stream or table, and move the clocks: as the engine does by
        default, or to the watermark. ``now_us`` is the wall clock.
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
        foremost = max((g.clock_us for g in of_streams), default=BEGINNING)
        for group in self.groups:
            if group not in of_streams:
                self._move(group, min(read, default=foremost))

    def advance(self, to_us: int) -> None:
        """Move the clocks, where they are not there already."""
        for group in self.groups:
            self._move(group, to_us)

    @property
    def clock_us(self) -> int:
        """The clock of the foremost group."""
        return max(g.clock_us for g in self.groups)

    def clock_of(self, names: Collection[str]) -> int:
        """The clock of a query that reads these; one of constant tables goes by the foremost."""
        found = (g.clock_us for g in self.groups if g.names.intersection(names))
        return next(found, self.clock_us)

    def first_of(self, names: Collection[str]) -> int | None:
        """The smallest timestamp that was accepted in the group of these; None: there is none. For
        a group of tables, rows of the streams by which it goes count, too.
        """
        found = {n for g in self.groups if g.names.intersection(names) for n in g.names}
        if not found.intersection(self.rules):
            read = [g.names for g in self.groups if any(self._readers[n] > 0 for n in g.names)]
            streams = [n for g in read for n in g if n in self.rules] or self.rules
            found.update(streams)
        return self._first(found)

    @property
    def first_us(self) -> int | None:
        """The smallest timestamp that was accepted, None when there is none."""
        return self._first(self.accepted)

    def _first(self, names: Iterable[str]) -> int | None:
        starts = [
            pc.min(event_times(self.accepted[name], self._timestamp(name))).as_py()
            for name in names
        ]
        return min((t for t in starts if t is not None), default=None)

    def _watermark(self, group: Group, now_us: int) -> int:
        streams = sorted(group.names.intersection(self.rules))
        streams = [n for n in streams if self._readers[n] > 0] or streams
        bounds = {
            n: self._newest[n] - self.rules[n].lateness_us if n in self._newest else BEGINNING
            for n in streams
        }
        awake = [bounds[n] for n in streams if not self._is_idle(n, now_us)]
        return min(awake, default=max(bounds.values()))

    def _is_idle(self, stream: str, now_us: int) -> bool:
        since_us = self._active_us.setdefault(stream, now_us)
        idle_us = self.rules[stream].idle_us
        return idle_us is not None and now_us - since_us >= idle_us

    def _move(self, group: Group, to_us: int) -> None:
        group.clock_us = max(group.clock_us, to_us)
        for name in group.names.intersection(self.tables):
            self._turn_away_orphans(name)

    def live(self, name: str) -> LiveTable:
        """A live table with the changes that were accepted."""
        return LiveTable(self.tables[name].updates, self.tables[name].contents, self.accepted[name])

    def _judge(self, name: str, rows: pa.Table, now_us: int) -> None:
        """Sort rows into accepted, late and bad ones."""
        if name in self.tables:
            rows = as_changes(rows, self.tables[name].contents.schema)
        times = event_times(rows, self._timestamp(name)).to_pylist()
        rules = self.rules.get(name, _ANY)
        bad: list[int] = []
        late: list[int] = []
        good: list[int] = []
        for row, us in enumerate(times):
            limit = self.clock_of([name])
            if us is None or (rules.ahead_us is not None and us > now_us + rules.ahead_us):
                bad.append(row)
                continue
            if rules.row_by_row and name in self._newest:
                limit = max(limit, self._newest[name] - rules.lateness_us)
            (late if us < limit else good).append(row)
            self._newest[name] = max(us, self._newest.get(name, us))
            self._active_us[name] = now_us
        self._add(self.bad, name, rows.take(pa.array(bad, pa.int64())))
        self._add(self.late, name, rows.take(pa.array(late, pa.int64())))
        self._add(self.accepted, name, self._kept(name, rows.take(pa.array(good, pa.int64()))))

    def _kept(self, name: str, rows: pa.Table) -> pa.Table:
        if name not in self.keep:
            return rows
        box = DropBox(name, self.keep[name])
        columns = (flat(c) for c in rows.cast(self._schemas[name]).columns)
        return rows.filter(pa.array(box.keeps(list(columns))))

    def _turn_away_orphans(self, name: str) -> None:
        """Of the changes that the clock has passed, those that take back nothing are bad."""
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
    """The event times of a table in us, int64, null where unknown."""
    column = rows.column(timestamp)
    return column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())


def latest(rows: Mapping[str, pa.Table], timestamps: Mapping[str, str]) -> int | None:
    """The largest timestamp of rows and changes, in us; None: they have none.

    Args:
        timestamps: the event-time column of each stream; that of tables' changes is ``_ts``.
    """
    found = (pc.max(event_times(t, timestamps.get(n, "_ts"))).as_py() for n, t in rows.items())
    return max((us for us in found if us is not None), default=None)
