"""GROUP BY and DISTINCT over rows that are in several places: partial groups, and their merger.

Each place groups its own rows, and one place merges the groups::

    Project  g, s * 2 AS t             Project  g, s * 2 AS t
      GroupBy  g: SUM(x)        =        MergedGroupBy  g: MERGED_SUM(a0)      in one place
        (input)                            TableScan  parts: k0, a0            all that is below
                                             PartialGroupBy  k0: PARTIAL_SUM(x)
                                               Project  g AS k0, x             in each place
                                                 (input)

The parts of a group are the rows of a table that changes: each place takes back its part when it
gives another one. Aggregates over parts are exact, so the answer at any instant is the same.

Of COUNT(DISTINCT x) the parts are the values: a row for each value of x that a group has in a place
(``v0``), which comes with the first row with the value and goes with the last one. The merger
counts them again, as values may be in several places. Of percentiles and lists the number of rows
with the value is beside it (``n0``). They are apart from the other aggregates, which have one row
per group, and from the values of other arguments::

    MergedGroupBy  k0: MERGED_SUM(a0), COUNT(DISTINCT v0), COUNT(DISTINCT v1)
      TableScan  parts: k0, a0, v0, v1
        Union
          Project  k0, a0, NULL, NULL
            PartialGroupBy  k0: PARTIAL_SUM(x)
          Project  k0, NULL, v0, NULL
            PartialGroupBy  k0, v0
          Project  k0, NULL, NULL, v1
            PartialGroupBy  k0, v1

What they group is computed once, so a row for which an expression fails is in no part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from eddyline.algebra.expressions import Aggregate, ColumnRef, Expr, Literal, pair
from eddyline.algebra.functions.aggregates import (
    counts_values,
    is_by_value,
    merged_aggregate,
    partial_aggregate,
)
from eddyline.algebra.plan import (
    Distinct,
    Filter,
    GroupBy,
    MergedGroupBy,
    PartialGroupBy,
    Plan,
    Project,
    TableScan,
    Union,
)
from eddyline.errors import UnsupportedError
from eddyline.types import Field

#: The table that the merger reads.
PARTS: Final = "parts"


class NotDivisible(UnsupportedError):
    """The reason why a plan cannot be computed from partial groups."""


@dataclass(frozen=True)
class PlanInParts:
    """A plan in two stages.

    Attributes:
        partial: what each place computes of its rows; its columns are those of the table PARTS.
        merged: the plan over that table.
    """

    partial: Plan
    merged: Plan


def in_parts(plan: Plan) -> PlanInParts:
    """The plan in two stages.

    Raises:
        NotDivisible: it is not GROUP BY or DISTINCT below filters and projections.
    """
    if isinstance(plan, (Filter, Project)):
        below = in_parts(plan.input)
        return PlanInParts(below.partial, plan.with_inputs(below.merged))
    if isinstance(plan, GroupBy):
        return _grouped(plan.input, plan.keys, plan.aggregates, plan.names)
    if isinstance(plan, Distinct) and plan.schema:
        return _grouped(plan.input, _columns(plan), (), tuple(f.name for f in plan.schema))
    raise NotDivisible("its rows are not grouped")


def _grouped(
    input_: Plan, keys: tuple[Expr, ...], aggregates: tuple[Aggregate, ...], names: tuple[str, ...]
) -> PlanInParts:
    partial, of = _partial(input_, keys, aggregates)
    named = tuple(ColumnRef(k.type, i, str(k)) for i, k in enumerate(keys))
    merged = tuple(merged_aggregate(a, of[a]) for a in aggregates)
    parts = TableScan(PARTS, partial.schema, "retroactive")
    return PlanInParts(partial, MergedGroupBy(parts, named, merged, names))


def _partial(
    input_: Plan, keys: tuple[Expr, ...], aggregates: Sequence[Aggregate]
) -> tuple[Plan, dict[Aggregate, Expr]]:
    """What each place computes of its rows: keys, partial aggregates, values; and for each
    aggregate the part, an expression over these columns.
    """
    values = {a: a.value for a in aggregates}
    different = dict.fromkeys(v for v in values.values() if v is not None)
    computed = (*keys, *different)
    rows = Project(input_, computed, tuple(f"c{i}" for i in range(len(computed))))
    columns = _columns(rows)
    by = columns[: len(keys)]
    column_of = dict(zip(different, columns[len(keys) :], strict=True))
    arguments = {a: None if v is None else column_of[v] for a, v in values.items()}
    plain = [a for a in aggregates if not is_by_value(a)]
    listed = dict.fromkeys(_values(a, arguments[a]) for a in aggregates if is_by_value(a))
    key_names = tuple(f"k{i}" for i in range(len(by)))
    groups = [_of_values(rows, by, key_names, i, *each) for i, each in enumerate(listed)]
    if plain or not listed or not by:  # the group without keys is there without values, too
        own = tuple(f"a{i}" for i in range(len(plain)))
        partial = tuple(partial_aggregate(a, arguments[a]) for a in plain)
        groups.insert(0, PartialGroupBy(rows, by, partial, (*key_names, *own)))
    fields = [field for group in groups for field in group.schema[len(by) :]]
    whole: Plan = groups[0]
    if len(groups) > 1:
        whole = Union(tuple(_padded(group, len(by), fields) for group in groups))
    found = iter(_columns(whole)[len(by) :])
    of: dict[Aggregate, Expr] = {a: next(found) for a in plain}
    parts = {key: pair(next(found), next(found)) if key[1] else next(found) for key in listed}
    of |= {a: parts[_values(a, arguments[a])] for a in aggregates if is_by_value(a)}
    return whole, of


def _values(aggregate: Aggregate, argument: ColumnRef | None) -> tuple[ColumnRef, bool]:
    """The values that are the parts of an aggregate, and whether they are counted."""
    assert argument is not None, "COUNT(*) is not by value"
    return argument, counts_values(aggregate)


def _of_values(
    rows: Plan,
    by: tuple[ColumnRef, ...],
    names: tuple[str, ...],
    number: int,
    column: ColumnRef,
    counted: bool,
) -> PartialGroupBy:
    """The values of a column that groups have."""
    counts = (Aggregate("count", None, pa.int64()),) if counted else ()
    shown = (*names, f"v{number}", *([f"n{number}"] if counted else ()))
    return PartialGroupBy(rows, (*by, column), counts, shown)


def _padded(group: PartialGroupBy, keys: int, fields: Sequence[Field]) -> Project:
    """The keys and all fields; NULL for those that a partial GROUP BY does not have."""
    own = {column.name: column for column in _columns(group)}
    rest = (own.get(f.name, Literal(f.type, None)) for f in fields)
    names = (*(f.name for f in group.schema[:keys]), *(f.name for f in fields))
    return Project(group, (*_columns(group)[:keys], *rest), names)


def _columns(plan: Plan) -> tuple[ColumnRef, ...]:
    return tuple(ColumnRef(f.type, i, f.name) for i, f in enumerate(plan.schema))
