"""How large plans and expressions become when all that they share is written out.

A view may read another one twice, a LEFT JOIN is made of two joins, and ``nullif(x, y)`` names x
twice: so a short text may stand for a plan of any size. It is refused before anything walks it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from eddyline.algebra.expressions import ColumnRef, Expr
from eddyline.algebra.plan import (
    Filter,
    GroupBy,
    Join,
    Plan,
    Product,
    Project,
    Union,
)
from eddyline.sql.limits import MAX_EXPRESSION, MAX_INPUTS, MAX_PLAN


class Size(NamedTuple):
    """The size of a plan.

    Attributes:
        nodes: how many it has. inputs: streams and tables that its rows bring together.
        columns: operators and values from which each of its columns is computed.
        largest: of its expressions.
    """

    nodes: int
    inputs: int
    columns: tuple[int, ...]
    largest: int

    def excess(self) -> str | None:
        """What is too much of it, for messages; None if nothing is."""
        if self.inputs > MAX_INPUTS:
            return f"brings more than {MAX_INPUTS} streams and tables together"
        if self.nodes > MAX_PLAN:
            return f"becomes a plan of more than {MAX_PLAN} operators"
        if self.largest > MAX_EXPRESSION:
            return f"computes a value by more than {MAX_EXPRESSION} operators"
        return None


class Sizes:
    """The sizes of plans and expressions, each computed once."""

    def __init__(self) -> None:
        self._plans: dict[int, tuple[Plan, Size]] = {}
        self._exprs: dict[int, tuple[Expr, int]] = {}

    def of_plan(self, plan: Plan) -> Size:
        """The size of a plan."""
        known = self._plans.get(id(plan))
        if known is None:
            known = self._plans[id(plan)] = plan, self._measured(plan)
        return known[1]

    def of(self, expr: Expr) -> int:
        """How many operators and values an expression has."""
        known = self._exprs.get(id(expr))
        if known is None:
            known = self._exprs[id(expr)] = expr, 1 + sum(map(self.of, expr.args))
        return known[1]

    def _measured(self, plan: Plan) -> Size:
        inputs = [self.of_plan(i) for i in plan.inputs]
        below = [c for i in inputs for c in i.columns]
        own = [_expanded(e, below, {}) for e in _expressions(plan)]
        count = [i.inputs for i in inputs] or [1]
        return Size(
            1 + sum(i.nodes for i in inputs),
            max(count) if isinstance(plan, Union) else sum(count),
            _columns(plan, inputs, own),
            max((*own, *(i.largest for i in inputs)), default=0),
        )


def _columns(plan: Plan, inputs: list[Size], own: list[int]) -> tuple[int, ...]:
    """From how much each column of a plan is computed; aggregates are kept as they are."""
    if isinstance(plan, Project):
        return tuple(own)
    if isinstance(plan, GroupBy):
        return (*own, *(1 for _ in plan.aggregates))
    if isinstance(plan, Union):
        return tuple(map(max, zip(*(i.columns for i in inputs), strict=True)))
    if isinstance(plan, (Join, Product)):
        return tuple(c for i in inputs for c in i.columns)
    return inputs[0].columns if inputs else (1,) * len(plan.schema)


def _expressions(plan: Plan) -> Iterator[Expr]:
    """Those that rules may put together with those below."""
    if isinstance(plan, Project):
        yield from plan.exprs
    elif isinstance(plan, GroupBy):
        yield from plan.keys
    elif isinstance(plan, Filter):
        yield plan.predicate


def _expanded(expr: Expr, columns: list[int], known: dict[int, int]) -> int:
    """The size of an expression with each column replaced by what computes it."""
    if isinstance(expr, ColumnRef):
        return columns[expr.index]
    size = known.get(id(expr))
    if size is None:
        size = known[id(expr)] = 1 + sum(_expanded(a, columns, known) for a in expr.args)
    return size
