"""Negation and EXISTS above or below joins, wherever they cost least.

Update-pattern simplification of Golab and Ozsu 2005, section 5.4.2: what is above a strict
operator has to process negative tuples, so it can pay to let the joins run first; or not, if
negation leaves few rows to join.

NOT EXISTS, and EXISTS, decide on a left row by its columns and the right input alone. So they can
take any place from which they still see those columns::

    Join                              AntiJoin  a.x = b.x
      AntiJoin  a.x = b.x     <==>      Join
        a                                 a
        b                                 c
      c                                 b

EXCEPT ALL counts: max(v1 - v2, 0) rows per key. A join that multiplies rows changes v1 and not v2,
so the two trade places only where it cannot multiply them, and where it does not matter which rows
with a key are shown (:func:`_is_lookup`). See docs/decisions/0007-negation-above-joins.md.

A join with a changing table gets no strict input that it did not have: such an operator never moves
from above that join to below it, and moves from below to above it whenever it can. Where the right
input is a non-retroactive table nothing moves: the test looks it up at the instant of its left row,
which is another one before a join than behind it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, TypeGuard

import pyarrow as pa

from eddyline.algebra.expressions import ColumnRef, Expr, columns_of
from eddyline.algebra.patterns import Pattern
from eddyline.algebra.per_node import per_node
from eddyline.algebra.plan import (
    AntiJoin,
    Distinct,
    Filter,
    Join,
    Lookup,
    Negation,
    Plan,
    Project,
    SemiJoin,
    TableScan,
    below_projections,
)
from eddyline.optimizer.cost import Cost, cost
from eddyline.optimizer.prices import TYPICAL, Prices
from eddyline.optimizer.statistics import UNKNOWN, Statistics
from eddyline.optimizer.traversal import bottom_up, moved, substituted

#: What decides on each row of its left input by itself.
Existence = SemiJoin | AntiJoin
#: What chooses among the rows of its left input.
Choosing = Negation | Existence

#: A plan changes if that makes it cheaper by more than the arithmetic is exact.
_MARGIN: Final = 0.999


def pull_up_negation(
    plan: Plan, statistics: Statistics = UNKNOWN, prices: Prices = TYPICAL
) -> Plan:
    """Put every Negation, SemiJoin and AntiJoin at its cheapest place among the joins around it.

    First all of them are pulled as far up as the answer stays the same; then each is pushed down
    to the cheapest place. The plan stays as it is unless that makes it cheaper as a whole.
    """
    known: dict[Plan, Cost] = {}

    def rank(candidate: Plan) -> tuple[int, float]:
        """Lower is better: first, few changing tables that are joined with strict inputs."""
        utilisation = cost(candidate, statistics, prices, known=known).total
        return _strict_below_tables(candidate), utilisation

    def pushed(node: Plan) -> Plan:
        if not _is_movable(node):
            return node
        return min(places(node), key=rank)

    placed = bottom_up(pulled_up(plan), pushed)
    if placed is plan:  # as most are: they have none
        return plan
    tables, utilisation = rank(plan)
    return placed if rank(placed) < (tables, utilisation * _MARGIN) else plan


@per_node
def _strict_below_tables(plan: Plan) -> int:
    below = sum(map(_strict_below_tables, plan.inputs))
    if not (isinstance(plan, Join) and any(map(_is_changing_table, plan.inputs))):
        return below
    strict = [i.pattern == Pattern.STR for i in plan.inputs if not _is_changing_table(i)]
    return below + sum(strict)


def _is_movable(plan: Plan) -> TypeGuard[Choosing]:
    """Whether the plan's top operator chooses rows by what is alive at any instant."""
    return isinstance(plan, Choosing) and not isinstance(plan, Lookup)


def _is_changing_table(plan: Plan) -> bool:
    table = below_projections(plan)
    return isinstance(table, TableScan) and table.updates != "static"


# -- up ----------------------------------------------------------------


def pulled_up(plan: Plan) -> Plan:
    """The plan with all that chooses rows as far up as the answer stays the same."""
    return bottom_up(plan, _pulled)


def _pulled(plan: Plan) -> Plan:
    """The plan with what chooses rows below this join, or DISTINCT, above it instead."""
    if isinstance(plan, Distinct):
        found = _exposed(plan.input)
        if found is not None and _sees_values_only(found):
            return _over(found, Distinct(found.left))
    if isinstance(plan, Join):
        shift = len(plan.left.schema)
        found = _exposed(plan.left)
        if found is not None and _may_cross(found, plan.right, [k for _, k in plan.keys]):
            return _over(found, _pulled(plan.with_inputs(found.left, plan.right)))
        found = _exposed(plan.right)
        if found is not None and _may_cross(found, plan.left, [k for k, _ in plan.keys]):
            above = _pulled(plan.with_inputs(plan.left, found.left))
            return _over(found, above, {i: i + shift for i in range(len(found.schema))})
    return plan


def _exposed(plan: Plan) -> Choosing | None:
    """The plan with what chooses rows on top, if only a Filter or plain columns are above it."""
    if _is_movable(plan):
        return plan
    if not isinstance(plan, (Filter, Project)):
        return None
    found = _exposed(plan.input)
    if found is None:
        return None
    if isinstance(plan, Filter):
        fits = not isinstance(found, Negation) or _reads_keys_only(plan.predicate, found)
        return _over(found, plan.with_inputs(found.left)) if fits else None
    places = {e.index: i for i, e in enumerate(plan.exprs) if isinstance(e, ColumnRef)}
    fits = _left_columns(found) <= places.keys()
    return _over(found, plan.with_inputs(found.left), places) if fits else None


