"""Back-pressure: fast operators first."""

from __future__ import annotations

from collections.abc import Sequence

from eddyline.runtime.eddy.policies.accounts import Accounts, Visit
from eddyline.runtime.eddy.policies.base import Piece, Policy, Routable


class BackPressurePolicy(Policy):
    """Orders operators by the measured seconds per row, slow ones last.

    In the paper, operators have input queues of bounded length and those of slow operators are
    full: most rows go to fast operators first and many never reach the slow ones. Here the speeds
    that make queues fill are compared themselves.

    Source: Madden et al. 2002, section 3 ("back-pressure").
    """

    def __init__(self) -> None:
        self._accounts = Accounts()
        self._rows = 0

    def routes(self, ready: Sequence[Routable], rows: int) -> list[Piece]:
        self._accounts.meet(ready, rows)
        self._rows = rows
        return [(rows, tuple(sorted(ready, key=self._accounts.seconds_per_row)))]

    def observe(self, operator: Routable, visited: int, returned: int, seconds: float) -> None:
        self._accounts.book(self._rows, Visit(operator, visited, returned, seconds))
