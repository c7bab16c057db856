"""Lists of rows that are *dormant*: none of their groups can be shown by HAVING, so they are empty.

This follows from sums by lineage (``lineage_sums.py``): a row is added to one of them, instead of
to the list of each filter that accepts it. A list that may have a group to show is filled with the
rows that the flow holds, and keeps them for at least half of its longest window.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from eddyline.kernels.quiet_windows import OFFSET_ERROR
from eddyline.kernels.row_lists import LENGTH
from eddyline.runtime.eddy.filter_flow import FilterFlow
from eddyline.runtime.eddy.lineage_sums import LineageSums
from eddyline.runtime.eddy.lineages import Lineages
from eddyline.runtime.eddy.quiet_windows import Terms
from eddyline.runtime.eddy.row_lists import RowLists
from eddyline.runtime.stores.columns import Array

#: Minimum number of lists that are watched, and of those that are dormant on average, or they are
#: no longer watched.
_LEAST: Final = 8
_LEAST_DORMANT: Final = 4
#: Maximum number of sums, and of sums times lists.
_MOST_SUMS: Final = 1 << 15
_MOST_WORK: Final = 1 << 22
#: Number of calls after which it is decided whether to go on; and of those without watching, at
#: first and at most.
_CALLS: Final = 64
_LEAST_PAUSE, _MOST_PAUSE = 8, 4_096
#: After this part of its longest window a list that is not dormant is looked at again.
_LOOK_AGAIN: Final = 8


@dataclass(slots=True)
class _Watched:
    """A list.

    Attributes:
        accepts: what rows qualify. bit: the query that is listed for it; None: not known.
        since: from when on lineages have this. until: when it is looked at again.
    """

    accepts: object
    bit: int | None = None
    since: int = 0
    until: int = 0


class DormantLists:
    """Decides which lists of an owner's queries are dormant.

    Attributes:
        dormant: the numbers of these lists.
    """

    def __init__(self, flow: FilterFlow, owner: object, lists: RowLists) -> None:
        self._flow, self._owner, self._lists = flow, owner, lists
        self._watched: dict[int, _Watched] = {}
        self.dormant: set[int] = set()
        self._lineages = Lineages()
        self._sums: LineageSums | None = None  # None: lists are not watched
        self._calls, self._total = 0, 0  # and the number of dormant lists of each, added up
        self._pause = _LEAST_PAUSE
        self._changes = -1  # those of ``Lineages.changes`` that ``_watched`` has

    def add_list(self, number: int, accepts: object) -> None:
        """Watch another list, by what rows qualify."""
        self._watched[number] = _Watched(accepts)
        self._changes = -1

    def remove_list(self, number: int) -> None:
        """Watch a list no more."""
        self._lineages.let([self._watched.pop(number).accepts], be_dormant=False)
        self.dormant.discard(number)

    def begin(self, clock: int, terms: Terms) -> None:
        """Begin to watch from the next call on, if lists are many and have not been watched in vain
        just before.
        """
        if self._sums is not None or len(self._watched) < _LEAST:
            return
        self._calls += 1
        if self._calls <= self._pause:
            return
        slope, weights, _ = terms
        present = self._lists.present
        longest = int(self._lists.windows.array[present, LENGTH].max())
        self._sums = LineageSums(clock, longest, slope, float(weights[present].max()))
        self._calls, self._total = 0, 0
        self._lineages.clear()
        self._flow.number_lineages(self._owner, self._lineages)

    @property
    def is_watching(self) -> bool:
        """Whether rows are added to sums."""
        return self._sums is not None

    def end(self) -> set[int]:
        """Do not watch for some time; returns the dormant lists, which have to be filled."""
        if self._sums is not None:
            self._sums, self._calls = None, 0
            self._pause = min(2 * self._pause, _MOST_PAUSE)
            self._flow.number_lineages(self._owner, None)
        return set(self.dormant)

    def add(
        self,
        rows: tuple[Array, Array, Array, Array, Array],
        terms: Terms,
        since: int,
        clock: int,
    ) -> set[int]:
        """Add the rows of a call to the sums.

        Args:
            rows: of those that some list may take in, in the order of time: when they come, the
                numbers of their lineages and groups, whether there is a value, and the value.
            since, clock: from when to when the call lasts.

        Returns:
            The lists that have to be filled.
        """
        sums = self._sums
        if sums is None:
            return set()
        _, weights, _ = terms
        present = self._lists.present
        loosest = float(weights[present].max(initial=-np.inf))
        if loosest > sums.weight:
            sums.loosen(loosest)
        sums.add(*rows, clock)
        self._calls += 1
        self._total += len(self.dormant)
        longest = int(self._lists.windows.array[present, LENGTH].max(initial=0))
        work = sums.cells * len(self._watched)
        if (
            longest > sums.longest_us
            or max(sums.cells / _MOST_SUMS, work / _MOST_WORK) > 1
            or (self._calls % _CALLS == 0 and self._total < _LEAST_DORMANT * _CALLS)
        ):
            return self.end()
        if self._calls % _CALLS == 0:
            self._total, self._pause = 0, _LEAST_PAUSE
        changed = self._changed(since)
        return changed | set(self._loud(sorted(self.dormant - changed), terms, since, clock))

    def _changed(self, since: int) -> set[int]:
        """The dormant lists that lineages do not have any more, or as another query."""
        if self._changes == self._lineages.changes:
            return set()
        self._changes = self._lineages.changes
        for watched in self._watched.values():
            bit = self._lineages.bit(watched.accepts)
            if bit != watched.bit:
                watched.bit, watched.since = bit, since
        return {n for n in self.dormant if self._watched[n].since == since}

    def _loud(self, numbers: Sequence[int], terms: Terms, since: int, clock: int) -> list[int]:
        """Those of some lists that may have a group to show, in the last call."""
        sums, lists = self._sums, self._lists
        assert sums is not None, "they are watched"
        if not numbers:
            return []
        slope, weights, offsets = terms
        windows, place = lists.windows_of_lists(np.array(numbers))
        bits = np.array([self._watched[n].bit for n in numbers], np.int64)
        having = self._lineages.having(bits).astype(np.float64)
        lengths, loud = lists.windows.array[windows, LENGTH], np.zeros(len(numbers), np.bool_)
        margin = sums.margin()
        for length in np.unique(lengths).tolist():
            mine = np.flatnonzero(lengths == length)
            bounds = sums.bounds(length, since, clock)
            has = having[place[mine]]
            stricter = sums.weight - weights[windows[mine], None]
            offset = offsets[windows[mine], None]
            with np.errstate(invalid="ignore"):  # of values that are no numbers
                most = has @ bounds.value[: has.shape[1]] + offset
                most -= stricter * (has @ bounds.sure[: has.shape[1]])
                rows = has @ bounds.rows[: has.shape[1]]
            quiet = most < -margin - OFFSET_ERROR * np.abs(offset)
            if slope:  # of no values a sum is NULL
                quiet |= rows <= 0
            loud[place[mine[~quiet.all(axis=1)]]] = True
        return [n for n, is_loud in zip(numbers, loud.tolist(), strict=True) if is_loud]

    def filled(self, numbers: Collection[int], clock: int) -> None:
        """These dormant lists have their rows again."""
        self.dormant.difference_update(numbers)
        self._lineages.let((self._watched[n].accepts for n in numbers), be_dormant=False)
        for number in numbers:
            watched = self._watched[number]
            watched.until = clock + self._longest(number) // 2

    def fall_dormant(self, any_loud: Array, terms: Terms, since: int, clock: int) -> list[int]:
        """Let lists be dormant after a call, if that is sure to do; returns them.

        Args:
            any_loud: bool by window, whether it may have a group to show.
        """
        if self._sums is None:
            return []
        due = (n for n, w in self._watched.items() if w.until <= clock and n not in self.dormant)
        able = [n for n in due if self._is_able(n, any_loud, since)]
        if not able or len(able) + len(self.dormant) < _LEAST:
            return []
        loud = set(self._loud(able, terms, since, clock))
        for number in loud:
            self._watched[number].until = clock + self._longest(number) // _LOOK_AGAIN
        quiet = [n for n in able if n not in loud]
        self.dormant.update(quiet)
        self._lineages.let((self._watched[n].accepts for n in quiet), be_dormant=True)
        return quiet

    def _is_able(self, number: int, any_loud: Array, since: int) -> bool:
        """Whether sums have all rows that a list has held in a call, and it has nothing to show."""
        watched, sums = self._watched[number], self._sums
        assert sums is not None, "they are watched"
        return (
            watched.bit is not None
            and max(watched.since, sums.begun) + self._longest(number) <= since
            and not any_loud[self._lists.windows_of(number)].any()
        )

    def _longest(self, number: int) -> int:
        lists = self._lists
        return int(lists.windows.array[lists.longest(lists.windows_of(number)), LENGTH])
