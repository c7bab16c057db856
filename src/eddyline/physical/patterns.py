"""What the physical planner asks of a logical plan: how its rows are held and taken back."""

from __future__ import annotations

from eddyline.algebra.expressions import ColumnRef
from eddyline.algebra.plan import (
    AntiJoin,
    Distinct,
    Filter,
    GroupBy,
    Join,
    Negation,
    Plan,
    Project,
    SemiJoin,
    SharedRows,
    StreamScan,
    TableScan,
    Union,
    looks_up,
)
from eddyline.algebra.windows import Unbounded


def asks_as_it_is(plan: Plan) -> bool:
    """Whether the plan looks a static table up: its left rows need no store then, as a '-' finds
    what its row found, whenever that was.
    """
    return looks_up(plan) and _table_of(plan.inputs[1]).updates == "static"


def _table_of(plan: Plan) -> TableScan:
    while isinstance(plan, (Filter, Project)):
        plan = plan.input
    assert isinstance(plan, TableScan), "what is looked up is a table"
    return plan


def is_stored(plan: Plan) -> bool:
    """Whether every output column is in a store, so that row ids suffice to find it again."""
    if asks_as_it_is(plan):
        return is_stored(plan.inputs[0])
    if isinstance(plan, Project):
        return is_stored(plan.input) and all(isinstance(e, ColumnRef) for e in plan.exprs)
    if isinstance(plan, (Negation, SemiJoin, AntiJoin)):
        return True  # left rows are put into a store, if they are in none
    return not isinstance(plan, (Union, GroupBy, Distinct)) and all(map(is_stored, plan.inputs))


def id_width_of(plan: Plan) -> int:
    """How many row ids identify an output row."""
    if isinstance(plan, SharedRows):
        return 1 + sum(map(id_width_of, plan.sources))
    if asks_as_it_is(plan):
        return id_width_of(plan.inputs[0]) + isinstance(plan, Join)
    if isinstance(plan, Join):
        return sum(map(stored_width_of, plan.inputs))
    if isinstance(plan, Union):
        return 1 + max(id_width_of(p) for p in plan.parts)
    if isinstance(plan, (Filter, Project)):
        return id_width_of(plan.input)
    if isinstance(plan, (Negation, SemiJoin, AntiJoin)):
        return stored_width_of(plan.left)
    return 1


def stored_width_of(plan: Plan) -> int:
    """The number of row ids of an output row where all rows are in a store."""
    return id_width_of(plan) if is_stored(plan) else 1


def base_scan(plan: Plan) -> StreamScan | TableScan | None:
    """The scan whose rows these are, if the plan only filters and reorders columns of one."""
    while isinstance(plan, (Filter, Project)):
        if not is_stored(plan):
            return None
        plan = plan.input
    return plan if isinstance(plan, (StreamScan, TableScan)) else None


def passes_rows(plan: Plan) -> bool:
    """Whether the plan only passes rows of a stream on, as they are, computed anew, or with what a
    table held when they came.
    """
    return isinstance(_passed(plan), StreamScan) or is_endless(plan)


def is_endless(plan: Plan) -> bool:
    """Whether the plan only passes rows of unbounded streams on."""
    source = _passed(plan)
    if isinstance(source, Union):
        return all(map(is_endless, source.parts))
    return isinstance(source, StreamScan) and isinstance(source.window, Unbounded)


def _passed(plan: Plan) -> Plan:
    while isinstance(plan, (Filter, Project)) or looks_up(plan):
        plan = plan.inputs[0]
    return plan


def keeps_output(plan: Plan) -> bool:
    """Whether the state of the plan's operator is its answer: groups, distinct values."""
    while isinstance(plan, (Filter, Project)):
        plan = plan.input
    return isinstance(plan, (GroupBy, Distinct))


def forgotten(plan: Plan) -> str | None:
    """A scan whose rows belong to the answer for ever, yet nobody keeps them; None if none is.

    What only passes rows of an unbounded stream on needs no state, and has none.
    """
    if isinstance(plan, StreamScan):
        return plan.label if isinstance(plan.window, Unbounded) else None
    if looks_up(plan):
        return forgotten(plan.inputs[0])
    if not isinstance(plan, (Filter, Project, Union)):
        return None
    return next((scan for p in plan.inputs if (scan := forgotten(p))), None)


def replaced_by(plan: Plan) -> tuple[str, ...] | None:
    """The output columns by which a grouped row replaces an older one.

    None where rows do not replace each other: no GROUP BY on top, or its keys are not all in the
    select list, so that nobody could tell which row is meant.
    """
    outputs = list(range(len(plan.schema)))
    names = [f.name for f in plan.schema]
    while isinstance(plan, (Filter, Project)):
        if isinstance(plan, Project):
            refs = [plan.exprs[o] if o >= 0 else None for o in outputs]
            outputs = [r.index if isinstance(r, ColumnRef) else -1 for r in refs]
        plan = plan.input
    if not isinstance(plan, GroupBy):
        return None
    keys = range(len(plan.keys))
    if not all(k in outputs for k in keys):
        return None
    return tuple(names[outputs.index(k)] for k in keys)
