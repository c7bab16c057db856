"""Expressions of plan nodes, compiled as the operators take them."""

from __future__ import annotations

import numpy as np

from eddyline.algebra.expressions import ColumnRef, Expr, shift_columns
from eddyline.algebra.plan import AntiJoin, Join, SemiJoin
from eddyline.physical.expressions import compile_expr, compile_predicate
from eddyline.runtime.batch import Batch, Evaluator, Predicate
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.operators.scan import Scan
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.keys import is_exact, same_keys


def output(expr: Expr) -> int | Evaluator:
    """A column of the output: the number of one of the input's, or how to compute it."""
    return expr.index if isinstance(expr, ColumnRef) else compile_expr(expr)


def residual(plan: Join | SemiJoin | AntiJoin) -> Predicate | None:
    """What a matching pair must meet beyond equal keys; hashed keys are compared by value."""
    rest = None if plan.residual is None else compile_predicate(plan.residual)
    if not plan.keys or is_exact([k.type for k, _ in plan.keys]):
        return rest
    width = len(plan.left.schema)
    pairs = [(output(a), output(shift_columns(b, width))) for a, b in plan.keys]

    def meets(batch: Batch) -> Array:
        same: Array = np.logical_and.reduce([same_keys(batch, a, b) for a, b in pairs])
        return same if rest is None else same & rest(batch)

    return meets


def scan_below(operator: Operator) -> Scan:
    """The scan whose rows an operator filters or renames."""
    while not isinstance(operator, Scan):
        (operator,) = operator.inputs
    return operator
