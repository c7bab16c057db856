"""Drop boxes: keep a share of the rows of a stream when the load is above the capacity.

Whether a row is kept depends on its values only, so a replay drops the same rows, in whatever
batches and on whatever machine. A hash of all columns, timestamp included, maps a row to [0, 1); it
is kept if that is below the rate. So the rows kept at 0.3 are among those kept at 0.5, and rows
that are equal in every column are kept or dropped together.

Source: Ayad and Naughton 2004, section 4: to approximate a query it is enough to drop rows at the
sources (observations 2 and 3).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.kernels.hashing import mix_all
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.keys import group_hashes

_PLACES: Final = 1 << 64


class DropBox:
    """Keeps a share of the rows of a stream.

    Args:
        stream: its name is the seed of the hash, so that a pair of equal rows of two streams is
        kept
            with the product of the rates.
        keep: the share, in (0, 1]; 1 keeps all.
    """

    def __init__(self, stream: str, keep: float) -> None:
        check_rates({stream: keep})
        seed = hashlib.blake2b(stream.lower().encode(), digest_size=8).digest()
        self.keep = keep
        self._seed = np.frombuffer(seed, "<i8")[0]
        self._limit = int(keep * _PLACES)

    def keeps(self, columns: Sequence[pa.Array]) -> Array:
        """Which rows are kept.

        Args:
            columns: all columns of the stream, in their declared types.

        Returns:
            bool[n].
        """
        if self._limit == _PLACES:
            return np.ones(len(columns[0]), np.bool_)
        places = mix_all(group_hashes(columns) ^ self._seed).view(np.uint64)
        return places < np.uint64(self._limit)


def check_rates(keep: Mapping[str, float]) -> None:
    """Check shares.

    Raises:
        ValueError: one is not in (0, 1].
    """
    for stream, share in keep.items():
        if not 0 < share <= 1:
            raise ValueError(
                f"the share of {stream} to keep must be above 0 and at most 1, not {share}"
            )
