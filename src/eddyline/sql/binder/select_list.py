"""The select list: output columns with their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow.types as pt
from sqlglot import exp

from eddyline.algebra import functions
from eddyline.algebra.expressions import Expr, columns_of
from eddyline.errors import did_you_mean
from eddyline.sql.binder.context import Context
from eddyline.sql.binder.parameters import names_row, parameters
from eddyline.sql.binder.scalars import Scalars
from eddyline.sql.binder.scope import Scope
from eddyline.sql.dialect import Eddyline
from eddyline.sql.group_window_syntax import group_call


@dataclass(frozen=True)
class SelectItem:
    """An output column: its name and its expression over the rows of FROM."""

    name: str
    expr: Expr
    scalars: Scalars


def select_items(select: exp.Select, scope: Scope, context: Context) -> list[SelectItem]:
    """The output columns of a SELECT, with ``*`` expanded."""
    items: list[SelectItem] = []
    before: dict[str, exp.Expr] = {}
    for node in select.expressions:
        items += _items(node, scope, context, before)
        before |= aliases([node])
    return items


def unaliased(node: exp.Expr) -> exp.Expr:
    """The expression before AS."""
    return node.this if isinstance(node, exp.Alias) else node


def aliases(nodes: Iterable[exp.Expr]) -> dict[str, exp.Expr]:
    """The expressions of the aliases, by lower-case alias."""
    return {n.alias.lower(): n.this for n in nodes if isinstance(n, exp.Alias)}


def _items(
    node: exp.Expr, scope: Scope, context: Context, before: Mapping[str, exp.Expr]
) -> list[SelectItem]:
    """Args:
    before: the expressions of the aliases before this item, which it can name.
    """
    if isinstance(node, exp.Star) or (
        isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
    ):
        return _star(node, scope, context)
    scalars = Scalars(scope, context, aliases=before)
    return [SelectItem(_output_name(node, context), scalars.bind(unaliased(node)), scalars)]


def _star(node: exp.Expr, scope: Scope, context: Context) -> list[SelectItem]:
    star = node.this if isinstance(node, exp.Column) else node
    context.require_only(star, "except_", "replace")
    columns = scope.star()
    if isinstance(node, exp.Column) and names_row(node, context):
        columns = list(parameters(context))
    elif isinstance(node, exp.Column) and (fields := _fields(node, scope, context)):
        columns = fields
    elif isinstance(node, exp.Column):
        relation = scope.relation(node, context)
        names = (f.name for f in relation.fields)
        columns = list(zip(names, scope.columns_of(relation), strict=True))
    left_out = _positions(star, "except_", columns, context)
    replaced = _positions(star, "replace", columns, context)
    scalars = Scalars(scope, context)
    return [
        SelectItem(n, scalars.bind(replaced[i].this), scalars)
        if i in replaced
        else SelectItem(n, c, _origin(c, node, scope, context))
        for i, (n, c) in enumerate(columns)
        if i not in left_out
    ]


def _fields(node: exp.Column, scope: Scope, context: Context) -> list[tuple[str, Expr]]:
    """The fields of the structure in front of ``.*``; none if it is no column."""
    if any(r.name.lower() == node.table.lower() for r in scope.relations):
        return []
    column = exp.Column(this=node.args["table"].copy(), table=node.args.get("db"))
    value = scope.resolve(column, context)
    if value is None or not pt.is_struct(value.type):
        return []
    return [(f.name, functions.nested.field(value, f.name)) for f in value.type]


def _positions(
    star: exp.Expr, clause: str, columns: Sequence[tuple[str, Expr]], context: Context
) -> dict[int, exp.Expr]:
    """The entries of EXCEPT or REPLACE behind ``*``, by the place of their column."""
    found: dict[int, exp.Expr] = {}
    for node in star.args.get(clause) or ():
        name = node.alias_or_name
        places = [i for i, (n, _) in enumerate(columns) if n.lower() == name.lower()]
        if not places:
            choices = did_you_mean(name, [n for n, _ in columns])
            raise context.error(node, f"there is no column '{name}' in *; {choices}")
        found |= dict.fromkeys(places, node)
    return found


def _origin(expr: Expr, node: exp.Expr, scope: Scope, context: Context) -> Scalars:
    scalars = Scalars(scope, context)
    scalars.origins.update(dict.fromkeys(columns_of(expr), node))
    return scalars


def _output_name(node: exp.Expr, context: Context) -> str:
    if isinstance(node, exp.Alias):
        if not isinstance(node.args["alias"], exp.Identifier):
            raise context.error(node, "expected a name behind AS")
        return str(node.alias)
    if isinstance(node, exp.Column):
        return str(node.name)
    if group_call(node) is not None:
        return str(node.name.lower())
    if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Identifier):
        return str(node.expression.name)
    return str(node.sql(dialect=Eddyline, normalize_functions=False))
