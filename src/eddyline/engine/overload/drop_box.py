"""Drop boxes: keep a share of the rows of a stream under overload.

Whether a row is kept depends only on its values, so a replay drops the same rows, for any division
into batches and on any machine. A hash of all columns, timestamp included, maps a row to [0, 1); it
is kept if the hash is below the keep rate. So the rows kept at 0.3 are among those kept at 0.5, and
rows that are equal in every column are kept or dropped together.

Source: Ayad and Naughton 2004, section 4: dropping rows at the sources suffices to approximate a
query (observations 2 and 3).
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

_HASHES: Final = 1 << 64


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
        self._seed = np.frombuffer(seed, "<i8")[0]
        self._limit = int(keep * _HASHES)

    def keeps(self, columns: Sequence[pa.Array]) -> Array:
        """Whether each row is kept.

        Args:
            columns: all columns of the stream, in their declared types.

        Returns:
            bool[n].
        """
        if self._limit == _HASHES:
            return np.ones(len(columns[0]), np.bool_)
        hashes = mix_all(group_hashes(columns) ^ self._seed).view(np.uint64)
        return hashes < np.uint64(self._limit)


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
