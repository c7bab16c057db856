"""Joins below UNION ALL, where one of its parts is a join itself.

    Join  y                          Union
      Union                            Join  y
        Join  x                          Join  x
          a                 ==>            a
          b                                b
        d                                c
      c                                Join  y
                                         d
                                         c

A row of the union joins what its row in a part joins, so the results are the same. In a tree of
joins, the upper one gives feedback to the lower one on which of its results are needed; a union in
between ends the tree (Yang and Papadias 2008, section II, has trees of joins only).

The other input is looked up per part, and its rows are indexed per part; the results of all parts
pass the union, with the columns that a projection above the join reads. Measured, it was never
slower, also where all rows are needed, as the rows of the lower join need not be copied for the
union. So a plan that costs somewhat more is taken.

**Where it must not fire.** Over inputs that take rows back, where there is no feedback.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from eddyline.algebra.plan import Filter, Join, Plan, Project, Union
from eddyline.algebra.reads import nodes
from eddyline.optimizer.cost import cost
from eddyline.optimizer.prices import TYPICAL, Prices
from eddyline.optimizer.statistics import UNKNOWN, Statistics
from eddyline.optimizer.traversal import bottom_up

#: Maximum number of parts, and of the cost, as a multiple of that of the plan as it is.
_MOST_PARTS: Final = 4
_MOST_COST: Final = 2.0


def joins_below_unions(
    plan: Plan, statistics: Statistics = UNKNOWN, prices: Prices = TYPICAL
) -> Plan:
    """Move joins below unions of which a part is a join."""
    moved = set[Plan]()  # unions of joins

    def changed(node: Plan) -> Plan:
        if isinstance(node, Project) and node.input in moved:
            return Union(tuple(_parts(node)))
        other = _moved(node, statistics, prices)
        if other is None:
            return node
        moved.add(other)
        return other

    return bottom_up(plan, changed)


def _moved(join: Plan, statistics: Statistics, prices: Prices) -> Union | None:
    """The union of the joins with each part; None: it stays."""
    if type(join) is not Join or join.takes_back:
        return None
    for side in (0, 1):
        parts = _parts(join.inputs[side])
        if len(parts) > 1 and any(map(_has_join, parts)):
            other = Union(tuple(_joined(join, side, parts)))
            before, after = (cost(p, statistics, prices).total for p in (join, other))
            if after <= _MOST_COST * before:
                return other
    return None


def _parts(plan: Plan) -> list[Plan]:
    """The parts of a union, each with what is above it; none if it is no union of few parts."""
    if isinstance(plan, (Project, Filter)):
        return [plan.with_inputs(part) for part in _parts(plan.input)]
    return list(plan.parts) if isinstance(plan, Union) and len(plan.parts) <= _MOST_PARTS else []


def _has_join(plan: Plan) -> bool:
    return any(type(node) is Join for node in nodes(plan))


def _joined(join: Join, side: int, parts: Iterable[Plan]) -> Iterator[Plan]:
    """The join with each of the parts as one of its inputs."""
    for part in parts:
        inputs = list(join.inputs)
        inputs[side] = part
        yield join.with_inputs(*inputs)