# -- down --------------------------------------------------------------


def places(plan: Choosing) -> Iterator[Plan]:
    """The plan with its top operator where it is, and at every place below."""
    yield plan
    for i, moved_down in _steps_down(plan):
        below = plan.left
        for place in places(moved_down):
            inputs = list(below.inputs)
            inputs[i] = place
            yield below.with_inputs(*inputs)


def _steps_down(plan: Choosing) -> Iterator[tuple[int, Choosing]]:
    """Which inputs of the node below can be chosen from instead, and the operator doing it."""
    below = plan.left
    if isinstance(below, Join):
        width = len(below.left.schema)
        sides = ((below.left, below.right, 0, 1), (below.right, below.left, width, 0))
        for i, (side, other, start, k) in enumerate(sides):
            span = range(start, start + len(side.schema))
            if _left_columns(plan) <= set(span):
                lower = _over(plan, side, {c: c - start for c in span})
                if _may_cross(lower, other, [pair[k] for pair in below.keys]):
                    yield i, lower
    elif isinstance(below, Project):
        yield 0, _computing(plan, below)
    elif isinstance(below, Filter):
        if not isinstance(plan, Negation) or _reads_keys_only(below.predicate, plan):
            yield 0, _over(plan, below.input)
    elif isinstance(below, Existence) and _is_movable(below) and isinstance(plan, Existence):
        yield 0, _over(plan, below.left)
    elif isinstance(below, Distinct) and _sees_values_only(plan):
        yield 0, _over(plan, below.input)


# -- when the answer stays the same ------------------------------------


def _may_cross(choosing: Choosing, other: Plan, other_keys: list[Expr]) -> bool:
    """Whether it may choose before as well as after a join of its left input with another one.

    Args:
        other_keys: the keys of the join, over the other input.
    """
    return not isinstance(choosing, Negation) or _is_lookup(choosing, other, other_keys)


def _is_lookup(negation: Negation, other: Plan, other_keys: list[Expr]) -> bool:
    """Whether a join finds at most one row for a left row, the same for all with its key.

    It does if all columns of the left rows are in the key, and all columns of the other input,
    whose rows are distinct, are join keys. Equal floats may differ (0.0 and -0.0), so they count
    as no key of rows that are to be equal.
    """
    keys = {a.index for a, _ in negation.keys if isinstance(a, ColumnRef) and not _is_float(a)}
    found = {k.index for k in other_keys if isinstance(k, ColumnRef)}
    while isinstance(other, Filter):
        other = other.input
    return (
        keys == set(range(len(negation.schema)))
        and isinstance(other, Distinct)
        and found == set(range(len(other.schema)))
    )


def _sees_values_only(choosing: Choosing) -> bool:
    """Whether it decides alike for all rows that DISTINCT takes for one."""
    if isinstance(choosing, Negation):
        return False
    schema = choosing.left.schema
    return not any(pa.types.is_floating(schema[c].type) for c in _left_columns(choosing))


def _reads_keys_only(predicate: Expr, negation: Negation) -> bool:
    """Whether a filter passes all left rows with a key or none."""
    keys = {a.index for a, _ in negation.keys if isinstance(a, ColumnRef) and not _is_float(a)}
    return columns_of(predicate) <= keys


def _is_float(expr: Expr) -> bool:
    return bool(pa.types.is_floating(expr.type))


# -- moving ------------------------------------------------------------


def _left_columns(choosing: Choosing) -> frozenset[int]:
    """The left columns that it reads."""
    read = frozenset(c for a, _ in choosing.keys for c in columns_of(a))
    if isinstance(choosing, Negation) or choosing.residual is None:
        return read
    return read | {c for c in columns_of(choosing.residual) if c < len(choosing.left.schema)}


def _over(choosing: Choosing, left: Plan, places: dict[int, int] | None = None) -> Choosing:
    """The same choice from another input, which has column ``i`` at ``places[i]`` (default: i)."""
    old, new = len(choosing.left.schema), len(left.schema)
    at = dict(places) if places is not None else {i: i for i in range(old)}
    keys = tuple((moved(a, at), b) for a, b in choosing.keys)
    if isinstance(choosing, Negation) or choosing.residual is None:
        return replace(choosing, left=left, keys=keys)
    at |= {old + i: new + i for i in range(len(choosing.right.schema))}
    return replace(choosing, left=left, keys=keys, residual=moved(choosing.residual, at))


def _computing(choosing: Choosing, project: Project) -> Choosing:
    """The same choice from the rows that a Project computes its own from."""
    left = project.input
    keys = tuple((substituted(a, project.exprs), b) for a, b in choosing.keys)
    if isinstance(choosing, Negation) or choosing.residual is None:
        return replace(choosing, left=left, keys=keys)
    old, new = len(choosing.left.schema), len(left.schema)
    right = choosing.right.schema
    exprs: dict[int, Expr] = dict(enumerate(project.exprs))
    exprs |= {old + i: ColumnRef(f.type, new + i, f.name) for i, f in enumerate(right)}
    residual = substituted(choosing.residual, exprs)
    return replace(choosing, left=left, keys=keys, residual=residual)
