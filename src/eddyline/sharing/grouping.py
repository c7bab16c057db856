"""Groupings that queries with different predicates and windows share.

    Project  room, n                            Project  _query, room, n
      GroupBy  room: COUNT(*)           ->        GroupBy  _query, room: COUNT(*)
        Filter  (temp > 20)                         SharedRows  _query, room
          StreamScan  r [RANGE 1 MINUTE]

The input of the lowest GROUP BY or DISTINCT is a flow, which returns its rows once per query, by
the query's filters and windows. The number of the query is one more key of all operators above:
one operator keeps the groups of all queries apart. Numbers that HAVING compares with aggregates are
Parameters there, with values by query.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence, Sized
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.catalog import INSERTS, Emit
from eddyline.algebra.expressions import (
    Aggregate,
    Call,
    ColumnRef,
    Expr,
    Literal,
    Parameter,
    columns_of,
    conjunction,
    conjuncts,
    rewrite,
    shift_columns,
)
from eddyline.algebra.functions.fallibility import can_fail
from eddyline.algebra.parameters import has_parameters
from eddyline.algebra.patterns import Pattern
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
from eddyline.sharing.existence import (
    is_for_many,
    numbered_existence,
    with_common_rights,
    with_open_windows,
)
from eddyline.sharing.flat import Flat, flatten
from eddyline.sharing.signature import Part, Signature, decompose, decompose_flat
from eddyline.types import Field

#: How Parameters of constants are called.
CONSTANT: Final = "constant "
#: Aggregates whose value of no rows is NULL, and comparisons, which are not true of NULL.
_NULL_OF_NO_ROWS: Final = frozenset(("sum", "avg", "min", "max"))
_COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_NUMBER: Final = ColumnRef(pa.int64(), 0, "_query")


def decompose_grouped(plan: Plan, emit: Emit = INSERTS) -> tuple[Signature, Part] | None:
    """The signature and the query's part of a plan with a grouping; None if it cannot be shared.

    That is so for aggregates without GROUP BY, which have a result before any row, unless HAVING
    rejects it; and for a single unbounded source, whose rows are not kept.
    """
    grouping = lowest_grouping(plan)
    if grouping is None:
        return None
    (below,) = grouping.inputs
    for joins in (True, False):
        flat = flatten(below, joins=joins)
        if len(flat.leaves) == 1 and flat.leaves[0].pattern == Pattern.MONOTONIC:
            return None
        output, grouped = _with_outputs(flat, grouping)
        found = decompose_flat(output, numbered(output.outputs))
        if found is not None:
            signature, part = found
            shared = shared_rows(signature, part, below.lifespan_us)
            opened, constants = _opened(with_common_rights(plan, grouping, flat), grouping)
            numbered_plan = _per_query(opened, grouping, grouped, shared)
            above, windows = with_open_windows(numbered_plan, shared)
            part = replace(
                part, names=_names(plan), above=above, emit=emit, constants=tuple(constants)
            )
            return signature, part.with_windows(windows)
    return None


def decompose_emitted(plan: Plan, emit: Emit) -> tuple[Signature, Part] | None:
    """The signature and the query's part of a plan without groupings of which not only new results
    are emitted: EMIT is computed per query above the flow.
    """
    found = decompose(plan)
    if found is None or (emit.mode == "changes" and _only_comes(plan)):
        return found
    signature, part = found
    shared = shared_rows(signature, part, plan.lifespan_us)
    return signature, replace(part, above=shared, emit=emit)


def _only_comes(plan: Plan) -> bool:
    return plan.pattern == Pattern.MONOTONIC and not plan.takes_back


def lowest_grouping(plan: Plan) -> GroupBy | Distinct | None:
    """The lowest GROUP BY or DISTINCT, if only projections, filters, groupings, and EXISTS with
    right rows that queries can share, are above it.
    """
    found: GroupBy | Distinct | None = None
    above: Plan | None = None
    while isinstance(plan, (Filter, Project, GroupBy, Distinct)) or is_for_many(plan):
        if isinstance(plan, GroupBy) and not plan.keys and not _hides_no_rows(above, plan):
            return None
        if isinstance(plan, Distinct) and isinstance(found, Distinct):
            return None
        if isinstance(plan, (GroupBy, Distinct)):
            found = plan
        above, plan = plan, plan.inputs[0]
    return found


def _hides_no_rows(above: Plan | None, group: GroupBy) -> bool:
    """Whether HAVING rejects the result of aggregates of no rows."""
    if not isinstance(above, Filter):
        return False
    return any(_rejects_no_rows(t, group.aggregates) for t in conjuncts(above.predicate))


def _rejects_no_rows(term: Expr, aggregates: Sequence[Aggregate]) -> bool:
    """Whether it is a comparison of an aggregate with a constant that is not true of no rows."""
    if not (isinstance(term, Call) and term.function in _COMPARISONS):
        return False
    left, right = term.arguments
    swapped = not columns_of(left)
    value, bound = (right, left) if swapped else (left, right)
    if isinstance(value, Call) and value.function == "cast" and not can_fail(value):
        (value,) = value.arguments  # of NULL, then, is NULL, and of 0 is 0
    if not isinstance(value, ColumnRef) or columns_of(bound):
        return False
    function = aggregates[value.index].function
    if function in _NULL_OF_NO_ROWS:
        return True
    if function != "count" or not isinstance(bound, Literal):
        return False
    if isinstance(bound.value, (bool, str)) or bound.value is None:
        return False
    pair = (bound.value, 0) if swapped else (0, bound.value)
    return not _COMPARISONS[term.function](*pair)


def _opened(plan: Plan, grouping: Plan) -> tuple[Plan, list[Expr]]:
    """The plan with Parameters for the numbers that HAVING compares with aggregates, and these."""
    if plan is grouping or isinstance(grouping, Distinct):
        return plan, []
    constants: list[Expr] = []
    below, *others = plan.inputs
    if below is not grouping:
        below, constants = _opened(below, grouping)
        return plan.with_inputs(below, *others), constants
    if not isinstance(plan, Filter) or not isinstance(grouping, GroupBy):
        return plan, constants
    terms = [_open(t, len(grouping.keys), constants) for t in conjuncts(plan.predicate)]
    condition = conjunction(tuple(terms))
    assert condition is not None, "a filter has terms"
    return Filter(below, condition), constants


def _open(term: Expr, keys: int, constants: list[Expr]) -> Expr:
    """A comparison of aggregates with a number, which becomes a Parameter; or the term as it is."""
    if not (isinstance(term, Call) and term.function in _COMPARISONS) or can_fail(term):
        return term
    sides: list[Expr] = list(term.arguments)
    for i, other in ((1, sides[0]), (0, sides[1])):
        value = sides[i]
        if min(columns_of(other), default=-1) >= keys and _is_open(value):
            sides[i] = Parameter(value.type, len(constants), f"{CONSTANT}{len(constants)}")
            constants.append(value)
    return replace(term, arguments=tuple(sides))


def _is_open(value: Expr) -> bool:
    """Whether it is a number that may differ from query to query."""
    type_ = value.type
    if not (pt.is_integer(type_) or pt.is_floating(type_) or pt.is_decimal(type_)):
        return False
    if isinstance(value, Literal):
        return not value.is_null
    return not columns_of(value) and has_parameters(value) and not can_fail(value)


def _with_outputs(flat: Flat, grouping: GroupBy | Distinct) -> tuple[Flat, GroupBy | Distinct]:
    """The flow with the keys and arguments of a grouping as outputs, and the grouping over these.

    Keys and arguments are computed once for all queries.
    """
    if isinstance(grouping, Distinct):
        return flat, grouping
    outputs: dict[Expr, int] = {}

    def output(expr: Expr) -> Expr:
        def change(e: Expr) -> Expr | None:
            return flat.outputs[e.index] if isinstance(e, ColumnRef) else None

        computed = rewrite(expr, change)
        number = outputs.setdefault(computed, len(outputs))
        return ColumnRef(expr.type, number, str(expr))

    keys = tuple(map(output, grouping.keys))
    aggregates = tuple(
        replace(a, argument=a.argument and output(_guarded(a)), where=a.where and output(a.where))
        for a in grouping.aggregates
    )
    return replace(flat, outputs=list(outputs)), replace(grouping, keys=keys, aggregates=aggregates)


def _guarded(aggregate: Aggregate) -> Expr:
    """The argument of an aggregate; if it may fail, only for the rows that its FILTER accepts."""
    argument, value = aggregate.argument, aggregate.value
    assert argument is not None and value is not None, "COUNT(*) has no argument"
    return value if can_fail(argument) else argument


def is_query_number(key: Expr) -> bool:
    """Whether a key of a shared grouping is the number of a query."""
    return isinstance(key, ColumnRef) and key.name == _NUMBER.name


def shared_rows(signature: Signature, part: Part, lifespan: int | None) -> SharedRows:
    """The outputs of a flow, with the number of the query in front."""
    columns = zip(numbered(part.outputs), part.outputs, strict=True)
    fields = (Field(_NUMBER.name, _NUMBER.type), *(Field(name, e.type) for name, e in columns))
    return SharedRows(fields, signature.sources, lifespan)


def _per_query(plan: Plan, grouping: Plan, grouped: GroupBy | Distinct, shared: SharedRows) -> Plan:
    """The plan down to ``grouping``, over rows of many queries, with the number of the query as the
    first column. Columns are named by number: result tables have the names of each query.
    """
    if plan is grouping:
        below: Plan = shared
        plan = grouped
    else:
        below = _per_query(plan.inputs[0], grouping, grouped, shared)
    if isinstance(plan, (SemiJoin, AntiJoin)):
        return numbered_existence(plan, below)
    if isinstance(plan, Filter):
        return Filter(below, shift_columns(plan.predicate, 1))
    if isinstance(plan, Project):
        exprs = (_NUMBER, *(shift_columns(e, 1) for e in plan.exprs))
        return Project(below, exprs, numbered(exprs))
    if isinstance(plan, GroupBy):
        keys = (_NUMBER, *(shift_columns(k, 1) for k in plan.keys))
        aggregates = tuple(
            replace(
                a,
                argument=a.argument and shift_columns(a.argument, 1),
                where=a.where and shift_columns(a.where, 1),
            )
            for a in plan.aggregates
        )
        return GroupBy(below, keys, aggregates, numbered((*keys, *aggregates)))
    assert isinstance(plan, Distinct), "decompose_grouped accepts no other plan"
    return Distinct(below)


def numbered(columns: Sized) -> tuple[str, ...]:
    """Names of columns by number."""
    return tuple(f"c{i}" for i in range(len(columns)))


def _names(plan: Plan) -> tuple[str, ...]:
    return tuple(f.name for f in plan.schema)
