"""Prefetching cache lines.

With windows of millions of rows every step along a chain is a cache miss. The steps of different
probes do not depend on each other, so they can wait for memory together: measured with a window of
1 M rows, a probe takes a quarter of the time.
"""

from __future__ import annotations

from typing import Any

from eddyline.kernels.deferred import Deferred

#: Number of steps to prefetch ahead.
AHEAD = 16


def _prefetch() -> Any:
    from eddyline.kernels.prefetch_code import PREFETCH  # imports Numba

    return PREFETCH


#: ``prefetch(array, row)`` fetches the line of ``array[row]`` or ``array[row, 0]``. Any row is
#: allowed: nothing is read.
prefetch: Any = Deferred(_prefetch)
