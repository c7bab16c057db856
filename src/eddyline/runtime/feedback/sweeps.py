"""When the visible rows of an input are judged again: their last match may have expired."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

#: Minimum number of rows that come between two sweeps.
_LEAST_ROWS: Final = 1_024
#: Minimum share of visible rows that are suspended by a sweep that is of use.
_OF_USE: Final = 0.05
#: Maximum factor by which useless sweeps become rarer.
_RAREST: Final = 64


@dataclass
class Sweeps:
    """Counts rows until the next sweep. A sweep looks at every visible row, so as many rows as are
    visible come before the next one; twice as many after each that was of no use.

    Attributes:
        returned: number of rows suspended by sweeps.
    """

    returned: int = 0
    _came: int = 0
    _until: int = _LEAST_ROWS
    _factor: int = 1

    def count(self, rows: int) -> bool:
        """Count new rows of the input; returns whether a sweep is due before they are judged."""
        self._came += rows
        return self._came >= self._until

    def done(self, visible: int, returned: int) -> None:
        """Note a sweep: the numbers of rows that it looked at, and of those that it suspended."""
        self.returned += returned
        is_of_use = returned >= _OF_USE * visible
        self._factor = 1 if is_of_use else min(2 * self._factor, _RAREST)
        self._came, self._until = 0, max(self._factor * (visible - returned), _LEAST_ROWS)
