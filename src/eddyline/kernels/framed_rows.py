"""What ``kernels/ordered_frames.py`` computes from, and what it finds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eddyline.kernels.heaps import NO_NODE, Values, precedes
from eddyline.kernels.options import bare
from eddyline.kernels.treaps import LEFT, RIGHT

#: What bounds of frames count: rows, values, or groups of rows that tie.
ROWS, RANGE, GROUPS = range(3)
#: Which rows around the current one frames leave out.
NONE, CURRENT, GROUP, TIES = range(4)
#: In place of the number of a bound: the value of a row itself.
OWN = -1
#: In place of a frame: a row has left, by a '-', or by its expiry.
TAKEN_BACK, EXPIRED = -2, -1


class Bounds(NamedTuple):
    """The bounds of frames, arrays by frame.

    Attributes:
        unit: int64, see above. start, end: int64, in ROWS and GROUPS how far behind the current row
            they are, negative before it. begins, ends: bool; where not, that is the first or the
            last row of the partition.
        low, high: int64, which of the bounds of rows those of RANGE are; OWN: the value of the row.
        exclude: int64, see above.
    """

    unit: np.ndarray
    start: np.ndarray
    end: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    low: np.ndarray
    high: np.ndarray
    exclude: np.ndarray


class Cursors(NamedTuple):
    """Which rows aggregates have: those of a part of each partition, by frame.

    Attributes:
        inside: bool[rows, f]. ends: int64[partitions, f, 2], the first and the last of them, or
            NO_NODE.
        values: of ORDER BY and of bounds, by number, as of ``precedes``.
    """

    inside: np.ndarray
    ends: np.ndarray
    values: Values


#: A row that enters or leaves an aggregate, or none (NO_NODE); behind it a value may be emitted.
MOVE = np.dtype(
    [
        ("frame", np.int64),
        ("slot", np.int64),
        ("row", np.int64),
        ("sign", np.int8),
        ("emit", np.bool_),
    ],
    align=True,
)
#: A row, the last event of the instant, and which emission of a frame has its value; or, with the
#: event, that it has left.
FOUND = np.dtype(
    [("frame", np.int64), ("row", np.int64), ("event", np.int64), ("emission", np.int64)],
    align=True,
)


@bare
def bound(r: int, which: int, rows: np.ndarray, arguments: np.ndarray) -> int:
    """The number of the value of a row, or of one of its bounds."""
    return rows[r].peer if which == OWN else arguments[r, which]


@bare
def is_before(value: int, other: int, values: Values) -> bool:
    """Whether a value is before another."""
    return value != other and precedes(value, other, False, values)


@bare
def first_from(
    root: int,
    value: int,
    which: int,
    rows: np.ndarray,
    arguments: np.ndarray,
    links: np.ndarray,
    values: Values,
) -> int:
    """The first row below a root of which a bound is not before a value; NO_NODE without one."""
    found, c = NO_NODE, root
    while c != NO_NODE:
        own = bound(c, which, rows, arguments)
        if is_before(own, value, values):
            c = links[c, RIGHT]
        else:
            found = c
            c = links[c, LEFT]
    return found


@bare
def last_to(
    root: int,
    value: int,
    which: int,
    rows: np.ndarray,
    arguments: np.ndarray,
    links: np.ndarray,
    values: Values,
) -> int:
    """The last row below a root of which a bound is not behind a value; NO_NODE without one."""
    found, c = NO_NODE, root
    while c != NO_NODE:
        own = bound(c, which, rows, arguments)
        if is_before(value, own, values):
            c = links[c, LEFT]
        else:
            found = c
            c = links[c, RIGHT]
    return found
