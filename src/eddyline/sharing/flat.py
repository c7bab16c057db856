"""Flattens plans of projections, filters and joins into their leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from eddyline.algebra.expressions import Call, ColumnRef, Expr, conjuncts, rewrite, shift_columns
from eddyline.algebra.parameters import has_parameters
from eddyline.algebra.plan import Filter, Join, LookupJoin, Plan, Project, StreamScan
from eddyline.algebra.windows import Rows


@dataclass(frozen=True)
class Flat:
    """A plan as a list of leaves, with all expressions over the columns of all leaves.

    Attributes:
        terms: conjuncts. keys: pairs of equal expressions. outputs: the plan's columns.
    """

    leaves: list[Plan]
    terms: list[Expr]
    keys: list[tuple[Expr, Expr]]
    outputs: list[Expr]


def flatten(plan: Plan, *, joins: bool) -> Flat:
    """The plan below its projections, filters and (with ``joins``) joins."""
    if isinstance(plan, Project):
        below = flatten(plan.input, joins=joins)
        return replace(below, outputs=[_over(e, below.outputs) for e in plan.exprs])
    if isinstance(plan, Filter):
        below = flatten(plan.input, joins=joins)
        terms = [_over(t, below.outputs) for t in conjuncts(plan.predicate)]
        return replace(below, terms=below.terms + terms)
    if isinstance(plan, LookupJoin):
        return _looked_up(plan, *(flatten(side, joins=False) for side in plan.inputs))
    if joins and isinstance(plan, Join):
        sides = (flatten(side, joins=True) for side in plan.inputs)
        return _side_by_side(plan, *sides)
    return _leaf(plan)


def _leaf(plan: Plan) -> Flat:
    columns: list[Expr] = [ColumnRef(f.type, i, f.name) for i, f in enumerate(plan.schema)]
    return Flat([plan], [], [], columns)


def _looked_up(plan: LookupJoin, left: Flat, right: Flat) -> Flat:
    """A look-up join as one leaf without filters.

    A row joins the table as of the row's own instant, independent of the filters: so filters above
    the join are equivalent to filters below it.
    """
    if has_parameters(plan):
        return _leaf(plan)
    ((stream,), (table,)) = left.leaves, right.leaves
    together = _side_by_side(plan, left, right)
    width = len(stream.schema)
    keys = tuple((a, shift_columns(b, -width)) for a, b in together.keys)
    return replace(together, leaves=[LookupJoin(stream, table, keys)], keys=[])


def _side_by_side(plan: Join, left: Flat, right: Flat) -> Flat:
    width = sum(len(leaf.schema) for leaf in left.leaves)
    moved = [shift_columns(e, width) for e in right.outputs]
    outputs = left.outputs + moved
    pairs = [(_over(a, left.outputs), _over(b, moved)) for a, b in plan.keys]
    keys = [pair for pair in pairs if not any(map(has_parameters, pair))]
    terms = left.terms + [shift_columns(t, width) for t in right.terms]
    terms += [_over(t, outputs) for t in conjuncts(plan.residual)]
    terms += [Call(pa.bool_(), "=", pair) for pair in pairs if pair not in keys]
    below = left.keys + [(shift_columns(a, width), shift_columns(b, width)) for a, b in right.keys]
    return Flat(left.leaves + right.leaves, terms, below + keys, outputs)


def in_canonical_order(flat: Flat) -> Flat:
    """Sources sorted by name and kind of window, so that the order in FROM does not matter."""

    def rank(number: int) -> tuple[str, bool]:
        leaf = flat.leaves[number]
        if not isinstance(leaf, StreamScan):
            return "", False
        return leaf.stream.lower(), isinstance(leaf.window, Rows)

    order = sorted(range(len(flat.leaves)), key=rank)
    if order == list(range(len(order))):
        return flat
    old_starts, new_positions, position = [0], {}, 0
    for leaf in flat.leaves:
        old_starts.append(old_starts[-1] + len(leaf.schema))
    for number in order:
        for column in range(old_starts[number], old_starts[number + 1]):
            new_positions[column] = position
            position += 1

    def renumbered(expr: Expr) -> Expr:
        def change(e: Expr) -> Expr | None:
            return replace(e, index=new_positions[e.index]) if isinstance(e, ColumnRef) else None

        return rewrite(expr, change)

    return Flat(
        [flat.leaves[i] for i in order],
        [renumbered(t) for t in flat.terms],
        [(renumbered(a), renumbered(b)) for a, b in flat.keys],
        [renumbered(e) for e in flat.outputs],
    )


def _over(expr: Expr, outputs: Sequence[Expr]) -> Expr:
    """The expression with each column replaced by its definition."""

    def change(e: Expr) -> Expr | None:
        return outputs[e.index] if isinstance(e, ColumnRef) else None

    return rewrite(expr, change)
