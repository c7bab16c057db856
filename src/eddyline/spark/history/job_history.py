"""The histories of a job's streams: planned at its first start, read from the plan."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from eddyline.algebra.catalog import StreamDef
from eddyline.errors import DataError, StateError
from eddyline.spark.history.options import History
from eddyline.spark.history.prepare import StoredHistory, in_place, sorted_copy
from eddyline.spark.history.slices import (
    MOST_READS,
    RowGroup,
    cut_times,
    reads_per_row,
    slices,
    within,
)
from eddyline.spark.history.tickets import (
    DIRECTORY,
    PLAN,
    TICKETS,
    HistoryPlan,
    Ticket,
    write_tickets,
)
from eddyline.spark.storage.directory import Directory, LocalDirectory, local_path
from eddyline.types import END_OF_TIME, FIRST_INSTANT

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class StreamHistory:
    """The history of one stream.

    Attributes:
        stream: with its limit AHEAD AT MOST. peers: the streams of its group.
        rows: reads the history with Spark.
    """

    stream: StreamDef
    history: History
    peers: frozenset[str]
    rows: Callable[[], DataFrame]


def history_plan(
    spark: SparkSession,
    checkpoint: Directory,
    histories: Sequence[StreamHistory],
    *,
    has_begun: bool,
    cores: int,
) -> HistoryPlan | None:
    """The plan of a checkpoint, made at the job's first start; None for a job without histories.

    Args:
        has_begun: whether the job has had a batch.

    Raises:
        DataError: a history cannot be read, or the checkpoint cannot have one.
        StateError: the plan is missing or cannot be read.
    """
    if not histories:
        return None
    path = f"{checkpoint.path}/{DIRECTORY}/{PLAN}"
    content = checkpoint.read(f"{DIRECTORY}/{PLAN}")
    if content is not None:
        return HistoryPlan.read(content, path)
    if has_begun:
        raise StateError(f"{path} is missing: restore it from a copy, or use another checkpoint")
    if not isinstance(checkpoint, LocalDirectory):
        raise DataError(
            f"stream '{histories[0].stream.name}': a job with a history needs a checkpoint in a "
            f"directory that all machines mount, not {checkpoint.path}"
        )
    checkpoint.delete(DIRECTORY)  # of a start that was interrupted
    checkpoint.make(f"{DIRECTORY}/{TICKETS}")
    place = local_path(checkpoint.path) / DIRECTORY
    plan = _Planner(spark, place, histories, cores).plan()
    checkpoint.write(f"{DIRECTORY}/{PLAN}", plan.text().encode())
    return plan


class _Planner:
    """Plans what is read of histories, and writes the tickets."""

    def __init__(
        self, spark: SparkSession, place: Path, histories: Sequence[StreamHistory], cores: int
    ) -> None:
        self._spark = spark
        self._place = place
        self._of = {h.stream.name: h for h in histories}
        self._cores = cores
        self._now_us = time.time_ns() // 1_000
        self._batch_rows = min(h.history.batch_rows for h in histories)

    def plan(self) -> HistoryPlan:
        """Find or make the row groups of all streams, cut their time, write the tickets."""
        stored = {name: self._stored(name, h) for name, h in self._of.items()}
        seams = {name: self._seam(name, of.groups) for name, of in stored.items()}
        bounds = {
            name: (FIRST_INSTANT if h.history.from_us is None else h.history.from_us, seams[name])
            for name, h in self._of.items()
        }
        groups = {name: of.groups for name, of in stored.items()}
        read = {name: within(of, *bounds[name]) for name, of in groups.items()}
        cuts = cut_times([g for of in read.values() for g in of], self._batch_rows)
        begins = {
            name: min((g.first_us for peer in self._peers(name) for g in read[peer]), default=None)
            for name in read
        }
        for n, cells in enumerate(slices(groups, cuts, bounds, self._cores)):
            reached = {
                name: min(cuts[n + 1], seam)
                for name, seam in seams.items()
                if (begin := begins[name]) is not None and begin < cuts[n + 1]
            }
            last = len(cells) - 1
            tickets = [Ticket(c, of, reached if c == last else {}) for c, of in enumerate(cells)]
            write_tickets(self._place / TICKETS, n, tickets)
        count = max(0, len(cuts) - 1)
        rows = sum(g.rows for of in read.values() for g in of)
        _log.info("history of %s: about %d rows in %d batches", ", ".join(read), rows, count)
        columns = {name: of.columns for name, of in stored.items()}
        return HistoryPlan(count, self._cores, seams, columns)

    def _peers(self, name: str) -> list[str]:
        return [peer for peer in self._of if peer in self._of[name].peers]

    def _seam(self, name: str, groups: Sequence[RowGroup]) -> int:
        """The first instant that belongs to the live source."""
        until = self._of[name].history.until_us
        if until is not None:
            return until
        return max((g.last_us + 1 for g in groups), default=FIRST_INSTANT)

    def _stored(self, name: str, of: StreamHistory) -> StoredHistory:
        found = in_place(self._spark, of.stream, of.history, self._now_us)
        if found is not None and self._is_in_order(found.groups, of.history):
            return found
        _log.info("the history of stream '%s' is sorted by time first", name)
        place = self._place / "sorted" / str(list(self._of).index(name))
        return sorted_copy(of.rows(), of.stream, place, self._now_us, self._cores)

    def _is_in_order(self, groups: Sequence[RowGroup], history: History) -> bool:
        until = END_OF_TIME if history.until_us is None else history.until_us
        read = within(groups, history.from_us or FIRST_INSTANT, until)
        cuts = cut_times(read, self._batch_rows)
        return reads_per_row(read, cuts) <= MOST_READS


def seams_of(plan: HistoryPlan | None) -> Mapping[str, int]:
    """By stream, the first instant that belongs to the live source."""
    return {} if plan is None else plan.seams
