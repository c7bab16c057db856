"""The join of a flow's two streams, paced: small windows need not wait for large ones.

Results come release by release, as the schedule of the ``SharedJoin`` has it, instead of all at the
end of the chunk. Each goes to the queries on its rung that were there when its rows came.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from eddyline.runtime.batch import Batch
from eddyline.runtime.eddy.composites import Composites
from eddyline.runtime.join_inputs.flow_windows import FlowRows
from eddyline.runtime.join_inputs.lineage_input import LineageInput
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.window_join.evictions import PushedOut
from eddyline.runtime.window_join.levels import Levels
from eddyline.runtime.window_join.output_buffer import Meet, Pairs, Release, Verify
from eddyline.runtime.window_join.rows_groups import RowsGroups
from eddyline.runtime.window_join.schedules import Schedule
from eddyline.runtime.window_join.shared_join import Arrivals, SharedJoin


@dataclass(frozen=True, slots=True)
class Leaving:
    """Results that some queries get now.

    Attributes:
        results: with lineage, if rows have it.
        getting: bool[bits], the queries.
        arrived: float64[n]: when the rows came that brought the results about.
    """

    results: Composites
    getting: Array
    arrived: Array


class PacedJoin:
    """Paces the join of two sides.

    Args:
        sides: those of the flow, with one index each.
        rows_per_step, meet, verify: see ``SharedJoin``; the flow knows who wants what.
    """

    def __init__(
        self,
        sides: Sequence[LineageInput],
        schedule: Schedule,
        rows_per_step: int,
        meet: Meet,
        verify: Verify | None,
    ) -> None:
        self._sides = tuple(sides)
        self._meet = meet
        self._has_lineage = False
        counted = any(isinstance(side.window, FlowRows) for side in sides)
        self._pushed = PushedOut(sides, verify) if counted else None
        self._join = SharedJoin(
            [side.stem for side in sides],
            [side.only.index for side in sides],
            schedule,
            rows_per_step=rows_per_step,
            verify=verify,
            reach=[side.bounds for side in sides],
            pushed=self._pushed,
        )
        self._since = np.zeros(64, np.int64)  # by bit: the first row that is the query's business
        self._ends: list[int] = []  # of rows that came together: the number of the first one after
        self._arrived: list[float] = []  # and when they came

    # -- queries come and go -----------------------------------------------------------------------

    def admit(self, bit: int) -> None:
        """A query comes, and wants nothing of the rows that wait."""
        if bit >= self._since.size:
            self._since = np.resize(self._since, 2 * bit)
        self._since[bit] = self._join.arrived

    def goes_on_with(self, levels: Levels, *, has_lineage: bool) -> bool:
        """Whether rows may go on waiting when the windows become these."""
        same_form = has_lineage == self._has_lineage or not self.waiting
        return same_form and self._join.goes_on_with(levels)

    def fit(self, levels: Levels, *, has_lineage: bool) -> None:
        """The windows are these now, and rows have lineage or not."""
        self._has_lineage = has_lineage
        self._join.meet = self._meet if has_lineage else None
        if self._pushed is not None:
            self._pushed.meet = self._join.meet
        self._join.fit(levels)

    def group(self, groups: RowsGroups) -> None:
        """Who has windows that count rows now."""
        assert self._pushed is not None, "windows count rows"
        self._pushed.groups = groups

    def clear(self) -> None:
        """There are no queries any more."""
        self._join.clear()
        self._note_who_waits()

    @property
    def waiting(self) -> bool:
        """Whether there are results to come."""
        return self._join.waiting

    @property
    def wants_rows(self) -> bool:
        """Whether new rows would be served before those that wait."""
        return self._join.wants_rows

    # -- rows --------------------------------------------------------------------------------------

    def arrive(
        self, batches: Sequence[Batch], new: Sequence[tuple[Batch, Array]], arrived: float
    ) -> None:
        """New rows of both sides; ``arrived``: when they came.

        Args:
            new: those that somebody wants, built already, and their lineage.
        """
        parts = zip(self._sides, batches, new, strict=True)
        self._join.arrive([self._arrivals(side, every, *some) for side, every, some in parts])
        self._ends.append(self._join.arrived)
        self._arrived.append(arrived)
        self._note_who_waits()

    def _arrivals(self, side: LineageInput, every: Batch, batch: Batch, wanted: Array) -> Arrivals:
        chosen, key = side.keyed(batch)
        lineage = wanted[chosen] if self._has_lineage else None
        if not isinstance(side.window, FlowRows):
            return Arrivals(batch.ids[0][chosen], batch.ts[chosen], batch.seq[chosen], key, lineage)
        # every row counts
        asking = np.searchsorted(every.seq, batch.seq[chosen])
        keys = np.zeros(len(every), np.int64)
        keys[asking] = key
        if lineage is not None:
            wanted = np.zeros((len(every), lineage.shape[1]), np.uint64)
            wanted[asking] = lineage
            lineage = wanted
        return Arrivals(every.ids[0], every.ts, every.seq, keys, lineage, asking)

    def step(self) -> Iterator[Leaving]:
        """What the next step lets leave."""
        for release in self._join.step():
            yield from self._parts(release)
        self._note_who_waits()

    def _parts(self, release: Release) -> Iterator[Leaving]:
        """Its results, cut where rows are more queries' business than those before."""
        if not len(release.pairs):
            return
        bits = self._join.queries(release.rung)
        since = self._since[bits]
        cuts = np.unique(since[(since > release.first) & (since < release.last)]).tolist()
        first = release.first
        for last in (*cuts, release.last):
            pairs = release.pairs.between(first, last)
            if len(pairs):
                getting = np.zeros(self._since.size, np.bool_)
                getting[bits[since <= first]] = True
                came = np.searchsorted(self._ends, pairs.row, "right")
                yield Leaving(_composites(pairs), getting, np.array(self._arrived)[came])
            first = last

    def _note_who_waits(self) -> None:
        since, seq = self._join.waiting_since, self._join.waiting_from
        for side in self._sides:
            side.window.waiting_since = seq if isinstance(side.window, FlowRows) else since
        gone = bisect_right(self._ends, self._join.arrived - self._join.input_rows)
        del self._ends[:gone], self._arrived[:gone]


def _composites(pairs: Pairs) -> Composites:
    wanted = np.zeros(len(pairs), np.int64) if pairs.lineage is None else pairs.lineage
    ids, instants = dict(enumerate(pairs.ids)), dict(enumerate(pairs.instants))
    return Composites(pairs.ts, pairs.seq, ids, instants, wanted, pairs.group)
