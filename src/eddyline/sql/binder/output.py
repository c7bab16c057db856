"""Checks and corrections of output column names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from eddyline.algebra.expressions import ColumnRef
from eddyline.algebra.plan import Distinct, Plan, Project, Union
from eddyline.sql.binder.context import Context
from eddyline.sql.statements import Select

#: Prefixes of the columns that the engine adds to every change.
RESERVED: Final = ("_op", "_ts", "_exp")


def checked_output(plan: Plan, select: Select, context: Context) -> Plan:
    """The plan with unique output names, none of which is reserved.

    Raises:
        SqlError: a name has a reserved prefix.
    """
    for field in plan.schema:
        if field.name.lower().startswith(RESERVED):
            raise context.error(
                select.ast,
                f"output column '{field.name}': names with the prefixes {', '.join(RESERVED)} "
                "are reserved; rename it with AS",
            )
    return unique_names(plan)


def unique_names(plan: Plan) -> Plan:
    """The plan with distinct output names: of several columns named x, x, x_1, x_2."""
    names = [f.name for f in plan.schema]
    unique = deduplicated(names)
    return plan if unique == names else _named(plan, unique)


def deduplicated(names: Sequence[str]) -> list[str]:
    """The names, repeated ones with a number appended; case is ignored.

    >>> deduplicated(["x", "X", "x_1", "x"])
    ['x', 'X_2', 'x_1', 'x_3']
    """
    taken = {n.lower() for n in names}
    seen: set[str] = set()
    counts: dict[str, int] = {}  # by name, the last appended number
    result = []
    for name in names:
        unique, count = name, counts.get(name.lower(), 0)
        while unique.lower() in seen or (unique != name and unique.lower() in taken):
            count += 1
            unique = f"{name}_{count}"
        counts[name.lower()] = count
        seen.add(unique.lower())
        result.append(unique)
    return result


def _named(plan: Plan, names: Sequence[str]) -> Plan:
    if isinstance(plan, Project):
        return replace(plan, names=tuple(names))
    if isinstance(plan, Distinct):
        return replace(plan, input=_named(plan.input, names))
    if isinstance(plan, Union):
        return replace(plan, parts=tuple(_named(p, names) for p in plan.parts))
    columns = (ColumnRef(f.type, i, f.name) for i, f in enumerate(plan.schema))
    return Project(plan, tuple(columns), tuple(names))
