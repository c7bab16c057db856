"""Calls of aggregates as written: their arguments, and the clauses around and inside them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp


@dataclass(frozen=True)
class WrittenCall:
    """An aggregate as written.

    Attributes:
        call: the function with what is between its parentheses. arguments: without clauses.
        order: of ORDER BY between the parentheses, or of WITHIN GROUP if ``within``.
    """

    call: exp.Expr
    arguments: list[exp.Expr]
    distinct: bool
    order: list[exp.Expr]
    within: bool
    ignore_nulls: bool

    @property
    def is_star(self) -> bool:
        """Whether whole rows are counted."""
        return len(self.arguments) == 1 and isinstance(self.arguments[0], exp.Star)


def read_call(node: exp.Expr) -> WrittenCall:
    """The call in a node that is one, with or without clauses behind it."""
    order: list[exp.Expr] = []
    within = ignore = False
    while isinstance(node, (exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)):
        if isinstance(node, exp.WithinGroup):
            order, within = list(node.expression.expressions), True
        ignore |= isinstance(node, exp.IgnoreNulls)
        node = node.this
    arguments: list[exp.Expr] = []
    distinct = False
    for given in node.expressions:
        if isinstance(given, (exp.IgnoreNulls, exp.RespectNulls)):
            ignore |= isinstance(given, exp.IgnoreNulls)
            given = given.this
        if isinstance(given, exp.Order):
            order, given = list(given.expressions), given.this
        if isinstance(given, exp.Distinct) and not arguments:
            distinct = True
            arguments += given.expressions
        elif given is not None:
            arguments.append(given)
    last = arguments[-1] if arguments else None
    if isinstance(last, exp.Order):  # inside DISTINCT
        order, arguments[-1] = list(last.expressions), last.this
    return WrittenCall(node, arguments, distinct, order, within, ignore)
