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
counts them again, as values may be in several places. They are apart from the other aggregates,
which have one row per group, and from the values of other arguments::

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

from eddyline.algebra.expressions import Aggregate, ColumnRef, Expr, Literal
from eddyline.algebra.functions.aggregates import merged_aggregate, partial_aggregate
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
    ordered = sorted(aggregates, key=lambda a: a.distinct)
    partial = _partial(input_, keys, ordered)
    columns = _columns(partial)
    named = tuple(ColumnRef(k.type, i, str(k)) for i, k in enumerate(keys))
    of = dict(zip(ordered, columns[len(keys) :], strict=True))
    merged = tuple(merged_aggregate(a, of[a]) for a in aggregates)
    parts = TableScan(PARTS, partial.schema, "retroactive")
    return PlanInParts(partial, MergedGroupBy(parts, named, merged, names))


def _partial(input_: Plan, keys: tuple[Expr, ...], aggregates: Sequence[Aggregate]) -> Plan:
    """What each place computes of its rows: keys, partial aggregates, values of DISTINCT.

    Args:
        aggregates: those with DISTINCT last.
    """
    values = [a.value for a in aggregates]
    computed = (*keys, *(v for v in values if v is not None))
    rows = Project(input_, computed, tuple(f"c{i}" for i in range(len(computed))))
    columns = iter(_columns(rows))
    by = tuple(next(columns) for _ in keys)
    arguments = [None if v is None else next(columns) for v in values]
    plain = tuple(
        partial_aggregate(a, column)
        for a, column in zip(aggregates, arguments, strict=True)
        if not a.distinct
    )
    distinct = [column for column in arguments[len(plain) :] if column is not None]
    key_names = tuple(f"k{i}" for i in range(len(by)))
    groups = [
        PartialGroupBy(rows, (*by, column), (), (*key_names, f"v{i}"))
        for i, column in enumerate(distinct)
    ]
    if plain or not distinct or not by:  # the group without keys is there without values, too
        own = tuple(f"a{i}" for i in range(len(plain)))
        groups.insert(0, PartialGroupBy(rows, by, plain, (*key_names, *own)))
    if len(groups) == 1:
        return groups[0]
    fields = [field for group in groups for field in group.schema[len(by) :]]
    return Union(tuple(_padded(group, len(by), fields) for group in groups))


def _padded(group: PartialGroupBy, keys: int, fields: Sequence[Field]) -> Project:
    """The keys and all fields; NULL for those that a partial GROUP BY does not have."""
    own = {column.name: column for column in _columns(group)}
    rest = (own.get(f.name, Literal(f.type, None)) for f in fields)
    names = (*(f.name for f in group.schema[:keys]), *(f.name for f in fields))
    return Project(group, (*_columns(group)[:keys], *rest), names)


def _columns(plan: Plan) -> tuple[ColumnRef, ...]:
    return tuple(ColumnRef(f.type, i, f.name) for i, f in enumerate(plan.schema))
