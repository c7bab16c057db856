"""The form of the operator of an ASOF join."""

from __future__ import annotations

from eddyline.algebra.nodes.asof import AsofJoin, lag_us
from eddyline.physical.expressions import compile_expr
from eddyline.physical.patterns import row_ids_of
from eddyline.runtime.operators.asof import AsofForm


def asof_form(plan: AsofJoin) -> AsofForm:
    """What the operator of a plan joins."""
    left_keys, right_keys = (tuple(compile_expr(p[i]) for p in plan.keys) for i in (0, 1))
    return AsofForm(
        plan.left.schema,
        plan.right.schema,
        row_ids_of(plan.left).width,
        tuple(k.type for k, _ in plan.keys),
        left_keys,
        right_keys,
        plan.offset_us,
        lag_us(plan.left),
        plan.outer,
    )
