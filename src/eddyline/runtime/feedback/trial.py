"""Trials: whether probing for matches is useful."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Final

#: Number of rows probed for in a trial.
TRIAL_ROWS: Final = 4_096
#: Minimum share of rows that stay suspended for good.
_OF_USE: Final = 0.05
#: What it costs to probe for a match of a row, and to make a pair of rows and join it further up,
#: as multiples of what it costs to join a row without partners: measured, docs/decisions/0125.
_PROBE_COST: Final = 2.0
_PAIR_COST: Final = 1.0
#: Number of rows that pass unprobed before the next trial; it doubles after each failure.
_REST_ROWS: Final = 32 * TRIAL_ROWS
_LONGEST_REST_ROWS: Final = 64 * _REST_ROWS


def very_many() -> float:
    """The number of pairs where it is not known: probing is judged by the rows that it spares."""
    return inf


@dataclass
class Trial:
    """Whether probing for matches is useful (``feedback='auto'``): compares what the rows that it
    spares would have cost with what the probes cost; between trials rows pass unprobed.

    Attributes:
        pairs: gives how many pairs a row would have been in when it came, if it had been joined.
        asleep: rows pass unprobed.
        asked, refused, resumed: number of rows probed for, suspended and released in this trial.
    """

    pairs: Callable[[], float] = very_many
    asleep: bool = False
    asked: int = 0
    refused: int = 0
    resumed: int = 0
    _passed: int = 0
    _rest: int = _REST_ROWS

    def spares_nothing(self) -> bool:
        """Whether the trial is over, and what it spared is worth less than the probes."""
        if self.asked < TRIAL_ROWS:
            return False
        spared = (self.refused - self.resumed) / self.asked
        is_of_use = spared >= _OF_USE
        is_of_use = is_of_use and spared * (1 + _PAIR_COST * self.pairs()) >= _PROBE_COST
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
