"""USING and NATURAL: columns of one name on both sides of a join, which become one."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from eddyline.algebra import functions
from eddyline.algebra.expressions import Expr
from eddyline.errors import SqlError
from eddyline.sql.binder.context import Context
from eddyline.sql.binder.scope import Scope


def common_columns(before: Scope, scope: Scope) -> list[exp.Expr]:
    """The columns of a NATURAL JOIN: those that have a name on both sides.

    Args:
        before: the columns of the left side. scope: of both.
    """
    added = scope.relations[len(before.relations) :]
    names = {field.name.lower() for relation in added for field in relation.fields}
    found = dict.fromkeys(name for name, _ in before.star() if name.lower() in names)
    return [exp.to_identifier(name, quoted=True) for name in found]


def equal_columns(
    scope: Scope, column: exp.Expr, before: Scope, side: str, context: Context
) -> tuple[Expr, Scope]:
    """The equality for a column of USING, and the scope in which the two columns are one.

    Raises:
        SqlError: a side lacks the column, or their types differ.
    """
    added = replace(scope, relations=scope.relations[len(before.relations) :])
    node = exp.Column(this=column)
    left, right = before.column(node, context), added.column(node, context)
    if left is None or right is None:
        raise (before if left is None else added).unknown(node, context)
    pair = tuple(scope.merged.get(c.index, scope.column_at(c.index)) for c in (left, right))
    try:
        equal = functions.resolve("=", pair)
        # in a row without a match on the left only the right column has a value
        merged = functions.resolve("coalesce", pair) if side in ("RIGHT", "FULL") else None
    except SqlError as e:
        raise context.placed(e, column) from None
    return equal, scope.merging(left.index, right.index, merged)
