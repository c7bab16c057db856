"""Removes rows for which a query fails, in DuckDB's SQL.

DuckDB evaluates all operands of AND and OR, and its division by zero gives NULL. So conditions are
split into terms without connectives, each of which becomes NULL where it fails, and division by
zero becomes an error::

    WHERE p AND 1 / x > 2      WHERE p AND TRY(1 / x > 2)
    SELECT 1 / x FROM t        SELECT 1 / x FROM t WHERE TRY(ROW(1 / x)) IS NOT NULL
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

#: Operations that can fail.
_FALLIBLE: Final = (
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.Abs, exp.Cast),
)
#: Operations that do not evaluate all operands.
_CONDITIONAL: Final = (exp.And, exp.Or, exp.Case, exp.If, exp.Coalesce)
_CONNECTIVES: Final = (exp.And, exp.Or, exp.Not, exp.Paren)
_TRIES: Final[dict[type[exp.Expr], type[exp.Expr]]] = {
    exp.SafeAdd: exp.Add,
    exp.SafeSubtract: exp.Sub,
    exp.SafeMultiply: exp.Mul,
    exp.SafeDivide: exp.Div,
}


def without_failing_rows(select: exp.Select) -> None:
    """Change a SELECT so that it ignores the rows for which it fails.

    Expressions over groups must not fail.
    """
    for join in [j for j in select.find_all(exp.Join) if j.parent_select is select]:
        if join.args.get("on") is not None:
            join.set("on", _tried(join.args["on"]))
    if select.args.get("where") is not None:
        select.args["where"].set("this", _tried(select.args["where"].this))
    for filtered in select.find_all(exp.Filter):  # DuckDB evaluates arguments for all rows
        aggregate = filtered.this
        if _may_fail(aggregate.this):
            argument = _argument(aggregate)
            if isinstance(aggregate.this, exp.Distinct):
                argument = exp.Distinct(expressions=[argument])
            aggregate.set("this", argument)
    needed = [part for e in _computed_of_rows(select) if _may_fail(e) for part in _always_of(e)]
    if needed:
        row = exp.Anonymous(this="ROW", expressions=[e.copy() for e in needed])
        select.where(exp.Is(this=_try(row), expression=exp.Not(this=exp.null())), copy=False)


def failing_division(node: exp.Expr) -> exp.Expr:
    """A division that fails for zero, unless the dividend is NULL; also ``try_divide`` etc."""
    if type(node) in _TRIES:
        operation = _TRIES[type(node)](this=node.this, expression=node.expression)
        return _try(failing_division(operation))
    if not isinstance(node, (exp.Div, exp.IntDiv, exp.Mod)):
        return node
    divisor = node.expression
    if isinstance(divisor, exp.Literal) and float(divisor.this) != 0:
        return node
    zero = exp.EQ(this=exp.paren(divisor.copy()), expression=exp.Literal.number(0))
    known = exp.Not(this=exp.Is(this=exp.paren(node.this.copy()), expression=exp.null()))
    text = exp.cast(divisor.copy(), "varchar", dialect="duckdb")
    unless = exp.Case().when(exp.and_(zero, known), exp.Literal.string("by zero")).else_(text)
    type_ = "double" if isinstance(node, exp.Div) else "bigint"
    node.set("expression", exp.cast(unless, type_, dialect="duckdb"))
    return node


def _computed_of_rows(select: exp.Select) -> list[exp.Expr]:
    """The expressions that a SELECT evaluates per row: its list, or keys and arguments."""
    aggregates = [a for e in select.expressions for a in e.find_all(exp.AggFunc)]
    having = select.args.get("having")
    if having is not None:
        aggregates += having.find_all(exp.AggFunc)
    group = select.args.get("group")
    if group is None and not aggregates:
        return [e.unalias() for e in select.expressions]
    return [*(group.expressions if group is not None else []), *map(_argument, aggregates)]


def _argument(aggregate: exp.Expr) -> exp.Expr:
    """The argument of an aggregate, for the rows of its FILTER."""
    value = aggregate.this or exp.null()
    if isinstance(value, exp.Star):
        value = exp.true()
    if isinstance(value, exp.Distinct):
        (value,) = value.expressions
    if isinstance(aggregate.parent, exp.Filter):
        return exp.Case().when(aggregate.parent.expression.this.copy(), value.copy())
    return value


def _may_fail(expression: exp.Expr) -> bool:
    found = expression.find(*_FALLIBLE, *_TRIES)
    return found is not None and expression.find(exp.Query) is None


def _always_of(expression: exp.Expr) -> list[exp.Expr]:
    """The expression, and its operands that can fail and are always evaluated: DuckDB does not
    evaluate the others of a function of NULL, in some cases.
    """
    parts = expression.walk(prune=lambda node: isinstance(node, _CONDITIONAL))
    return [expression, *(e for e in parts if e is not expression and isinstance(e, _FALLIBLE))]


def _tried(condition: exp.Expr) -> exp.Expr:
    """The condition with NULL for failing terms."""
    if isinstance(condition, _CONNECTIVES):
        for name in ("this", "expression"):
            if isinstance(condition.args.get(name), exp.Expr):
                condition.set(name, _tried(condition.args[name]))
        return condition
    return _try(condition) if _may_fail(condition) else condition


def _try(expression: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="TRY", expressions=[expression.copy()])
