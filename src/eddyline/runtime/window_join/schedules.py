"""Schedules of a shared window join: which results come first.

New rows are joined with the windows slice by slice, from the newest rows of the other stream to the
oldest. The windows at the ends of slices are the *window classes*; the rows that are to be joined
with a slice are in its scheduling queue. A schedule chooses the queue that is served next.

Source: Hammad et al. 2003, section 3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, Protocol

import numpy as np

from eddyline.runtime.stores.columns import Array
from eddyline.types import FOREVER

ScheduleName = Literal["lwo", "swf", "greedy"]

#: Where there are more windows than this, similar ones share a class.
MAX_CLASSES: Final = 32

ROWS_PER_STEP: Final = 4_096

#: Minimum ratio of a window class to the one below: what both find is put together twice.
_APART: Final = 16

#: Of the distinct lengths of windows, ascending, those that are window classes (numbers).
Classes = Callable[[Array], Array]


class Schedule(Protocol):
    """Which queue is served next.

    Attributes:
        rows_per_step: maximum number of rows joined with a slice at a time.
        releases_early: whether a query may get results of a row before all of its window has been
            scanned, if those are certainly its next ones.
        joins_classes: whether rows that are alone may be joined with all windows in one step.
    """

    rows_per_step: int
    releases_early: bool
    joins_classes: bool

    def classes(self, lengths: Array) -> Array:
        """int64[r], ascending: the windows (numbers into ``lengths``, which ascend) that are window
        classes, always including the last.
        """

    def next(self, waiting: Array, sizes: Array) -> int:
        """The class to serve.

        Args:
            waiting: bool[r], which queues hold rows; at least one.
            sizes: float64[r], how much longer each class is than the one below.
        """


class LargestWindowOnly:
    """LWO: a row is joined with the whole of the largest window before the next one is."""

    releases_early = False
    joins_classes = False

    def __init__(self, rows_per_step: int) -> None:
        self.rows_per_step = rows_per_step

    def classes(self, lengths: Array) -> Array:
        return np.array([lengths.size - 1], np.int64)

    def next(self, waiting: Array, sizes: Array) -> int:
        return 0


class SmallestWindowFirst:
    """SWF: no row is joined with a larger window while another is queued for a smaller one."""

    releases_early = False
    joins_classes = False

    def __init__(self, rows_per_step: int) -> None:
        self.rows_per_step = rows_per_step

    def classes(self, lengths: Array) -> Array:
        return spread(lengths)

    def next(self, waiting: Array, sizes: Array) -> int:
        return int(waiting.argmax())


class Greedy:
    """The smallest slice first, whatever its window."""

    releases_early = True
    joins_classes = True

    def __init__(self, rows_per_step: int, classes: Classes) -> None:
        self.rows_per_step = rows_per_step
        self._classes = classes
        self._sizes: Array | None = None
        self._order = np.zeros(0, np.int64)  # of classes, the smallest slice first

    def classes(self, lengths: Array) -> Array:
        return self._classes(lengths)

    def next(self, waiting: Array, sizes: Array) -> int:
        if sizes is not self._sizes:
            self._sizes, self._order = sizes, np.argsort(sizes, kind="stable")
        return int(self._order[waiting[self._order].argmax()])


def spread(lengths: Array, most: int = MAX_CLASSES) -> Array:
    """At most ``most`` of the windows: all, or those at ends of equal ratios."""
    if lengths.size <= most:
        return np.arange(lengths.size)
    finite = lengths[lengths < FOREVER]
    ends = np.geomspace(max(int(finite[0]), 1), int(finite[-1]), most - 1)
    chosen = np.minimum(np.searchsorted(finite, ends), finite.size - 1)
    return np.unique(np.append(chosen, lengths.size - 1))


def apart(lengths: Array) -> Array:
    """Windows that differ by much: from the largest down, the next that is a small part of it.

    >>> apart(np.array([1, 5, 15, 30, 60, 300, 600]))
    array([0, 3, 6])
    """
    chosen = [lengths.size - 1]
    while (below := np.searchsorted(lengths, lengths[chosen[-1]] // _APART, "right")) > 0:
        chosen.append(int(below) - 1)
    return np.array(chosen[::-1], np.int64)


def make_schedule(
    name: ScheduleName, rows_per_step: int = ROWS_PER_STEP, classes: Classes = spread
) -> Schedule:
    """The schedule of this name; ``classes``: the window classes of Greedy."""
    match name:
        case "lwo":
            return LargestWindowOnly(rows_per_step)
        case "swf":
            return SmallestWindowFirst(rows_per_step)
        case "greedy":
            return Greedy(rows_per_step, classes)
