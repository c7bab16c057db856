"""Queries whose rows keep failing: when such a query is set aside.

A bad row is no reason to stop a query: its other rows are fine. A query of which nothing else comes
is broken, costs time, and fills the side output. It is set aside: it no longer runs, and says why.
"""

from __future__ import annotations

from dataclasses import dataclass

#: A query is set aside only if its bad rows are at least this share of the rows of its streams.
_LEAST_SHARE = 0.1


@dataclass
class Trouble:
    """The bad rows of a query.

    Attributes:
        total: since it was added. in_a_row: since its last result.
        results: that it had at that time. seen: rows that its streams had brought.
    """

    total: int = 0
    in_a_row: int = 0
    results: int = 0
    seen: int = 0

    def add(self, bad: int, results: int, seen: int) -> None:
        """A chunk brought bad rows.

        Args:
            results: of the query so far. seen: rows of its streams so far.
        """
        self.total += bad
        if results > self.results:
            self.in_a_row, self.results, self.seen = 0, results, seen
        else:
            self.in_a_row += bad

    def is_lasting(self, limit: int | None, seen: int) -> bool:
        """Whether nothing but bad rows has come for too long.

        Args:
            limit: so many bad rows without a result are too many; None: no number is.
        """
        if limit is None or self.in_a_row < limit:
            return False
        return self.in_a_row >= _LEAST_SHARE * (seen - self.seen)

    def saved(self) -> list[int]:
        """For JSON: what ``Trouble(*...)`` takes."""
        return [self.total, self.in_a_row, self.results, self.seen]
