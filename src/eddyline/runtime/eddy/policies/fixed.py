"""The order in which the operators are given: a static plan."""

from __future__ import annotations

from collections.abc import Sequence

from eddyline.runtime.eddy.policies.base import Piece, Policy, Routable


class FixedPolicy(Policy):
    """All rows, in the order given; the yardstick for the others."""

    def routes(self, ready: Sequence[Routable], rows: int) -> list[Piece]:
        return [(rows, tuple(ready))]
