"""Where a non-retroactive table (NRR) may stand.

Its changes count only for what comes later: a result shows the table as it was at the result's own
instant. So each result needs such an instant, given by the stream rows in the same FROM, and must
not be taken back and made anew later (Golab and Ozsu 2005, section 4.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eddyline.algebra.patterns import Pattern
from eddyline.algebra.plan import Distinct, GroupBy, Plan, TableScan
from eddyline.errors import SqlError, UnsupportedError
from eddyline.sql.binder.context import Context, changes
from eddyline.sql.binder.relations import Item

_BEHIND: Final = "LEFT JOIN it behind all streams of FROM"


def is_non_retroactive(item: Item) -> bool:
    """Whether a FROM item is such a table."""
    plan = item.bound.plan
    return isinstance(plan, TableScan) and plan.updates == "non-retroactive"


def check_tables(items: Sequence[Item], parts: Sequence[Plan], context: Context) -> None:
    """Check the non-retroactive tables of a FROM clause.

    Args:
        items: all items of FROM.
        parts: what is multiplied: the items, or what outer joins made of them.
        context: for errors.

    Raises:
        UnsupportedError: the results have no instant at which to read a table, or it is not final.
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
        left, right: the items of its sides.
        parts: of both, before they are joined.
    """
    for table in filter(is_non_retroactive, (*left, *right)):
        if side != "LEFT":
            raise _refusal(table, f"it cannot stand in a {side} JOIN; {_BEHIND}, or", context)
        if [table] == list(right):
            check_lookup(table, left, parts[:-1], context)
        elif table in right or any(i.bound.changes for i in right):
            raise _refusal(table, f"{_BEHIND}, or", context)
    check_tables(left, parts[:-1], context)


def check_lookup(
    table: Item, items: Sequence[Item], parts: Sequence[Plan], context: Context
) -> None:
    """Check that the rows of a FROM clause can look a non-retroactive table up as they come."""
    others = [i for i in items if not is_non_retroactive(i)]
    if not any(i.bound.changes for i in others):
        why = "only rows of a stream look it up; name a stream in the same FROM, or"
        raise _refusal(table, why, context)
    strict = next((i for i in others if _takes_back(i.bound.plan)), None)
    if strict is not None:
        name = f"'{strict.name}'" if strict.name else "a query in FROM"
        raise _refusal(table, f"it cannot join {name}, whose rows may be taken back;", context)
    if any(map(_takes_back, parts)):
        why = "it cannot join an outer join, whose rows may be taken back; join it before that, or"
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
    """Whether rows may be taken back before they expire. GROUP BY replaces them; so does DISTINCT,
    or it lets them stand while there are duplicates: either way they have no instant of their own.
    """
    return plan.pattern == Pattern.STR or _merges(plan)


def _merges(plan: Plan) -> bool:
    return isinstance(plan, GroupBy | Distinct) or any(map(_merges, plan.inputs))


def _holds(plan: Plan, part: Plan) -> bool:
    return plan == part or any(_holds(p, part) for p in plan.inputs)
