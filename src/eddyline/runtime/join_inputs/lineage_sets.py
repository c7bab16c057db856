"""Lineages by number: rows that the same queries require have the same one, which is kept once."""

from __future__ import annotations

from typing import Final

import numpy as np

from eddyline.kernels.hashing import mix_all
from eddyline.kernels.lineage import any_wanted, differing, hash_lineages
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.slots import SlotArray, SlotTable

#: The number of the lineage without queries.
EMPTY: Final = 0
_FEW: Final = 64
#: Unused lineages may take as much memory as this share of the rows would with their own.
_ROWS_PER_SET: Final = 8


class LineageSets:
    """Different lineages of some rows."""

    def __init__(self) -> None:
        self._words = 1
        self._most = _FEW
        self._table = SlotTable()
        self._sets = SlotArray(np.uint64, (1,))
        self.numbers(np.zeros((1, 1), np.uint64))

    def __len__(self) -> int:
        """How many there are, used or not."""
        return len(self._table)

    @property
    def array(self) -> Array:
        """uint64[capacity, W], by number."""
        return self._sets.array

    def numbers(self, lineage: Array) -> Array:
        """int64[n], the numbers of uint64[n, W]."""
        hashes = hash_lineages(lineage)
        out = found = self._claimed(lineage, hashes)
        rows = np.arange(len(lineage))
        while True:
            wrong = differing(self.array, found, lineage, rows)
            if not wrong.size:
                return out
            rows, hashes = rows[wrong], mix_all(hashes[wrong] + 1)
            found = self._claimed(lineage[rows], hashes)
            out[rows] = found

    def _claimed(self, lineage: Array, hashes: Array) -> Array:
        found, claims = self._table.find(hashes)
        self._sets.grow(self._table.end)
        self.array[found[claims]] = lineage[claims]
        return found

    def widen(self, words: int) -> None:
        """Widen lineages to this number of words."""
        old, kept = self._sets.held(), min(words, self._words)
        self._words = words
        self._sets = SlotArray(np.uint64, (words,))
        self._sets.grow(len(old))
        self.array[: len(old), :kept] = old[:, :kept]

    def with_bit(self, numbers: Array, bit: int, required: Array) -> Array:
        """int64[n]: the numbers after a query has been added to the lineages where bool[n]
        ``required``, and taken out of the others.
        """
        cases = 2 * numbers + required
        is_there = np.zeros(2 * self._table.end, np.bool_)
        is_there[cases] = True
        found = np.flatnonzero(is_there)
        sets, word, mask = self.array[found >> 1], bit >> 6, np.uint64(1 << (bit & 63))
        sets[:, word] = np.where(found & 1, sets[:, word] | mask, sets[:, word] & ~mask)
        changed = np.empty(is_there.size, np.int64)
        changed[found] = self.numbers(sets)
        out: Array = changed[cases]
        return out

    def required_by(self, numbers: Array, mask: Array) -> tuple[Array, Array]:
        """Which of some lineages (int64[n] numbers) have one of the queries in uint64[W] ``mask``,
        and uint64[k, W], their part of it.
        """
        sets = self.array[: self._table.end] & mask
        rows = np.flatnonzero(any_wanted(sets)[numbers])
        return rows, sets[numbers[rows]]

    def forget(self, numbers: Array) -> None:
        """If there may be many that are not among those of all rows, int64[n], remove these."""
        if len(self) <= self._most + numbers.size // _ROWS_PER_SET:
            return
        used = np.zeros(self._table.end, np.bool_)
        used[numbers] = used[EMPTY] = True
        self._table.release(np.flatnonzero(self._table.is_used() & ~used))
        self._most = 2 * len(self) + _FEW
