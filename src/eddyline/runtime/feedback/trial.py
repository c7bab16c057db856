"""Whether it is of use to ask for rows before they are joined: ``feedback='auto'``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

#: Rows that are asked about until it is clear whether that is of use.
_TRIAL_ROWS: Final = 4_096
#: Share of the rows that must be spared for good.
_OF_USE: Final = 0.05
#: Rows that pass unasked before the next trial: so many at first, twice as many each time after.
_REST_ROWS: Final = 32 * _TRIAL_ROWS
_LONGEST_REST_ROWS: Final = 64 * _REST_ROWS


@dataclass
class Trial:
    """Counts what asking spares; between trials it sleeps.

    Attributes:
        asleep: nobody is asked for the time being.
        asked, refused, resumed: rows in this trial.
    """

    asleep: bool = False
    asked: int = 0
    refused: int = 0
    resumed: int = 0
    _passed: int = 0
    _rest: int = _REST_ROWS

    def spares_nothing(self) -> bool:
        """Whether the trial is over, and most rows that had to wait were wanted in the end."""
        if self.asked < _TRIAL_ROWS:
            return False
        is_of_use = self.refused - self.resumed >= _OF_USE * self.asked
        self.asked = self.refused = self.resumed = 0
        if is_of_use:
            self._rest = _REST_ROWS
        return not is_of_use

    def fall_asleep(self) -> None:
        """Ask nobody for a while."""
        self.asleep, self._passed = True, 0

    def let_pass(self, rows: int) -> bool:
        """So many rows were not asked about; whether it is time for another trial: it is awake."""
        self._passed += rows
        if self._passed < self._rest:
            return False
        self.asleep = False
        self._rest = min(2 * self._rest, _LONGEST_REST_ROWS)
        return True
