"""Walks and rebuilds plans, and moves expressions between nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

from eddyline.algebra.expressions import ColumnRef, Expr, rewrite
from eddyline.algebra.per_node import per_node
from eddyline.algebra.plan import Filter, Join, Plan, Product, Project, StreamScan

Rule = Callable[[Plan], Plan]
R = TypeVar("R")


def bottom_up(plan: Plan, change: Rule) -> Plan:
    """The plan with every node changed, inputs before their readers.

    A node with several readers is changed once.
    """
    done: dict[int, Plan] = {}

    def changed(node: Plan) -> Plan:
        found = done.get(id(node))
        if found is None:
            found = change(node.with_inputs(*map(changed, node.inputs)))
            done[id(node)] = found
        return found

    return changed(plan)


class OncePerNode(Generic[R]):
    """Calls a function once per node, and what else it takes, during one walk: a node with several
    readers is rewritten once, so that what these read stays one node.

    Args:
        function: takes this object, for the nodes below, the node, and further arguments.
    """

    def __init__(self, function: Callable[..., R]) -> None:
        self._function = function
        self._done: dict[tuple[Any, ...], tuple[Plan, R]] = {}

    def __call__(self, plan: Plan, *more: Any) -> R:
        key = (id(plan), *more)
        found = self._done.get(key)
        if found is None:
            found = self._done[key] = plan, self._function(self, plan, *more)
        return found[1]


def substituted(expr: Expr, exprs: Sequence[Expr] | Mapping[int, Expr]) -> Expr:
    """The expression with each column replaced by its definition."""

    def change(e: Expr) -> Expr | None:
        return _renamed(exprs[e.index], e) if isinstance(e, ColumnRef) else None

    return rewrite(expr, change)


def moved(expr: Expr, positions: Mapping[int, int]) -> Expr:
    """The expression with column ``i`` read from ``positions[i]``."""

    def change(e: Expr) -> Expr | None:
        return replace(e, index=positions[e.index]) if isinstance(e, ColumnRef) else None

    return rewrite(expr, change)


@per_node
def shows_parameters(plan: Plan) -> bool:
    """Whether terms with Parameters may be pushed below this node.

    Flows of stream joins share work across parameter values. Below any other node such terms would
    make a distinct plan for each row of values, which is not shared.
    """
    if isinstance(plan, (Filter, Project, Product, Join)):
        return all(map(shows_parameters, plan.inputs))
    return isinstance(plan, StreamScan)


def _renamed(found: Expr, reference: ColumnRef) -> Expr:
    """The definition, with the longer of two names of a column (``t.price``, not ``price``)."""
    if isinstance(found, ColumnRef) and reference.name.endswith(f".{found.name}"):
        return replace(found, name=reference.name)
    return found
