"""OVER in the form that its operator takes."""

from __future__ import annotations

from typing import Final

import numpy as np

from eddyline.algebra.functions.sort_keys import sort_key
from eddyline.algebra.nodes.over import ARRIVAL
from eddyline.algebra.plan import Over
from eddyline.kernels import ordered_rows as kernels
from eddyline.kernels.first_places import LONGEST, First
from eddyline.physical.expressions import compile_expr
from eddyline.runtime.operators.over import Computed, Partitions

_KINDS: Final = {
    "row_number": kernels.ROW_NUMBER,
    "rank": kernels.RANK,
    "dense_rank": kernels.DENSE_RANK,
    "ntile": kernels.NTILE,
    "rows": kernels.ROWS,
    "lag": kernels.BEFORE,
    "lead": kernels.BEHIND,
    "from": kernels.FROM,
    "first_value": kernels.FIRST,
    "last_value": kernels.LAST,
    "nth_value": kernels.NTH,
}


def partitions_of(plan: Over, *, in_time: bool) -> tuple[Partitions, Computed]:
    """How the operator divides and orders rows, and what it computes of them.

    Args:
        in_time: whether rows leave in the order in which they came, by their expiry, or never.
    """
    ranked = any(f.function in ("rank", "dense_rank") for f in plan.functions)
    partitions = Partitions(
        tuple(compile_expr(k) for k in plan.partition),
        tuple(k.type for k in plan.partition),
        compile_expr(sort_key("ORDER BY", *plan.order, *plan.ties)),
        compile_expr(sort_key("ORDER BY", *plan.order)) if plan.ties and ranked else None,
    )
    arrival = plan.functions[-1].function == ARRIVAL
    own = plan.functions[:-1] if arrival else plan.functions
    read = dict.fromkeys(f.argument for f in own if f.argument is not None)
    numbers = {argument: number for number, argument in enumerate(read)}
    functions = kernels.Functions(
        np.array([_KINDS[f.function] for f in own], np.int64),
        np.array([-1 if f.argument is None else numbers[f.argument] for f in own], np.int64),
        np.array([f.offset for f in own], np.int64),
        plan.limit,
        plan.silent,
        _reach(plan, "lag", "from"),
        _reach(plan, "lead"),
        plan.forgets,
    )
    first = None
    if in_time and [f.function for f in own] == ["row_number"] and 0 < plan.limit <= LONGEST:
        first = First(plan.limit, plan.silent, plan.forgets)
    types = tuple(f.type for f in own)
    arguments = tuple(compile_expr(a) for a in numbers)
    argument_types = tuple(a.type for a in numbers)
    return partitions, Computed(functions, types, arguments, argument_types, first, arrival)


def _reach(plan: Over, *functions: str) -> int:
    """How far away rows are of which values are taken."""
    return max((f.offset for f in plan.functions if f.function in functions), default=0)
