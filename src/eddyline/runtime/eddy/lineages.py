"""Numbers of lineages: of the different sets of queries that accept a row.

For queries that are *dormant* a row has the number of its lineage, and no recipients.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from eddyline.kernels.hashing import mix_all
from eddyline.kernels.lineage_sums import differing, lineage_hashes
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.slots import SlotTable

#: The number of no lineage.
NONE = -1


class Lineages:
    """The lineages of a reader's queries.

    Attributes:
        bit_of: by what rows qualify, the query that is listed for it.
        mask: uint64[W], these queries. changes: how often they may have changed.
    """

    def __init__(self) -> None:
        self.bit_of: dict[object, int] = {}
        self._dormant: dict[object, None] = {}  # what rows qualify for queries that are dormant
        self._dormant_mask: Array | None = None  # None: not computed
        self.mask = np.zeros(1, np.uint64)
        self.changes = 0
        self._boxed = self.mask
        self._numbers = SlotTable()
        self._words = np.zeros((0, 1), np.uint64)

    def __len__(self) -> int:
        """How many lineages there have been."""
        return self._numbers.end

    def clear(self) -> None:
        """Forget all lineages: numbers are given anew."""
        self._numbers = SlotTable()

    def fit(self, bit_of: Mapping[object, int], words: int) -> None:
        """Number the lineages of these queries from now on."""
        self.bit_of = dict(bit_of)
        self._dormant = {a: None for a in self._dormant if a in self.bit_of}
        self._dormant_mask = None
        self.mask = _mask(self.bit_of.values(), words)
        self._boxed = np.zeros(words, np.uint64)
        self._make_room(0, words)
        self.changes += 1

    def leave_out(self, boxed: Array) -> None:
        """Number the lineages without these queries (uint64[W]): boxes find their rows."""
        if (self._boxed != boxed).any():
            self._boxed, self._dormant_mask = boxed, None
            self.changes += 1

    def bit(self, accepts: object) -> int | None:
        """The query that is listed for those with these rows; None: no lineage has it."""
        bit = self.bit_of.get(accepts)
        if bit is None or self._boxed[bit >> 6] >> np.uint64(bit & 63) & np.uint64(1):
            return None
        return bit

    def let(self, accepts: Iterable[object], *, be_dormant: bool) -> None:
        """Let the queries for which these rows qualify be dormant, or not any more."""
        for rows in accepts:
            if be_dormant:
                self._dormant[rows] = None
            else:
                self._dormant.pop(rows, None)
        self._dormant_mask = None

    @property
    def dormant_mask(self) -> Array:
        """uint64[W], the queries that are dormant."""
        if self._dormant_mask is None:
            bits = [self.bit_of[a] for a in self._dormant]
            self._dormant_mask = _mask(bits, self.mask.size) & ~self._boxed
        return self._dormant_mask

    def number(self, lineage: Array) -> Array:
        """int64[n]: the numbers of the lineages of rows (uint64[n, W]), or NONE."""
        mask = self.mask & ~self._boxed
        out = np.full(len(lineage), NONE)
        rows, hashes = lineage_hashes(lineage, mask)
        while rows.size:
            found, claims = self._numbers.find(hashes)
            if claims.size:
                self._store(found[claims], lineage[rows[claims]] & mask)
            out[rows] = found
            wrong = differing(lineage, mask, rows, found, self._words)
            rows, hashes = rows[wrong], mix_all(hashes[wrong] + 1)
        return out

    def _store(self, numbers: Array, words: Array) -> None:
        self._make_room(self._numbers.end, words.shape[1])
        self._words[numbers] = 0
        self._words[numbers, : words.shape[1]] = words

    def _make_room(self, end: int, words: int) -> None:
        has = self._words.shape
        if end > has[0] or words > has[1]:
            larger = np.zeros((max(has[0], 2 * end), max(has[1], words)), np.uint64)
            larger[: has[0], : has[1]] = self._words
            self._words = larger

    def having(self, bits: Array) -> Array:
        """bool[queries, lineages]: whether a lineage has a query, of int64[queries]."""
        words, end = self._words, self._numbers.end
        word = bits >> 6
        known = word < words.shape[1]
        of = words[:end, np.where(known, word, 0)] >> (bits & 63).astype(np.uint64)
        found: Array = ((of & np.uint64(1)) != 0) & known
        return found.T


def _mask(bits: Iterable[int], words: int) -> Array:
    required = np.zeros(64 * words, np.bool_)
    required[list(bits)] = True
    return np.packbits(required, bitorder="little").view(np.uint64)
