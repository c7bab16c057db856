"""Tests, CASE and casts: syntax of which each part is bound by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sqlglot import exp

from eddyline.algebra import functions
from eddyline.algebra.expressions import Expr
from eddyline.sql.binder.expression_binder import ExpressionBinder
from eddyline.sql.datatypes import arrow_type


def _not(scalars: ExpressionBinder, node: exp.Expr) -> Expr:
    test = node.this
    if isinstance(test, exp.Is):
        return _is_test(scalars, test, "is_not_")
    return functions.resolve("not", (scalars.bind(test),))


def _is(scalars: ExpressionBinder, node: exp.Expr) -> Expr:
    return _is_test(scalars, node, "is_")


def _is_test(scalars: ExpressionBinder, node: exp.Expr, prefix: str) -> Expr:
    scalars.context.require_only(node, "this", "expression")
    tested = node.expression
    if not isinstance(tested, (exp.Null, exp.Boolean)):
        raise scalars.refusal(tested if isinstance(tested, exp.JSON) else node)
    name = "null" if isinstance(tested, exp.Null) else str(bool(tested.this)).lower()
    return functions.resolve(prefix + name, (scalars.bind(node.this),))


def _not_same(scalars: ExpressionBinder, node: exp.Expr) -> Expr:
    same = functions.resolve("<=>", scalars.bind_all([node.this, node.expression]))
    return functions.resolve("not", (same,))


def bound_otherwise(scalars: ExpressionBinder, node: exp.Expr, left: Expr | None) -> Expr | None:
    """``(a, b) = (c, d)``, LIKE ANY and LIKE ALL; None for another operator.

    Args:
        left: the left operand, if it is bound.
    """
    if isinstance(node, (exp.Like, exp.ILike)) and isinstance(node.expression, (exp.Any, exp.All)):
        return _like_several(scalars, scalars.bind(node.this) if left is None else left, node)
    return _compared_otherwise(scalars, node) if left is None else None


def _compared_otherwise(scalars: ExpressionBinder, node: exp.Expr) -> Expr | None:
    left, right = node.this, node.expression
    if not (isinstance(left, exp.Tuple) and isinstance(right, exp.Tuple)):
        return None
    if not isinstance(node, (exp.EQ, exp.NEQ)):
        return None
    equal = _same_tuples(scalars, scalars.bind_all(left.expressions), right)
    return equal if isinstance(node, exp.EQ) else functions.resolve("not", (equal,))


def _like_several(scalars: ExpressionBinder, text: Expr, node: exp.Expr) -> Expr:
    """``text LIKE ANY ('a%', 'b%')``, or ALL, or NOT LIKE: of each pattern."""
    listed = node.expression.this
    patterns = listed.expressions if isinstance(listed, exp.Tuple) else [listed.unnest()]
    if not patterns or isinstance(patterns[0], exp.Query):
        message = "LIKE ANY and LIKE ALL take patterns in parentheses: ('a%', 'b%')"
        raise scalars.context.error(node.expression, message)
    name = "like" if isinstance(node, exp.Like) else "ilike"
    found = tuple(functions.resolve(name, (text, scalars.bind(p))) for p in patterns)
    if node.args.get("negate"):
        found = tuple(functions.resolve("not", (f,)) for f in found)
    word = "or" if isinstance(node.expression, exp.Any) else "and"
    return found[0] if len(found) == 1 else functions.resolve(word, found)


def needles(node: exp.Expr) -> list[exp.Expr]:
    """The values before IN: those of a tuple, or one."""
    tested = node.this
    is_row = isinstance(tested, exp.Anonymous) and tested.name.upper() == "ROW"
    return list(tested.expressions) if isinstance(tested, exp.Tuple) or is_row else [tested]


def one_of_tuples(scalars: ExpressionBinder, node: exp.Expr) -> Expr:
    """``(a, b) IN ((c, d), ...)``."""
    left = scalars.bind_all(node.this.expressions)
    found = []
    for choice in node.expressions:
        if not isinstance(choice, exp.Tuple):
            raise scalars.context.error(choice, f"expected {len(left)} values in parentheses")
        found.append(_same_tuples(scalars, left, choice))
    return found[0] if len(found) == 1 else functions.resolve("or", tuple(found))


def _same_tuples(scalars: ExpressionBinder, left: tuple[Expr, ...], right: exp.Tuple) -> Expr:
    if len(left) != len(right.expressions):
        counts = f"{len(left)} and {len(right.expressions)}"
        raise scalars.context.error(right, f"tuples of {counts} values are compared")
    pairs = zip(left, scalars.bind_all(right.expressions), strict=True)
    equal = tuple(functions.resolve("=", pair) for pair in pairs)
    return equal[0] if len(equal) == 1 else functions.resolve("and", equal)


def _not_bits(scalars: ExpressionBinder, node: exp.Expr) -> Expr:
    return functions.resolve("~", (scalars.bind(node.this),))


def _negative(scalars: ExpressionBinder, node: exp.Expr) -> Expr:
    return functions.resolve("negative", (scalars.bind(node.this),))


def _between(scalars: ExpressionBinder, node: exp.Expr) -> Expr:
    scalars.context.require_only(node, "this", "low", "high")
    parts = [node.this, node.args["low"], node.args["high"]]
    return functions.resolve("between", scalars.bind_all(parts))


def _case(scalars: ExpressionBinder, node: exp.Expr) -> Expr:
    scalars.context.require_only(node, "this", "ifs", "default")
    operand = scalars.bind(node.this) if node.this is not None else None
    args: list[Expr] = []
    for branch in node.args["ifs"]:
        args += [_case_condition(scalars, operand, branch.this), scalars.bind(branch.args["true"])]
    default = node.args.get("default")
    if default is not None:
        args.append(scalars.bind(default))
    return functions.resolve("case", tuple(args))


def _case_condition(scalars: ExpressionBinder, operand: Expr | None, tested: exp.Expr) -> Expr:
    if operand is None:
        return scalars.bind(tested)
    return functions.resolve("=", (operand, scalars.bind(tested)))


def _cast(scalars: ExpressionBinder, node: exp.Expr) -> Expr:
    scalars.context.require_only(node, "this", "to", "safe")
    try:
        target = arrow_type(node.args["to"])
    except ValueError as e:
        raise scalars.context.error(node, str(e)) from None
    is_try = isinstance(node, exp.TryCast) and bool(node.args.get("safe"))  # false for ``::``
    convert = functions.try_cast if is_try else functions.cast
    return convert(scalars.bind(node.this), target)


PREDICATES: Final[dict[type[exp.Expr], Callable[[Any, Any], Expr]]] = {
    exp.Not: _not,
    exp.Is: _is,
    exp.NullSafeNEQ: _not_same,
    exp.Neg: _negative,
    exp.BitwiseNot: _not_bits,
    exp.Between: _between,
    exp.Case: _case,
    exp.Cast: _cast,
    exp.TryCast: _cast,
}
