"""EXISTS, NOT EXISTS and EXCEPT above a grouping that queries share.

    AntiJoin  k = b.k                             AntiJoin  k = b.k
      Distinct  k                                   Distinct  _query, k
        Filter  (temp > 20)               ->          SharedRows  _query, k
          StreamScan  r [RANGE 1 MINUTE]
      StreamScan  b [RANGE 5 SECONDS]               StreamScan  b [RANGE 5 SECONDS]

The right rows are the same for all queries, and the number of the query is a column of left rows
that no key reads. So a right row is looked up once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeGuard

from eddyline.algebra.expressions import ColumnRef, Expr, columns_of, rewrite, shift_columns
from eddyline.algebra.functions.fallibility import can_fail
from eddyline.algebra.parameters import has_parameters
from eddyline.algebra.plan import (
    AntiJoin,
    Distinct,
    Filter,
    GroupBy,
    Plan,
    Project,
    SemiJoin,
    SharedRows,
)
from eddyline.sharing.flat import Flat, without_implied

#: What decides on each left row by the right rows with its key.
Existence = SemiJoin | AntiJoin


def is_for_many(plan: Plan) -> TypeGuard[Existence]:
    """Whether right rows can be the same for many queries: they are looked up by keys alone."""
    if type(plan) not in (SemiJoin, AntiJoin):
        return False
    assert isinstance(plan, (SemiJoin, AntiJoin)), "as it is"
    fails = any(can_fail(e) for pair in plan.keys for e in pair)
    return plan.residual is None and not fails and not has_parameters(plan.right)


def numbered_existence(plan: Existence, left: Plan) -> Plan:
    """The plan over left rows with the number of the query as their first column."""
    keys = tuple((shift_columns(a, 1), b) for a, b in plan.keys)
    return replace(plan, left=left, keys=keys)


def rights(above: Plan) -> Iterator[Plan]:
    """What the rows above a flow are matched with, from the flow upwards."""
    if isinstance(above, SharedRows):
        return
    yield from rights(above.inputs[0])
    yield from above.inputs[1:]


def with_common_rights(plan: Plan, grouping: Plan, flat: Flat) -> Plan:
    """The plan without those terms on right rows that follow, by the keys, from the terms on the
    rows below the grouping: those may differ from query to query.

    Args:
        flat: the input of the grouping.
    """
    above = plan
    while above is not grouping and not isinstance(above, (SemiJoin, AntiJoin)):
        (above,) = above.inputs
    return plan if above is grouping else _with_definitions(plan, grouping, flat)[0]


def _with_definitions(plan: Plan, grouping: Plan, flat: Flat) -> tuple[Plan, dict[int, Expr]]:
    """The plan, and how those of its columns are computed that are the same for all rows of a
    group.
    """
    if plan is grouping:
        return plan, _computed(plan, dict(enumerate(flat.outputs)))
    below, known = _with_definitions(plan.inputs[0], grouping, flat)
    if not isinstance(plan, (SemiJoin, AntiJoin)):
        return plan.with_inputs(below), _computed(plan, known)
    keys = [(_over(a, known), b) for a, b in plan.keys if columns_of(a) <= known.keys()]
    return plan.with_inputs(below, without_implied(plan.right, flat.terms, keys)), known


def _computed(plan: Plan, known: dict[int, Expr]) -> dict[int, Expr]:
    """How columns are computed, by how those of the input are."""
    if isinstance(plan, (Filter, Distinct)):
        return known
    assert isinstance(plan, (Project, GroupBy)), "nothing else is above a grouping"
    exprs: Sequence[Expr] = plan.exprs if isinstance(plan, Project) else plan.keys
    return {i: _over(e, known) for i, e in enumerate(exprs) if columns_of(e) <= known.keys()}


def _over(expr: Expr, known: dict[int, Expr]) -> Expr:
    def change(e: Expr) -> Expr | None:
        return known[e.index] if isinstance(e, ColumnRef) else None

    return rewrite(expr, change)
