"""EMIT FINAL: plans whose rows have the end of their window.

The column is added to what is between the windows and the select list: grouped rows have it if
their group is of one window.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from eddyline.algebra.expressions import Call, ColumnRef, Expr, conjuncts, rewrite, shift_columns
from eddyline.algebra.nodes.windowed import WINDOW_COLUMNS, is_window
from eddyline.algebra.per_node import per_node
from eddyline.algebra.plan import (
    AntiJoin,
    Distinct,
    Filter,
    FinalRows,
    GroupBy,
    Join,
    Negation,
    Over,
    Plan,
    Product,
    Project,
    SemiJoin,
    SessionGroups,
    Union,
    Unnest,
    Windowed,
)
from eddyline.algebra.reads import nodes
from eddyline.algebra.time_windows import TimeWindows

_END: Final = WINDOW_COLUMNS[1]
_ADVICE: Final = "or write EMIT CHANGES for every change, EMIT SNAPSHOT EVERY for whole answers"


class NoWindowEnd(Exception):
    """The reason why rows of a plan are not of one window."""


@per_node
def is_final_by_default(plan: Plan) -> bool:
    """Whether a query without EMIT has final results: it groups or joins rows of windows."""
    if isinstance(plan, (FinalRows, SessionGroups)):
        return False
    if isinstance(plan, (GroupBy, Distinct)) and has_windows(plan):
        return True
    if isinstance(plan, (Product, Join)) and sum(map(has_windows, plan.inputs)) > 1:
        return True
    return any(map(is_final_by_default, plan.inputs))


def final_plan(plan: Plan) -> Plan:
    """The plan of EMIT FINAL.

    Raises:
        NoWindowEnd: its rows are not of one window.
    """
    if any(isinstance(n, (FinalRows, SessionGroups)) for n in nodes(plan)) and not has_windows(
        plan
    ):
        return plan  # they are final below
    return final_rows(plan)


def final_rows(plan: Plan, *, in_window: bool = False) -> Plan:
    """The rows of a plan when their windows end, or just before; raises as :func:`final_plan`."""
    found = _ended(plan)
    if found is None:
        raise NoWindowEnd(
            "EMIT FINAL is for rows of windows that end together: write a window such as "
            "s [TUMBLE 1 MINUTE]"
        )
    columns = _columns(plan)
    names = tuple(f.name for f in plan.schema)
    return Project(FinalRows(found.plan, found.end, in_window), columns, names)


@dataclass(frozen=True)
class _Ended:
    """A plan whose first columns are those of another one.

    Attributes:
        end: the column with the end of the row's window. start: that with its start, if any.
        windows: the windows.
    """

    plan: Plan
    end: int
    start: int | None
    windows: TimeWindows

    @property
    def implied(self) -> bool:
        """Whether rows that agree on all but the end have the same one."""
        return self.windows.single or (self.start is not None and self.windows.start_decides)


@per_node
def has_windows(plan: Plan) -> bool:
    """Whether rows of a plan are in windows that have not ended."""
    if isinstance(plan, (FinalRows, SessionGroups)):
        return False
    return is_window(plan) or any(map(has_windows, plan.inputs))


def _ended(plan: Plan, terms: Sequence[Expr] = ()) -> _Ended | None:
    """The plan with the end of each row's window; None without windows.

    Args:
        terms: hold of the rows of the plan.
    """
    match plan:
        case Windowed() if is_window(plan):
            return _Ended(plan, plan.start + 1, plan.start, plan.windows)
        case Filter():
            found = _ended(plan.input, conjuncts(plan.predicate))
            return found and replace(found, plan=Filter(found.plan, plan.predicate))
        case Project():
            found = _ended(plan.input)
            return found and _projected(plan, found)
        case GroupBy():
            found = _ended(plan.input)
            return found and _grouped(plan, found)
        case Distinct():
            found = _ended(plan.input)
            return found and _distinct(plan, found)
        case Product() | Join():
            return _joined(plan, terms)
        case SemiJoin() | AntiJoin() | Negation():
            found = _ended(plan.left)
            return found and _left(plan, found)
        case Unnest():
            found = _ended(plan.input)
            return found and _widened(plan, found)
        case Over():
            found = _ended(plan.input)
            return found and _placed(plan, found)
        case Union():
            return _united(plan)
    return None


def _projected(plan: Project, below: _Ended) -> _Ended:
    end, start = (_position(plan.exprs, c) for c in (below.end, below.start))
    exprs, names = plan.exprs, plan.names
    if end is None:
        end = len(exprs)
        exprs, names = (*exprs, _reference(below)), (*names, _END.name)
    return _Ended(Project(below.plan, exprs, names), end, start, below.windows)


def _grouped(plan: GroupBy, below: _Ended) -> _Ended:
    end, start = (_position(plan.keys, c) for c in (below.end, below.start))
    if end is not None:
        return _Ended(plan.with_inputs(below.plan), end, start, below.windows)
    if not replace(below, start=start).implied:
        raise NoWindowEnd(
            f"a group of several windows of {below.windows} has no final result: add "
            f"window_start and window_end to GROUP BY, {_ADVICE}"
        )
    k = len(plan.keys)
    keys = (*plan.keys, _reference(below))
    names = (*plan.names[:k], _END.name, *plan.names[k:])
    grouped = GroupBy(below.plan, keys, plan.aggregates, names)
    columns = _columns(grouped)
    ordered = (*columns[:k], *columns[k + 1 :], columns[k])
    return _Ended(_picked(grouped, ordered), len(ordered) - 1, start, below.windows)


def _distinct(plan: Distinct, below: _Ended) -> _Ended:
    if below.end >= len(plan.schema) and not below.implied:
        raise NoWindowEnd(
            f"a row of several windows of {below.windows} has no final result: add window_start "
            f"and window_end to SELECT DISTINCT, {_ADVICE}"
        )
    return replace(below, plan=Distinct(below.plan))


def _joined(plan: Product | Join, terms: Sequence[Expr]) -> _Ended | None:
    inputs: list[Plan] = []
    order: list[Expr] = []
    ends: list[tuple[_Ended, int | None, int | None]] = []  # with the columns of plan
    width = start = 0
    for part in plan.inputs:
        found = _ended(part)
        made = part if found is None else found.plan
        columns = [shift_columns(c, width) for c in _columns(made)]
        order += columns[: len(part.schema)]
        if found is not None:
            first = None if found.start is None else start + found.start
            last = start + found.end if found.end < len(part.schema) else None
            ends.append((replace(found, end=width + found.end), last, first))
        inputs.append(made)
        width += len(made.schema)
        start += len(part.schema)
    if not ends:
        return None
    if isinstance(plan, Join):
        left = len(plan.left.schema)
        terms = [*terms, *conjuncts(plan.residual)]
        equal: list[tuple[Expr, Expr]] = [(a, shift_columns(b, left)) for a, b in plan.keys]
    else:
        equal = []
    _require_same_windows(ends, terms, equal)
    one = ends[0][0]
    if tuple(inputs) == plan.inputs:
        return replace(one, plan=plan, start=None)
    raised = len(inputs[0].schema) - len(plan.inputs[0].schema)
    widened = plan.with_inputs(*inputs)
    if isinstance(widened, Join) and raised and widened.residual is not None:
        residual = _raised(widened.residual, len(plan.inputs[0].schema), raised)
        widened = replace(widened, residual=residual)
    return _Ended(_picked(widened, (*order, _reference(one))), len(order), None, one.windows)


def _raised(expr: Expr, start: int, by: int) -> Expr:
    """The expression over columns of which those from ``start`` on are at later places."""

    def move(e: Expr) -> Expr | None:
        later = isinstance(e, ColumnRef) and e.index >= start
        return shift_columns(e, by) if later else None

    return rewrite(expr, move)


def _require_same_windows(
    ends: Sequence[tuple[_Ended, int | None, int | None]],
    terms: Iterable[Expr],
    equal: Iterable[tuple[Expr, Expr]],
) -> None:
    """Check that rows that are joined are of windows that end together."""
    compared = [t.arguments for t in terms if isinstance(t, Call) and t.function == "="]
    pairs = [(_compared(a), _compared(b)) for a, b in (*equal, *compared)]
    columns = {frozenset(pair) for pair in pairs if None not in pair}
    (first, end, start), *others = ends
    for other, other_end, other_start in others:
        if frozenset((end, other_end)) in columns:
            continue
        together = start is not None and frozenset((start, other_start)) in columns
        decided = first.windows.single or (together and first.windows.start_decides)
        if first.windows == other.windows and decided:
            continue
        raise NoWindowEnd(
            f"rows of {first.windows} and {other.windows} are joined, whose windows end at "
            "different times: add a.window_start = b.window_start AND a.window_end = b.window_end, "
            f"{_ADVICE}"
        )


def _compared(expr: Expr) -> int | None:
    """The column that is compared, also as a key in which NULL equals NULL."""
    if isinstance(expr, Call) and expr.function == "coalesce":
        expr = expr.arguments[0]
    return expr.index if isinstance(expr, ColumnRef) else None


def _left(plan: SemiJoin | AntiJoin | Negation, left: _Ended) -> _Ended:
    if left.plan == plan.left:
        return replace(left, plan=plan)
    if not isinstance(plan, Negation) and plan.residual is not None:
        raise NoWindowEnd(f"select window_start and window_end in the sub-query, {_ADVICE}")
    return replace(left, plan=plan.with_inputs(left.plan, plan.right))


def _widened(plan: Unnest | Over, below: _Ended) -> _Ended:
    """Of a plan that adds columns to its input."""
    width = len(plan.input.schema)
    widened = plan.with_inputs(below.plan)
    if below.end < width:
        return replace(below, plan=widened)
    columns = _columns(widened)
    ordered = (*columns[:width], *columns[width + 1 :], columns[width])
    return replace(below, plan=_picked(widened, ordered), end=len(ordered) - 1)


def _placed(plan: Over, below: _Ended) -> _Ended:
    end, start = (_position(plan.partition, c) for c in (below.end, below.start))
    if end is None and not replace(below, start=start).implied:
        raise NoWindowEnd(
            f"rows of several windows of {below.windows} are ordered together, so their places "
            f"have no final value: add window_start and window_end to PARTITION BY, {_ADVICE}"
        )
    return _widened(plan, below)


def _united(plan: Union) -> _Ended | None:
    parts = [_ended(p) for p in plan.parts]
    found = [p for p in parts if p is not None]
    if not found:
        return None
    if len(found) < len(parts) or len({p.windows for p in found}) > 1:
        raise NoWindowEnd(f"not all SELECTs of UNION ALL have the same windows, {_ADVICE}")
    width = len(plan.schema)
    picked = tuple(_picked(p.plan, (*_columns(p.plan)[:width], _reference(p))) for p in found)
    starts = {p.start for p in found}
    start = starts.pop() if len(starts) == 1 else None
    return _Ended(Union(picked), width, start, found[0].windows)


def _picked(plan: Plan, columns: Sequence[Expr]) -> Project:
    return Project(plan, tuple(columns), tuple(getattr(c, "name", str(c)) for c in columns))


def _columns(plan: Plan) -> tuple[ColumnRef, ...]:
    return tuple(ColumnRef(f.type, i, f.name) for i, f in enumerate(plan.schema))


def _reference(ended: _Ended) -> ColumnRef:
    return ColumnRef(_END.type, ended.end, _END.name)


def _position(exprs: Sequence[Expr], column: int | None) -> int | None:
    """Where a column is one of the expressions."""
    places = (i for i, e in enumerate(exprs) if isinstance(e, ColumnRef) and e.index == column)
    return next(places, None)
