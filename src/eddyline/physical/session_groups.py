"""What operators of sessions compute, compiled."""

from __future__ import annotations

from functools import partial

from eddyline.algebra.plan import SessionGroups, SessionRows
from eddyline.physical.expressions import compile_expr, compile_predicate
from eddyline.runtime import aggregates as runtime
from eddyline.runtime.operators.session_group import SessionGrouping
from eddyline.runtime.operators.session_rows import SessionForm


def session_grouping(plan: SessionGroups) -> SessionGrouping:
    """The parts of a node, compiled."""
    values = [a.value for a in plan.aggregates]
    return SessionGrouping(
        gap_us=plan.gap_us,
        partition=tuple(map(compile_expr, plan.partition)),
        partition_types=tuple(e.type for e in plan.partition),
        where=None if plan.where is None else compile_predicate(plan.where),
        keys=tuple(map(compile_expr, plan.keys)),
        key_types=tuple(e.type for e in plan.keys),
        names=tuple(map(str, plan.by)),
        arguments=tuple(None if v is None else compile_expr(v) for v in values),
        aggregates=partial(_new, plan),
    )


def session_form(plan: SessionRows) -> SessionForm:
    """The sessions of a node, compiled."""
    return SessionForm(
        plan.gap_us,
        tuple(map(compile_expr, plan.partition)),
        tuple(e.type for e in plan.partition),
        plan.schema,
    )


def _new(plan: SessionGroups) -> list[runtime.Aggregate]:
    types = [None if (v := a.value) is None else v.type for a in plan.aggregates]
    return [
        runtime.make_aggregate(a.function, runtime.Wanted(type_, a.type, a.distinct, a.parameters))
        for a, type_ in zip(plan.aggregates, types, strict=True)
    ]
