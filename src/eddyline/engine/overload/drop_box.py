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
from eddyline.kernels.hashing import below, below_each, fold_in, mix_all
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.keys import value_bits

_HASHES: Final = 1 << 64
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
            drawn: Array = below_each(self._hashes(columns), np.array(limits, np.uint64)[places])
            drawn |= rates == 1
            return drawn
        if self._limit == _HASHES:
            return np.ones(len(columns[0]), np.bool_)
        kept: Array = below(self._hashes(columns), np.uint64(self._limit))
        return kept

    def parts(self, drawn: Sequence[pa.Array]) -> Array:
        """int64[n], from 0 to 15: parts that rows are dealt to at random, whether they are kept or
        not; rows that are kept together are in one part.

        Args:
            drawn: the columns that decide, as of ``drawn_columns``.
        """
        parts: Array = mix_all(self._folded(drawn).view(np.int64)) & (_PARTS - 1)
        return parts

    def _hashes(self, columns: Sequence[pa.Array]) -> Array:
        self._hashed = self._hashed or drawn_columns([c.type for c in columns])
        return self._folded([columns[number] for number in self._hashed])

    def _folded(self, columns: Sequence[pa.Array]) -> Array:
        hashes = np.full(len(columns[0]), self._seed)
        for column in columns:
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
