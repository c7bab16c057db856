"""The work of scheduled joins, in counts: the same whenever the same rows are joined."""

from __future__ import annotations

from typing import NamedTuple


class JoinedWork(NamedTuple):
    """Counts of steps.

    Attributes:
        steps: of the schedule.
        probes: rows that were joined with a slice, once for each slice.
        pairs: rows with an equal key that probes have visited; without keys, all rows.
        results: pairs, and retracted pairs, that were released.
    """

    steps: int = 0
    probes: int = 0
    pairs: int = 0
    results: int = 0

    def __sub__(self, before: JoinedWork) -> JoinedWork:
        """The work since ``before``."""
        return JoinedWork(*(n - m for n, m in zip(self, before, strict=True)))

    def plus(self, more: JoinedWork) -> JoinedWork:
        """The sum of the counts."""
        return JoinedWork(*(n + m for n, m in zip(self, more, strict=True)))

    @property
    def as_results(self) -> float:
        """About the number of results that cost as much, without the steps."""
        return self.probes + self.pairs / 4 + self.results
