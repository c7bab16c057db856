"""The time budget of a call: how much work scheduled joins do before the rest of it waits.

The work is counted and priced, not measured: a call that is repeated after a failure must stop at
the same place.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from eddyline.engine.execution.execution import Execution
from eddyline.engine.execution.shared_flow import Pace
from eddyline.optimizer.prices import TYPICAL, Prices
from eddyline.runtime.window_join.joined_work import JoinedWork


@dataclass(eq=False)
class Budget:
    """Seconds of work that the scheduled joins of an execution may do from now on.

    Attributes:
        execution: it runs the joins.
        seconds: the budget.
        prices: by which counted work becomes seconds.
    """

    execution: Execution
    seconds: float = inf
    prices: Prices = TYPICAL

    def __post_init__(self) -> None:
        self._before = self.execution.scheduled_work

    @property
    def pace(self) -> Pace:
        """How rows of scheduled joins are served."""
        return "by schedule" if self.seconds == inf else "in part"

    @property
    def is_left(self) -> bool:
        """Whether the budget is not used up; one step is always left."""
        if self.seconds == inf:
            return True
        done = self.execution.scheduled_work - self._before
        return not done.steps or cost_s(done, self.prices) < self.seconds


def cost_s(work: JoinedWork, prices: Prices) -> float:
    """The expected seconds of this work."""
    return (
        work.steps * prices.call_s
        + work.probes * prices.probe_s
        + work.pairs * prices.compare_s
        + work.results * (prices.make_s + prices.hand_out_s)
    )
