"""Evictions from ROWS windows in a scheduled join, and the results that are retracted with them.

A row evicts others when it is served: in each window class one row of every window of N rows, for
each N of the queries of the class. Evicted rows are joined as of just before the row, with the rows
of the other stream that were in these queries' windows then, and the results are retracted in front
of the new results of the row::

      class 1   [ROWS 5]   serves row 9: row 4 leaves, then row 9 is added  (row 8 was served
      before) class 0   [ROWS 2]   serves row 12: row 10 leaves, then row 12 is added

So evictions need no queue of their own: they follow from the queued rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from eddyline.kernels.lineage import any_wanted
from eddyline.runtime.join_inputs.access import before
from eddyline.runtime.join_inputs.flow_windows import FlowRows, Levels
from eddyline.runtime.join_inputs.lineage_input import LineageInput
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.window_join.output_buffer import CandidatePairs, JoinedPairs, Meet, Verify
from eddyline.runtime.window_join.rows_groups import RowsGroups
from eddyline.runtime.window_join.scheduling_queue import SchedulingQueues

#: Maximum words of lineage of rows that are evicted at once.
MOST_WORDS: Final = 1 << 20


@dataclass
class EvictedRows:
    """Rows that leave windows.

    Attributes:
        place: int64[n], places of the queued rows that evict them.
        group: int64[n], of the windows. ids, key: int64[n], of the evicted rows.
        lineage: uint64[n, W]; None: all queries of the group require them.
    """

    place: Array
    group: Array
    ids: Array
    key: Array
    lineage: Array | None

    def take(self, which: Array) -> EvictedRows:
        """Some of them."""
        lineage = None if self.lineage is None else self.lineage[which]
        return EvictedRows(
            self.place[which], self.group[which], self.ids[which], self.key[which], lineage
        )


class Evictions:
    """Retracts the results of rows that leave windows.

    Args:
        inputs: of the join. verify: which pairs are results; None: all pairs with equal keys.

    Attributes:
        groups: the queries by their ROWS windows.
        meet: which queries require pairs; None: rows have no lineage.
    """

    def __init__(self, inputs: Sequence[LineageInput], verify: Verify | None) -> None:
        self._inputs = tuple(inputs)
        self._verify = verify
        self.meet: Meet | None = None
        self.groups: RowsGroups | None = None

    def retracted(
        self, queues: SchedulingQueues, which: slice, levels: Levels, queries: Array, longest: Array
    ) -> Iterator[JoinedPairs]:
        """The results that rows retract, source by source.

        Args:
            which: the places of the rows. queries: uint64[W], for which queries.
            longest: int64[2], their longest windows.
        """
        groups = self.groups
        assert groups is not None, "there are queries"
        for source, rows in enumerate(self._inputs):
            mine = groups.of_source(source)
            theirs = np.flatnonzero(any_wanted(groups.queries[mine] & queries)) + mine.start
            places = np.flatnonzero(queues["side"][which] == source) + which.start
            if not theirs.size or not isinstance(rows.window, FlowRows):
                continue
            at_once = max(MOST_WORDS // (theirs.size * queries.size), 1)
            for start in range(0, places.size, at_once):
                some = places[start : start + at_once]
                evicted = self._evicted(source, rows.window, queues["id"][some], theirs, queries)
                evicted.place = some[evicted.place]
                yield from self._pairs(source, queues, evicted, levels, int(longest[1 - source]))

    def _evicted(
        self, source: int, window: FlowRows, new: Array, theirs: Array, queries: Array
    ) -> EvictedRows:
        """The rows that new ones (ids) evict from the windows of some groups."""
        rows, groups = self._inputs[source], self.groups
        assert groups is not None, "the groups have windows"
        place, number, out = window.evicted(new, groups.counts[theirs])
        group, ids, lineage = theirs[number], rows.stem.ids(out), None
        if self.meet is not None:
            lineage = rows.lineage_at(out)[:, : queries.size] & groups.queries[group] & queries
        chosen, key = rows.keyed(rows.rows(ids))
        evicted = EvictedRows(place, group, ids, np.zeros(ids.size, np.int64), lineage).take(chosen)
        evicted.key = key
        if evicted.lineage is None:
            return evicted
        return evicted.take(np.flatnonzero(any_wanted(evicted.lineage)))

    def _pairs(
        self,
        source: int,
        queues: SchedulingQueues,
        evicted: EvictedRows,
        levels: Levels,
        longest: int,
    ) -> Iterator[JoinedPairs]:
        """The results of evicted rows, in their order."""
        target, groups = 1 - source, self.groups
        assert groups is not None, "the groups have windows"
        if not evicted.ids.size:
            return
        other, inclusive = self._inputs[target], target < source
        index = other.only.index
        ts, seq = queues["ts"][evicted.place], queues["seq"][evicted.place] - 1
        lengths = np.minimum(groups.longest[target][evicted.group], longest)
        stop = other.bounds.oldest(ts, seq, lengths, inclusive=inclusive)
        above = before(other.stem, seq, inclusive=inclusive)
        cursor = index.begin_below(evicted.key, above)
        for some in index.pieces(cursor, stop):
            by, position = index.follow(0, evicted.key[some], cursor[some], stop[some])
            by += some.start
            instants = other.bounds.instants(ts, seq, by, position, inclusive=inclusive)
            age, group, lineage = ts[by] - instants, evicted.group[by], None
            if evicted.lineage is not None and self.meet is not None:
                kept, lineage = self.meet(target, evicted.lineage, by, position, age)
            else:
                level = np.searchsorted(levels.bounds[target], age, "right")
                level = np.maximum(level, groups.first[group])
                kept = np.flatnonzero(level < groups.last[group])
            mine, partner = evicted.ids[by[kept]], other.stem.ids(position[kept])
            if self._verify is not None:
                ids = (mine, partner) if source == 0 else (partner, mine)
                sign = np.full(kept.size, -1, np.int8)
                pairs = CandidatePairs(ts[by[kept]], seq[by[kept]], sign, *ids)
                real, lineage = self._verify(pairs, lineage)
                kept, mine, partner = kept[real], mine[real], partner[real]
            at = by[kept]
            own, found = (mine, ts[at]), (partner, instants[kept])
            left, right = (own, found) if source == 0 else (found, own)
            yield JoinedPairs(
                evicted.place[at] + queues.first,
                ts[at],
                seq[at],
                (left[0], right[0]),
                (left[1], right[1]),
                lineage,
                group[kept],
            )
