"""What an engine measures of itself, for its overload controller."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from eddyline.engine.overload.intake_times import IntakeTimes
from eddyline.engine.overload.state_sizes import StateSizes
from eddyline.optimizer.statistics import Statistics


class Measured(NamedTuple):
    """What an engine measures of itself.

    Attributes:
        statistics: of the rows. intake: CPU time of rows before the operators; where calls count
            theirs. sizes: of the state.
    """

    statistics: Callable[[], Statistics]
    intake: IntakeTimes
    sizes: StateSizes
