"""Flattens plans of projections, filters and joins into their leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from eddyline.algebra.expressions import (
    Call,
    ColumnRef,
    Expr,
    columns_of,
    conjuncts,
    rewrite,
    shift_columns,
    walk,
    without_names,
)
from eddyline.algebra.functions.fallibility import can_fail
from eddyline.algebra.parameters import has_parameters
from eddyline.algebra.per_node import per_node
from eddyline.algebra.plan import (
    AntiJoin,
    Filter,
    Join,
    LookupJoin,
    Plan,
    Project,
    SemiJoin,
    StreamScan,
    Union,
    anti_join,
    filtered,
    semi_join,
)
from eddyline.algebra.windows import PartitionRows, Rows


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

    def computed(self, expr: Expr) -> Expr:
        """An expression over the plan's columns, over those of the leaves."""
        return _over(expr, self.outputs)


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
    if isinstance(plan, (SemiJoin, AntiJoin)):
        return _with_left_terms(plan) or _leaf(plan)
    if isinstance(plan, Union):
        return _with_common_terms(plan) or _leaf(plan)
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


@per_node
def _with_left_terms(plan: SemiJoin | AntiJoin | Join) -> Flat | None:
    """A plan as one leaf without the filters of its left rows, which can as well be chosen above
    it: a left row finds the same matches whatever other left rows there are. None if a filter, or
    what is matched, may fail for rows.

    Terms on the right that follow from those by the keys are left out, too.
    """
    left = flatten(plan.left, joins=False)
    if len(left.leaves) > 1 or any(map(can_fail, left.terms)):
        return None
    (leaf,) = left.leaves
    keys = tuple((_over(a, left.outputs), b) for a, b in plan.keys)
    right = without_implied(plan.right, left.terms, keys)
    columns = enumerate(right.schema, start=len(leaf.schema))
    outputs = [*left.outputs, *(ColumnRef(f.type, i, f.name) for i, f in columns)]
    residual = None if plan.residual is None else _over(plan.residual, outputs)
    if any(can_fail(a) for a, _ in keys) or (residual is not None and can_fail(residual)):
        return None
    made: Plan
    if isinstance(plan, Join):
        made = plan.remade(leaf, right, keys, residual)
    else:
        remade = semi_join if isinstance(plan, SemiJoin) else anti_join
        made = remade(leaf, right, keys, residual, nulls_match=plan.nulls_match)
        outputs = left.outputs
    return Flat([made], left.terms, [], outputs)


def without_implied(
    right: Plan, left_terms: Sequence[Expr], keys: Sequence[tuple[Expr, Expr]]
) -> Plan:
    """The right input of a join without terms on its keys that hold for the left ones.

    Keys of matching rows are equal, but for floats, where 0.0 equals -0.0.
    """
    if not isinstance(right, Filter):
        return right
    own = {
        b.index: a for a, b in keys if isinstance(b, ColumnRef) and not pa.types.is_floating(b.type)
    }
    held = {without_names(t) for t in left_terms}

    def is_implied(term: Expr) -> bool:
        columns = columns_of(term)
        if not columns or not columns <= own.keys():
            return False
        return without_names(_over(term, own)) in held

    kept = [t for t in conjuncts(right.predicate) if not is_implied(t)]
    return filtered(right.input, kept)


@per_node
def _with_common_terms(plan: Union) -> Flat | None:
    """UNION ALL as one leaf without the filters that all its parts have in common, as the parts of
    a LEFT JOIN do; None if parts differ in their filters, or if a column may fail for rows.
    """
    parts = [_part(p) for p in plan.parts]
    terms: list[dict[Expr, None]] = []
    for part in parts:
        if part is None or len(part.leaves) > 1 or any(map(can_fail, part.outputs)):
            return None
        found = [_in_outputs(t, part.outputs) for t in part.terms]
        if None in found:
            return None
        terms.append(dict.fromkeys(without_names(t) for t in found if t is not None))
    if not terms[0] or any(t.keys() != terms[0].keys() for t in terms):
        return None
    names = tuple(f.name for f in plan.schema)
    made = Union(tuple(Project(p.leaves[0], tuple(p.outputs), names) for p in parts if p))
    columns: list[Expr] = [ColumnRef(f.type, i, f.name) for i, f in enumerate(plan.schema)]
    return Flat([made], [_over(t, columns) for t in terms[0]], [], columns)


def _part(plan: Plan) -> Flat | None:
    """A part of a union as one leaf."""
    if isinstance(plan, Project):
        below = _part(plan.input)
        return below and replace(below, outputs=[_over(e, below.outputs) for e in plan.exprs])
    if type(plan) is Join:
        return _with_left_terms(plan)
    return flatten(plan, joins=False)


def _in_outputs(term: Expr, outputs: Sequence[Expr]) -> Expr | None:
    """A term over the columns of a leaf as one over outputs; None if they do not have them."""
    places = {without_names(e): i for i, e in reversed(list(enumerate(outputs)))}

    def change(e: Expr) -> Expr | None:
        if not isinstance(e, ColumnRef):
            return None
        return replace(e, index=places[without_names(e)])

    known = all(without_names(e) in places for e in walk(term) if isinstance(e, ColumnRef))
    return rewrite(term, change) if known else None


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

    def rank(number: int) -> tuple[str, int, tuple[int, ...]]:
        leaf = flat.leaves[number]
        if not isinstance(leaf, StreamScan):
            return "", 0, ()
        if isinstance(leaf.window, PartitionRows):
            return leaf.stream.lower(), 2, leaf.window.columns
        return leaf.stream.lower(), int(isinstance(leaf.window, Rows)), ()

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


def _over(expr: Expr, outputs: Sequence[Expr] | Mapping[int, Expr]) -> Expr:
    """The expression with each column replaced by its definition."""

    def change(e: Expr) -> Expr | None:
        return outputs[e.index] if isinstance(e, ColumnRef) else None

    return rewrite(expr, change)
