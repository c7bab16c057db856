"""How many rows a join has had, and which of them feedback withheld from it.

With feedback a join makes fewer results than its inputs have pairs, and the joins above get fewer
rows, each of which has matches there. What a join would make without feedback follows from the
share of rows that its gates admit; by that, orders of joins can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from math import log1p
from typing import Any, NamedTuple

#: Logarithm of the share of rows that pass where none has passed yet.
_LEAST_LOG = -20.0


class InputCounts(NamedTuple):
    """Rows of an input of a join.

    Attributes:
        came: all rows. visible: those that have been joined.
        withheld: the others, by the number of joins between this one and the one that requires the
            match that they lack; empty: not known, so of the next one.
    """

    came: int
    visible: int
    withheld: tuple[int, ...] = ()

    def since(self, before: InputCounts) -> InputCounts:
        """The rows since there were as many as ``before``."""
        withheld = zip_longest(self.withheld, before.withheld, fillvalue=0)
        return InputCounts(
            self.came - before.came,
            self.visible - before.visible,
            tuple(now - then for now, then in withheld),
        )

    def admitted(self, between: int) -> float:
        """The share of rows not suspended for joins with at least as many joins ``between``."""
        if self.came <= 0 or self.visible >= self.came:
            return 1.0
        share = max(self.visible, 1 / 2) / self.came
        logs, left = [], float(self.came)  # a row is suspended for the first match that it lacks
        for withheld in self.withheld:
            rows = max(withheld, 0)  # more may have been released than suspended since then
            logs.append(log1p(-rows / left) if rows < left else _LEAST_LOG)
            left = max(left - rows, 1 / 2)
        if not any(logs):
            return share if between == 0 else 1.0
        return float(share ** (sum(logs[between:]) / sum(logs)))


class JoinCounts(NamedTuple):
    """Rows of the two inputs of a join, and its results, also those of pairs that it spared."""

    left: InputCounts
    right: InputCounts
    results: int

    @property
    def rows(self) -> int:
        """Rows of both inputs, suspended or not."""
        return self.left.came + self.right.came

    def since(self, before: JoinCounts) -> JoinCounts:
        """The rows and results since there were as many as ``before``."""
        left, right = self.left.since(before.left), self.right.since(before.right)
        return JoinCounts(left, right, self.results - before.results)

    def admitted(self, between: int) -> float:
        """The share of pairs of rows not suspended for joins with as many joins ``between``."""
        return self.left.admitted(between) * self.right.admitted(between)


#: A join without rows.
NO_ROWS = JoinCounts(InputCounts(0, 0), InputCounts(0, 0), 0)


def counts_from(saved: Sequence[Any]) -> JoinCounts:
    """The counts that JSON gives back as lists."""
    *inputs, results = saved
    left, right = (
        InputCounts(came, visible, tuple(withheld)) for came, visible, withheld in inputs
    )
    return JoinCounts(left, right, results)
