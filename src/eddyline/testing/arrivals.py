"""What reaches the answer, and when: the watermark's rules, told again in their simplest form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from eddyline.types import BEGINNING


@dataclass(frozen=True)
class StreamRules:
    """The schema of a stream, its event-time column and how late its rows may come."""

    schema: pa.Schema
    timestamp: str = "ts"
    lateness_us: int = 0


@dataclass
class Arrivals:
    """The rows that came in, sorted into accepted, late and bad ones, and the clock.

    The clock is the watermark: (largest timestamp of any stream) - (largest lateness), or what
    ``advance`` said. A row behind the clock is late, one without a timestamp is bad.

    Attributes:
        clock_us: everything up to here has been processed; rows later than that are held.
        accepted, late, bad: rows by stream, in the order of arrival.
    """

    rules: Mapping[str, StreamRules]
    clock_us: int = BEGINNING
    accepted: dict[str, pa.Table] = field(init=False)
    late: dict[str, pa.Table] = field(init=False)
    bad: dict[str, pa.Table] = field(init=False)

    def __post_init__(self) -> None:
        self.accepted, self.late, self.bad = (
            {name: r.schema.empty_table() for name, r in self.rules.items()} for _ in range(3)
        )

    def process(self, batches: Mapping[str, pa.Table], watermark_us: int | None = None) -> None:
        """Take in one batch per stream, and move the clock: as the engine does by default, or to
        the watermark.
        """
        newest = []
        for name, rows in batches.items():
            us = event_times(rows, self.rules[name].timestamp)
            known, behind = us.is_valid(), pc.less(us, self.clock_us)
            self._add(self.bad, name, rows.filter(pc.invert(known)))
            self._add(self.late, name, rows.filter(behind))
            self._add(self.accepted, name, rows.filter(pc.invert(behind)))
            newest.append(pc.max(us).as_py())
        if watermark_us is None:
            lateness = max(r.lateness_us for r in self.rules.values())
            watermark_us = max((t - lateness for t in newest if t is not None), default=BEGINNING)
        self.advance(watermark_us)

    def advance(self, to_us: int) -> None:
        """Move the clock, unless it is there already."""
        self.clock_us = max(self.clock_us, to_us)

    @property
    def first_us(self) -> int | None:
        """The smallest timestamp that was accepted, None when there is none."""
        starts = [
            pc.min(event_times(rows, self.rules[name].timestamp)).as_py()
            for name, rows in self.accepted.items()
        ]
        return min((t for t in starts if t is not None), default=None)

    def _add(self, side: dict[str, pa.Table], name: str, rows: pa.Table) -> None:
        side[name] = pa.concat_tables([side[name], rows.cast(self.rules[name].schema)])


def event_times(rows: pa.Table, timestamp: str) -> pa.ChunkedArray:
    """The event times of a table in us, int64, null where unknown."""
    column = rows.column(timestamp)
    return column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())
