"""SELECT, UNION and WITH to plans."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import pyarrow as pa
from sqlglot import exp

from eddyline.algebra import functions
from eddyline.algebra.expressions import ColumnRef, Expr
from eddyline.algebra.plan import Distinct, Plan, Project, Union
from eddyline.errors import SqlError, UnsupportedError
from eddyline.sql.binder.context import Bound, Context, Cte, require_windows
from eddyline.sql.binder.relations import renamed, with_default_window, with_own_window
from eddyline.sql.binder.select import bind_select


def bind_query(node: exp.Expr, context: Context) -> Bound:
    """A SELECT, a UNION, either in parentheses, or a WITH entry; with its WITH and its WINDOW."""
    context = _with_ctes(node, context)
    window = node.args.get("windows")
    if window is not None:
        return with_default_window(window, context, lambda inner: _bind_body(node, inner))
    return _bind_body(node, context)


def _bind_body(node: exp.Expr, context: Context) -> Bound:
    if isinstance(node, exp.Select):
        return bind_select(node, context, bind_query)
    if isinstance(node, exp.Union):
        return _bind_union(node, context)
    if isinstance(node, exp.CTE):
        return _bind_cte(node, context)
    if isinstance(node, exp.Subquery):
        context.require_only(node, "this", "with_", "window")
        return with_own_window(node, context, lambda inner: bind_query(node.this, inner))
    name = node.key.upper()
    raise context.error(node, f"{name} is not supported: use SELECT or UNION", UnsupportedError)


def _with_ctes(node: exp.Expr, context: Context) -> Context:
    with_ = node.args.get("with_")
    if with_ is None:
        return context
    context.require_only(with_, "expressions", "recursive")
    if with_.args.get("recursive"):
        raise context.error(
            with_, "WITH RECURSIVE is not supported: plain WITH is", UnsupportedError
        )
    for cte in with_.expressions:
        context.require_only(cte, "this", "alias")
        entry = Cte(cte, context)
        context = replace(context, ctes={**context.ctes, cte.alias.lower(): entry})
    return context


def _bind_cte(cte: exp.CTE, context: Context) -> Bound:
    """The body of a WITH entry, its columns renamed by ``WITH x (a, b)``."""
    bound = bind_query(cte.this, context)
    columns = cte.args["alias"].args.get("columns")
    if not columns:
        return bound
    schema = renamed(bound.plan.schema, columns, context)
    refs = tuple(ColumnRef(f.type, i, f.name) for i, f in enumerate(bound.plan.schema))
    return replace(bound, plan=Project(bound.plan, refs, tuple(f.name for f in schema)))


def _bind_union(node: exp.Union, context: Context) -> Bound:
    operands = _operands(node, context)
    parts = [bind_query(o, context) for o in operands]
    plan: Plan = Union(_unified(operands, [p.plan for p in parts], context))
    streams = tuple(s for p in parts for s in p.open_streams)
    if node.args["distinct"]:
        require_windows(streams, "UNION without ALL")
        plan = Distinct(plan)
    return Bound(plan, streams)


def _operands(node: exp.Union, context: Context) -> list[exp.Expr]:
    """The operands, left to right; ``(a UNION ALL b) UNION ALL c`` has three."""
    context.require_only(node, "this", "expression", "distinct", "with_", "windows")
    left, right = node.this, node.expression
    plain = isinstance(left, exp.Union) and not left.args.get("with_")
    if plain and not left.args.get("windows") and left.args["distinct"] == node.args["distinct"]:
        return [*_operands(left, context), right]
    return [left, right]


def _unified(nodes: list[exp.Expr], plans: list[Plan], context: Context) -> tuple[Plan, ...]:
    """The plans with equal column types, names as in the first."""
    width = len(plans[0].schema)
    for node, plan in zip(nodes, plans, strict=True):
        if len(plan.schema) != width:
            raise context.error(
                node, f"UNION of {width} and {len(plan.schema)} columns; the numbers must agree"
            )
    types = [_common(i, nodes, plans, context) for i in range(width)]
    return tuple(_converted(p, types) for p in plans)


def _common(i: int, nodes: list[exp.Expr], plans: list[Plan], context: Context) -> pa.DataType:
    def join(a: pa.DataType, operand: tuple[exp.Expr, Plan]) -> pa.DataType:
        node, plan = operand
        try:
            return functions.common_type(a, plan.schema[i].type)
        except SqlError as e:
            message = f"column {i + 1} of UNION: {e.message}"
            raise context.error(node, message) from None

    return reduce(join, zip(nodes, plans, strict=True), plans[0].schema[i].type)


def _converted(plan: Plan, types: list[pa.DataType]) -> Plan:
    if [f.type for f in plan.schema] == types:
        return plan
    columns: list[Expr] = [ColumnRef(f.type, i, f.name) for i, f in enumerate(plan.schema)]
    casts = tuple(functions.cast(c, t) for c, t in zip(columns, types, strict=True))
    return Project(plan, casts, tuple(f.name for f in plan.schema))
