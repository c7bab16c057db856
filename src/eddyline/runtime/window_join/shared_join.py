"""A window join that serves many windows, and decides whose results come first.

New rows wait in the *scheduling queue* of the smallest rung (a window at whose end rows pause), are
joined with the slice of the other stream that lies between it and the rung below, and go on to the
next queue. All queues are stretches of one sequence, the rows in the order in which they came::

       rows       0 ............. 4 ........ 7 ....... 9      (9 have come)
       rung 2 served [0, 4)       |          |
       rung 1 served [0, ........ 7)         |                rows 4 to 6 wait for rung 2,
       rung 0 served [0, ................... 9)               rows 7 and 8 for rung 1

since within a queue whoever came first is served first. So the results for a rung are complete in
the order of the rows, whatever the schedule: each query gets what it would get alone, in the same
order (the isolated execution property). What has been found for rows that are not through with the
largest window waits in the *output buffer*.

With ``rows_per_step = 1`` this is the paper's algorithm; more rows per step make steps cheaper, and
results come a little later.

Source: Hammad et al. 2003, section 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eddyline.runtime.join_inputs.access import Access
from eddyline.runtime.join_inputs.window_bounds import Reach, TimeReach
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.index import Probes
from eddyline.runtime.stores.rowstore import RowStore
from eddyline.runtime.window_join.evictions import PushedOut
from eddyline.runtime.window_join.levels import Levels
from eddyline.runtime.window_join.output_buffer import (
    Found,
    FoundInSlice,
    Meet,
    Release,
    Verify,
    assembled,
    by_row,
    in_turn,
    with_leaving,
)
from eddyline.runtime.window_join.schedules import Schedule
from eddyline.runtime.window_join.scheduling_queue import WaitingRows


@dataclass(frozen=True, slots=True)
class Arrivals:
    """New rows of one side, in (ts, seq) order, that are in its store already.

    Attributes:
        ids, ts, seq, key: int64[n].
        lineage: uint64[n, W], who wants them; None: every query that is there.
        asking: int64[m], numbers of those that look for partners; None: all do. The others only
            push rows out of windows.
    """

    ids: Array
    ts: Array
    seq: Array
    key: Array
    lineage: Array | None = None
    asking: Array | None = None


class SharedJoin:
    """Joins two streams for all queries of a signature.

    Args:
        stores: the two SteMs. access: by key, per store.
        schedule: whose results come first.
        rows_per_step: at most so many rows are joined with a slice at a time.
        verify: which pairs are results, if equal keys do not say it.
        meet: who wants them, if rows have lineage.
        reach: how far back windows reach, per store; None: they go by time.
        pushed: takes back what rows push out of windows that count them.

    Attributes:
        levels: the windows. rungs: int64[r], numbers of the levels that rows pause at.
        meet: who wants what, if rows have lineage; while nobody waits it may become another.
        arrived: how many rows have come. served: int64[r], how many of them are through with each
            rung.
    """

    def __init__(
        self,
        stores: Sequence[RowStore],
        access: Sequence[Access],
        schedule: Schedule,
        *,
        rows_per_step: int = 4_096,
        verify: Verify | None = None,
        meet: Meet | None = None,
        reach: Sequence[Reach] | None = None,
        pushed: PushedOut | None = None,
    ) -> None:
        self._stores = tuple(stores)
        self._reach = tuple(map(TimeReach, stores)) if reach is None else tuple(reach)
        self._pushed = pushed
        self._access = tuple(access)
        self._versions = [a.version for a in access]
        self._schedule = schedule
        self._rows_per_step = rows_per_step
        self._verify = verify
        self.meet = meet
        self._waiting = WaitingRows()
        #: The output buffer: by rung its slice, behind those of rungs that there are no more.
        self._found: list[list[FoundInSlice]] = []
        self.levels: Levels | None = None
        self.rungs = np.zeros(0, np.int64)
        self.served = np.zeros(0, np.int64)
        self._early = np.zeros(0, np.int64)  # by rung: slices released of the row that is next
        self._sizes = np.zeros(0, np.int64)

    # -- windows -----------------------------------------------------------------------------------

    def goes_on_with(self, levels: Levels) -> bool:
        """Whether ``fit`` can be called while rows wait: each query that is left stays on a rung
        with the same windows, and has got nothing ahead of time; and lineage is as wide as it was.
        """
        if self.levels is None or not self.waiting:
            return True
        if self._early.any():
            return False
        words = levels.groups.shape[1]
        if words > self.levels.groups.shape[1] and "lineage" in self._waiting:
            return False
        ends, there = self._ends(self.levels), self.levels.of_rungs(self.rungs, words)
        rungs = self._schedule.rungs(levels.lengths)
        new_ends, new_there = levels.bounds[:, rungs], levels.of_rungs(rungs, words)
        same = (ends[:, :, None] == new_ends[:, None, :]).all(axis=0)  # [old, new]
        moved = (there[:, None, :] & new_there[None, :, :]).any(axis=2) & ~same
        return not bool(moved.any())

    def fit(self, levels: Levels) -> None:
        """The queries' windows are these now. Rows that wait go on from where they are."""
        older, passed, found = self.levels, self.served, self._found
        scanned = None if older is None else self._ends(older)
        self.levels = levels
        self.rungs = self._schedule.rungs(levels.lengths)
        ends = self._ends(levels)
        self._sizes = np.diff(ends.astype(np.float64).sum(axis=0), prepend=0)
        self._found = [[] for _ in self.rungs]
        self._early = np.zeros(self.rungs.size, np.int64)
        self.served = np.full(self.rungs.size, self.arrived, np.int64)
        if scanned is not None and self.waiting:
            covers = np.all(scanned[:, :, None] >= ends[:, None, :], axis=0)  # [old, new]
            for rung in range(self.rungs.size):
                enough = covers[:, rung]
                self.served[rung] = passed[enough.argmax()] if enough.any() else self._waiting.first
            within = np.all(scanned[:, :, None] <= ends[:, None, :], axis=0)
            for rung, slices in enumerate(found):
                fits = within[rung]
                self._found[int(fits.argmax()) if fits.any() else -1] += slices
        for mine in self._found:
            if not mine:
                mine.append(FoundInSlice())
        self._forget(int(self.served[-1]))

    def _ends(self, levels: Levels) -> Array:
        """int64[2, r]: where the rungs end, per side."""
        ends: Array = levels.bounds[:, self.rungs]
        return ends

    @property
    def arrived(self) -> int:
        """How many rows have come so far."""
        return self._waiting.end

    @property
    def waiting(self) -> bool:
        """Whether there are rows that are not through."""
        return len(self._waiting) > 0

    @property
    def waiting_since(self) -> int | None:
        """The timestamp of the first row that is not through: its partners must not be dropped."""
        return int(self._waiting["ts"][0]) if len(self._waiting) else None

    @property
    def waiting_from(self) -> int | None:
        """Likewise, its ``seq``: what was in windows of rows then must not be dropped."""
        return int(self._waiting["seq"][0]) if len(self._waiting) else None

    @property
    def input_rows(self) -> int:
        """How many rows wait (the input buffer)."""
        return len(self._waiting)

    @property
    def output_rows(self) -> int:
        """How many results wait (the output buffer)."""
        return sum(len(part) for slices in self._found for part in slices)

    def queries(self, rung: int) -> Array:
        """int64: the bits of the queries on a rung."""
        group = self._group(rung)
        return np.flatnonzero(np.unpackbits(group.view(np.uint8), bitorder="little"))

    def _group(self, rung: int) -> Array:
        """uint64[W]: likewise."""
        assert self.levels is not None, "there are windows"
        words = self.levels.groups.shape[1]
        return np.ascontiguousarray(self.levels.of_rungs(self.rungs, words)[rung])

    @property
    def wants_rows(self) -> bool:
        """Whether new rows would be served before those that wait."""
        if not self.rungs.size:
            return True
        waiting = self._is_waiting()
        if waiting[0]:
            return False
        waiting[0] = True
        return self._schedule.next(waiting, self._sizes) == 0

    def _is_waiting(self) -> Array:
        """bool[r]: where rows wait."""
        return np.concatenate(([self.arrived], self.served[:-1])) > self.served

    def clear(self) -> None:
        """Nobody wants what is waiting."""
        self.served[:] = self.arrived
        self._forget(self.arrived)

    # -- rows --------------------------------------------------------------------------------------

    def arrive(self, new: Sequence[Arrivals]) -> None:
        """Let new rows of both sides wait. ``Access`` has taken them in."""
        parts = [self._begun(side, arrivals) for side, arrivals in enumerate(new)]
        whole = {name: np.concatenate([p[name] for p in parts]) for name in parts[0]}
        order = np.argsort(whole["seq"], kind="stable")
        self._waiting.append({name: values[order] for name, values in whole.items()})

    def _begun(self, side: int, new: Arrivals) -> dict[str, Array]:
        other, asking = 1 - side, slice(None) if new.asking is None else new.asking
        probes = Probes(new.key[asking], new.ts[asking], new.seq[asking])
        cursor = np.full(new.ids.size, -1, np.int64)
        cursor[asking] = self._access[other].begin(probes, inclusive=other < side)
        rows = {
            "side": np.full(new.ids.size, side, np.int64),
            "id": new.ids,
            "ts": new.ts,
            "seq": new.seq,
            "key": new.key,
            "cursor": cursor,
        }
        return rows if new.lineage is None else {**rows, "lineage": new.lineage}

    def step(self) -> list[Release]:
        """Join some rows of the queue that is next with its slice; returns what that releases."""
        rung = self._schedule.next(self._is_waiting(), self._sizes)
        first = int(self.served[rung])
        before = self.arrived if rung == 0 else int(self.served[rung - 1])
        last = min(before, first + self._rows_per_step)
        if self._pushed is not None and last < before:  # all that one event brings pushes first
            seq = self._waiting["seq"][last - 1 - self._waiting.first :][:2]
            last += int(seq[0] == seq[1])
        self._join(rung, first, last)
        self.served[rung] = last
        early = self._rows_per_step == 1 and self._schedule.releases_early
        if early and self._pushed is None:  # what leaves windows is known at their ends
            releases = self._released_early(rung, first)
        else:
            releases = [self._release(rung, first, last, 0, rung + 1)]
        if rung == self.rungs.size - 1:
            self._forget(last)
        return releases

    def _join(self, rung: int, first: int, last: int) -> None:
        """Join the rows ``[first, last)`` with the slice below ``rung``."""
        self._keep_up()
        rows, buffer = self._waiting, self._found[rung][-1]
        start, end = first - rows.first, last - rows.first
        side = rows["side"][start:end]
        if end - start == 1:
            buffer.add(last, self._with_slice(rung, int(side[0]), slice(start, end), first))
            return
        parts = [
            self._with_slice(rung, mine, own + start, rows.first)
            for mine in (0, 1)
            if (own := np.flatnonzero(side == mine)).size
        ]
        buffer.add(last, parts[0] if len(parts) == 1 else by_row(*parts))

    def _with_slice(self, rung: int, side: int, which: slice | Array, number: int) -> Found:
        """What rows of one side find in the slice below ``rung``.

        Args:
            which: places of the rows. number: what makes numbers of them; of a slice, the first.
        """
        rows, access = self._waiting, self._access[1 - side]
        key, cursor = rows["key"][which], rows["cursor"][which]
        assert self.levels is not None, "there are windows"
        stop = self._reach[1 - side].oldest(
            rows["ts"][which],
            rows["seq"][which],
            int(self.levels.bounds[1 - side, self.rungs[rung]]),
            inclusive=1 - side < side,
        )
        parts = []
        for some in access.pieces(cursor, stop):
            by, position = access.follow(rung, key[some], cursor[some], stop[some])
            parts.append(self._met(side, which, number, by + some.start, position))
        rows["cursor"][which] = cursor
        return parts[0] if len(parts) == 1 else in_turn(parts)

    def _met(
        self, side: int, which: slice | Array, number: int, by: Array, position: Array
    ) -> Found:
        """Those of the pairs of rows (``which[by]``) and positions that somebody wants."""
        rows, other = self._waiting, 1 - side
        ts, seq, lineage = rows["ts"][which], rows["seq"][which], None
        instants = self._reach[other].instants(ts, seq, by, position, inclusive=other < side)
        if self.meet is not None:
            own, age = rows["lineage"][which], ts[by] - instants
            kept, lineage = self.meet(other, own, by, position, age)
            by, position, instants = by[kept], position[kept], instants[kept]
        row = by + number if isinstance(which, slice) else which[by] + number
        partner = self._stores[other].ids(position)
        if self._verify is not None:
            mine = rows["id"][row - rows.first]
            left, right = (mine, partner) if side == 0 else (partner, mine)
            kept, lineage = self._verify(left, right, lineage)
            row, partner, instants = row[kept], partner[kept], instants[kept]
        return Found(row, partner, instants, lineage)

    def _keep_up(self) -> None:
        """Put cursors right after an index was made anew."""
        for side, access in enumerate(self._access):
            if access.version != self._versions[side]:
                self._versions[side] = access.version
                theirs = np.flatnonzero(self._waiting["side"] != side)
                cursor = self._waiting["cursor"][theirs]
                access.find_again(self._waiting["key"][theirs], cursor)
                self._waiting["cursor"][theirs] = cursor

    # -- results -----------------------------------------------------------------------------------

    def _release(self, rung: int, first: int, last: int, start: int, end: int) -> Release:
        """What the slices ``[start, end)`` brought to the rows ``[first, last)``."""
        parts = [
            pairs
            for slices in self._found[start:end]
            for part in slices
            for pairs in part.between(first, last)
        ]
        pairs = assembled(parts, self._waiting, first, last)
        if self._pushed is not None and self.levels is not None:
            which = slice(first - self._waiting.first, last - self._waiting.first)
            bounds = self.levels.bounds[:, self.rungs[rung]]
            gone = self._pushed.by(self._waiting, which, self.levels, self._group(rung), bounds)
            pairs = with_leaving(list(gone), pairs)
        return Release(rung, first, last, pairs)

    def _released_early(self, rung: int, row: int) -> list[Release]:
        """What serving one row releases, if queries need not wait until all of their window has
        been scanned (section 3.3): nobody's results can come before those of the row that is next.
        """
        releases = [self._release(rung, row, row + 1, int(self._early[rung]), rung + 1)]
        self._early[rung] = 0
        for above in range(rung + 1, self.rungs.size):
            if self.served[above] == row:
                releases.append(
                    self._release(above, row, row + 1, int(self._early[above]), rung + 1)
                )
                self._early[above] = rung + 1
        following = row + 1
        done = int((self.served > following).sum())
        if done:
            releases.append(self._release(rung, following, following + 1, 0, done))
            self._early[rung] = done
        return releases

    def _forget(self, last: int) -> None:
        """All queries have the results of the rows before ``last``."""
        for slices in self._found:
            for part in slices:
                part.forget(last)
        self._waiting.drop_before(last)
