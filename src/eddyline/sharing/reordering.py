"""Plans with their joins in another order.

The joins are all of a query, or below its unions, groupings and look-ups in static tables: their
output does not depend on the order in which rows were joined. That of DISTINCT and negation does:
which row they show, and until when.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import pyarrow as pa

from eddyline.algebra.expressions import Call, Expr, columns_of
from eddyline.algebra.plan import (
    AntiJoin,
    Distinct,
    Filter,
    GroupBy,
    Join,
    Lookup,
    LookupSemiJoin,
    Plan,
    Project,
    SemiJoin,
    StreamScan,
    Union,
    below_projections,
)
from eddyline.algebra.reads import nodes
from eddyline.optimizer.join_graph import JoinGraph
from eddyline.optimizer.joins.trees import Tree, leaves, subtrees
from eddyline.optimizer.rules.order_joins import joined_as, with_own_terms_below
from eddyline.optimizer.traversal import OncePerNode, bottom_up
from eddyline.sharing.flat import flatten

#: Sources of joins that have more than one order.
LEAST_REORDERED: Final = 3

#: An order per region of joins.
Orders: TypeAlias = tuple[Tree, ...]


@dataclass(frozen=True)
class Region:
    """Joins in a plan, with filters and projections between them, over streams.

    Attributes:
        path: from the top of the plan to these joins, the number of the input of each node.
        graph: the streams, below the terms that read one of them, and the other terms.
        outputs, names: the columns of the joins, over the columns of all streams.
        tree: the order in which the plan joins them.
    """

    path: tuple[int, ...]
    graph: JoinGraph
    outputs: tuple[Expr, ...]
    names: tuple[str, ...]
    tree: Tree

    def joins(self, plan: Plan, tree: Tree) -> dict[Tree, Join]:
        """The joins of the region in a plan that makes them in this order, by the subtree that each
        computes.
        """
        for number in self.path:
            plan = plan.inputs[number]
        joined = (t for t in subtrees(tree) if not isinstance(t, int))
        return dict(zip(joined, _joins(plan), strict=True))

    def placed(self, plan: Plan, tree: Tree) -> Plan:
        """The plan with these joins in another order."""
        return _placed(plan, self.path, joined_as(self.graph, tree, self.outputs, self.names))


@dataclass(frozen=True)
class Joins:
    """The joins of a plan whose order may change: one region or, below a UNION ALL, several."""

    planned: Plan
    regions: tuple[Region, ...]

    @property
    def orders(self) -> Orders:
        """In which the plan makes them."""
        return tuple(region.tree for region in self.regions)

    def plan(self, orders: Orders) -> Plan:
        """The plan that joins in these orders."""
        plan = self.planned
        for region, tree in zip(self.regions, orders, strict=True):
            plan = plan if tree == region.tree else region.placed(plan, tree)
        return plan


def joins_of(plan: Plan) -> Joins | None:
    """The joins of a plan whose order may change while it runs: of three streams or more, below
    projections, filters, unions, groupings and look-ups. None: it has none.
    """
    regions = tuple(_regions(plan, ()))
    return Joins(plan, regions) if regions else None


def _regions(plan: Plan, path: tuple[int, ...]) -> Iterator[Region]:
    tree, streams = _tree(plan, 0)
    if tree is not None:
        region = _of_streams(plan, path, tree) if streams >= LEAST_REORDERED else None
        if region is not None:
            yield region
    elif isinstance(plan, (Filter, Project, GroupBy, Union)):
        for number, part in enumerate(plan.inputs):
            yield from _regions(part, (*path, number))
    elif isinstance(plan, Lookup) and plan.is_static:
        yield from _regions(plan.left, (*path, 0))


def _of_streams(joined: Plan, path: tuple[int, ...], tree: Tree) -> Region | None:
    flat = flatten(joined, joins=True)
    if list(map(type, flat.leaves)) != [StreamScan] * len(leaves(tree)):
        return None
    terms = [t for t in flat.terms if columns_of(t)]
    if len(terms) != len(flat.terms):
        return None
    terms += [Call(pa.bool_(), "=", pair) for pair in flat.keys]
    graph = with_own_terms_below(JoinGraph(tuple(flat.leaves), tuple(terms)))
    names = tuple(field.name for field in joined.schema)
    return Region(path, graph, tuple(flat.outputs), names, tree)


def _placed(plan: Plan, path: tuple[int, ...], joined: Plan) -> Plan:
    if not path:
        return joined
    number, *rest = path
    inputs = list(plan.inputs)
    inputs[number] = _placed(inputs[number], tuple(rest), joined)
    return plan.with_inputs(*inputs)


def _tree(plan: Plan, first: int) -> tuple[Tree | None, int]:
    """The order in which a plan joins streams, numbered from ``first`` on; and the next number."""
    plan = below_projections(plan)
    if isinstance(plan, StreamScan):
        return first, first + 1
    if not isinstance(plan, Join) or isinstance(plan, Lookup):
        return None, first
    left, middle = _tree(plan.left, first)
    right, last = _tree(plan.right, middle)
    return (None if left is None or right is None else (left, right)), last


def without_feedback(plan: Plan) -> Plan:
    """The plan with joins that tell those below nothing about what they need."""

    def changed(node: Plan) -> Plan:
        if not isinstance(node, Join) or isinstance(node, Lookup):
            return node
        is_above = any(type(below_projections(p)) is Join for p in node.inputs)
        return replace(node, feeds_back=False) if is_above else node

    return bottom_up(plan, changed)


def without_relays(plan: Plan) -> Plan:
    """The plan with joins that say nothing about what they need of inputs which take rows back."""

    def changed(node: Plan) -> Plan:
        if not isinstance(node, Join) or isinstance(node, Lookup) or not node.takes_back:
            return node
        return replace(node, feeds_back=False)

    return bottom_up(plan, changed)


def without_second_copies(plan: Plan) -> Plan:
    """The plan with joins that give no feedback to what is below an input which another node reads
    whole: as in a LEFT JOIN of groups, whose rows without a match are found among all groups. What
    the join needs would be made a second time.
    """
    whole = {p for node in nodes(plan) for p in _read_whole(node)}
    told = {n for n in nodes(plan) if isinstance(n, Join) and not isinstance(n, Lookup)}
    copied = {n for n in told if any(_is_made(p) and p in whole for p in n.inputs)}
    if not copied:
        return plan

    def changed(walk: OncePerNode[Plan], node: Plan) -> Plan:
        found = node.with_inputs(*map(walk, node.inputs))
        if node not in copied:
            return found
        assert isinstance(found, Join), "its inputs do not change what it is"
        return replace(found, feeds_back=False)

    return OncePerNode(changed)(plan)


def _read_whole(node: Plan) -> tuple[Plan, ...]:
    """The inputs of which a node reads all rows: not those of joins, which give feedback, too, nor
    the right one of EXISTS with a condition, which is read for pairs.
    """
    if isinstance(node, (Join, LookupSemiJoin)):
        return ()
    has_pairs = isinstance(node, (SemiJoin, AntiJoin)) and node.residual is not None
    return node.inputs[:1] if has_pairs else node.inputs


def _is_made(plan: Plan) -> bool:
    """Whether feedback passes the plan, to what is made below it."""
    return plan.takes_back or isinstance(below_projections(plan), (Join, Distinct))


def _joins(plan: Plan) -> Iterator[Join]:
    """Inputs before the join that reads them, left before right."""
    for below in plan.inputs:
        yield from _joins(below)
    if isinstance(plan, Join) and not isinstance(plan, Lookup):
        yield plan
