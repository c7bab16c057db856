"""Filters next to the scans: what is dropped early is never joined, grouped or kept.

A ROWS window counts the stream as it arrived. It is part of the scan, and a Filter stays above
its scan, so no Filter can get in front of the counting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import pyarrow as pa

from eddyline.algebra.expressions import Call, ColumnRef, Expr, columns_of, conjuncts
from eddyline.algebra.parameters import has_parameters
from eddyline.algebra.plan import (
    AntiJoin,
    AsofJoin,
    Distinct,
    Filter,
    GroupBy,
    Join,
    Negation,
    Over,
    Plan,
    Product,
    Project,
    RunningOver,
    SemiJoin,
    SharedRows,
    Union,
    Unnest,
    Windowed,
    filtered,
)
from eddyline.optimizer.traversal import OncePerNode, moved, shows_parameters, substituted

#: Pushes terms into a plan.
Push: TypeAlias = Callable[[Plan, tuple[Expr, ...]], Plan]


def push_filters(plan: Plan) -> Plan:
    """Move each term of each Filter as far down as it can be decided.

    Terms pass Project and Distinct always, go into every input of Union, into the one input of a
    product or join that they read, and below GROUP BY if they read keys only (a global aggregate
    has no keys: its one row exists even for no input). With ``a.x = b.x``, a term on ``a.x`` alone
    holds for ``b.x`` as well and is pushed to both sides.

    Terms that do not read the elements of a list pass Unnest, and those that do not read the
    windows pass Windowed.

    A semi-join or anti-join hands its left rows on, so terms go to its left input, and those on
    keys to both. EXCEPT ALL counts the rows of a key, so only terms on keys pass, to both inputs.

    Terms with Parameters pass Project and joins of streams only.
    """
    return OncePerNode(_pushed)(plan, ())


def _pushed(push: Push, plan: Plan, terms: tuple[Expr, ...]) -> Plan:
    """The plan, filtered by terms over its schema."""
    if isinstance(plan, Filter):
        return push(plan.input, (*conjuncts(plan.predicate), *terms))
    if isinstance(plan, Project):
        below = tuple(substituted(t, plan.exprs) for t in terms)
        return plan.with_inputs(push(plan.input, below))
    held = () if shows_parameters(plan) else tuple(t for t in terms if has_parameters(t))
    free = tuple(t for t in terms if t not in held) if held else terms
    return filtered(_pushed_below(push, plan, free), held)


def _pushed_below(push: Push, plan: Plan, terms: tuple[Expr, ...]) -> Plan:
    """The plan, neither a Filter nor a Project, filtered by terms that may be pushed below it.

    Below other kinds of nodes no term is pushed.
    """
    match plan:
        case Union() | Distinct():
            return plan.with_inputs(*(push(i, terms) for i in plan.inputs))
        case GroupBy():
            return _below_group_by(push, plan, terms)
        case Product() | Join():
            return _below_join(push, plan, terms)
        case SemiJoin() | AntiJoin():
            return _below_existence(push, plan, terms)
        case Negation():
            return _below_negation(push, plan, terms)
        case AsofJoin():
            return _below_asof(push, plan, terms)
        case Unnest() | Windowed():
            width = len(plan.input.schema)
            below = tuple(t for t in terms if max(columns_of(t), default=0) < width)
            above = [t for t in terms if t not in below]
            return filtered(plan.with_inputs(push(plan.input, below)), above)
        case Over() | RunningOver():  # terms on the partition leave out whole partitions
            below = tuple(t for t in terms if columns_of(t) and columns_of(t) <= _keys(plan))
            above = [t for t in terms if t not in below]
            return filtered(plan.with_inputs(push(plan.input, below)), above)
        case SharedRows():
            return filtered(plan, terms)
    return filtered(plan.with_inputs(*(push(i, ()) for i in plan.inputs)), terms)


def _keys(plan: Over | RunningOver) -> set[int]:
    return {k.index for k in plan.partition if isinstance(k, ColumnRef)}


def _below_group_by(push: Push, plan: GroupBy, terms: tuple[Expr, ...]) -> Plan:
    on_keys = [t for t in terms if plan.keys and max(columns_of(t), default=0) < len(plan.keys)]
    below = tuple(substituted(t, plan.keys) for t in on_keys)
    above = [t for t in terms if t not in on_keys]
    return filtered(plan.with_inputs(push(plan.input, below)), above)


def _below_join(push: Push, plan: Product | Join, terms: tuple[Expr, ...]) -> Plan:
    terms = tuple(dict.fromkeys((*terms, *_implied(terms))))
    inputs, kept, start = [], list(terms), 0
    for part in plan.inputs:
        span = range(start, start + len(part.schema))
        own = [t for t in kept if columns_of(t) and columns_of(t) <= set(span)]
        kept = [t for t in kept if t not in own]
        inputs.append(push(part, tuple(moved(t, {i: i - start for i in span}) for t in own)))
        start = span.stop
    return filtered(plan.with_inputs(*inputs), kept)


def _below_asof(push: Push, plan: AsofJoin, terms: tuple[Expr, ...]) -> Plan:
    """Terms on the left row go to it; a right row that fails one may hide an older one."""
    width = len(plan.left.schema)
    below = tuple(t for t in terms if max(columns_of(t), default=0) < width)
    above = [t for t in terms if t not in below]
    return filtered(plan.with_inputs(push(plan.left, below), push(plan.right, ())), above)


def _below_existence(push: Push, plan: SemiJoin | AntiJoin, terms: tuple[Expr, ...]) -> Plan:
    left = plan.left
    if isinstance(left, Filter):  # its terms on keys hold on the right as well
        terms = (*conjuncts(left.predicate), *terms)
        left = left.input
    return plan.with_inputs(push(left, terms), push(plan.right, _on_right(plan, terms)))


def _below_negation(push: Push, plan: Negation, terms: tuple[Expr, ...]) -> Plan:
    keys = _exact_keys(plan)
    below = tuple(t for t in terms if columns_of(t) <= keys.keys())
    inputs = [push(plan.left, below), push(plan.right, _on_right(plan, below))]
    return filtered(plan.with_inputs(*inputs), [t for t in terms if t not in below])


def _on_right(plan: Negation | SemiJoin | AntiJoin, terms: Sequence[Expr]) -> tuple[Expr, ...]:
    """What terms on left keys say of the right rows that have these keys."""
    keys = _exact_keys(plan)
    return tuple(substituted(t, keys) for t in terms if set() < columns_of(t) <= keys.keys())


def _exact_keys(plan: Negation | SemiJoin | AntiJoin) -> dict[int, Expr]:
    """For key columns of the left input, what equals them in matching rows of the right one.

    Equal is the same here, also for NULL, but not for floats, where 0.0 equals -0.0.
    """
    return {
        left.index: right
        for left, right in plan.keys
        if isinstance(left, ColumnRef) and not pa.types.is_floating(left.type)
    }


def _implied(terms: Sequence[Expr]) -> Iterator[Expr]:
    """The terms on one column, said of each column that another term makes equal to it."""
    equal = [pair for t in terms for pair in _equated(t)]
    for term in terms:
        columns = columns_of(term)
        for a, b in equal:
            if columns == {a.index}:
                yield substituted(term, {a.index: b})


def _equated(term: Expr) -> Iterator[tuple[ColumnRef, ColumnRef]]:
    """``a = b`` of two columns as (a, b) and (b, a); not for floats, where 0.0 equals -0.0."""
    if not (isinstance(term, Call) and term.function == "="):
        return
    a, b = term.arguments
    if isinstance(a, ColumnRef) and isinstance(b, ColumnRef) and not pa.types.is_floating(a.type):
        yield a, b
        yield b, a
