"""UNION, INTERSECT and EXCEPT as plans.

::

    a UNION b            Distinct(Union(a, b))
    a EXCEPT b           AntiJoin(Distinct(a), b)
    a EXCEPT ALL b       Negation(a, b)
    a INTERSECT b        Join(Distinct(a), Distinct(b))     as in Golab and Ozsu 2005, section 2.1
    a INTERSECT ALL b    Negation(a, Negation(a, b))        min(v1, v2) = v1 - max(v1 - v2, 0)
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import reduce
from typing import Any, Final

import pyarrow as pa
from sqlglot import exp

from eddyline.algebra import functions
from eddyline.algebra.expressions import ColumnRef, Expr
from eddyline.algebra.functions.coercion import kind
from eddyline.algebra.plan import Distinct, Negation, Plan, Project, Union, anti_join, join
from eddyline.errors import SqlError, did_you_mean
from eddyline.sql.binder.context import BoundPlan, Context, require_windows
from eddyline.sql.binder.matching import EqualityKeys
from eddyline.sql.binder.relations import BindQuery

#: A value per kind of type, for keys in which NULL equals NULL.
_ZEROS: Final[dict[str, Any]] = {
    "bool": False,
    "integer": 0,
    "float": 0.0,
    "decimal": Decimal(0),
    "string": "",
    "binary": b"",
    "date": date(1970, 1, 1),
    "timestamp": datetime(1970, 1, 1, tzinfo=UTC),
    "duration": timedelta(0),
}


def bind_set_operation(
    node: exp.SetOperation, context: Context, bind_query: BindQuery
) -> BoundPlan:
    """The plan of a set operation; the first operand names its columns."""
    nodes = _operands(node, context)
    operands = [bind_query(n, context) for n in nodes]
    streams = tuple(s for o in operands for s in o.open_streams)
    plans = [o.plan for o in operands]
    name = _name(node)
    if name != "UNION ALL":
        require_windows(streams, "UNION without ALL" if name == "UNION" else name)
    if node.args.get("on"):
        return BoundPlan(Negation(plans[0], plans[1], _keys_on(node, plans, context)), streams)
    parts = _unified(node.key.upper(), nodes, plans, context)
    return BoundPlan(context.checked(_plan(name, parts), node), streams)


def _plan(name: str, parts: Sequence[Plan]) -> Plan:
    left, right = parts[0], parts[1]
    match name:
        case "UNION ALL":
            return Union(tuple(parts))
        case "UNION":
            return Distinct(Union(tuple(parts)))
        case "EXCEPT":
            return anti_join(Distinct(left), right, _all_columns(left, right), nulls_match=True)
        case "EXCEPT ALL":
            return Negation(left, right, _all_columns(left, right))
        case "INTERSECT ALL":
            keys = _all_columns(left, right)
            surplus = Negation(left, right, keys)
            return Negation(left, surplus, _all_columns(left, surplus))
        case _:
            both = join(Distinct(left), Distinct(right), null_safe(_all_columns(left, right)))
            return Project(both, tuple(_columns(left)), tuple(f.name for f in left.schema))


def _name(node: exp.SetOperation) -> str:
    return node.key.upper() if node.args["distinct"] else f"{node.key.upper()} ALL"


def _operands(node: exp.SetOperation, context: Context) -> list[exp.Expr]:
    """The operands, left to right; ``(a UNION ALL b) UNION ALL c`` has three."""
    context.require_only(node, "this", "expression", "distinct", "on", "with_", "windows")
    operands = [node.expression]
    while _continues(node, node.this):
        node = node.this
        context.require_only(node, "this", "expression", "distinct", "on")
        operands.append(node.expression)
    return [node.this, *reversed(operands)]


def _continues(node: exp.SetOperation, left: exp.Expr) -> bool:
    """Whether the left operand is a UNION of the same kind, so that the two are flattened."""
    unions = isinstance(node, exp.Union) and isinstance(left, exp.Union)
    plain = not left.args.get("with_") and not left.args.get("windows")
    return unions and plain and left.args["distinct"] == node.args["distinct"]


# -- keys --------------------------------------------------------------


def _columns(plan: Plan) -> list[ColumnRef]:
    return [ColumnRef(f.type, i, f.name) for i, f in enumerate(plan.schema)]


def _all_columns(left: Plan, right: Plan) -> EqualityKeys:
    return tuple(zip(_columns(left), _columns(right), strict=True))


def null_safe(keys: EqualityKeys) -> EqualityKeys:
    """Join keys in which NULL equals NULL: a second key says whether the column is NULL."""
    return tuple((change(a), change(b)) for a, b in keys for change in (_or_zero, _is_null))


def _or_zero(column: Expr) -> Expr:
    if pa.types.is_null(column.type):
        return column
    zero = functions.literal(_ZEROS[kind(column.type)], column.type)
    return functions.resolve("coalesce", (column, zero))


def _is_null(column: Expr) -> Expr:
    return functions.resolve("is_null", (column,))


def _keys_on(node: exp.SetOperation, plans: Sequence[Plan], context: Context) -> EqualityKeys:
    """The keys of EXCEPT ALL ON: columns of these names in both operands."""
    keys = []
    for column in node.args["on"]:
        left = _named(column, plans[0], "left of", context)
        right = _named(column, plans[1], "right of", context)
        try:
            type_ = functions.common_type(left.type, right.type)
        except SqlError as e:
            message = f"column '{column.name}' of EXCEPT ALL ON: {e.message}"
            raise context.error(column, message) from None
        keys.append((functions.cast(left, type_), functions.cast(right, type_)))
    return tuple(keys)


def _named(column: exp.Expr, plan: Plan, side: str, context: Context) -> ColumnRef:
    found = [c for c in _columns(plan) if c.name.lower() == column.name.lower()]
    if len(found) == 1:
        return found[0]
    if found:
        message = f"there are several columns '{column.name}' {side} EXCEPT ALL; rename with AS"
    else:
        hint = did_you_mean(column.name, [f.name for f in plan.schema])
        message = f"there is no column '{column.name}' {side} EXCEPT ALL; {hint}"
    raise context.error(column, message)


# -- types -------------------------------------------------------------


def _unified(
    name: str, nodes: list[exp.Expr], plans: list[Plan], context: Context
) -> tuple[Plan, ...]:
    """The plans, with casts to common column types."""
    width = len(plans[0].schema)
    for node, plan in zip(nodes, plans, strict=True):
        if len(plan.schema) != width:
            message = f"{name} of {width} and {len(plan.schema)} columns; the numbers must agree"
            raise context.error(node, message)

    def common(i: int) -> pa.DataType:
        def join(a: pa.DataType, operand: tuple[exp.Expr, Plan]) -> pa.DataType:
            node, plan = operand
            try:
                return functions.common_type(a, plan.schema[i].type)
            except SqlError as e:
                message = f"column {i + 1} of {name}: {e.message}"
                raise context.error(node, message) from None

        return reduce(join, zip(nodes, plans, strict=True), plans[0].schema[i].type)

    types = [common(i) for i in range(width)]
    return tuple(_converted(p, types) for p in plans)


def _converted(plan: Plan, types: list[pa.DataType]) -> Plan:
    if [f.type for f in plan.schema] == types:
        return plan
    casts = tuple(functions.cast(c, t) for c, t in zip(_columns(plan), types, strict=True))
    return Project(plan, casts, tuple(f.name for f in plan.schema))
