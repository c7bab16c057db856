"""Geometric programs with one posynomial constraint, by an interior-point method.

With y = log x a product of keep rates is linear and the logarithm of a sum of products is convex,
so a local optimum is the optimum. See Boyd, Kim, Vandenberghe and Hassibi, A Tutorial on Geometric
Programming, 2007; the barrier method is that of Boyd and Vandenberghe, Convex Optimization, 11.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_SHARPEN: Final = 50.0  # the weight of the objective grows by this factor between centrings
_MOST_STEPS: Final = 100  # of one centring; about five are common
_CENTRED: Final = -1e-4  # a step that gains less, in units of the walls, is not worth taking


@dataclass(frozen=True)
class Sum:
    """A posynomial: the sum of ``coefficients[j] * product(x[i] ** exponents[j, i])``.

    Attributes:
        coefficients: (terms,), above 0. exponents: (terms, variables), at least 0.
    """

    coefficients: Floats
    exponents: Floats

    def at(self, x: Floats) -> float:
        """Its value; no terms sum to 0."""
        return float(self.coefficients @ np.prod(x**self.exponents, axis=1))


def maximize_product(weights: Floats, cost: Sum, floors: Floats, gap: float = 1e-8) -> Floats:
    """Maximise the product of ``x ** weights`` where ``cost(x) <= 1`` and ``floors <= x <= 1``.

    Args:
        weights: at least 0, not all 0. floors: above 0, and cheaper than 1 in all.

    Returns:
        x, strictly within the constraints. The product is within about ``gap`` of the best one,
        relatively: that is the duality gap of the last centre.
    """
    barrier = _Barrier(weights / weights.sum(), cost, np.log(floors))
    y = barrier.start()
    sharpness, constraints = 1.0, 2 * floors.size + 1
    while True:
        y = barrier.centre(y, sharpness)
        if constraints / sharpness * weights.sum() < gap:
            return np.exp(y)
        sharpness *= _SHARPEN


@dataclass(frozen=True)
class _Barrier:
    """The problem in y = log x, its constraints as walls that grow steep close to them."""

    weights: Floats
    cost: Sum
    lows: Floats

    def start(self) -> Floats:
        """A point between the floor and the costliest one that is allowed."""
        wanted = max(-1.0, self._log_cost(self.lows) / 2)
        near, far = 0.0, 1.0  # shares of the way down to the floor
        for _ in range(60):
            middle = (near + far) / 2
            if self._log_cost(middle * self.lows) > wanted:
                near = middle
            else:
                far = middle
        return far * self.lows

    def centre(self, y: Floats, sharpness: float) -> Floats:
        """Newton's method from a point inside."""
        value = self._value(y, sharpness)
        for _ in range(_MOST_STEPS):
            gradient, step = self._newton(y, sharpness)
            slope = float(gradient @ step)
            if slope > _CENTRED:
                break
            size = 1.0
            while (moved := self._value(y + size * step, sharpness)) > value + 0.1 * size * slope:
                size /= 2
                if size < 1e-12:  # the arithmetic is not exact enough to see a gain
                    return y
            y, value = y + size * step, moved
        return y

    def _log_cost(self, y: Floats) -> float:
        logs = np.log(self.cost.coefficients) + self.cost.exponents @ y
        highest = logs.max()
        return float(highest + np.log(np.exp(logs - highest).sum()))

    def _value(self, y: Floats, sharpness: float) -> float:
        slack = -self._log_cost(y)
        if slack <= 0 or (y >= 0).any() or (y <= self.lows).any():
            return np.inf
        walls = np.log(slack) + np.log(-y).sum() + np.log(y - self.lows).sum()
        return float(-sharpness * (self.weights @ y) - walls)

    def _newton(self, y: Floats, sharpness: float) -> tuple[Floats, Floats]:
        """The gradient and Newton's step."""
        logs = np.log(self.cost.coefficients) + self.cost.exponents @ y
        shares = np.exp(logs - logs.max())
        shares /= shares.sum()
        mean = shares @ self.cost.exponents  # the gradient of the cost's logarithm
        apart = self.cost.exponents - mean
        slack = -self._log_cost(y)
        gradient = -sharpness * self.weights + mean / slack - 1 / y - 1 / (y - self.lows)
        curved = (apart.T * shares) @ apart / slack
        curved += np.diag(1 / y**2 + 1 / (y - self.lows) ** 2)
        return gradient, -_solved(curved, mean / slack, gradient)


def _solved(matrix: Floats, vector: Floats, right: Floats) -> Floats:
    """Solve ``(matrix + outer(vector, vector)) x = right``.

    Close to the constraints the outer product is larger than the rest by more than floats can hold,
    and so are some rows than others; hence the formula of Sherman and Morrison, over scaled rows.
    """
    scale = 1 / np.sqrt(np.diag(matrix))
    sides = np.column_stack((right, vector)) * scale[:, None]
    of_right, of_vector = np.linalg.solve(matrix * np.outer(scale, scale), sides).T
    along = (sides[:, 1] @ of_right) / (1 + sides[:, 1] @ of_vector)
    solution: Floats = (of_right - along * of_vector) * scale
    return solution
