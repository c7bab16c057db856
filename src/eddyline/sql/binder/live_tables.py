"""Checks where non-retroactive tables (NRRs) are allowed in FROM.

A change of such a table affects later results only: a result uses the table as of the result's own
instant. So each result needs an instant, that of the stream rows in the same FROM, and must be
final: it is never withdrawn and computed again (Golab and Ozsu 2005, section 4.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eddyline.algebra.patterns import Pattern
from eddyline.algebra.per_node import per_node
from eddyline.algebra.plan import Distinct, GroupBy, Plan, TableScan
from eddyline.errors import SqlError, UnsupportedError
from eddyline.sql.binder.context import Context, changes
from eddyline.sql.binder.relations import Item

_BEHIND: Final = "LEFT JOIN it behind all streams of FROM"


def is_non_retroactive(item: Item) -> bool:
    """Whether a FROM item is a non-retroactive table."""
    plan = item.bound.plan
    return isinstance(plan, TableScan) and plan.updates == "non-retroactive"


def check_tables(items: Sequence[Item], parts: Sequence[Plan], context: Context) -> None:
    """Check the non-retroactive tables of a FROM clause.

    Args:
        items: all items of FROM.
        parts: factors of the product: the items, or the outer joins that contain them.
        context: for errors.

    Raises:
        UnsupportedError: the results have no instant at which to read a table, or are not final.
    """
    for table in filter(is_non_retroactive, items):
        plan = table.bound.plan
        if plan in parts:
            check_lookup(table, items, parts, context)
        elif any(changes(p) for p in parts if not _holds(p, plan)):
            raise _refusal(table, f"{_BEHIND}, or", context)


def check_outer_join(
    side: str,
    left: Sequence[Item],
    right: Sequence[Item],
    parts: Sequence[Plan],
    context: Context,
) -> None:
    """Check the non-retroactive tables of an outer join.

    Args:
        left, right: the items of its inputs.
        parts: of both, before the join.
    """
    for table in filter(is_non_retroactive, (*left, *right)):
        if side != "LEFT":
            raise _refusal(table, f"it is not allowed in a {side} JOIN; {_BEHIND}, or", context)
        if [table] == list(right):
            check_lookup(table, left, parts[:-1], context)
        elif table in right or any(i.bound.changes for i in right):
            raise _refusal(table, f"{_BEHIND}, or", context)
    check_tables(left, parts[:-1], context)


def check_lookup(
    table: Item, items: Sequence[Item], parts: Sequence[Plan], context: Context
) -> None:
    """Check that the rows of a FROM clause can look up a non-retroactive table when they arrive."""
    others = [i for i in items if not is_non_retroactive(i)]
    if not any(i.bound.changes for i in others):
        why = "only rows of a stream can look it up; add a stream to the same FROM, or"
        raise _refusal(table, why, context)
    strict = next((i for i in others if _takes_back(i.bound.plan)), None)
    if strict is not None:
        name = f"'{strict.name}'" if strict.name else "a query in FROM"
        raise _refusal(table, f"it cannot join {name}, whose rows may be withdrawn;", context)
    if any(map(_takes_back, parts)):
        why = "it cannot join an outer join, whose rows may be withdrawn; join it before that, or"
        raise _refusal(table, why, context)


def _refusal(table: Item, why: str, context: Context) -> SqlError:
    plan = table.bound.plan
    assert isinstance(plan, TableScan)
    return context.error(
        table.node,
        f"table '{plan.table}' is non-retroactive: {why} "
        "declare the table with updates = 'retroactive'",
        UnsupportedError,
    )


def _takes_back(plan: Plan) -> bool:
    """Whether rows may be withdrawn before they expire, or (below GROUP BY and DISTINCT) stand for
    several input rows and so have no instant of their own.
    """
    return plan.pattern == Pattern.STR or _merges(plan)


@per_node
def _merges(plan: Plan) -> bool:
    return isinstance(plan, GroupBy | Distinct) or any(map(_merges, plan.inputs))


def _holds(plan: Plan, part: Plan) -> bool:
    return plan == part or any(_holds(p, part) for p in plan.inputs)
