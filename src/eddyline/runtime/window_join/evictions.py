"""What rows of a paced join push out of ROWS windows, and what is taken back from queries with it.

A row pushes others out when it is served: on each rung one of every window of N rows, for each N of
the rung's queries. These are joined as of just before the row, with what these queries' windows
held of the other stream then, and what they find leaves in front of what the row brings about::

      rung 1   [ROWS 5]   serves row 9: row 4 leaves, then row 9 comes     (row 8 has been there)
      rung 0   [ROWS 2]   serves row 12: row 10 leaves, then row 12 comes

So nothing of it waits: that a row waits says what is still to be pushed out by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from eddyline.kernels.lineage import any_wanted
from eddyline.runtime.join_inputs.access import before
from eddyline.runtime.join_inputs.flow_windows import FlowRows
from eddyline.runtime.join_inputs.lineage_input import LineageInput
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.window_join.levels import Levels
from eddyline.runtime.window_join.output_buffer import Meet, Pairs, Verify
from eddyline.runtime.window_join.rows_groups import RowsGroups
from eddyline.runtime.window_join.scheduling_queue import WaitingRows

#: Words of lineage of rows that are pushed out of windows at once.
MOST_WORDS: Final = 1 << 20


@dataclass
class Leaving:
    """Rows that leave windows.

    Attributes:
        place: int64[n], of the rows that push them out, among those that wait.
        group: int64[n], of the windows. ids, key: int64[n], theirs.
        lineage: uint64[n, W]; None: all queries of the group want them.
    """

    place: Array
    group: Array
    ids: Array
    key: Array
    lineage: Array | None

    def take(self, which: Array) -> Leaving:
        """Some of them."""
        lineage = None if self.lineage is None else self.lineage[which]
        return Leaving(
            self.place[which], self.group[which], self.ids[which], self.key[which], lineage
        )


class PushedOut:
    """Takes results back.

    Args:
        sides: of the flow. verify: which pairs are results, if equal keys do not say it.

    Attributes:
        groups: who has which ROWS windows.
        meet: who wants what, if rows have lineage.
    """

    def __init__(self, sides: Sequence[LineageInput], verify: Verify | None) -> None:
        self._sides = tuple(sides)
        self._verify = verify
        self.meet: Meet | None = None
        self.groups: RowsGroups | None = None

    def by(
        self, waiting: WaitingRows, which: slice, levels: Levels, queries: Array, reach: Array
    ) -> Iterator[Pairs]:
        """The results that rows take back, source by source.

        Args:
            which: the rows (their places). queries: uint64[W], from whom.
            reach: int64[2], the longest windows of theirs.
        """
        groups = self.groups
        assert groups is not None, "there are queries"
        for source, side in enumerate(self._sides):
            mine = groups.of_source(source)
            theirs = np.flatnonzero(any_wanted(groups.queries[mine] & queries)) + mine.start
            rows = np.flatnonzero(waiting["side"][which] == source) + which.start
            if not theirs.size or not isinstance(side.window, FlowRows):
                continue
            at_once = max(MOST_WORDS // (theirs.size * queries.size), 1)
            for start in range(0, rows.size, at_once):
                some = rows[start : start + at_once]
                leaving = self._leaving(source, side.window, waiting["id"][some], theirs, queries)
                leaving.place = some[leaving.place]
                yield from self._found(source, waiting, leaving, levels, int(reach[1 - source]))

    def _leaving(
        self, source: int, window: FlowRows, pushing: Array, theirs: Array, queries: Array
    ) -> Leaving:
        """The rows that new ones (ids ``pushing``) push out of the windows of some groups."""
        side, groups = self._sides[source], self.groups
        assert groups is not None, "somebody has the windows"
        place, number, ids = window.pushed_out(pushing, groups.counts[theirs])
        group, lineage = theirs[number], None
        if self.meet is not None:
            lineage = side.lineage_of(ids)[:, : queries.size] & groups.queries[group] & queries
        chosen, key = side.keyed(side.rows(ids))
        leaving = Leaving(place, group, ids, np.zeros(ids.size, np.int64), lineage).take(chosen)
        leaving.key = key
        if leaving.lineage is None:
            return leaving
        return leaving.take(np.flatnonzero(any_wanted(leaving.lineage)))

    def _found(
        self, source: int, waiting: WaitingRows, leaving: Leaving, levels: Levels, reach: int
    ) -> Iterator[Pairs]:
        """What they are joined to, in their order."""
        target, groups = 1 - source, self.groups
        assert groups is not None, "somebody has the windows"
        if not leaving.ids.size:
            return
        other, inclusive = self._sides[target], target < source
        ts, seq = waiting["ts"][leaving.place], waiting["seq"][leaving.place] - 1
        longest = np.minimum(groups.longest[target][leaving.group], reach)
        stop = other.bounds.oldest(ts, seq, longest, inclusive=inclusive)
        above = before(other.stem, seq, inclusive=inclusive)
        cursor = other.only.index.begin_below(leaving.key, above)
        for some in other.only.index.pieces(cursor, stop):
            by, position = other.only.index.follow(0, leaving.key[some], cursor[some], stop[some])
            by += some.start
            instants = other.bounds.instants(ts, seq, by, position, inclusive=inclusive)
            age, group, lineage = ts[by] - instants, leaving.group[by], None
            if leaving.lineage is not None and self.meet is not None:
                kept, lineage = self.meet(target, leaving.lineage, by, position, age)
            else:
                level = np.searchsorted(levels.bounds[target], age, "right")
                level = np.maximum(level, groups.first[group])
                kept = np.flatnonzero(level < groups.last[group])
            mine, partner = leaving.ids[by[kept]], other.stem.ids(position[kept])
            if self._verify is not None:
                ids = (mine, partner) if source == 0 else (partner, mine)
                real, lineage = self._verify(ids[0], ids[1], lineage)
                kept, mine, partner = kept[real], mine[real], partner[real]
            at = by[kept]
            own, found = (mine, ts[at]), (partner, instants[kept])
            left, right = (own, found) if source == 0 else (found, own)
            yield Pairs(
                leaving.place[at] + waiting.first,
                ts[at],
                seq[at],
                (left[0], right[0]),
                (left[1], right[1]),
                lineage,
                group[kept],
            )
