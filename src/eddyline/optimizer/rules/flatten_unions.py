"""One UNION ALL of many inputs instead of nested ones."""

from __future__ import annotations

from eddyline.algebra.plan import Plan, Union
from eddyline.optimizer.traversal import bottom_up


def flatten_unions(plan: Plan) -> Plan:
    """Replace a Union among the inputs of a Union by its own inputs.

    The first input keeps its place, so the output names stay.
    """
    return bottom_up(plan, _flattened)


def _flattened(plan: Plan) -> Plan:
    if not isinstance(plan, Union):
        return plan
    parts = (p.parts if isinstance(p, Union) else (p,) for p in plan.parts)
    return Union(tuple(p for group in parts for p in group))
