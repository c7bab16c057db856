"""How the rows of a plan are held: row ids, stores, and which operator already keeps the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from eddyline.algebra.expressions import ColumnRef
from eddyline.algebra.per_node import per_node
from eddyline.algebra.plan import (
    Admitted,
    AntiJoin,
    AsofJoin,
    Distinct,
    Filter,
    FinalRows,
    GroupBy,
    Join,
    Lookup,
    LookupAntiJoin,
    LookupJoin,
    LookupSemiJoin,
    MatchedRows,
    MatchRecognize,
    Negation,
    Over,
    Plan,
    Product,
    Project,
    RunningOver,
    SemiJoin,
    SessionGroups,
    SessionRows,
    SharedRows,
    StreamScan,
    TableScan,
    Union,
    Unnest,
    Windowed,
    below_projections,
    sealed,
)
from eddyline.algebra.windows import Unbounded


@dataclass(frozen=True)
class RowIds:
    """How the rows of a plan's output are identified.

    Attributes:
        width: the number of row ids that identify a row.
        stored: whether every column is in a store, so that row ids suffice to find it again.
    """

    width: int
    stored: bool

    @property
    def stored_width(self) -> int:
        """The number of row ids of a row where all rows are in a store."""
        return self.width if self.stored else 1

    @property
    def computed(self) -> RowIds:
        """The same with columns that are not in a store."""
        return RowIds(self.width, stored=False)


@per_node
def row_ids_of(plan: Plan) -> RowIds:
    """How the rows of a plan's output are identified."""
    node = sealed(plan)
    match node:
        case StreamScan() | TableScan():
            return RowIds(1, stored=True)
        case MatchedRows() if node.joined:  # and the number of the query
            return RowIds(3, stored=False)
        case SharedRows():  # and the number of the query; computed by the flow
            return RowIds(1 + sum(row_ids_of(p).width for p in node.sources), stored=False)
        case Filter() | Admitted():
            return row_ids_of(node.input)
        case Project():
            ids = row_ids_of(node.input)
            return ids if all(isinstance(e, ColumnRef) for e in node.exprs) else ids.computed
        case Unnest():  # and the element's number
            return RowIds(row_ids_of(node.input).width + 1, stored=False)
        case Windowed():  # and the window's start and end
            return RowIds(row_ids_of(node.input).width + 2, stored=False)
        case LookupJoin() | LookupSemiJoin() | LookupAntiJoin() if node.is_static:
            left = row_ids_of(node.left)  # a '-' finds the match of its row again
            return RowIds(left.width + isinstance(node, LookupJoin), left.stored)
        case Join() | Product():
            inputs = [row_ids_of(p) for p in node.inputs]
            return RowIds(sum(i.stored_width for i in inputs), all(i.stored for i in inputs))
        case Negation() | SemiJoin() | AntiJoin():  # the left rows are put into a store
            return RowIds(row_ids_of(node.left).stored_width, stored=True)
        case Over() if node.forgets:  # the number of the change that shows the row as it is
            return RowIds(1, stored=False)
        case Over():  # and the number of the change that shows the row as it is
            return RowIds(row_ids_of(node.input).stored_width + 1, stored=False)
        case RunningOver():
            return RowIds(1, stored=False) if node.waits_us else row_ids_of(node.input).computed
        case AsofJoin() | SessionRows():  # the rows are put into a store
            return RowIds(1, stored=True)
        case Union():
            return RowIds(1 + max(row_ids_of(p).width for p in node.parts), stored=False)
        case GroupBy() | Distinct() | FinalRows() | SessionGroups() | MatchRecognize():
            return RowIds(1, stored=False)
    assert_never(node)


def base_scan(plan: Plan) -> StreamScan | TableScan | None:
    """The scan whose rows these are, if the plan only filters and reorders columns of one."""
    scan = below_projections(plan)
    return scan if isinstance(scan, (StreamScan, TableScan)) and row_ids_of(plan).stored else None


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
    while isinstance(plan, (Filter, Project, Unnest, Lookup, AsofJoin)):
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
    if isinstance(plan, FinalRows) and plan.in_window:
        return None
    if isinstance(plan, (FinalRows, SessionGroups)):
        return f"EMIT FINAL {plan.label}"
    if isinstance(plan, MatchRecognize):
        return f"MATCH_RECOGNIZE {plan.label}"
    if isinstance(plan, RunningOver):
        return f"OVER {plan.label}"
    if isinstance(plan, (Lookup, AsofJoin)):
        return unbounded_scan(plan.left)
    if not isinstance(plan, (Filter, Project, Unnest, Union)):
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
