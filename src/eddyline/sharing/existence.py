"""EXISTS, NOT EXISTS and EXCEPT above a grouping that queries share.

    AntiJoin  k = b.k                             AntiJoin  k = b.k
      Distinct  k                                   Distinct  _query, k
        Filter  (temp > 20)               ->          SharedRows  _query, k
          StreamScan  r [RANGE 1 MINUTE]
      StreamScan  b [RANGE 5 SECONDS]               StreamScan  b

The right rows are the same for all queries, and the number of the query is a column of left rows
that no key reads. So a right row is looked up once for all of them. The length of a window by time
over a right stream is one more property of a query (``runtime/eddy/numbered_matching``).
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
    StreamScan,
)
from eddyline.algebra.windows import Range
from eddyline.sharing.flat import Flat, flatten, without_implied
from eddyline.sharing.signature import with_length

#: What decides on each left row by the right rows with its key.
Existence = SemiJoin | AntiJoin


def is_for_many(plan: Plan) -> TypeGuard[Existence]:
    """Whether right rows can be the same for many queries: they are looked up by keys alone."""
    if type(plan) not in (SemiJoin, AntiJoin):
        return False
    assert isinstance(plan, (SemiJoin, AntiJoin)), "as it is"
    fails = any(can_fail(e) for pair in plan.keys for e in pair)
    return plan.residual is None and not fails and not has_parameters(_opened(plan)[0].right)


def numbered_existence(plan: Existence, left: Plan) -> Plan:
    """The plan over left rows with the number of the query as their first column."""
    keys = tuple((shift_columns(a, 1), b) for a, b in plan.keys)
    return replace(plan, left=left, keys=keys)


def with_open_windows(plan: Plan, numbered: Plan) -> tuple[Plan, tuple[Range, ...]]:
    """The plan above ``numbered`` rows without the lengths of windows by time over right streams,
    and these windows, from the lowest upwards.
    """
    if plan is numbered:
        return plan, ()
    below, windows = with_open_windows(plan.inputs[0], numbered)
    plan = plan.with_inputs(below, *plan.inputs[1:])
    if not isinstance(plan, (SemiJoin, AntiJoin)):
        return plan, windows
    opened, window = _opened(plan)
    return opened, windows if window is None else (*windows, window)


def _opened(plan: Existence) -> tuple[Existence, Range | None]:
    """Without the length of its window over a right stream, and this window."""
    right = right_stream(plan)
    if right is None:
        return plan, None
    (scan,) = right.leaves
    assert isinstance(scan, StreamScan) and isinstance(scan.window, Range), "so it is open"
    return replace(plan, right=_with_scan(plan.right, with_length(scan, 1))), scan.window


def _with_scan(plan: Plan, scan: StreamScan) -> Plan:
    """Projections and filters over another scan."""
    if isinstance(plan, StreamScan):
        return scan
    return plan.with_inputs(_with_scan(plan.inputs[0], scan))


def right_stream(plan: Existence) -> Flat | None:
    """The right rows, if they are those of a stream with a window by time."""
    right = flatten(plan.right, joins=False)
    (leaf,) = right.leaves
    is_stream = isinstance(leaf, StreamScan) and isinstance(leaf.window, Range)
    exprs = (*right.terms, *(right.computed(b) for _, b in plan.keys))
    return right if is_stream and not any(map(can_fail, exprs)) else None


def existences(above: Plan) -> Iterator[Existence]:
    """Those above a flow, from the lowest upwards."""
    if isinstance(above, SharedRows):
        return
    yield from existences(above.inputs[0])
    if isinstance(above, (SemiJoin, AntiJoin)):
        yield above


def common_rights(above: Plan) -> Iterator[Plan]:
    """What rows above a flow are matched with, but streams with a window per query."""
    return (plan.right for plan in existences(above) if right_stream(plan) is None)


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
