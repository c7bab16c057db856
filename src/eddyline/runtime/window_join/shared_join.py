"""A window join of two streams for many windows, with a schedule that orders the work.

The ends of some windows are *window classes*. New rows enter the *scheduling queue* of the smallest
class, are joined with the slice of the other stream between it and the class below, and go on to
the queue of the next class. All queues are stretches of one sequence of rows, in order of arrival::

       rows        0 ............. 4 ........ 7 ....... 9      (9 have arrived)
       class 2 served [0, 4)       |          |
       class 1 served [0, ........ 7)         |                rows 4 to 6 are queued for class 2,
       class 0 served [0, ................... 9)               rows 7 and 8 for class 1

since a queue is served in order of arrival. So the results of a class are complete in the order of
the rows, whatever the schedule: each query gets what it would get alone, in the same order (the
isolated execution property). The *output buffer* has matches of rows not yet joined with the
largest window.

With ``rows_per_step = 1`` this is the paper's algorithm; larger steps are cheaper and later.

Source: Hammad et al. 2003, section 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from eddyline.runtime.join_inputs.access import Access
from eddyline.runtime.join_inputs.flow_windows import Levels, TimeBounds, WindowBounds
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.rowstore import RowStore
from eddyline.runtime.window_join.evictions import Evictions
from eddyline.runtime.window_join.joined_work import JoinedWork
from eddyline.runtime.window_join.output_buffer import (
    CandidatePairs,
    Meet,
    Release,
    SliceBuffer,
    SliceMatches,
    Verify,
    assembled,
    by_row,
    in_turn,
    with_retractions,
)
from eddyline.runtime.window_join.schedules import Schedule
from eddyline.runtime.window_join.scheduling_queue import Arrivals, SchedulingQueues, queued

#: What a step costs beside its work, and the share of the work that this may be.
_STEP: Final = 4_000
_MOST_OVERHEAD: Final = 0.05


class SharedJoin:
    """Joins two streams for all queries of a signature.

    Args:
        stores: the two SteMs. access: by key, per store.
        schedule: which queue is served next.
        verify: which pairs are results; None: all pairs with equal keys.
        meet: which queries require pairs; None: rows have no lineage.
        bounds: of windows, per store; None: windows are by time.
        evictions: retracts the results of rows that leave windows that count rows.

    Attributes:
        levels: the windows. classes: int64[r], the levels that are window classes.
        meet: as above; it may be changed while no rows are queued.
        joins_classes: whether rows behind which no others wait are joined with the slices of
            several classes in one step, where a step for each would cost much beside their work.
            When results come depends on earlier rows, then; all slices have to be in one table.
        following: number of rows that are about to come.
        work: what has been done so far.
        arrived: number of rows so far. served: int64[r], how many of them each class has served.
    """

    def __init__(
        self,
        stores: Sequence[RowStore],
        access: Sequence[Access],
        schedule: Schedule,
        *,
        verify: Verify | None = None,
        meet: Meet | None = None,
        bounds: Sequence[WindowBounds] | None = None,
        evictions: Evictions | None = None,
    ) -> None:
        self._stores = tuple(stores)
        self._bounds = tuple(map(TimeBounds, stores)) if bounds is None else tuple(bounds)
        self._evictions = evictions
        self._access = tuple(access)
        self._schedule = schedule
        self._verify = verify
        self.meet = meet
        self.work = JoinedWork()
        self._queues = SchedulingQueues()
        #: The output buffer: by class its slice, behind the slices of former classes.
        self._found: list[list[SliceBuffer]] = []
        self.levels: Levels | None = None
        self.classes = np.zeros(0, np.int64)
        self._groups = np.zeros((0, 0), np.uint64)  # by class, its queries
        self.served = np.zeros(0, np.int64)
        self._early = np.zeros(0, np.int64)  # by class: slices of the next row released already
        self._sizes = np.zeros(0, np.int64)
        self.joins_classes = False
        self.following = 0
        self._work_of = np.zeros(0)  # by class: per row, in the step before, as a number of results

    # -- windows -------------------------------------------------------

    def can_continue_with(self, levels: Levels) -> bool:
        """Whether ``fit`` can be called while rows are queued: each remaining query stays in a
        class with the same windows, no results were released early, and lineage is as wide.
        """
        if self.levels is None or not self.waiting:
            return True
        if self._early.any():
            return False
        words = levels.groups.shape[1]
        if words > self.levels.groups.shape[1] and "lineage" in self._queues:
            return False
        ends, there = self._ends(self.levels), self.levels.of_classes(self.classes, words)
        classes = self._schedule.classes(levels.lengths)
        new_ends, new_there = levels.bounds[:, classes], levels.of_classes(classes, words)
        same = (ends[:, :, None] == new_ends[:, None, :]).all(axis=0)  # [old, new]
        moved = (there[:, None, :] & new_there[None, :, :]).any(axis=2) & ~same
        return not bool(moved.any())

    def fit(self, levels: Levels) -> None:
        """Change the queries' windows. Queued rows continue from where they are."""
        older, passed, found = self.levels, self.served, self._found
        scanned = None if older is None else self._ends(older)
        self.levels = levels
        self.classes = self._schedule.classes(levels.lengths)
        ends = self._ends(levels)
        self._groups = levels.of_classes(self.classes, levels.groups.shape[1])
        self._sizes = np.diff(ends.astype(np.float64).sum(axis=0), prepend=0)
        self._found = [[] for _ in self.classes]
        self._early = np.zeros(self.classes.size, np.int64)
        self._work_of = np.zeros(self.classes.size)
        self.served = np.full(self.classes.size, self.arrived, np.int64)
        if scanned is not None and self.waiting:
            covers = np.all(scanned[:, :, None] >= ends[:, None, :], axis=0)  # [old, new]
            for class_ in range(self.classes.size):
                enough = covers[:, class_]
                self.served[class_] = (
                    passed[enough.argmax()] if enough.any() else self._queues.first
                )
            within = np.all(scanned[:, :, None] <= ends[:, None, :], axis=0)
            for class_, slices in enumerate(found):
                fits = within[class_]
                self._found[int(fits.argmax()) if fits.any() else -1] += slices
        for mine in self._found:
            if not mine:
                mine.append(SliceBuffer())
        self._forget(int(self.served[-1]))

    def _ends(self, levels: Levels) -> Array:
        """int64[2, r]: where the classes end, per side."""
        ends: Array = levels.bounds[:, self.classes]
        return ends

    @property
    def arrived(self) -> int:
        """Number of rows so far."""
        return self._queues.end

    @property
    def waiting(self) -> bool:
        """Whether rows are queued."""
        return len(self._queues) > 0

    @property
    def queued_since(self) -> int | None:
        """The timestamp of the first queued row: its partners must not be dropped."""
        return int(self._queues["ts"][0]) if len(self._queues) else None

    @property
    def queued_from_seq(self) -> int | None:
        """The ``seq`` of the first queued row: rows in windows then must not be dropped."""
        return int(self._queues["seq"][0]) if len(self._queues) else None

    @property
    def input_rows(self) -> int:
        """Number of queued rows (the input buffer)."""
        return len(self._queues)

    @property
    def output_rows(self) -> int:
        """Number of results in the output buffer."""
        return sum(len(part) for slices in self._found for part in slices)

    def queries(self, lowest: int, class_: int) -> Array:
        """int64: the bits of the queries of the classes from ``lowest`` to ``class_``."""
        group = self._group(lowest, class_)
        return np.flatnonzero(np.unpackbits(group.view(np.uint8), bitorder="little"))

    def _group(self, lowest: int, class_: int) -> Array:
        """uint64[W]: these queries."""
        group: Array = np.bitwise_or.reduce(self._groups[lowest : class_ + 1], axis=0)
        return group

    @property
    def wants_rows(self) -> bool:
        """Whether new rows would be served before queued rows."""
        if not self.classes.size:
            return True
        nonempty = self._nonempty()
        if nonempty[0]:
            return False
        nonempty[0] = True
        return self._schedule.next(nonempty, self._sizes) == 0

    def _nonempty(self) -> Array:
        """bool[r]: which queues hold rows."""
        return np.concatenate(([self.arrived], self.served[:-1])) > self.served

    def clear(self) -> None:
        """Drop all queued rows."""
        self.served[:] = self.arrived
        self._forget(self.arrived)

    # -- rows ----------------------------------------------------------

    def arrive(self, new: Sequence[Arrivals]) -> None:
        """Queue new rows of both sides, which are in their ``Access`` already."""
        parts = [queued(side, rows, self._access[1 - side]) for side, rows in enumerate(new)]
        whole = {name: np.concatenate([p[name] for p in parts]) for name in parts[0]}
        order = np.argsort(whole["seq"], kind="stable")
        self._queues.append({name: values[order] for name, values in whole.items()})

    def step(self) -> list[Release]:
        """Join some rows of the next queue with its slice; returns the results released by that."""
        class_ = self._schedule.next(self._nonempty(), self._sizes)
        first = int(self.served[class_])
        before = self.arrived if class_ == 0 else int(self.served[class_ - 1])
        last = min(before, first + self._schedule.rows_per_step)
        if self._evictions is not None and last < before:  # all rows of one event evict first
            seq = self._queues["seq"][last - 1 - self._queues.first :][:2]
            last += int(seq[0] == seq[1])
        early = self._schedule.rows_per_step == 1 and self._schedule.releases_early
        lowest = class_
        if self.joins_classes and self._schedule.joins_classes and not early:
            class_ = self._last_class(class_, first, last)
        before_step = self.work
        self._join(class_, first, last)
        self._count(steps=1, probes=last - first)
        self.served[lowest : class_ + 1] = last
        if early and self._evictions is None:  # evictions are known at the end of windows
            releases = self._released_early(class_, first)
        else:
            releases = [self._release(class_, first, last, 0, class_ + 1, lowest)]
        if class_ == self.classes.size - 1:
            self._forget(last)
        self._count(results=sum(len(release.pairs) for release in releases))
        self._work_of[lowest : class_ + 1] = 0
        self._work_of[class_] = (self.work - before_step).as_results / (last - first)
        return releases

    def _last_class(self, class_: int, first: int, last: int) -> int:
        """The class with whose slice a step for these rows ends."""
        largest = self.classes.size - 1
        if (self.served[class_ + 1 :] != first).any():
            return class_
        expected = (last - first + self.following) * self._work_of.sum()
        return class_ if (class_ + 1) * _STEP <= _MOST_OVERHEAD * expected else largest

    def _count(self, **more: int) -> None:
        self.work = self.work.plus(JoinedWork(**more))

    def _join(self, class_: int, first: int, last: int) -> None:
        """Join the rows ``[first, last)`` with the slice of a class."""
        rows, buffer = self._queues, self._found[class_][-1]
        start, end = first - rows.first, last - rows.first
        side = rows["side"][start:end]
        if end - start == 1:
            buffer.add(last, self._with_slice(class_, int(side[0]), slice(start, end), first))
            return
        parts = [
            self._with_slice(class_, mine, own + start, rows.first)
            for mine in (0, 1)
            if (own := np.flatnonzero(side == mine)).size
        ]
        buffer.add(last, parts[0] if len(parts) == 1 else by_row(*parts))

    def _with_slice(
        self, class_: int, side: int, which: slice | Array, number: int
    ) -> SliceMatches:
        """The matches of rows of one side in the slice of a class.

        Args:
            which: places of the rows. number: of the row at place 0; for a slice, of its first row.
        """
        rows, access = self._queues, self._access[1 - side]
        key, cursor = rows["key"][which], self._cursors(access, which)
        assert self.levels is not None, "there are windows"
        stop = self._bounds[1 - side].oldest(
            rows["ts"][which],
            rows["seq"][which],
            int(self.levels.bounds[1 - side, self.classes[class_]]),
            inclusive=1 - side < side,
        )
        parts = []
        for some in access.pieces(cursor, stop):
            by, position = access.follow(class_, key[some], cursor[some], stop[some])
            self._count(pairs=by.size)
            parts.append(self._met(side, which, number, by + some.start, position))
        rows["cursor"][which] = cursor
        return parts[0] if len(parts) == 1 else in_turn(parts)

    def _cursors(self, access: Access, which: slice | Array) -> Array:
        """int64[n], the cursors of rows, corrected where the index was rebuilt since their last
        use.
        """
        rows = self._queues
        key, cursor, version = (rows[name][which] for name in ("key", "cursor", "version"))
        old = np.flatnonzero(version != access.version)
        if old.size:
            moved = cursor[old]
            access.find_again(key[old], moved)
            cursor = cursor.copy()
            cursor[old] = moved
            rows["version"][which] = access.version
        return cursor

    def _met(
        self, side: int, which: slice | Array, number: int, by: Array, position: Array
    ) -> SliceMatches:
        """The pairs of rows (``which[by]``) and positions that some query requires."""
        rows, other = self._queues, 1 - side
        ts, seq, lineage = rows["ts"][which], rows["seq"][which], None
        instants = self._bounds[other].instants(ts, seq, by, position, inclusive=other < side)
        if self.meet is not None:
            own, age = rows["lineage"][which], ts[by] - instants
            kept, lineage = self.meet(other, own, by, position, age)
            by, position, instants = by[kept], position[kept], instants[kept]
        row = by + number if isinstance(which, slice) else which[by] + number
        partner = self._stores[other].ids(position)
        if self._verify is not None:
            mine = rows["id"][row - rows.first]
            left, right = (mine, partner) if side == 0 else (partner, mine)
            sign = np.ones(by.size, np.int8)
            kept, lineage = self._verify(
                CandidatePairs(ts[by], seq[by], sign, left, right), lineage
            )
            row, partner, instants = row[kept], partner[kept], instants[kept]
        return SliceMatches(row, partner, instants, lineage)

    # -- results -------------------------------------------------------

    def _release(
        self, class_: int, first: int, last: int, start: int, end: int, lowest: int | None = None
    ) -> Release:
        """The matches of the rows ``[first, last)`` in the slices ``[start, end)``, for the queries
        of a class, or of those from ``lowest`` on.
        """
        lowest = class_ if lowest is None else lowest
        parts = [
            pairs
            for slices in self._found[start:end]
            for part in slices
            for pairs in part.between(first, last)
        ]
        pairs = assembled(parts, self._queues, first, last)
        if self._evictions is not None and self.levels is not None:
            which = slice(first - self._queues.first, last - self._queues.first)
            bounds = self.levels.bounds[:, self.classes[class_]]
            retracted = self._evictions.retracted(
                self._queues, which, self.levels, self._group(lowest, class_), bounds
            )
            pairs = with_retractions(list(retracted), pairs)
        return Release(class_, first, last, pairs, lowest)

    def _released_early(self, class_: int, row: int) -> list[Release]:
        """The results released by serving one row before its windows have been scanned whole
        (section 3.3): no results can come before those of the next row.
        """
        releases = [self._release(class_, row, row + 1, int(self._early[class_]), class_ + 1)]
        self._early[class_] = 0
        for above in range(class_ + 1, self.classes.size):
            if self.served[above] == row:
                releases.append(
                    self._release(above, row, row + 1, int(self._early[above]), class_ + 1)
                )
                self._early[above] = class_ + 1
        following = row + 1
        done = int((self.served > following).sum())
        if done:
            releases.append(self._release(class_, following, following + 1, 0, done))
            self._early[class_] = done
        return releases

    def _forget(self, last: int) -> None:
        """Drop the rows before ``last``: all queries have their results."""
        for slices in self._found:
            for part in slices:
                part.forget(last)
        self._queues.drop_before(last)
