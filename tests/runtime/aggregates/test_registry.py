"""Every aggregate function of the algebra is computed, and nothing else."""

from __future__ import annotations

from eddyline.algebra.functions.aggregates import AGGREGATES, FUNCTIONS_OVER_PARTS, OF_VALUES
from eddyline.runtime.aggregates import FACTORIES


def test_every_aggregate_function_is_computed() -> None:
    assert AGGREGATES.keys() | FUNCTIONS_OVER_PARTS.keys() | OF_VALUES.keys() == FACTORIES.keys()


def test_functions_over_parts_are_those_that_aggregates_name() -> None:
    forms = [f.over_parts for f in AGGREGATES.values() if f.over_parts is not None]
    named = {name for form in forms for name in (form.partial, form.merged)}
    named |= {f"merged_{name}" for name in OF_VALUES}
    assert named - AGGREGATES.keys() == FUNCTIONS_OVER_PARTS.keys()
