"""Every aggregate function of the algebra is computed, and nothing else."""

from __future__ import annotations

from eddyline.algebra.functions import AGGREGATES
from eddyline.runtime.aggregates import FACTORIES


def test_every_aggregate_function_is_computed() -> None:
    assert AGGREGATES.keys() == FACTORIES.keys()
