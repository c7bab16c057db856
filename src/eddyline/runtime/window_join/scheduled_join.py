"""The scheduled join of a flow's two streams: small windows need not wait for large ones.

Results are delivered release by release, in the order of the schedule of the ``SharedJoin``,
instead of all at the end of the chunk. Each goes to the queries of its window class that were there
when its rows arrived.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from eddyline.runtime.batch import Batch
from eddyline.runtime.eddy.routing import Composites
from eddyline.runtime.join_inputs.flow_windows import FlowRows, Levels
from eddyline.runtime.join_inputs.lineage_input import LineageInput
from eddyline.runtime.stores.columns import Array, unique
from eddyline.runtime.window_join.evictions import Evictions
from eddyline.runtime.window_join.joined_work import JoinedWork
from eddyline.runtime.window_join.output_buffer import JoinedPairs, Meet, Release, Verify
from eddyline.runtime.window_join.rows_groups import RowsGroups
from eddyline.runtime.window_join.schedules import Schedule
from eddyline.runtime.window_join.scheduling_queue import Arrivals
from eddyline.runtime.window_join.shared_join import SharedJoin


@dataclass(frozen=True, slots=True)
class Delivery:
    """Results for some queries.

    Attributes:
        results: with lineage, if rows have it.
        recipients: bool[bits], the queries.
        arrived: float64[n]: when the rows arrived that probed.
    """

    results: Composites
    recipients: Array
    arrived: Array


class ScheduledJoin:
    """Joins the two inputs of a flow by a schedule.

    Args:
        sides: the inputs, with one key each.
        schedule, meet, verify: see ``SharedJoin``.
    """

    def __init__(
        self,
        sides: Sequence[LineageInput],
        schedule: Schedule,
        meet: Meet,
        verify: Verify | None,
    ) -> None:
        self._sides = tuple(sides)
        self._meet = meet
        self._has_lineage = False
        counted = any(isinstance(side.window, FlowRows) for side in sides)
        self._evictions = Evictions(sides, verify) if counted else None
        self._join = SharedJoin(
            [side.stem for side in sides],
            [side.only.index for side in sides],
            schedule,
            verify=verify,
            bounds=[side.bounds for side in sides],
            evictions=self._evictions,
        )
        self._since = np.zeros(64, np.int64)  # by bit: the first row whose results the query gets
        self._ends: list[int] = []  # of each chunk: the number of the first row after it
        self._arrived: list[float] = []  # by chunk, when its rows arrived

    # -- queries -------------------------------------------------------

    def admit(self, bit: int) -> None:
        """A query is added; it gets no results of the queued rows."""
        if bit >= self._since.size:
            self._since = np.resize(self._since, 2 * bit)
        self._since[bit] = self._join.arrived

    def can_continue_with(self, levels: Levels, *, has_lineage: bool) -> bool:
        """Whether rows may stay queued when the windows become these."""
        same_form = has_lineage == self._has_lineage or not self.waiting
        return same_form and self._join.can_continue_with(levels)

    def fit(self, levels: Levels, *, has_lineage: bool) -> None:
        """Change the windows, and whether rows have lineage."""
        self._has_lineage = has_lineage
        self._join.meet = self._meet if has_lineage else None
        if self._evictions is not None:
            self._evictions.meet = self._join.meet
        self._join.fit(levels)

    def group(self, groups: RowsGroups) -> None:
        """Change the queries whose windows count rows."""
        assert self._evictions is not None, "windows count rows"
        self._evictions.groups = groups

    def clear(self) -> None:
        """The last query has been dropped."""
        self._join.clear()
        self._note_queued()

    @property
    def waiting(self) -> bool:
        """Whether rows are queued."""
        return self._join.waiting

    @property
    def queued_rows(self) -> int:
        """Number of queued rows."""
        return self._join.input_rows

    @property
    def work(self) -> JoinedWork:
        """What has been done so far."""
        return self._join.work

    @property
    def wants_rows(self) -> bool:
        """Whether new rows would be served before queued rows."""
        return self._join.wants_rows

    # -- rows ----------------------------------------------------------

    def arrive(
        self,
        batches: Sequence[Batch],
        new: Sequence[tuple[Batch, Array]],
        arrived: float,
        following: int,
    ) -> None:
        """Queue new rows of both inputs, which arrived at ``arrived``.

        Args:
            new: those that some query requires, built already, and their lineage.
            following: number of rows that are about to come.
        """
        self._join.following = following
        parts = zip(self._sides, batches, new, strict=True)
        self._join.arrive([self._arrivals(side, every, *some) for side, every, some in parts])
        self._ends.append(self._join.arrived)
        self._arrived.append(arrived)
        self._note_queued()

    def _arrivals(
        self, side: LineageInput, every: Batch, batch: Batch, required: Array
    ) -> Arrivals:
        chosen, key = side.keyed(batch)
        lineage = required[chosen] if self._has_lineage else None
        if not isinstance(side.window, FlowRows):
            return Arrivals(batch.ids[0][chosen], batch.ts[chosen], batch.seq[chosen], key, lineage)
        # every row counts in the windows
        probing = np.searchsorted(every.seq, batch.seq[chosen])
        keys = np.zeros(len(every), np.int64)
        keys[probing] = key
        if lineage is not None:
            every_lineage = np.zeros((len(every), lineage.shape[1]), np.uint64)
            every_lineage[probing] = lineage
            lineage = every_lineage
        return Arrivals(every.ids[0], every.ts, every.seq, keys, lineage, probing)

    def step(self, *, joins_classes: bool) -> Iterator[Delivery]:
        """The results that the next step releases; ``joins_classes``: see ``SharedJoin``."""
        self._join.joins_classes = joins_classes
        for release in self._join.step():
            yield from self._parts(release)
        self._note_queued()

    def _parts(self, release: Release) -> Iterator[Delivery]:
        """Its results, cut where later rows have more recipients."""
        if not len(release.pairs):
            return
        bits = self._join.queries(release.lowest, release.window_class)
        since = self._since[bits]
        cuts = unique(since[(since > release.first) & (since < release.last)]).tolist()
        first = release.first
        for last in (*cuts, release.last):
            pairs = release.pairs.between(first, last)
            if len(pairs):
                recipients = np.zeros(self._since.size, np.bool_)
                recipients[bits[since <= first]] = True
                came = np.searchsorted(self._ends, pairs.row, "right")
                yield Delivery(_composites(pairs), recipients, np.array(self._arrived)[came])
            first = last

    def _note_queued(self) -> None:
        since, seq = self._join.queued_since, self._join.queued_from_seq
        for side in self._sides:
            side.window.queued_since = seq if isinstance(side.window, FlowRows) else since
        served = bisect_right(self._ends, self._join.arrived - self._join.input_rows)
        del self._ends[:served], self._arrived[:served]


def _composites(pairs: JoinedPairs) -> Composites:
    required = np.zeros(len(pairs), np.int64) if pairs.lineage is None else pairs.lineage
    ids, instants = dict(enumerate(pairs.ids)), dict(enumerate(pairs.instants))
    return Composites(pairs.ts, pairs.seq, ids, instants, required, pairs.group)
