"""CPU time that what runs has taken, as a multiple of what the cost model expects.

Prices are of a typical machine and of cheap expressions, or of those that ``eddyline calibrate``
measured. What functions of users, wide rows, long texts or small calls cost shows in the time that
the operators take.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Final

#: Minimum CPU seconds of a period from which a factor is computed. Fewer are enough where _MANY
#: times this minimum was expected: then the factor is known to be small.
_LEAST_S: Final = 2e-3
_MANY: Final = 10
_SMALLEST_S: Final = 1e-9
#: Relative change of a factor that matters.
_CHANGED: Final = 1.2


@dataclass
class _Unit:
    """What a unit took.

    Attributes:
        spent: CPU seconds so far, at the last look. last: the multiple in the last period.
        factor: the smaller one of the last two: a single period may have been disturbed.
    """

    spent: float
    last: float | None = None
    factor: float = 1.0


class CpuTimes:
    """Learns how much CPU time units take."""

    def __init__(self) -> None:
        self._units: dict[Hashable, _Unit] = {}

    def factor(self, unit: Hashable, default: float = 1.0) -> float:
        """The measured CPU time of a unit, as a multiple of the expected one; ``default``: not
        known.
        """
        known = self._units.get(unit)
        return default if known is None or known.last is None else known.factor

    def is_known(self, unit: Hashable) -> bool:
        """Whether a unit has been measured."""
        known = self._units.get(unit)
        return known is not None and known.last is not None

    def look(
        self, unit: Hashable, spent: float, expected: float, many: float = _MANY * _LEAST_S
    ) -> bool:
        """Compare what a unit has taken since the last look with the expected time; a new unit is
        measured from now on.

        Args:
            spent: CPU seconds so far. expected: since the last look. many: from which expected time
                on it is known that a unit takes little.

        Returns:
            Whether the factor has changed.
        """
        known = self._units.get(unit)
        if known is None:
            self._units[unit] = _Unit(spent)
            return False
        found, known.spent = spent - known.spent, spent  # less: other operators took over
        if (found < _LEAST_S and expected < many) or expected <= 0:
            return False
        now = max(found, _SMALLEST_S) / expected
        before, known.factor = known.factor, min(now, now if known.last is None else known.last)
        known.last = now
        return not 1 / _CHANGED < known.factor / before < _CHANGED

    def forget_others(self, units: Iterable[Hashable]) -> None:
        """Forget the units that are not among these."""
        self._units = {unit: self._units[unit] for unit in units if unit in self._units}

    def saved(self, unit: Hashable) -> tuple[float, float] | None:
        """For JSON; None: nothing is known."""
        known = self._units.get(unit)
        return None if known is None or known.last is None else (known.last, known.factor)

    def restore(self, unit: Hashable, saved: tuple[float, float], spent: float) -> None:
        """Take over what ``saved`` returned; ``spent``: CPU seconds so far."""
        self._units[unit] = _Unit(spent, *saved)
