"""Fits prices to observations: the time that units took, and how often they took each step.

The cost of a unit is a sum of steps per second times prices. So the number of steps of one kind is
the cost at a price of one second for that step and zero for the others. Non-negative least squares
of the relative errors gives the prices.
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
#: Weight of the typical price in the fit, for steps that observations hardly determine.
_HOLD: Final = 0.015
_SWEEPS: Final = 5_000


@dataclass(frozen=True)
class Observation:
    """A measured run of units.

    Attributes:
        statistics: of its inputs. calls: operator calls per second of event time.
        cores: seconds of computing per second of event time.
    """

    works: Sequence[Work]
    statistics: Statistics
    calls: float
    cores: float


def predicted(observation: Observation, prices: Prices) -> float:
    """The predicted utilisation of the units at these prices, operator calls included."""
    total = cores_of(observation.works, observation.statistics, prices)
    return total + observation.calls * prices.call_s


def fitted(observations: Sequence[Observation]) -> Prices:
    """The prices that best predict the observations.

    A price on which no observation depends is the typical one times the ratio of this machine's
    speed to the typical one.

    Raises:
        ValueError: there are no observations, or one took no time.
    """
    if not observations or any(o.cores <= 0 for o in observations):
        raise ValueError("prices need at least one observation, each with a time above zero")
    typical = np.array([TYPICAL.as_dict()[name] for name in _STEPS])
    steps = np.array([_steps(o) for o in observations])
    took = np.array([o.cores for o in observations])
    shares = steps * typical / took[:, None]  # of the measured time, at typical prices
    speed = float(np.median(1 / shares.sum(axis=1)))
    hold = _HOLD * np.sqrt(len(observations))
    rows = np.vstack((shares, hold * np.eye(len(_STEPS))))
    target = np.concatenate((np.ones(len(observations)), np.full(len(_STEPS), hold * speed)))
    factors = _not_negative(rows, target, start=speed)
    return Prices(**dict(zip(_STEPS, (factors * typical).tolist(), strict=True)))


def _steps(observation: Observation) -> list[float]:
    """The number of steps per second, by kind."""
    nothing = dict.fromkeys(_STEPS, 0.0)
    return [predicted(observation, Prices(**nothing | {name: 1.0})) for name in _STEPS]


def _not_negative(rows: Array, target: Array, start: float) -> Array:
    """The x >= 0 that minimizes |rows x - target|, by coordinate descent."""
    gram, projected = rows.T @ rows, rows.T @ target
    x = np.full(rows.shape[1], start)
    for _ in range(_SWEEPS):
        before = x.copy()
        for i in range(x.size):
            x[i] = max(0.0, x[i] + (projected[i] - gram[i] @ x) / gram[i, i])
        if np.abs(x - before).max() <= 1e-9 * start:
            break
    return x
