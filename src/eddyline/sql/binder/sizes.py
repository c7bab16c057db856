"""Sizes of plans and expressions.

A view may read another one twice, and ``nullif(x, y)`` contains x twice: a short text may have a
very large plan. It is refused before any code walks it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from eddyline.algebra.expressions import ColumnRef, Expr
from eddyline.algebra.plan import (
    AsofJoin,
    Filter,
    GroupBy,
    Join,
    MatchRecognize,
    Over,
    Plan,
    Product,
    Project,
    RunningOver,
    SessionGroups,
    Sessions,
    Union,
    Unnest,
    Windowed,
)
from eddyline.algebra.reads import nodes
from eddyline.sql.limits import MAX_EXPRESSION, MAX_INPUTS, MAX_PLAN


class PlanSize(NamedTuple):
    """The size of a plan.

    Attributes:
        nodes: number of operators; one that both parts of a union read counts once.
        inputs: number of streams and tables that are joined.
        columns: per column, number of operators and values in its expression.
        largest: size of its largest expression.
    """

    nodes: int
    inputs: int
    columns: tuple[int, ...]
    largest: int

    def excess(self) -> str | None:
        """The limit that the plan exceeds, for messages; None if none."""
        if self.inputs > MAX_INPUTS:
            return f"joins more than {MAX_INPUTS} streams and tables"
        if self.nodes > MAX_PLAN:
            return f"becomes a plan of more than {MAX_PLAN} operators"
        if self.largest > MAX_EXPRESSION:
            return f"computes a value by more than {MAX_EXPRESSION} operators"
        return None


class Sizes:
    """The sizes of plans and expressions, each computed once."""

    def __init__(self) -> None:
        self._plans: dict[int, tuple[Plan, PlanSize]] = {}
        self._exprs: dict[int, tuple[Expr, int]] = {}

    def of_plan(self, plan: Plan) -> PlanSize:
        """The size of a plan."""
        known = self._plans.get(id(plan))
        if known is None:
            known = self._plans[id(plan)] = plan, self._measured(plan)
        return known[1]

    def of(self, expr: Expr) -> int:
        """Number of operators and values of an expression."""
        known = self._exprs.get(id(expr))
        if known is None:
            known = self._exprs[id(expr)] = expr, 1 + sum(map(self.of, expr.args))
        return known[1]

    def _measured(self, plan: Plan) -> PlanSize:
        inputs = [self.of_plan(i) for i in plan.inputs]
        below = [c for i in inputs for c in i.columns]
        own = [_expanded(e, below, {}) for e in _expressions(plan)]
        count = [i.inputs for i in inputs] or [1]
        is_union = isinstance(plan, Union)  # its parts share nodes: those of a LEFT JOIN do
        return PlanSize(
            len(tuple(nodes(plan))) if is_union else 1 + sum(i.nodes for i in inputs),
            max(count) if isinstance(plan, Union) else sum(count),
            _columns(plan, inputs, own),
            max((*own, *(i.largest for i in inputs)), default=0),
        )


def _columns(plan: Plan, inputs: list[PlanSize], own: list[int]) -> tuple[int, ...]:
    """The expanded size of each output column; an aggregate counts as one."""
    if isinstance(plan, Project):
        return tuple(own)
    if isinstance(plan, GroupBy):
        return (*own, *(1 for _ in plan.aggregates))
    if isinstance(plan, Union):
        return tuple(map(max, zip(*(i.columns for i in inputs), strict=True)))
    if isinstance(plan, (Join, Product, AsofJoin)):
        return tuple(c for i in inputs for c in i.columns)
    if isinstance(plan, Unnest):
        return (*inputs[0].columns, *(1 for _ in plan.names))
    if isinstance(plan, (Windowed, Sessions)):
        return (*inputs[0].columns, 1, 1)
    if isinstance(plan, SessionGroups):
        return (*own[: len(plan.by)], *(1 for _ in plan.schema[len(plan.by) :]))
    if isinstance(plan, (Over, RunningOver)):
        own_columns = inputs[0].columns
        return (*own_columns, *(1 for _ in plan.schema[len(own_columns) :]))
    if isinstance(plan, MatchRecognize):  # values are kept as they are computed
        return (1,) * len(plan.schema)
    return inputs[0].columns if inputs else (1,) * len(plan.schema)


def _expressions(plan: Plan) -> Iterator[Expr]:
    """The expressions that rules may merge with those below."""
    if isinstance(plan, Project):
        yield from plan.exprs
    elif isinstance(plan, GroupBy):
        yield from plan.keys
    elif isinstance(plan, Sessions):
        yield from plan.partition
    elif isinstance(plan, SessionGroups):
        yield from plan.by
    elif isinstance(plan, Filter):
        yield plan.predicate
    elif isinstance(plan, Unnest):
        yield plan.listed
    elif isinstance(plan, (Over, RunningOver)):
        yield from plan.expressions


def _expanded(expr: Expr, columns: list[int], known: dict[int, int]) -> int:
    """The size of an expression with each column replaced by its definition."""
    if isinstance(expr, ColumnRef):
        return columns[expr.index]
    size = known.get(id(expr))
    if size is None:
        size = known[id(expr)] = 1 + sum(_expanded(a, columns, known) for a in expr.args)
    return size
