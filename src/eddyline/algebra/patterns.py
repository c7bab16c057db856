"""Update patterns of continuous queries and how they propagate along a plan.

Source: Golab and Ozsu 2005, sections 3.1 and 5.2.
"""

from __future__ import annotations

from enum import IntEnum


class Pattern(IntEnum):
    """In which order the rows of an edge are deleted; a larger value is harder to maintain."""

    MONOTONIC = 0  #: append only: nothing is ever deleted
    WKS = 1  #: weakest non-monotonic: rows expire first in, first out
    WK = 2  #: weak: another order, but each row's expiry is known when it is made
    STR = 3  #: strict: some rows are taken back at unpredictable times, by negative tuples

    def __str__(self) -> str:
        return self.name
