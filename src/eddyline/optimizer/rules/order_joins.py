"""Products to trees of binary joins, in the order written, equi-joins before cross products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from eddyline.algebra import functions
from eddyline.algebra.expressions import Call, ColumnRef, Expr, columns_of, conjunction, conjuncts
from eddyline.algebra.parameters import has_parameters
from eddyline.algebra.plan import Filter, Join, Plan, Product, Project, StreamScan, TableScan
from eddyline.optimizer.traversal import filtered, moved, shows_parameters, with_inputs


def order_joins(plan: Plan) -> Plan:
    """Replace each Product, and the Filter above it, by a left-deep tree of Joins.

    It begins with the first part that reads a stream. Next comes, in the order written, the first
    part that an equality ties to those joined; if there is none, the first that reads a stream;
    tables come last. Non-retroactive tables come behind all else, tied or not: a result reflects
    them as they were at its own ts, which is known when all streams are joined. (What two streams
    share with such a table, they share with each other: that ties them.)

    Equalities between the two sides become keys (whatever expressions they compare), other terms
    the residual of the first join that has their columns; terms on one part filter that part.
    Where not all parts are streams, terms with Parameters filter the whole.
    """
    return _ordered(plan)


def _ordered(plan: Plan) -> Plan:
    terms: tuple[Expr, ...] = ()
    product = plan
    if isinstance(plan, Filter) and isinstance(plan.input, Product):
        terms, product = conjuncts(plan.predicate), plan.input
    inputs = [_ordered(i) for i in product.inputs]
    if isinstance(product, Product):
        return _tree(Product(tuple(inputs)), terms)
    return with_inputs(plan, inputs)


@dataclass(frozen=True)
class _Tree:
    """Joined so far: ``columns[i]`` is the product's ordinal of the plan's column ``i``."""

    plan: Plan
    columns: tuple[int, ...]

    def places(self) -> dict[int, int]:
        return {ordinal: place for place, ordinal in enumerate(self.columns)}


def _tree(product: Product, terms: tuple[Expr, ...]) -> Plan:
    held = [t for t in terms if has_parameters(t)] if not shows_parameters(product) else []
    above = [t for t in terms if not columns_of(t) or t in held]
    waiting = [t for t in terms if t not in above]
    waiting += _implied(waiting, _non_retroactive_columns(product))
    parts = _parts(product, waiting)
    waiting = [t for t in waiting if not any(columns_of(t) <= set(p.columns) for p in parts)]
    waves = [[p for p in parts if _is_non_retroactive(p.plan) is late] for late in (False, True)]
    first = waves[0] or waves[1]
    tree = first.pop(next((i for i, p in enumerate(first) if _reads_stream(p.plan)), 0))
    for wave in waves:
        while wave:
            part = wave.pop(_next(tree, wave, waiting))
            known = {*tree.columns, *part.columns}
            ready = [t for t in waiting if columns_of(t) <= known]
            waiting = [t for t in waiting if t not in ready]
            tree = _joined(tree, part, ready)
    assert not waiting, "a term reads columns that the product does not have"
    return filtered(_in_order(tree, product), above)


def _parts(product: Product, terms: Sequence[Expr]) -> list[_Tree]:
    """The parts, each below the terms that read nothing else."""
    parts, start = [], 0
    for plan in product.parts:
        columns = tuple(range(start, start + len(plan.schema)))
        part = _Tree(plan, columns)
        own = [moved(t, part.places()) for t in terms if columns_of(t) <= set(columns)]
        parts.append(_Tree(filtered(plan, own), columns))
        start += len(columns)
    return parts


def _next(tree: _Tree, parts: Sequence[_Tree], terms: Sequence[Expr]) -> int:
    """Which part to join next."""
    tied = (i for i, p in enumerate(parts) if any(_sides(t, tree, p) for t in terms))
    streams = (i for i, p in enumerate(parts) if _reads_stream(p.plan))
    return next(tied, next(streams, 0))


def _joined(left: _Tree, right: _Tree, terms: Sequence[Expr]) -> _Tree:
    joined = left.columns + right.columns
    keys, residual = [], []
    for term in terms:
        sides = _sides(term, left, right)
        if sides is None:
            residual.append(moved(term, _Tree(left.plan, joined).places()))
        else:
            keys.append(_key(moved(sides[0], left.places()), moved(sides[1], right.places())))
    return _Tree(Join(left.plan, right.plan, tuple(keys), conjunction(tuple(residual))), joined)


def _sides(term: Expr, left: _Tree, right: _Tree) -> tuple[Expr, Expr] | None:
    """The sides of an equality of something on the left and something on the right, else None."""
    if not (isinstance(term, Call) and term.function == "="):
        return None
    a, b = term.arguments
    for x, y in ((a, b), (b, a)):
        if _reads_only(x, left) and _reads_only(y, right):
            return x, y
    return None


def _reads_only(expr: Expr, tree: _Tree) -> bool:
    return bool(columns_of(expr)) and columns_of(expr) <= set(tree.columns)


def _key(left: Expr, right: Expr) -> tuple[Expr, Expr]:
    type_ = functions.common_type(left.type, right.type)
    return functions.cast(left, type_), functions.cast(right, type_)


def _in_order(tree: _Tree, product: Product) -> Plan:
    """The tree with its columns as the product has them."""
    if tree.columns == tuple(range(len(tree.columns))):
        return tree.plan
    places, schema = tree.places(), product.schema
    columns = (ColumnRef(f.type, places[i], f.name) for i, f in enumerate(schema))
    return Project(tree.plan, tuple(columns), tuple(f.name for f in schema))


def _non_retroactive_columns(product: Product) -> frozenset[int]:
    late = [_is_non_retroactive(p) for p in product.parts for _ in p.schema]
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


def _is_non_retroactive(plan: Plan) -> bool:
    """Whether these are rows of an NRR, filtered or computed from."""
    while isinstance(plan, (Filter, Project)):
        plan = plan.input
    return isinstance(plan, TableScan) and plan.updates == "non-retroactive"


def _reads_stream(plan: Plan) -> bool:
    return isinstance(plan, StreamScan) or any(map(_reads_stream, plan.inputs))
