"""The order in which the operators are given: a static plan."""

from __future__ import annotations

from collections.abc import Sequence

from eddyline.runtime.eddy.policies.base import Piece, Policy, Routable


class FixedPolicy(Policy):
    """All rows in the given order, for comparison."""

    def routes(self, ready: Sequence[Routable], rows: int) -> list[Piece]:
        return [(rows, tuple(ready))]
