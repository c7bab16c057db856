"""Tests of one attribute against constants, as sets of values for which they are true or false.

An attribute is any expression over columns: a column, a sum, a function call. The sets follow the
evaluation of expressions exactly: a comparison with NULL is NULL, except ``<=>``; NaN equals itself
and is larger than any number.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from eddyline.algebra.expressions import Call, ColumnRef, Expr, Literal, columns_of
from eddyline.algebra.functions import literal
from eddyline.algebra.value_sets import (
    NOT_NULL,
    NOTHING,
    ONLY_NULL,
    Interval,
    ValueSet,
    above,
    at_least,
    at_most,
    below,
    equal,
    not_equal,
    one_of,
)
from eddyline.sharing.domains import before_casts, canonical, is_ordered

#: The Python value of an expression without columns. Raises ValueError or OverflowError where
#: Python cannot represent it (instants of distant years).
Fold = Callable[[Expr], Any]

_COMPARED: Final[dict[str, Callable[[Any], ValueSet]]] = {
    "=": equal,
    "<>": not_equal,
    "<": below,
    "<=": at_most,
    ">": above,
    ">=": at_least,
}
_SURROGATES: Final = range(0xD800, 0xE000)
_MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Condition:
    """The values of an attribute that a row must have."""

    attribute: Expr
    accepts: ValueSet


@dataclass(frozen=True, slots=True)
class AttributeTest:
    """A condition of three-valued logic: the values for which it is TRUE, and for which FALSE. For
    all others it is NULL. ``false`` is None: it is NULL for NULL only.
    """

    attribute: Expr
    true: ValueSet
    false: ValueSet | None = None

    def condition(self, truths: frozenset[bool | None]) -> Condition:
        """The condition that the test has one of these truth values (None is NULL)."""
        values = self.true if True in truths else NOTHING
        if False in truths or None in truths:
            false = self.false
            if false is None:
                false = self.true.complement().intersection(NOT_NULL)
            if False in truths:
                values = values.union(false)
            if None in truths:
                values = values.union(self.true.union(false).complement())
        return Condition(*before_casts(self.attribute, canonical(values, self.attribute.type)))


def test_of(expr: Expr, fold: Fold) -> AttributeTest:
    """A boolean expression other than AND, OR and NOT as a test of one attribute.

    An expression that does not compare an attribute with constants is itself the attribute.
    """
    test = None
    match expr:
        case Call(function="<=>", arguments=(left, right)):
            test = _sameness(left, right, fold)
        case Call(function=function, arguments=(left, right)) if function in _COMPARED:
            test = _comparison(function, left, right, fold)
        case Call(function="in", arguments=(needle, *choices)):
            test = _membership(needle, choices, fold)
        case Call(function="like", arguments=(text, Literal(value=str(pattern)))):
            test = _likeness(text, pattern)
        case Call(function="startswith", arguments=(text, Literal(value=str(prefix)))):
            test = AttributeTest(text, _starting_with(prefix))
        case Call(function="is_null", arguments=(value,)) if is_ordered(value.type):
            test = AttributeTest(value, ONLY_NULL, NOT_NULL)
        case Call(function="is_not_null", arguments=(value,)) if is_ordered(value.type):
            test = AttributeTest(value, NOT_NULL, ONLY_NULL)
    return test or truth_test(expr)


def comparison_of_column(expr: Expr) -> Condition | None:
    """The values that satisfy a comparison of a column with a constant, the most frequent
    predicate; None if it is another one, or none do.
    """
    if not isinstance(expr, Call) or expr.function not in _COMPARED or len(expr.arguments) != 2:
        return None
    column, constant = expr.arguments
    if not isinstance(column, ColumnRef) or not isinstance(constant, Literal) or constant.is_null:
        return None
    if constant.type != column.type or not is_ordered(column.type):
        return None
    values = _COMPARED[expr.function](constant_value(constant, _no_fold))
    accepts = canonical(values, column.type)
    return Condition(column, accepts) if accepts != NOTHING else None


def _no_fold(expr: Expr) -> Any:
    raise AssertionError("it is a Literal")


def truth_test(expr: Expr) -> AttributeTest:
    """A boolean expression as an attribute."""
    return AttributeTest(expr, equal(True), equal(False))


def is_constant(expr: Expr) -> bool:
    """Whether an expression reads no column."""
    return not columns_of(expr)


def constant_value(expr: Expr, fold: Fold) -> Any:
    """The value of a constant expression, in the Python form of its type."""
    return literal(expr.value, expr.type).value if isinstance(expr, Literal) else fold(expr)


def _sameness(left: Expr, right: Expr, fold: Fold) -> AttributeTest | None:
    attribute, other = (right, left) if is_constant(left) else (left, right)
    values = _constants(attribute, [other], fold)
    if values is None:
        return None
    true = ONLY_NULL if values == [None] else equal(values[0])
    return AttributeTest(attribute, true, true.complement())


def _comparison(function: str, left: Expr, right: Expr, fold: Fold) -> AttributeTest | None:
    if is_constant(left):
        function, left, right = _MIRRORED.get(function, function), right, left
    values = _constants(left, [right], fold)
    if values is None:
        return None
    if values == [None]:
        return AttributeTest(left, NOTHING, NOTHING)
    return AttributeTest(left, _COMPARED[function](values[0]))


def _membership(needle: Expr, choices: list[Expr], fold: Fold) -> AttributeTest | None:
    values = _constants(needle, choices, fold)
    if values is None:
        return None
    if None in values:  # the NULL element may be equal to a value that is not found
        return AttributeTest(needle, one_of(values), NOTHING)
    return AttributeTest(needle, one_of(values))


def _likeness(text: Expr, pattern: str) -> AttributeTest | None:
    """LIKE of a full text or of a prefix."""
    prefix = pattern.rstrip("%")
    if any(c in prefix for c in "%_\\"):
        return None
    return AttributeTest(text, equal(prefix) if prefix == pattern else _starting_with(prefix))


def _starting_with(prefix: str) -> ValueSet:
    """The texts from the prefix up to the first greater text that does not start with it.

    Texts are ordered by code point, as are their UTF-8 bytes.
    """
    stem = prefix.rstrip(chr(sys.maxunicode))
    if not stem:
        return at_least(prefix) if prefix else ValueSet(NOT_NULL.intervals)
    following = ord(stem[-1]) + 1
    if following == _SURROGATES.start:  # surrogates are not characters
        following = _SURROGATES.stop
    return ValueSet((Interval(prefix, True, stem[:-1] + chr(following), False),))


def _constants(attribute: Expr, others: list[Expr], fold: Fold) -> list[Any] | None:
    """The constants that an attribute is compared with; None if they cannot be indexed."""
    if is_constant(attribute) or not is_ordered(attribute.type):
        return None
    if not all(is_constant(o) and o.type == attribute.type for o in others):
        return None
    try:
        return [constant_value(o, fold) for o in others]
    except (ValueError, OverflowError):
        return None
