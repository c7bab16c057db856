"""Predicates in conjunctive normal form, for grouped filters.

A row passes if every clause accepts it; a clause accepts it if one of its conditions does. The
conditions on one attribute within a clause are merged into one set of values, and so are the
single-condition clauses on one attribute.

    x > 5 AND NOT (x = 7 OR y LIKE 'a%')   ->   x in (5, 7) or (7, inf);  y < 'a' or y >= 'b'
    x > 5 OR (y = 1 AND z = 2)             ->   x in (5, inf) or y = 1;   x in (5, inf) or z = 2

Negation is pushed down to the conditions. In three-valued logic that takes more than exchanging AND
and OR: the recursion carries the truth values (of TRUE, FALSE and NULL) that are required of an
expression, and NOT, IS TRUE, IS NULL and the other tests only change those required of their
operand. ``NOT p`` requires FALSE of p, and ``p IS NOT TRUE`` FALSE or NULL.

Source: Madden et al. 2002, section 2.2.2 (grouped filters, disjunctions).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, product
from typing import Final

import pyarrow.types as pt

from eddyline.algebra.expressions import Call, Expr
from eddyline.algebra.functions.fallibility import can_fail
from eddyline.algebra.value_sets import NOTHING, ValueSet
from eddyline.sharing.conditions import (
    AttributeTest,
    Condition,
    Fold,
    comparison_of_column,
    constant_value,
    is_constant,
    test_of,
    truth_test,
)
from eddyline.sharing.domains import intersected, is_everything, united

__all__ = ["MAX_CLAUSES", "MAX_CONDITIONS", "Clause", "Condition", "Fold", "clauses_of"]

#: A disjunction over distinct attributes; without conditions it accepts nothing.
Clause = tuple[Condition, ...]

#: A disjunction that would expand to more clauses, or longer ones, becomes a boolean attribute.
MAX_CLAUSES: Final = 8
MAX_CONDITIONS: Final = 8

_Truths = frozenset[bool | None]
_ALL: Final[_Truths] = frozenset((True, False, None))
_TRUE: Final[_Truths] = frozenset((True,))
_FALSE: Final[_Truths] = frozenset((False,))
_NULL: Final[_Truths] = frozenset((None,))

#: The truth values of the operand for which these tests are TRUE; else they are FALSE.
_TESTS: Final[dict[str, _Truths]] = {
    "is_true": _TRUE,
    "is_not_true": _ALL - _TRUE,
    "is_false": _FALSE,
    "is_not_false": _ALL - _FALSE,
    "is_null": _NULL,
    "is_not_null": _ALL - _NULL,
}

#: Attribute to accepted values, a canonical set.
_Disjunction = dict[Expr, ValueSet]
#: A conjunction of disjunctions, none of whose sets is empty or contains everything.
_Normal = list[_Disjunction]


def clauses_of(predicate: Expr, fold: Fold) -> tuple[Clause, ...]:
    """The predicate as a conjunction of clauses, which accepts the rows for which it is TRUE.

    Comparisons of an attribute with constants, IN, LIKE of a prefix, tests of NULL, and their
    combinations by AND, OR and NOT become conditions on attributes. Any other expression (a
    comparison of two columns, a regular expression, a large OR of ANDs) becomes a boolean attribute
    that must be true.

    Args:
        predicate: a bound boolean expression.
        fold: evaluates an expression without columns.

    Returns:
        The clauses, in the order of their attributes in the predicate. None: every row passes. One
        clause without conditions: no row passes.
    """
    assert pt.is_boolean(predicate.type), f"not a condition: {predicate}"
    alone = comparison_of_column(predicate)
    if alone is not None:
        return ((alone,),)
    normal = _normal(predicate, _TRUE, fold)
    return tuple(tuple(Condition(a, s) for a, s in clause.items()) for clause in normal)


def _normal(expr: Expr, truths: _Truths, fold: Fold) -> _Normal:
    """The condition that the expression has one of the truth values."""
    if is_constant(expr):
        try:
            return [] if constant_value(expr, fold) in truths else [{}]
        except ValueError:  # no value: rows fail at evaluation
            return _single(truth_test(expr), truths)
    if isinstance(expr, Call):
        if expr.function == "not":
            required = frozenset(None if t is None else not t for t in truths)
            return _normal(expr.args[0], required, fold)
        if expr.function in _TESTS and pt.is_boolean(expr.args[0].type):
            true = _TESTS[expr.function]
            return _normal(expr.args[0], frozenset(t for t in _ALL if (t in true) in truths), fold)
        if expr.function in ("and", "or") and truths and truths != _ALL:
            return _connected(expr, truths, fold)
    return _single(test_of(expr, fold), truths)


def _single(test: AttributeTest, truths: _Truths) -> _Normal:
    condition = test.condition(truths)
    return _simplified([{condition.attribute: condition.accepts}])


def _connected(expr: Call, truths: _Truths, fold: Fold) -> _Normal:
    """AND is TRUE (or not FALSE) if all operands are, and FALSE (or not TRUE) if any is; OR is
    dual.
    """
    if truths == _NULL:
        return _all([_normal(expr, _ALL - t, fold) for t in (_TRUE, _FALSE)])
    if truths == _TRUE | _FALSE:
        operands = [_normal(expr, t, fold) for t in (_TRUE, _FALSE)]
    else:
        operands = [_normal(o, truths, fold) for o in _operands(expr, expr.function)]
        if (True in truths) == (expr.function == "and"):
            return _all(operands)
    distributed = _any(operands)
    return _single(truth_test(expr), truths) if distributed is None else distributed


def _operands(expr: Expr, function: str) -> Iterator[Expr]:
    """The operands of an operator, with nested calls of the same operator flattened."""
    if isinstance(expr, Call) and expr.function == function:
        for operand in expr.args:
            yield from _operands(operand, function)
    else:
        yield expr


def _all(normals: Iterable[_Normal]) -> _Normal:
    """The conjunction, with at most one single-attribute clause per attribute."""
    alone: dict[Expr, list[ValueSet]] = {}
    clauses: list[_Disjunction] = []
    for clause in chain.from_iterable(normals):
        if len(clause) == 1:
            ((attribute, values),) = clause.items()
            alone.setdefault(attribute, []).append(values)
            if len(alone[attribute]) > 1:
                continue
        clauses.append(clause)
    return _simplified(
        {a: intersected(alone[a]) for a in clause} if len(clause) == 1 else clause
        for clause in clauses
    )


def _any(normals: list[_Normal]) -> _Normal | None:
    """The disjunction, distributed over the conjunctions; None if it becomes too large."""
    if any(not normal for normal in normals):
        return []
    normals = [normal for normal in normals if normal != [{}]]
    if len(normals) == 1:
        return normals[0]
    clauses = _simplified([_united(n[0] for n in normals if len(n) == 1)])
    for normal in (n for n in normals if len(n) > 1):
        if len(clauses) * len(normal) > MAX_CLAUSES**2:  # intermediate results may be larger
            return None
        clauses = _all([[_united(pair)] for pair in product(clauses, normal)])
    is_small = len(clauses) <= MAX_CLAUSES and all(len(c) <= MAX_CONDITIONS for c in clauses)
    return clauses if is_small else None


def _united(clauses: Iterable[_Disjunction]) -> _Disjunction:
    """The union of several disjunctions."""
    sets: dict[Expr, list[ValueSet]] = {}
    for attribute, values in chain.from_iterable(c.items() for c in clauses):
        sets.setdefault(attribute, []).append(values)
    return {a: united(s) for a, s in sets.items()}


def _simplified(clauses: Iterable[_Disjunction]) -> _Normal:
    """Without empty conditions, and without clauses that accept everything or follow from another
    one. Attributes that can fail for a row are kept, so that these rows fail.
    """
    possible = [
        {a: s for a, s in clause.items() if s != NOTHING or can_fail(a)}
        for clause in clauses
        if not any(is_everything(s, a.type) and not can_fail(a) for a, s in clause.items())
    ]
    if {} in possible:
        return [{}]
    return [
        clause
        for i, clause in enumerate(possible)
        if not any(
            _implies(other, clause) and (j < i or not _implies(clause, other))
            for j, other in enumerate(possible)
            if j != i
        )
    ]


def _implies(one: _Disjunction, other: _Disjunction) -> bool:
    return one.keys() <= other.keys() and all(s.union(other[a]) == other[a] for a, s in one.items())
