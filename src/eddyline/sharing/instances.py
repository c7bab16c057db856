"""How the instances of a parameterized query share a flow.

An instance is the query with the values of its row in place of Parameters. Those in WHERE and in
windows belong to its part of the flow. Others are constants of the query in the operators above:

    Project  $rules.id, k, n                         outputs of the result table
      Filter  (n > $rules.least)                     a constant, compared with groups
        GroupBy  k: COUNT_IF(x > $rules.lo) AS n     a column of the rows of each instance
          Filter  (k = $rules.k)                     a predicate in the flow
            StreamScan  s [RANGE 1 MINUTE]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, NamedTuple

from eddyline.algebra.catalog import Emit
from eddyline.algebra.expressions import (
    Aggregate,
    ColumnRef,
    Expr,
    Parameter,
    columns_of,
    conjuncts,
    rewrite,
    shift_columns,
    walk,
)
from eddyline.algebra.parameters import has_parameters
from eddyline.algebra.plan import Filter, GroupBy, Plan, Project
from eddyline.algebra.windows import Range
from eddyline.sharing.grouping import CONSTANT, decompose_emitted, decompose_grouped, numbered
from eddyline.sharing.matched import with_own_windows
from eddyline.sharing.signature import Part, Signature


class Instances(NamedTuple):
    """How the instances of a parameterized query run above a flow.

    Attributes:
        part: with Parameters of the row in filters and constants only.
        outputs: the select list, over the number of the query, the columns above the flow, and
            Parameters.
    """

    signature: Signature
    part: Part
    outputs: tuple[Expr, ...]


def decompose_instances(plan: Plan, emit: Emit) -> Instances | None:
    """The flow of a parameterized query with groupings, or with EMIT other than INSERTS; None if
    its instances cannot share one.
    """
    columns = enumerate(plan.schema)
    below, outputs = plan, tuple[Expr, ...](ColumnRef(f.type, i, f.name) for i, f in columns)
    if isinstance(plan, Project):
        below, outputs = plan.input, plan.exprs
    found = _in_own_windows(decompose_grouped(below, emit))
    if found is None or _reads_row((*found[0].sources, found[1].outputs, found[1].above)):
        emitted, own = _emitted(below, emit, outputs)
        if emitted is not None and not _reads_row((*emitted[0].sources, emitted[1].outputs)):
            found, outputs = emitted, own
        else:
            found = _grouped_by_row(below, emit)
    if found is None or found[1].above is None:
        return None
    return Instances(*found, tuple(shift_columns(e, 1) for e in outputs))


def _emitted(
    below: Plan, emit: Emit, outputs: tuple[Expr, ...]
) -> tuple[tuple[Signature, Part] | None, tuple[Expr, ...]]:
    """The flow of a plan of which the columns are read that some outputs need, and these."""
    used = sorted({i for e in outputs for i in columns_of(e)})
    kept = tuple(ColumnRef(below.schema[i].type, i, below.schema[i].name) for i in used)
    numbers = {n: i for i, n in enumerate(used)}
    own = tuple(_renumbered(e, numbers) for e in outputs)
    found = decompose_emitted(Project(below, kept, numbered(kept)), emit)
    return _in_own_windows(found), own


def _in_own_windows(found: tuple[Signature, Part] | None) -> tuple[Signature, Part] | None:
    return found and (with_own_windows(*found) or found)


def _renumbered(expr: Expr, numbers: Mapping[int, int]) -> Expr:
    def change(e: Expr) -> Expr | None:
        return replace(e, index=numbers[e.index]) if isinstance(e, ColumnRef) else None

    return rewrite(expr, change)


def _grouped_by_row(plan: Plan, emit: Emit) -> tuple[Signature, Part] | None:
    """The flow of a plan in which keys, arguments of aggregates or HAVING read the row: they read
    columns of the rows of each instance.
    """
    found = _in_own_windows(decompose_grouped(_with_row_keys(plan), emit))
    if found is None or _reads_row((*found[0].sources, found[1].above)):
        return None
    signature, part = found
    constants = list(part.constants)

    def change(e: Expr) -> Expr | None:
        if not isinstance(e, Parameter):
            return None
        constants.append(e)
        return replace(e, index=len(constants) - 1)

    outputs = tuple(rewrite(e, change) for e in part.outputs)
    return signature, replace(part, outputs=outputs, constants=tuple(constants))


def _with_row_keys(plan: Plan) -> Plan:
    """The plan with the row's columns that HAVING reads as further keys of the groups.

    They are the same for all rows of an instance, so they divide no group.
    """
    if isinstance(plan, Filter) and isinstance(plan.input, GroupBy) and plan.input.keys:
        group = plan.input
        terms = [t for t in conjuncts(plan.predicate) if has_parameters(t)]
        read = [e for t in terms for e in walk(t) if isinstance(e, Parameter)]
        added = tuple(dict.fromkeys(read))
        if not added:
            return plan
        before, count = len(group.keys), len(added)

        def moved(expr: Expr) -> Expr:
            def change(e: Expr) -> Expr | None:
                if isinstance(e, Parameter):
                    return ColumnRef(e.type, before + added.index(e), e.name)
                if isinstance(e, ColumnRef) and e.index >= before:
                    return replace(e, index=e.index + count)
                return None

            return rewrite(expr, change)

        names = (*group.names[:before], *map(str, added), *group.names[before:])
        keyed = replace(group, keys=(*group.keys, *added), names=names)
        columns = [ColumnRef(f.type, i, f.name) for i, f in enumerate(group.schema)]
        filtered = Filter(keyed, moved(plan.predicate))
        return Project(filtered, tuple(map(moved, columns)), tuple(f.name for f in group.schema))
    if isinstance(plan, (Filter, Project)):
        return plan.with_inputs(_with_row_keys(plan.input))
    return plan


def _reads_row(node: Any) -> bool:
    """Whether something in the plan above a flow reads the row of a parameterized query."""
    if isinstance(node, Parameter):
        return not node.name.startswith(CONSTANT)
    if isinstance(node, tuple):
        return any(map(_reads_row, node))
    if isinstance(node, Range):
        return has_parameters(node)
    if not isinstance(node, (Plan, Expr, Aggregate)):
        return False
    return any(_reads_row(getattr(node, f.name)) for f in fields(node))
