"""Drop boxes: keep a share of the rows of a stream under overload.

Whether a row is kept depends only on its values, so a replay drops the same rows, for any division
into batches and on any machine. A hash of a few columns maps a row to [0, 1); it is kept if the
hash is below the keep rate. So the rows kept at 0.3 are among those kept at 0.5, and rows that are
equal in these columns are kept or dropped together. More columns would not spread rows better, and
to hash a text costs as much as a simple query does with the row.

Source: Ayad and Naughton 2004, section 4: dropping rows at the sources suffices to approximate a
query (observations 2 and 3).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.algebra.drawn_columns import drawn_columns
from eddyline.kernels.hashing import (
    below,
    below_each,
    fold_in,
    fold_in_doubles,
    mix_all,
    places_below,
)
from eddyline.runtime.stores.columns import Array, raw_values
from eddyline.runtime.stores.keys import value_bits
from eddyline.types import TIMESTAMP

_HASHES: Final = 1 << 64
_INT64: Final = np.dtype(np.int64)
_DOUBLE: Final = np.dtype(np.float64)
#: Types whose 64 bits are what is hashed.
_AS_THEY_ARE: Final = (TIMESTAMP, pa.int64(), pa.duration("us"))
#: Parts that rows are dealt to by the lowest bits of their hashes.
_PARTS: Final = 16


class DropBox:
    """Keeps a share of the rows of a stream.

    Args:
        stream: its name is the seed of the hash, so that pairs of equal rows of two streams are
            kept with the product of their keep rates.
        keep: the keep rate, in (0, 1]; 1 keeps all rows.
    """

    def __init__(self, stream: str, keep: float) -> None:
        check_rates({stream: keep})
        seed = hashlib.blake2b(stream.lower().encode(), digest_size=8).digest()
        self.keep = keep
        self._seed = np.frombuffer(seed, "<u8")[0]
        self._limit = int(keep * _HASHES)
        self._hashed: list[int] = []

    def keeps(self, columns: Sequence[pa.Array], rates: Array | None = None) -> Array:
        """Whether each row is kept.

        Args:
            columns: all columns of the stream, in their declared types, which are the same in each
                call; see ``drawn_columns``.
            rates: float64[n], the keep rates of rows; None: that of the box.

        Returns:
            bool[n].
        """
        if rates is not None and (rates != self.keep).any():
            known, places = np.unique(rates, return_inverse=True)
            limits = [min(int(rate * _HASHES), _HASHES - 1) for rate in known.tolist()]
            drawn: Array = below_each(self.hashes(columns), np.array(limits, np.uint64)[places])
            drawn |= rates == 1
            return drawn
        if self._limit == _HASHES:
            return np.ones(len(columns[0]), np.bool_)
        kept: Array = below(self.hashes(columns), np.uint64(self._limit))
        return kept

    def places(self, columns: Sequence[pa.Array]) -> Array:
        """int64[k]: the numbers of the rows that are kept; for ``columns`` see :meth:`keeps`."""
        if self._limit == _HASHES:
            return np.arange(len(columns[0]))
        kept: Array = places_below(self.hashes(columns), np.uint64(self._limit))
        return kept

    def draws(self, hashes: Array, rate: float) -> Array:
        """bool[n]: whether rows with these ``hashes`` are kept at another rate than the box has."""
        if rate == 1:
            return np.ones(hashes.size, np.bool_)
        kept: Array = below(hashes, np.uint64(int(rate * _HASHES)))
        return kept

    def parts(self, drawn: Sequence[pa.Array]) -> Array:
        """int64[n], from 0 to 15: parts that rows are dealt to at random, whether they are kept or
        not; rows that are kept together are in one part.

        Args:
            drawn: the columns that decide, as of ``drawn_columns``.
        """
        parts: Array = mix_all(self._folded(drawn).view(np.int64)) & (_PARTS - 1)
        return parts

    def hashes(self, columns: Sequence[pa.Array]) -> Array:
        """uint64[n], of the columns that decide; for ``columns`` see :meth:`keeps`."""
        self._hashed = self._hashed or drawn_columns([c.type for c in columns])
        return self._folded([columns[number] for number in self._hashed])

    def _folded(self, columns: Sequence[pa.Array]) -> Array:
        hashes = np.full(len(columns[0]), self._seed)
        for column in columns:
            type_, known = column.type, column.null_count == 0
            if known and type_ in _AS_THEY_ARE:
                fold_in(hashes, raw_values(column, _INT64))
            elif known and pa.types.is_float64(type_):
                fold_in_doubles(hashes, raw_values(column, _DOUBLE), raw_values(column, _INT64))
            else:
                fold_in(hashes, value_bits(column))
        return hashes


def check_rates(keep: Mapping[str, float]) -> None:
    """Check keep rates.

    Raises:
        ValueError: a rate is not in (0, 1].
    """
    for stream, share in keep.items():
        if not 0 < share <= 1:
            raise ValueError(
                f"the share of {stream} to keep must be above 0 and at most 1, not {share}"
            )
