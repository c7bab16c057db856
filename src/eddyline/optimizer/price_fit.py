"""Prices from observations: what works took, and how often they took each step.

The cost of a work is a sum of steps per second times prices. So how often works take a step is
their cost at a price of one second for that step and none for the others. Least squares of the
relative errors then gives the prices, none of them below zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from eddyline.optimizer.prices import TYPICAL, Prices
from eddyline.optimizer.statistics import Statistics
from eddyline.optimizer.work import Work, cores_of

Array = np.ndarray[Any, np.dtype[np.float64]]

_STEPS: Final = tuple(TYPICAL.as_dict())
#: How much a price that the observations hardly tell is held to the typical one, in proportion.
_HOLD: Final = 0.02
_SWEEPS: Final = 5_000


@dataclass(frozen=True)
class Observation:
    """Works that ran.

    Attributes:
        statistics: of its inputs, as they were. calls: of operators per second of event time.
        cores: seconds of computing per second of event time.
    """

    works: Sequence[Work]
    statistics: Statistics
    calls: float
    cores: float


def predicted(observation: Observation, prices: Prices) -> float:
    """The cores that works should take at these prices, calls of their operators included."""
    total = cores_of(observation.works, observation.statistics, prices)
    return total + observation.calls * prices.call_s


def fitted(observations: Sequence[Observation]) -> Prices:
    """The prices that tell best what was observed.

    A price that no observation depends on is the typical one, times by how much this machine is
    slower or faster than the typical one as a whole.

    Raises:
        ValueError: there is no observation, or one took no time.
    """
    if not observations or any(o.cores <= 0 for o in observations):
        raise ValueError("prices are fitted to observations that took some time")
    typical = np.array([TYPICAL.as_dict()[name] for name in _STEPS])
    steps = np.array([_steps(o) for o in observations])
    took = np.array([o.cores for o in observations])
    shares = steps * typical / took[:, None]  # of what was taken, at typical prices
    speed = float(np.median(1 / shares.sum(axis=1)))
    hold = _HOLD * np.sqrt(len(observations))
    rows = np.vstack((shares, hold * np.eye(len(_STEPS))))
    wanted = np.concatenate((np.ones(len(observations)), np.full(len(_STEPS), hold * speed)))
    factors = _not_negative(rows, wanted, start=speed)
    return Prices(**dict(zip(_STEPS, (factors * typical).tolist(), strict=True)))


def _steps(observation: Observation) -> list[float]:
    """How often per second the works take each step."""
    nothing = dict.fromkeys(_STEPS, 0.0)
    return [predicted(observation, Prices(**nothing | {name: 1.0})) for name in _STEPS]


def _not_negative(rows: Array, wanted: Array, start: float) -> Array:
    """The x >= 0 that minimises |rows x - wanted|, by coordinate descent."""
    gram, target = rows.T @ rows, rows.T @ wanted
    x = np.full(rows.shape[1], start)
    for _ in range(_SWEEPS):
        before = x.copy()
        for i in range(x.size):
            x[i] = max(0.0, x[i] + (target[i] - gram[i] @ x) / gram[i, i])
        if np.abs(x - before).max() <= 1e-9 * start:
            break
    return x
