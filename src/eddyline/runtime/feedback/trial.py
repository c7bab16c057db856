"""Trials: whether probing for matches is useful."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

#: Number of rows probed for in a trial.
_TRIAL_ROWS: Final = 4_096
#: Minimum share of rows that stay suspended for good.
_OF_USE: Final = 0.05
#: Number of rows that pass unprobed before the next trial; it doubles after each failure.
_REST_ROWS: Final = 32 * _TRIAL_ROWS
_LONGEST_REST_ROWS: Final = 64 * _REST_ROWS


@dataclass
class Trial:
    """Whether probing for matches is useful (``feedback='auto'``): counts how many rows it spares;
    between trials rows pass unprobed.

    Attributes:
        asleep: rows pass unprobed.
        asked, refused, resumed: number of rows probed for, suspended and released in this trial.
    """

    asleep: bool = False
    asked: int = 0
    refused: int = 0
    resumed: int = 0
    _passed: int = 0
    _rest: int = _REST_ROWS

    def spares_nothing(self) -> bool:
        """Whether the trial is over, and almost all suspended rows were required in the end."""
        if self.asked < _TRIAL_ROWS:
            return False
        is_of_use = self.refused - self.resumed >= _OF_USE * self.asked
        self.asked = self.refused = self.resumed = 0
        if is_of_use:
            self._rest = _REST_ROWS
        return not is_of_use

    def fall_asleep(self) -> None:
        """Let rows pass unprobed for a while."""
        self.asleep, self._passed = True, 0

    def let_pass(self, rows: int) -> bool:
        """Count rows that passed unprobed; returns whether another trial begins."""
        self._passed += rows
        if self._passed < self._rest:
            return False
        self.asleep = False
        self._rest = min(2 * self._rest, _LONGEST_REST_ROWS)
        return True
