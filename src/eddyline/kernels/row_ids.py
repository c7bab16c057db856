"""Where rows are whose ids ascend by place, with gaps up to some row and without from there on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eddyline.kernels.options import kernel

#: Rows of a bucket of ids, on average at most.
_ROWS = 4


class Directory(NamedTuple):
    """The places of rows by buckets of their ids.

    Attributes:
        starts: int64[b + 1], the place of the first row of each bucket, and the end of the last.
        first: the least id of the first bucket. shift: a bucket has ``2**shift`` ids.
        rest: ids from this one on are of the rows behind those, without gaps.
        moved: by how much places are less now.
    """

    starts: np.ndarray
    first: int
    shift: int
    rest: int
    moved: int = 0


NO_ROWS = Directory(np.zeros(1, np.int64), 0, 0, 0)


def directory_of(ids: np.ndarray, rest: int) -> Directory:
    """Of rows with ascending ids, int64[n], at places from 0 on; later ids begin at ``rest``."""
    if not ids.size:
        return NO_ROWS._replace(rest=rest)
    first = int(ids[0])
    width = (int(ids[-1]) - first + 1) * _ROWS // ids.size
    shift = max(width.bit_length() - 1, 0)
    return Directory(_starts(ids, shift), first, shift, rest)


@kernel
def _starts(ids: np.ndarray, shift: int) -> np.ndarray:
    out = np.empty(((ids[-1] - ids[0]) >> shift) + 2, np.int64)
    bucket = 0
    for i in range(ids.size):
        own = (ids[i] - ids[0]) >> shift
        while bucket <= own:
            out[bucket] = i
            bucket += 1
    out[bucket] = ids.size
    return out


@kernel
def places_of(
    wanted: np.ndarray,
    ids: np.ndarray,
    starts: np.ndarray,
    first: int,
    shift: int,
    rest: int,
    moved: int,
) -> np.ndarray:
    """int64[n]: the places of the rows with these ids; any place for an id that no row has.

    Args:
        ids: by place. starts, ...: as of ``Directory``.
    """
    out = np.empty(wanted.size, np.int64)
    buckets = starts.size - 1
    end = starts[buckets] - moved
    for i in range(wanted.size):
        row = wanted[i]
        if row >= rest:
            out[i] = end + row - rest
            continue
        bucket = min(max((row - first) >> shift, 0), buckets - 1)
        low, high = max(starts[bucket] - moved, 0), max(starts[bucket + 1] - moved, 0)
        while high - low > 1:
            middle = (low + high) >> 1
            if ids[middle] <= row:
                low = middle
            else:
                high = middle
        out[i] = low
    return out
