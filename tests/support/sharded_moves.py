"""What happens to a sharded job beside its rows: time passes, it is rescaled, workers are lost."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from eddyline.spark.partitioning.layouts import ByKey
from eddyline.testing.strategies.streams import Arrival
from sharded import Sharded

#: Numbers of shards that run side by side.
NUMBERS: Final = (1, 2, 3, 5)
_SECOND: Final = 1_000_000
#: Share of batches after which all queries are asked for their answers.
_ASKED: Final = 0.3


def with_times(ddl: str, random: Random) -> str:
    """Streams of which some, or all, declare what the wall clock means, or lateness by row."""
    idle, ahead = (random.choice([0.0, some, 1.0]) for some in (0.5, 0.2))
    by_row = random.choice([0.0, 0.0, 0.0, 0.2])  # these streams are not divided

    def clauses(lateness: re.Match[str]) -> str:
        text = lateness[0]
        if random.random() < idle:
            text += f" IDLE AFTER {random.choice([1, 3, 8])} SECONDS"
        if random.random() < ahead:
            text += f" AHEAD AT MOST {random.choice([1, 2, 6])} SECONDS"
        return text + " WITH (lateness_by = 'row')" * (random.random() < by_row)

    return re.sub(r"LATENESS \d+ SECONDS", clauses, ddl)


def with_sizes(ddl: str, random: Random) -> str:
    """Tables of which some, or all, are declared to be large."""
    large = random.choice([0.0, 0.6, 1.0])

    def sized(table: re.Match[str]) -> str:
        if random.random() >= large:
            return table[0]
        options = f", {table[2]}" if table[2] else ""
        return f"{table[1]} WITH (rows = 1000000{options});"

    return re.sub(r"(CREATE TABLE [^;]*?\))(?: WITH \(([^;]*)\))?;", sized, ddl)


def first_partitions(random: Random, cells: int) -> dict[str, Any]:
    """Options of ``Sharded``: how a job is started; ``cells``: the largest number of a layout."""
    return {
        "partitions": random.choice([n for n in NUMBERS if n <= cells]),
        "is_durable": random.random() < 0.5,
    }


def divided_tables(job: Sharded) -> list[str]:
    """The tables of which a layout has each row in some cells only, with their kinds of updates."""
    tables = job.engine.catalog.tables
    return [
        tables[name].updates
        for of in job.layouts
        for name, along in of.layout.inputs.items()
        if name in tables and any(isinstance(c, ByKey) for c in along)
    ]


class Moves:
    """Processes the batches of a job, and what happens between them.

    Args:
        cells: the largest number of a layout. is_durable: as of ``Sharded``.
        repeated: the share of batches that are repeated.

    Attributes:
        seen: what has happened, in words.
    """

    def __init__(
        self,
        job: Sharded,
        cells: int,
        random: Random,
        *,
        is_durable: bool,
        repeated: float = 0.02,
    ) -> None:
        self._job = job
        self._random = random
        self._numbers = [n for n in NUMBERS if n <= cells]
        self._is_durable = is_durable
        self._repeated = repeated
        self._rescalings = 2  # left; each builds all engines again
        self._spread: set[str] = set()  # at a rescaling
        self.seen: set[str] = set()

    def process(self, rows: Mapping[str, pa.Table]) -> None:
        """A batch, at some time."""
        newest = self._newest(rows)
        self._pass_time([0, 0, 0.5, 1, 3])
        if newest is not None and self._random.random() < 0.85:
            arrival = newest + self._random.choice([0, 0.5, 2]) * _SECOND
            self._job.now_us = max(self._job.now_us, int(arrival))
        self._process(rows)

    def cut(self, rows: Sequence[Arrival]) -> Iterator[Sequence[Arrival]]:
        """Rows that arrive together, in several batches."""
        while rows:
            size = self._random.choice([2, 4, 8])
            yield rows[:size]
            rows = rows[size:]

    def advance(self, by_us: int) -> None:
        """The clock of all engines advances, or that on the wall."""
        if self._is_durable or self._random.random() < 0.5:
            self._job.now_us += by_us
            self._process({})
        else:
            self._job.advance(max(self._job.engine.clock, 0) + by_us)

    def move(self) -> None:
        """Between two batches."""
        match self._random.randrange(12):
            case 0 | 1 if self._rescalings:
                self._rescale()
            case 2 | 3 | 4:
                self._pass_time([1, 2, 4, 9, 20])
                before = self._job.engine.clock
                self._process({})
                if self._job.engine.clock > before:
                    self.seen.add("time goes on without rows")
            case 5:
                self._job.lose_workers([self._random.choice([*self._job.shards])])

    def _newest(self, rows: Mapping[str, pa.Table]) -> int | None:
        """The largest timestamp of streams."""
        streams = self._job.engine.catalog.streams
        times = (pc.max(t["ts"].cast(pa.int64())).as_py() for n, t in rows.items() if n in streams)
        return max((us for us in times if us is not None), default=None)

    def _pass_time(self, seconds: list[float]) -> None:
        self._job.now_us += int(self._random.choice(seconds) * _SECOND)

    def _process(self, rows: Mapping[str, pa.Table]) -> None:
        self._job.process(rows, repeated=self._random.random() < self._repeated)
        if self._random.random() < _ASKED and self._job.check_answers():
            self.seen.add("answers are compared")
        if self._spread & self._now_spread():
            self.seen.add("rows of a key are spread before a rescaling and after it")

    def _rescale(self) -> None:
        job = self._job
        if not job.has_begun:
            return
        before = job.partitions
        to = self._random.choice([n for n in self._numbers if n != before])
        self._rescalings -= 1
        self.seen |= {f"rescaled {'up' if to > before else 'down'}", *self._states()}
        self._spread |= self._now_spread()
        job.rescale(to, is_interrupted=self._random.random() < 0.2)

    def _now_spread(self) -> set[str]:
        return {
            str((k["layout"], k["key"])) for k in self._job.splits.shown() if k["step"] == "spreads"
        }

    def _states(self) -> set[str]:
        """What a job has when it is rescaled."""
        job = self._job
        groups = [g for s in job.shards.values() for g in s.engine.groups(job.now_us)]
        found = {
            "several cells": len(job.shards) > 1,
            "split keys": job.splits.shown(),
            "merged groups": job.running.divided.by_name,
            "rows held for the watermark": any(g["held"] for g in groups),
            "windows of rows": any(of.layout.counted for of in job.layouts),
            "added layouts": job.added,
            "tables that change": any(of.group.live for of in job.layouts),
            "divided tables": divided_tables(job),
        }
        return {f"rescaled with {what}" for what, has in found.items() if has}
