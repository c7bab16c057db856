"""Trees of joins that run, as what they join and in which order: the order may be another one.

The joins may be all of a query, or what it groups, or looks up in tables that stay as they are:
what comes of that does not depend on the order in which the rows were joined. Which row DISTINCT or
a negation shows, and until when, does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from eddyline.algebra.expressions import Call, Expr, columns_of
from eddyline.algebra.plan import (
    Filter,
    GroupBy,
    Join,
    Lookup,
    Plan,
    Project,
    StreamScan,
)
from eddyline.optimizer.join_graph import JoinGraph
from eddyline.optimizer.joins.trees import Tree, leaves, subtrees
from eddyline.optimizer.rules.order_joins import joined_as, with_own_terms_below
from eddyline.sharing.flat import flatten

#: Two streams are joined in one order only.
_LEAST_SOURCES = 3


@dataclass(frozen=True)
class Joins:
    """What a plan of joins, filters and projections over streams comes to.

    Attributes:
        planned: the plan of the query. joined: the part of it that joins; all of it, or what a
            GROUP BY or a look-up reads.
        graph: the streams, below the terms that read one of them, and the other terms.
        outputs, names: what is made of their rows, over the columns of all streams.
        tree: the order in which the plan joins them.
    """

    planned: Plan
    joined: Plan
    graph: JoinGraph
    outputs: tuple[Expr, ...]
    names: tuple[str, ...]
    tree: Tree

    def plan(self, tree: Tree) -> Plan:
        """The plan that joins in an order."""
        if tree == self.tree:
            return self.planned
        return self._above(self.planned, joined_as(self.graph, tree, self.outputs, self.names))

    def _above(self, plan: Plan, joined: Plan) -> Plan:
        if plan is self.joined:
            return joined
        first, *others = plan.inputs
        return plan.with_inputs(self._above(first, joined), *others)


def joins_of(plan: Plan) -> Joins | None:
    """The joins of a plan whose order may change while it runs; None: it has none.

    These are joins of three streams and more, below projections, filters, groupings and look-ups.
    """
    for joined in _parts(plan):
        tree, streams = _tree(joined, 0)
        if tree is not None:
            return _taken_apart(plan, joined, tree) if streams >= _LEAST_SOURCES else None
    return None


def _taken_apart(plan: Plan, joined: Plan, tree: Tree) -> Joins | None:
    flat = flatten(joined, joins=True)
    if list(map(type, flat.leaves)) != [StreamScan] * len(leaves(tree)):
        return None
    terms = [t for t in flat.terms if columns_of(t)]
    if len(terms) != len(flat.terms):
        return None
    terms += [Call(pa.bool_(), "=", pair) for pair in flat.keys]
    graph = with_own_terms_below(JoinGraph(tuple(flat.leaves), tuple(terms)))
    names = tuple(field.name for field in joined.schema)
    return Joins(plan, joined, graph, tuple(flat.outputs), names, tree)


def _parts(plan: Plan) -> Iterator[Plan]:
    """The plan, what its groupings read, and what it looks up in static tables."""
    yield plan
    while True:
        if isinstance(plan, (Filter, Project)):
            plan = plan.input
            continue
        if isinstance(plan, GroupBy):
            plan = plan.input
        elif isinstance(plan, Lookup) and plan.is_static:
            plan = plan.left
        else:
            return
        yield plan


def _tree(plan: Plan, first: int) -> tuple[Tree | None, int]:
    """The order in which a plan joins streams, numbered from ``first`` on; and the next number."""
    while isinstance(plan, (Filter, Project)):
        plan = plan.input
    if isinstance(plan, StreamScan):
        return first, first + 1
    if not isinstance(plan, Join) or isinstance(plan, Lookup):
        return None, first
    left, middle = _tree(plan.left, first)
    right, last = _tree(plan.right, middle)
    return (None if left is None or right is None else (left, right)), last


def joins_in(plan: Plan, tree: Tree) -> dict[Tree, Join]:
    """The joins of a plan by the part of its tree that each makes."""
    return dict(
        zip((t for t in subtrees(tree) if not isinstance(t, int)), _joins(plan), strict=True)
    )


def _joins(plan: Plan) -> Iterator[Join]:
    """Inputs before what joins them, left before right."""
    for below in plan.inputs:
        yield from _joins(below)
    if isinstance(plan, Join) and not isinstance(plan, Lookup):
        yield plan
