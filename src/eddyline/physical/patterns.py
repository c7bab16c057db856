"""How the rows of a plan are held: row ids, stores, and which operator already keeps the answer."""

from __future__ import annotations

from typing import assert_never

from eddyline.algebra.expressions import ColumnRef
from eddyline.algebra.plan import (
    AntiJoin,
    Distinct,
    Filter,
    GroupBy,
    Join,
    Lookup,
    LookupAntiJoin,
    LookupJoin,
    LookupSemiJoin,
    Negation,
    Plan,
    Product,
    Project,
    SemiJoin,
    SharedRows,
    StreamScan,
    TableScan,
    Union,
    below_projections,
    sealed,
)
from eddyline.algebra.windows import Unbounded


def is_stored(plan: Plan) -> bool:
    """Whether every output column is in a store, so that row ids suffice to find it again."""
    node = sealed(plan)
    match node:
        case StreamScan() | TableScan():
            return True
        case Project():
            return is_stored(node.input) and all(isinstance(e, ColumnRef) for e in node.exprs)
        case LookupJoin() | LookupSemiJoin() | LookupAntiJoin() if node.is_static:
            return is_stored(node.left)  # a '-' finds the match of its row again
        case Negation() | SemiJoin() | AntiJoin():
            return True  # the left rows are put into a store
        case Union() | GroupBy() | Distinct():
            return False
        case Filter() | Join() | Product() | SharedRows():
            return all(map(is_stored, node.inputs))
    assert_never(node)


def id_width_of(plan: Plan) -> int:
    """The number of row ids that identify an output row."""
    node = sealed(plan)
    match node:
        case SharedRows():
            return 1 + sum(map(id_width_of, node.sources))
        case LookupJoin() if node.is_static:
            return id_width_of(node.left) + 1
        case LookupSemiJoin() | LookupAntiJoin() if node.is_static:
            return id_width_of(node.left)
        case Join() | Product():
            return sum(map(stored_width_of, node.inputs))
        case Union():
            return 1 + max(map(id_width_of, node.parts))
        case Filter() | Project():
            return id_width_of(node.input)
        case Negation() | SemiJoin() | AntiJoin():
            return stored_width_of(node.left)
        case StreamScan() | TableScan() | GroupBy() | Distinct():
            return 1
    assert_never(node)


def stored_width_of(plan: Plan) -> int:
    """The number of row ids of an output row where all rows are in a store."""
    return id_width_of(plan) if is_stored(plan) else 1


def base_scan(plan: Plan) -> StreamScan | TableScan | None:
    """The scan whose rows these are, if the plan only filters and reorders columns of one."""
    scan = below_projections(plan)
    return scan if isinstance(scan, (StreamScan, TableScan)) and is_stored(plan) else None


def passes_rows(plan: Plan) -> bool:
    """Whether the plan only passes rows of a stream, projected or enriched from a table."""
    return isinstance(_source_of(plan), StreamScan) or is_endless(plan)


def is_endless(plan: Plan) -> bool:
    """Whether the plan only passes rows of unbounded streams."""
    source = _source_of(plan)
    if isinstance(source, Union):
        return all(map(is_endless, source.parts))
    return isinstance(source, StreamScan) and isinstance(source.window, Unbounded)


def _source_of(plan: Plan) -> Plan:
    """The plan below projections, filters and look-ups."""
    while isinstance(plan, (Filter, Project, Lookup)):
        plan = plan.inputs[0]
    return plan


def keeps_output(plan: Plan) -> bool:
    """Whether the state of the plan's operator is its answer: groups, distinct values."""
    return isinstance(below_projections(plan), (GroupBy, Distinct))


def unbounded_scan(plan: Plan) -> str | None:
    """The label of an unbounded scan whose rows stay in the answer for ever, yet are kept nowhere;
    None if there is none.

    What only passes rows of an unbounded stream needs no state, and has none.
    """
    if isinstance(plan, StreamScan):
        return plan.label if isinstance(plan.window, Unbounded) else None
    if isinstance(plan, Lookup):
        return unbounded_scan(plan.left)
    if not isinstance(plan, (Filter, Project, Union)):
        return None
    return next((scan for p in plan.inputs if (scan := unbounded_scan(p))), None)


def replaced_by(plan: Plan) -> tuple[str, ...] | None:
    """The output columns by which a grouped row replaces an older one.

    None where rows do not replace each other: no GROUP BY on top, or a key of it that is not in
    the select list, without which the older row cannot be found.
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
