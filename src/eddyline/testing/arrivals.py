"""What reaches the answer, and when: the watermark's rules, told again in their simplest form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from eddyline.session.arrow_values import flat
from eddyline.session.drop_box import DropBox
from eddyline.testing.live import LiveTable, LiveUpdates, as_changes, change_schema
from eddyline.types import BEGINNING


@dataclass(frozen=True)
class StreamRules:
    """The schema of a stream, its event-time column and how late its rows may come."""

    schema: pa.Schema
    timestamp: str = "ts"
    lateness_us: int = 0


@dataclass(frozen=True)
class TableRules:
    """What a live table holds before everything, and what its changes count for."""

    contents: pa.Table
    updates: LiveUpdates = "retroactive"


@dataclass
class Arrivals:
    """The rows that came in, sorted into accepted, late and bad ones, and the clock.

    The clock is the watermark: (largest timestamp of any stream) - (largest lateness), or what
    ``advance`` said. A row behind the clock is late, one without a timestamp is bad. Changes of
    tables are judged like rows but do not move the clock; a ``-`` is bad, too, if there is no
    such row in the table when the clock passes it. Where a drop box stands, only the rows that it
    keeps are accepted; the others move the clock like them.

    Attributes:
        rules, tables: of the streams and of the live tables.
        keep: the share of rows that is kept, by stream, if it is not all.
        clock_us: everything up to here has been processed; rows later than that are held.
        accepted, late, bad: rows by stream or table, in the order of arrival.
    """

    rules: Mapping[str, StreamRules]
    tables: Mapping[str, TableRules] = field(default_factory=dict)
    keep: Mapping[str, float] = field(default_factory=dict)
    clock_us: int = BEGINNING
    accepted: dict[str, pa.Table] = field(init=False)
    late: dict[str, pa.Table] = field(init=False)
    bad: dict[str, pa.Table] = field(init=False)

    def __post_init__(self) -> None:
        self._schemas = {name: r.schema for name, r in self.rules.items()}
        self._schemas |= {n: change_schema(t.contents.schema) for n, t in self.tables.items()}
        self.accepted, self.late, self.bad = (
            {name: schema.empty_table() for name, schema in self._schemas.items()} for _ in range(3)
        )

    def process(self, batches: Mapping[str, pa.Table], watermark_us: int | None = None) -> None:
        """Take in one batch per stream or table, and move the clock: as the engine does by
        default, or to the watermark.
        """
        newest = []
        for name, rows in batches.items():
            us = self._judge(name, rows)
            if name in self.rules:
                newest.append(pc.max(us).as_py())
        if watermark_us is None:
            lateness = max(r.lateness_us for r in self.rules.values())
            watermark_us = max((t - lateness for t in newest if t is not None), default=BEGINNING)
        self.advance(watermark_us)

    def advance(self, to_us: int) -> None:
        """Move the clock, unless it is there already."""
        self.clock_us = max(self.clock_us, to_us)
        for name in self.tables:
            self._turn_away_orphans(name)

    @property
    def first_us(self) -> int | None:
        """The smallest timestamp that was accepted, None when there is none."""
        starts = [
            pc.min(event_times(rows, self._timestamp(name))).as_py()
            for name, rows in self.accepted.items()
        ]
        return min((t for t in starts if t is not None), default=None)

    def live(self, name: str) -> LiveTable:
        """A live table with the changes that were accepted."""
        return LiveTable(self.tables[name].updates, self.tables[name].contents, self.accepted[name])

    def _judge(self, name: str, rows: pa.Table) -> pa.ChunkedArray:
        """Sort rows into accepted, late and bad ones; their event times in us."""
        if name in self.tables:
            rows = as_changes(rows, self.tables[name].contents.schema)
        us = event_times(rows, self._timestamp(name))
        behind = pc.less(us, self.clock_us)
        self._add(self.bad, name, rows.filter(us.is_null()))
        self._add(self.late, name, rows.filter(behind))
        self._add(self.accepted, name, self._kept(name, rows.filter(pc.invert(behind))))
        return us

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
        orphans = {i for i in self.live(name).orphans() if us[i] <= self.clock_us}
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
