"""The continuous knapsack: windows of rows (section 4.2.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def fill(gains: Floats, costs: Floats, budget: float, floors: Floats) -> Floats:
    """Maximise ``gains @ x`` where ``costs @ x <= budget`` and ``floors <= x <= 1``.

    What gains most for its cost is kept wholly, and so on; one thing at most is kept in part.

    Args:
        gains, costs: at least 0, one per source.

    Returns:
        the floors if they cost more than the budget already.

    >>> fill(np.array([3.0, 1.0]), np.array([2.0, 2.0]), 3.0, np.zeros(2))
    array([1. , 0.5])
    """
    keep = floors.copy()
    left = budget - float(costs @ keep)
    free = costs <= 0
    keep[free] = 1.0
    ratios = np.divide(gains, costs, out=np.zeros_like(gains), where=~free)
    for source in np.argsort(-ratios, kind="stable"):
        if left <= 0:
            break
        if not free[source]:
            more = min(1.0 - keep[source], left / costs[source])
            keep[source] += more
            left -= more * costs[source]
    return keep
