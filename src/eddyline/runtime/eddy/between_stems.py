"""Predicates over several sources, applied between SteMs: as soon as these sources are joined.

Results go through all of them once more: a predicate may be skipped here that leaves hardly a row
out, and rows for which one fails are left to the results.

Source: Madden et al. 2002, section 2.1: selections are modules of the eddy like SteMs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from eddyline.runtime.batch import Batch, Stored
from eddyline.runtime.eddy.routing import Composites
from eddyline.runtime.predicates.filter_bank import FilterBank
from eddyline.runtime.predicates.grouped_filter import GroupedFilter
from eddyline.runtime.stores.stem import Stem

#: Rows after which the share that is left is known; the largest share with which predicates are
#: applied; and of how many times they are applied nevertheless.
_KNOWN_ROWS: Final = 1_000
_MOST_LEFT: Final = 0.8
_AGAIN: Final = 32


@dataclass
class _Selection:
    """The filters at a place of the routes, with the numbers of rows that came and were left."""

    filters: list[GroupedFilter]
    came: int = 0
    left: int = 0
    calls: int = 0

    def is_due(self) -> bool:
        self.calls += 1
        pays = self.came < _KNOWN_ROWS or self.left <= _MOST_LEFT * self.came
        return bool(self.filters) and (pays or self.calls % _AGAIN == 0)


class BetweenSteMs:
    """Applies the predicates over joined rows to virtual sources.

    Args:
        bank: the predicates. stems: of the sources. cells: the columns of joined rows.
    """

    def __init__(self, bank: FilterBank, stems: Sequence[Stem], cells: tuple[Stored, ...]) -> None:
        self._bank = bank
        self._stems = tuple(stems)
        self._cells = cells
        self._version = -1
        self._selections: dict[tuple[int, frozenset[int]], _Selection] = {}

    def narrowed(self, target: int, joined: Composites) -> Composites:
        """See ``PairSelection``."""
        if not self._bank.has_predicates or not len(joined):
            return joined
        selection = self._selection(target, frozenset(joined.ids))
        if not selection.is_due():
            return joined
        rows, _ = self._bank.narrow_by(selection.filters, self._batch(joined), joined.required)
        selection.came += len(joined)
        selection.left += rows.size
        return joined if rows.size == len(joined) else joined.take(rows)

    def _selection(self, target: int, joined: frozenset[int]) -> _Selection:
        """The filters that need the last source joined, and no further one."""
        if self._version != self._bank.version:
            self._version, self._selections = self._bank.version, {}
        if (target, joined) not in self._selections:
            reads = ((f, self._reads(f)) for f in self._bank.filters)
            ready = [f for f, sources in reads if target in sources and sources <= joined]
            self._selections[target, joined] = _Selection(ready)
        return self._selections[target, joined]

    def _reads(self, grouped: GroupedFilter) -> frozenset[int]:
        """The sources that a predicate reads; none if it is not applied here."""
        return frozenset(self._cells[column].source for column in grouped.attribute.reads or ())

    def _batch(self, joined: Composites) -> Batch:
        """Rows with the columns of the sources that are joined."""
        none = np.zeros(len(joined), np.int64)
        ids = tuple(joined.ids.get(source, none) for source in range(len(self._stems)))
        sign = np.ones(len(joined), np.int8)
        return Batch(joined.ts, joined.seq, none, sign, ids, self._stems, self._cells)
