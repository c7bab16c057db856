"""The interface of a shared window join to the driver.

Each of the paper's tuples is a *unit* here: a block of rows of one stream and instant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

LWO: Final = "LWO"
SWF: Final = "SWF"
GREEDY: Final = "Greedy"
STATE_SLICE: Final = "state-slice"
#: The paper's three, and state-slice sharing (Wang et al., VLDB 2006).
STRATEGIES: Final = (LWO, SWF, GREEDY, STATE_SLICE)

#: Table 1: the windows of the seven queries, in seconds.
TABLE_1: Final = {
    "Uniform": (1, 100, 200, 300, 400, 500, 600),
    "Mostly-Small": (1, 5, 15, 30, 60, 300, 600),
    "Mostly-Large": (1, 60, 300, 420, 510, 570, 600),
    "Small-Large": (1, 5, 15, 300, 510, 570, 600),
}


@dataclass(frozen=True, slots=True)
class BlockRelease:
    """Results that the queries of one window got.

    Attributes:
        level: which window, counted from the smallest.
        first: the first of the units whose results these are.
        results: how many results, by unit from ``first`` on.
    """

    level: int
    first: int
    results: Sequence[int]


class Server(Protocol):
    """A shared window join that works piece by piece."""

    @property
    def waiting(self) -> bool:
        """Whether there is work."""

    @property
    def input_rows(self) -> int:
        """Rows that have not been joined with the whole largest window yet."""

    @property
    def output_rows(self) -> int:
        """Results that have been found and are held back."""

    @property
    def join_rows(self) -> int:
        """Rows in the join buffers of both streams."""

    @property
    def scanned(self) -> float:
        """How much has been scanned so far, in largest windows."""

    def arrive(self, unit: int) -> None:
        """Put a new unit into its join buffer and into the queue."""

    def step(self) -> Sequence[BlockRelease]:
        """Do the next piece of work of the schedule."""
