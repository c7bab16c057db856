"""A consumer's demand on a join's results, split into components of its inputs.

Source: Yang and Papadias 2008, section IV-A: the nodes of Level 1 of the CNS lattice.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from eddyline.algebra.expressions import columns_of
from eddyline.algebra.plan import Join, Plan, Project
from eddyline.physical.feedback.requirements import Demand, Path, inner_join, passed_on

#: The lattice has two to the power of this number of nodes, at most.
_MOST_COMPONENTS = 10


def components(demand: Demand, join: Join) -> tuple[list[Demand], list[Demand]] | None:
    """A demand on a join's results by the leaves that its terms read, for either input; what reads
    both inputs is left out. None: there are no components.
    """
    if not demand.conditions:
        return None
    left, right = (_by_leaves(passed_on(demand, join, s), join.inputs[s]) for s in (0, 1))
    if not left or not right or len(left) + len(right) > _MOST_COMPONENTS:
        return None
    return left, right


def _by_leaves(demand: Demand, plan: Plan) -> list[Demand]:
    """The demand on rows of a plan, one for each set of leaves that its terms read."""
    nothing = replace(demand, keys=(), conditions=())
    found: dict[frozenset[Path], Demand] = {}
    for key in demand.keys:
        leaves = _leaves(plan, columns_of(key.own))
        part = found.get(leaves, nothing)
        found[leaves] = replace(part, keys=(*part.keys, key))
    for condition in demand.conditions:
        leaves = _leaves(plan, condition.own)
        part = found.get(leaves, nothing)
        found[leaves] = replace(part, conditions=(*part.conditions, condition))
    return list(found.values())


def _leaves(plan: Plan, columns: Iterable[int], path: Path = ()) -> frozenset[Path]:
    """The leaves of the tree below a plan that columns originate from."""
    if inner_join(plan) is None:
        return frozenset({path})
    if isinstance(plan, Join):
        width = len(plan.left.schema)
        left = [c for c in columns if c < width]
        right = [c - width for c in columns if c >= width]
        below = _leaves(plan.left, left, (*path, 0)) if left else frozenset()
        return below | (_leaves(plan.right, right, (*path, 1)) if right else frozenset())
    if isinstance(plan, Project):
        columns = [c for i in columns for c in columns_of(plan.exprs[i])]
    return _leaves(plan.inputs[0], columns, path)
