"""Walking and rebuilding plans, and moving expressions between nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from eddyline.algebra.expressions import ColumnRef, Expr, conjunction, rewrite
from eddyline.algebra.plan import Filter, Join, Plan, Product, Project, StreamScan

Rule = Callable[[Plan], Plan]


def bottom_up(plan: Plan, change: Rule) -> Plan:
    """The plan with every node changed, inputs before the nodes that read them.

    A node that several read is changed once.
    """
    done: dict[int, Plan] = {}

    def changed(node: Plan) -> Plan:
        found = done.get(id(node))
        if found is None:
            found = change(node.with_inputs(*map(changed, node.inputs)))
            done[id(node)] = found
        return found

    return changed(plan)


def filtered(plan: Plan, terms: Sequence[Expr]) -> Plan:
    """The plan below a Filter with the terms, or itself if there are none."""
    predicate = conjunction(tuple(terms))
    return plan if predicate is None else Filter(plan, predicate)


def substituted(expr: Expr, exprs: Sequence[Expr] | Mapping[int, Expr]) -> Expr:
    """The expression with each column replaced by the expression that computes it."""

    def change(e: Expr) -> Expr | None:
        return _renamed(exprs[e.index], e) if isinstance(e, ColumnRef) else None

    return rewrite(expr, change)


def moved(expr: Expr, places: Mapping[int, int]) -> Expr:
    """The expression with column ``i`` read from ``places[i]``."""

    def change(e: Expr) -> Expr | None:
        return replace(e, index=places[e.index]) if isinstance(e, ColumnRef) else None

    return rewrite(expr, change)


def shows_parameters(plan: Plan) -> bool:
    """Whether terms with Parameters may stand below this.

    They are found again in what joins of streams are made of. Below all else they would make it
    another plan for each row of values, which is then not shared.
    """
    if isinstance(plan, (Filter, Project, Product, Join)):
        return all(map(shows_parameters, plan.inputs))
    return isinstance(plan, StreamScan)


def _renamed(found: Expr, asked: ColumnRef) -> Expr:
    """Of two names for one column, the one that tells more (``t.price`` rather than ``price``)."""
    if isinstance(found, ColumnRef) and asked.name.endswith(f".{found.name}"):
        return replace(found, name=asked.name)
    return found
