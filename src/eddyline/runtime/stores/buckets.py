"""The table of a hash index: the newest row of each bucket."""

from __future__ import annotations

from typing import Final

import numpy as np

from eddyline.kernels import chains
from eddyline.runtime.stores.buffers import Buffer
from eddyline.runtime.stores.columns import Array

_LEAST_ROWS: Final = 32


class Buckets:
    """Heads of chains. From the time when it has fewer buckets than rows the table doubles, bucket
    by bucket, one for each row that is inserted.

    Args:
        count: how many buckets there are, a power of two.

    Attributes:
        table: the first arguments of kernels: heads, shift and split, see ``chains.bucket_of``.
        count: how many buckets there are, split ones counted as one.
        least, most: nothing is to be done to the table while it has such numbers of rows.
    """

    table: tuple[Array, int, int | None]

    def __init__(self, count: int) -> None:
        self.renew(count)

    def renew(self, count: int) -> None:
        """A table of ``count`` empty buckets."""
        self._heads = Buffer(count, np.int64, scattered=True)
        self._heads.array.fill(chains.NOTHING)
        self.count = count
        self._split = count  # buckets from this one on are split
        self._show()

    def _show(self) -> None:
        is_whole = self._split == self.count
        split = None if is_whole else self._split
        self.least = 0 if self.count <= 16 * _LEAST_ROWS else self.count // 16
        self.most = self.count if is_whole else -1
        self.table = self._heads.array, self._shift, split

    @property
    def _shift(self) -> int:
        return 65 - self.count.bit_length()

    def clear(self) -> None:
        """Empty all buckets."""
        self._heads.array.fill(chains.NOTHING)

    def renew_for(self, rows: int) -> None:
        """An empty table with room for ``rows``."""
        self.renew(1 << (2 * max(rows, _LEAST_ROWS) - 1).bit_length())

    def fit(self, rows: int) -> bool:
        """Whether the table is neither too small nor too large for ``rows``."""
        return self.count // 16 <= max(rows, _LEAST_ROWS) <= 4 * self.count

    def split(self, rows: int, new: int, nodes: Array, base: int, first: int) -> bool:
        """Go on doubling the table, if there are too many rows for it.

        Args:
            rows: how many rows there are. new: how many of them have just come.
            nodes, base, first: see ``chains.py``.

        Returns:
            Whether rows are in other buckets now.
        """
        if self._split == self.count:
            if rows <= self.count:
                return False
            self._heads.shift(0, self.count, 2 * self.count)
        self._split = chains.split_buckets(
            self._heads.array, self._shift, self._split, nodes, base, first, new
        )
        if self._split == 0:
            self.count *= 2
            self._split = self.count
        self._show()
        return new > 0
