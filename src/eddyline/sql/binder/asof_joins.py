"""``a ASOF JOIN b ON a.k = b.k AND a.ts >= b.ts``, and ``FOR SYSTEM_TIME AS OF a.ts``.

Both give each row of a one row of b, the latest up to its time. A non-retroactive table is joined
as of the time of the row anyway, and a static one never changes: for them it is a plain join.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sqlglot import exp

from eddyline.algebra import functions
from eddyline.algebra.expressions import Call, ColumnRef, Expr
from eddyline.algebra.nodes.asof import AsofJoin, lag_us
from eddyline.algebra.patterns import Pattern
from eddyline.algebra.plan import Plan, TableScan
from eddyline.errors import UnsupportedError
from eddyline.sql.binder.context import BoundPlan, Context
from eddyline.sql.binder.live_tables import is_non_retroactive
from eddyline.sql.binder.matching import matched
from eddyline.sql.binder.relations import Item
from eddyline.sql.binder.scalars import Scalars
from eddyline.sql.binder.scope import Scope
from eddyline.sql.binder.time_columns import is_time_column, joined_time_column

#: How to write it.
FORM: Final = "write ASOF JOIN b ON a.k = b.k AND a.ts >= b.ts"
_INCLUSIVE: Final = {">=": True, "<=": True, ">": False, "<": False}


def version_of(node: exp.Expr) -> exp.Version | None:
    """The FOR SYSTEM_TIME AS OF of a FROM item."""
    found = node.args.get("version")
    return found if isinstance(found, exp.Version) else None


def is_asof(join: exp.Join) -> bool:
    """Whether a join is ASOF."""
    return str(join.args.get("method") or "").upper() == "ASOF"


def is_looked_up(item: Item, node: exp.Expr, context: Context) -> bool:
    """Whether an item with FOR SYSTEM_TIME AS OF is a table, which is joined as every table.

    Raises:
        UnsupportedError: it is a retroactive table.
    """
    plan = item.bound.plan
    if not isinstance(plan, TableScan):
        return False
    if plan.updates == "retroactive":
        raise context.error(
            node,
            f"table '{plan.table}' is retroactive: its changes apply to earlier rows, so there is "
            "no past content to join; declare it with updates = 'non-retroactive'",
            UnsupportedError,
        )
    return True


def check_version(version: exp.Version, left: Plan, scope: Scope, context: Context) -> Expr:
    """The time of FOR SYSTEM_TIME AS OF, which must be the event time of the rows before it."""
    time = version.expression
    if version.name.upper() not in ("TIMESTAMP", "SYSTEM_TIME") or not isinstance(time, exp.Column):
        message = "write FOR SYSTEM_TIME AS OF a.ts, with the event time of the stream in front"
        raise context.error(version, message, UnsupportedError)
    found = Scalars(scope, context, clause="FOR SYSTEM_TIME AS OF").bind(time)
    place = joined_time_column(left, context)
    if not isinstance(found, ColumnRef) or not is_time_column(found.index, left, context):
        shown = "that of one stream" if place is None else left.schema[place].name
        message = f"FOR SYSTEM_TIME AS OF takes the event time of the rows in front, {shown}"
        raise context.error(time, message)
    return found


def check_versions(items: Sequence[Item], context: Context) -> None:
    """Check that a table is looked up at the time that FOR SYSTEM_TIME AS OF says: that of each
    result of FROM.
    """
    if sum(i.bound.changes for i in items) < 2:
        return
    for item in items:
        if version_of(item.node) is not None and is_non_retroactive(item):
            raise context.error(
                item.node,
                "FOR SYSTEM_TIME AS OF of a table beside a join of streams is not supported: put "
                "the stream and the table into a sub-query in FROM",
                UnsupportedError,
            )


def asof_join(
    join: exp.Join,
    left: Plan,
    right: Item,
    conditions: Sequence[Expr],
    context: Context,
) -> tuple[AsofJoin, Item]:
    """The join of the rows of FROM so far with an item, and the item in it.

    Args:
        conditions: over the columns of both.

    Raises:
        SqlError, UnsupportedError: they are not equalities and one comparison of event times.
    """
    plan = right.bound.plan
    _check_inputs(join, left, plan, context)
    times = joined_time_column(left, context), joined_time_column(plan, context)
    if times[0] is None or times[1] is None:
        which = "in front" if times[0] is None else "behind it"
        message = f"ASOF JOIN needs the event time of one stream {which} among the columns"
        raise context.error(join, f"{message}; {FORM}", UnsupportedError)
    width = len(left.schema)
    match = matched(conditions, width)
    others = [*match.left, *match.right, *match.both]
    compared = [c for t in others if (c := _compared(t, times[0], width + times[1])) is not None]
    if len(compared) != 1 or len(others) != 1:
        wrong = next((t for t in others if _compared(t, times[0], width + times[1]) is None), None)
        message = (
            f"ASOF JOIN takes equalities and one comparison of event times, "
            f"{left.schema[times[0]].name} >= {right.name}.{plan.schema[times[1]].name}"
        )
        if wrong is not None:
            message += f", not {wrong}: put it into WHERE, or into a sub-query in FROM"
        raise context.error(join, message, UnsupportedError)
    outer = str(join.args.get("side") or "") == "LEFT"
    made = AsofJoin(left, plan, match.keys, compared[0], outer)
    return made, replace(right, bound=BoundPlan(plan))


def as_of_time(time: Expr, right: Item, scope: Scope, context: Context) -> Expr:
    """The comparison that FOR SYSTEM_TIME AS OF means for a stream."""
    place = joined_time_column(right.bound.plan, context)
    if place is None:
        message = "FOR SYSTEM_TIME AS OF takes a stream, or a sub-query of one with its event time"
        raise context.error(right.node, message, UnsupportedError)
    column = scope.width - len(right.fields) + place
    return functions.resolve(">=", (time, scope.column_at(column)))


def _check_inputs(join: exp.Join, left: Plan, right: Plan, context: Context) -> None:
    side = str(join.args.get("side") or "")
    if side not in ("", "LEFT"):
        raise context.error(join, f"{side} ASOF JOIN is not supported: {FORM}", UnsupportedError)
    if left.takes_back or right.takes_back:
        raise context.error(
            join,
            "ASOF JOIN takes rows that stay until they expire, not those of windows of rows, GROUP "
            "BY or NOT EXISTS: write the streams without windows, or with [RANGE 5 MINUTES]; the "
            "latest row per key needs no window",
            UnsupportedError,
        )
    if right.pattern > Pattern.WKS or lag_us(right):
        raise context.error(
            join, f"ASOF JOIN finds rows of one stream, with one window: {FORM}", UnsupportedError
        )


def _compared(term: Expr, left: int, right: int) -> bool | None:
    """Whether a comparison of these columns includes equal times; None for another term."""
    if not isinstance(term, Call) or term.function not in _INCLUSIVE:
        return None
    order = (left, right) if term.function in (">=", ">") else (right, left)
    columns = tuple(a.index if isinstance(a, ColumnRef) else None for a in term.arguments)
    return _INCLUSIVE[term.function] if columns == order else None
