"""The best settings of drop boxes within two costs: CPU time and memory.

At the optimum of a geometric program with two costs c1 and c2, both of which limit it, the gradient
of the output is ``m1 * grad c1 + m2 * grad c2`` with ``m1, m2 > 0`` (Karush-Kuhn-Tucker). So it is
the optimum of the program with the one cost ``s * c1 + (1 - s) * c2`` for the share ``s`` of ``m1``
(a surrogate constraint: Glover, Operations Research 16(4), 1968), which is again a posynomial; the
larger ``s``, the less of c1 is used. Linear programs have several optima there: those in between
are optima, too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from eddyline.optimizer.shedding.geometric import Floats, Sum
from eddyline.optimizer.shedding.program import Program

_HALVINGS: Final = 14  # of the range of the share
_ROUNDED: Final = 1e-9


def best_within(program: Program, second: Sum) -> Floats:
    """The best keep rates within the program's cost and a second one, which may each be 1.

    Where a cost is above 1 at the floors already, those boxes that save it are at their floors.
    """
    first = program.cost
    costs = (first, second)
    if any(cost.at(program.floors) >= 1 for cost in costs):
        return _at_floors(program, costs)
    ends = []  # of the range: the keep rates that only keep within one of the costs
    for cost in costs:
        keep = replace(program, cost=cost).best()
        if all(_is_within(each, keep) for each in costs):
            return keep
        ends.append(keep)
    within_first, within_second = ends
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        share = (low + high) / 2
        keep = replace(program, cost=_mixed(first, second, share)).best()
        if _is_within(first, keep):
            high, within_first = share, keep
        else:
            low, within_second = share, keep
    return _between(first, within_first, within_second)


def _at_floors(program: Program, costs: tuple[Sum, Sum]) -> Floats:
    saving = np.zeros(program.floors.size, np.bool_)
    for cost in costs:
        if cost.at(program.floors) >= 1:
            saving |= cost.exponents.any(axis=0)
    least = np.where(saving, program.floors, 1.0)
    return (
        least
        if all(cost.at(least) <= 1 for cost in costs if _savable(cost, program))
        else (program.floors.copy())
    )


def _savable(cost: Sum, program: Program) -> bool:
    return cost.at(program.floors) < 1


def _is_within(cost: Sum, keep: Floats) -> bool:
    return cost.at(keep) <= 1 + _ROUNDED


def _mixed(first: Sum, second: Sum, share: float) -> Sum:
    return Sum(
        np.concatenate((share * first.coefficients, (1 - share) * second.coefficients)),
        np.concatenate((first.exponents, second.exponents)),
    )


def _between(cost: Sum, inside: Floats, outside: Floats) -> Floats:
    """The last point on the line from inside to outside that is within a cost."""
    near, far = 0.0, 1.0
    for _ in range(40):
        middle = (near + far) / 2
        if _is_within(cost, inside + middle * (outside - inside)):
            near = middle
        else:
            far = middle
    return inside + near * (outside - inside)
