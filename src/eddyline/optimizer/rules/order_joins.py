"""Products to trees of binary joins: the cheapest tree, or as written where costs are not known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from eddyline.algebra import functions
from eddyline.algebra.expressions import Call, ColumnRef, Expr, columns_of, conjunction, conjuncts
from eddyline.algebra.parameters import has_parameters
from eddyline.algebra.plan import Filter, Plan, Product, Project, filtered, join
from eddyline.optimizer.join_graph import JoinGraph, is_non_retroactive
from eddyline.optimizer.joins.costing import Priced
from eddyline.optimizer.joins.functions import PlanFunctions
from eddyline.optimizer.joins.query import JoinQuery, Mask
from eddyline.optimizer.joins.search import cheapest
from eddyline.optimizer.joins.trees import Tree, leaves, mask
from eddyline.optimizer.prices import TYPICAL, Prices
from eddyline.optimizer.statistics import UNKNOWN, Statistics
from eddyline.optimizer.traversal import OncePerNode, Rule, moved, shows_parameters

#: Joins leave the order written if that saves more than the arithmetic is exact.
_MARGIN: Final = 0.999


def order_joins(plan: Plan, statistics: Statistics = UNKNOWN, prices: Prices = TYPICAL) -> Plan:
    """Replace each Product, and the Filter above it, by a tree of Joins.

    Where the rates of all its streams are known it is the tree that costs least, bushy or not; the
    order as written stays if no other is cheaper. Else it is a left-deep tree in the order written,
    equi-joins before cross products (:meth:`JoinGraph.as_written`).

    Tables are joined with what reads a stream, non-retroactive ones behind all else, tied or not: a
    result reflects them as they were at its own ts, which is known when all streams are joined.
    (What two streams share with such a table, they share with each other: that ties them.)

    Equalities between the two sides become keys (whatever expressions they compare), other terms
    the residual of the first join that has their columns; terms on one part filter that part.
    Where not all parts are streams, terms with Parameters filter the whole.
    """

    def rewritten(below: Rule, node: Plan) -> Plan:
        return _rewritten(node, below, statistics, prices)

    return OncePerNode(rewritten)(plan)


def _rewritten(plan: Plan, below: Rule, statistics: Statistics, prices: Prices) -> Plan:
    terms: tuple[Expr, ...] = ()
    product = plan
    if isinstance(plan, Filter) and isinstance(plan.input, Product):
        terms, product = conjuncts(plan.predicate), plan.input
    inputs = list(map(below, product.inputs))
    if isinstance(product, Product):
        return _joins(Product(tuple(inputs)), terms, statistics, prices)
    return plan.with_inputs(*inputs)


def _joins(
    product: Product, terms: tuple[Expr, ...], statistics: Statistics, prices: Prices
) -> Plan:
    held = [t for t in terms if has_parameters(t)] if not shows_parameters(product) else []
    above = [t for t in terms if not columns_of(t) or t in held]
    waiting = [t for t in terms if t not in above]
    waiting += _implied(waiting, _non_retroactive_columns(product))
    graph = with_own_terms_below(JoinGraph(product.parts, tuple(waiting)))
    tree = _built(graph, _chosen(graph, statistics, prices))
    return filtered(_in_order(tree, product), above)


def with_own_terms_below(graph: JoinGraph) -> JoinGraph:
    """The parts below the terms that read nothing else, and the other terms."""
    parts = []
    for number, plan in enumerate(graph.parts):
        places = {column: place for place, column in enumerate(graph.columns(number))}
        own = [moved(t, places) for t in graph.terms if graph.reads(t) == 1 << number]
        parts.append(filtered(plan, own))
    joining = tuple(t for t in graph.terms if graph.reads(t).bit_count() > 1)
    return JoinGraph(tuple(parts), joining)


# -- which tree --------------------------------------------------------


def _chosen(graph: JoinGraph, statistics: Statistics, prices: Prices) -> Tree:
    """The cheapest tree of the parts, or that in the order written."""
    written = graph.as_written()
    if len(graph.parts) < 3 or not graph.is_known(statistics):
        return written
    query, costing = graph.query(statistics), Priced(prices, prices)
    best = _oriented(cheapest(query, costing, among=query.everything & ~graph.late), query)
    for late in leaves(written):
        if graph.late >> late & 1:
            best = best, late
    everything = [1.0] * len(graph.parts)
    costs = [PlanFunctions(query, tree, costing).cost.at(everything) for tree in (written, best)]
    return best if costs[1] < costs[0] * _MARGIN else written


def _oriented(tree: Tree, query: JoinQuery) -> Tree:
    """The same joins, on the left what is written first and reads a stream."""
    if isinstance(tree, int):
        return tree
    sides = [_oriented(side, query) for side in tree]
    left, right = sorted(sides, key=lambda t: (not mask(t) & query.streams, min(leaves(t))))
    return left, right


# -- building it -------------------------------------------------------


@dataclass(frozen=True)
class _Joined:
    """Parts that are joined: ``columns[i]`` is the product's ordinal of the plan's column ``i``."""

    parts: Mask
    plan: Plan
    columns: tuple[int, ...]

    def places(self) -> dict[int, int]:
        return {ordinal: place for place, ordinal in enumerate(self.columns)}


def joined_as(graph: JoinGraph, tree: Tree, outputs: Sequence[Expr], names: Sequence[str]) -> Plan:
    """The parts joined in the order of a tree; ``outputs`` read the columns of all parts."""
    joined = _built(graph, tree)
    places = joined.places()
    return Project(joined.plan, tuple(moved(e, places) for e in outputs), tuple(names))


def _built(graph: JoinGraph, tree: Tree) -> _Joined:
    if isinstance(tree, int):
        return _Joined(1 << tree, graph.parts[tree], tuple(graph.columns(tree)))
    return _join(graph, _built(graph, tree[0]), _built(graph, tree[1]))


def _join(graph: JoinGraph, left: _Joined, right: _Joined) -> _Joined:
    """The join by all terms that no input could decide."""
    parts, columns = left.parts | right.parts, left.columns + right.columns
    places = {ordinal: place for place, ordinal in enumerate(columns)}
    keys, residual = [], []
    for term in graph.terms:
        reads = graph.reads(term)
        if reads & ~parts or not reads & ~left.parts or not reads & ~right.parts:
            continue
        if graph.is_key(term, left.parts, right.parts):
            keys.append(_key(graph, term, left, right))
        else:
            residual.append(moved(term, places))
    plan = join(left.plan, right.plan, tuple(keys), conjunction(tuple(residual)))
    return _Joined(parts, plan, columns)


def _key(graph: JoinGraph, term: Expr, left: _Joined, right: _Joined) -> tuple[Expr, Expr]:
    assert isinstance(term, Call)
    a, b = term.arguments
    if graph.reads(a) & right.parts:
        a, b = b, a
    a, b = moved(a, left.places()), moved(b, right.places())
    type_ = functions.common_type(a.type, b.type)
    return functions.cast(a, type_), functions.cast(b, type_)


def _in_order(tree: _Joined, product: Product) -> Plan:
    """The tree with its columns as the product has them."""
    if tree.columns == tuple(range(len(tree.columns))):
        return tree.plan
    places, schema = tree.places(), product.schema
    columns = (ColumnRef(f.type, places[i], f.name) for i, f in enumerate(schema))
    return Project(tree.plan, tuple(columns), tuple(f.name for f in schema))


# -- what non-retroactive tables imply ---------------------------------


def _non_retroactive_columns(product: Product) -> frozenset[int]:
    late = [is_non_retroactive(p) for p in product.parts for _ in p.schema]
    return frozenset(i for i, is_late in enumerate(late) if is_late)


def _implied(terms: Sequence[Expr], late: frozenset[int]) -> list[Expr]:
    """``a = b`` for each ``a = x`` and ``b = x`` where only x reads late columns."""
    equal: dict[Expr, list[Expr]] = {}
    for term in terms:
        if isinstance(term, Call) and term.function == "=":
            for a, x in (term.args, term.args[::-1]):
                if columns_of(x) and columns_of(x) <= late and not columns_of(a) & late:
                    equal.setdefault(x, []).append(a)
    return [functions.resolve("=", pair) for same in equal.values() for pair in pairwise(same)]
