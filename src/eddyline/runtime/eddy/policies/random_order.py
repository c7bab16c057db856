"""A random order for each batch."""

from __future__ import annotations

import random
from collections.abc import Sequence

from eddyline.runtime.eddy.policies.base import Piece, Policy, Routable


class RandomPolicy(Policy):
    """Routing that learns nothing, for comparison.

    Source: Madden et al. 2002, section 4 ("random scheme"), there for each row.
    """

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)

    def routes(self, ready: Sequence[Routable], rows: int) -> list[Piece]:
        return [(rows, tuple(self._random.sample(ready, len(ready))))]
