"""Geometric programs with a known optimum."""

from __future__ import annotations

import numpy as np
import pytest

from eddyline.optimizer.shedding.geometric import Sum, maximize_product


def test_a_known_optimum() -> None:
    """x y with x + 3 y <= 1: half of the cost each."""
    cost = Sum(np.array([1.0, 3.0]), np.eye(2))
    found = maximize_product(np.ones(2), cost, np.full(2, 1e-6))
    assert found == pytest.approx([1 / 2, 1 / 6], rel=1e-4)
    found = maximize_product(np.array([3.0, 1.0]), cost, np.full(2, 1e-6))
    assert found == pytest.approx([3 / 4, 1 / 12], rel=1e-4)
    assert maximize_product(np.ones(2), cost, np.array([1e-6, 0.3]))[1] == pytest.approx(0.3)
