"""The requirements on a join's results, split into components of its inputs.

Source: Yang and Papadias 2008, section IV-A: the nodes of Level 1 of the CNS lattice.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from eddyline.algebra.expressions import columns_of
from eddyline.algebra.plan import Join, Plan, Project
from eddyline.physical.feedback.requirements import Path, Requirement, inner_join, passed_on

#: Maximum number of components: a lattice has two to the power of it nodes.
_MOST_COMPONENTS = 10


def components(
    requirement: Requirement, join: Join
) -> tuple[list[Requirement], list[Requirement]] | None:
    """A requirement on a join's results by the leaves that its terms read, per input, without the
    terms that read both inputs. None: there are no components to distinguish.
    """
    if not requirement.conditions:
        return None
    left, right = (_by_leaves(passed_on(requirement, join, s), join.inputs[s]) for s in (0, 1))
    if not left or not right or len(left) + len(right) > _MOST_COMPONENTS:
        return None
    return left, right


def _by_leaves(requirement: Requirement, plan: Plan) -> list[Requirement]:
    """The requirements on rows of a plan, one for each set of leaves that terms read."""
    nothing = replace(requirement, keys=(), conditions=())
    found: dict[frozenset[Path], Requirement] = {}
    for key in requirement.keys:
        leaves = _leaves(plan, columns_of(key.own))
        part = found.get(leaves, nothing)
        found[leaves] = replace(part, keys=(*part.keys, key))
    for condition in requirement.conditions:
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
