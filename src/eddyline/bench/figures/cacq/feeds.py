"""Whole engines that take in the same rows again and again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

import eddyline
from eddyline.bench.feeding import process_all


def engine_of(script: str, selects: Sequence[str]) -> eddyline.Engine:
    """An engine with the streams of a script, in which the k-th SELECT is the query ``qk``."""
    engine = eddyline.Engine()
    engine.sql(script)
    for number, select in enumerate(selects):
        engine.query(select, name=name_of(number))
    return engine


def name_of(number: int) -> str:
    """The name of the query with this number."""
    return f"q{number}"


class Feed:
    """The same rows once per turn, shifted in time so that all windows are empty by then.

    So every turn has the same results, and expires what the one before left.

    Args:
        rows: by stream; the first column is ``ts``, int64 microseconds from 0.
        period_us: from one turn to the next.
    """

    def __init__(
        self, engine: eddyline.Engine, rows: Mapping[str, pa.Table], period_us: int
    ) -> None:
        self.engine = engine
        self._rows = rows
        self._period_us = period_us
        self._turns = 0

    def run(self) -> int:
        """One turn, with all results in Arrow tables; returns how many there are."""
        return sum(table.num_rows for table in self.process().batches())

    def process(self) -> Any:
        """One turn; returns what the engine returns."""
        later = pa.scalar(self._turns * self._period_us)
        self._turns += 1
        return process_all(
            self.engine,
            {name: t.set_column(0, "ts", pc.add(t["ts"], later)) for name, t in self._rows.items()},
        )
