"""Fewer projections: rows pass each one only if it computes something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from eddyline.algebra.expressions import Aggregate, ColumnRef, Expr, walk
from eddyline.algebra.plan import GroupBy, PartialGroupBy, Plan, Project
from eddyline.optimizer.traversal import bottom_up, substituted


def merge_projects(plan: Plan) -> Plan:
    """Compute in one node what a Project, or GROUP BY, reads from a Project below it.

    Not if that would compute something twice: then the lower Project stays. That below a partial
    GROUP BY stays, too: others may read it, and a row for which one of its columns fails is in no
    part. A Project that only passes its input unchanged is removed.
    """
    return bottom_up(plan, _merged)


def _merged(plan: Plan) -> Plan:
    if isinstance(plan, Project):
        return _without_identity(_project(plan))
    if isinstance(plan, GroupBy) and not isinstance(plan, PartialGroupBy):
        return _group_by(plan)
    return plan


def _project(plan: Project) -> Project:
    below = plan.input
    if not isinstance(below, Project) or _computes_twice(plan.exprs, below):
        return plan
    exprs = tuple(substituted(e, below.exprs) for e in plan.exprs)
    return replace(plan, input=below.input, exprs=exprs)


def _group_by(plan: GroupBy) -> GroupBy:
    below = plan.input
    read = [*plan.keys, *(e for a in plan.aggregates for e in (a.argument, a.where) if e)]
    if not isinstance(below, Project) or _computes_twice(read, below):
        return plan
    keys = tuple(substituted(k, below.exprs) for k in plan.keys)
    aggregates = tuple(_over(a, below) for a in plan.aggregates)
    return replace(plan, input=below.input, keys=keys, aggregates=aggregates)


def _over(aggregate: Aggregate, below: Project) -> Aggregate:
    def move(expr: Expr | None) -> Expr | None:
        return None if expr is None else substituted(expr, below.exprs)

    return replace(aggregate, argument=move(aggregate.argument), where=move(aggregate.where))


def _computes_twice(exprs: Iterable[Expr], below: Project) -> bool:
    uses = Counter(e.index for expr in exprs for e in walk(expr) if isinstance(e, ColumnRef))
    return any(n > 1 and below.exprs[i].args for i, n in uses.items())


def _without_identity(plan: Project) -> Plan:
    below = plan.input.schema
    same = len(below) == len(plan.exprs) and all(
        isinstance(e, ColumnRef) and e.index == i and name == below[i].name
        for i, (e, name) in enumerate(zip(plan.exprs, plan.names, strict=True))
    )
    return plan.input if same else plan
