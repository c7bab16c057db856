"""Tests of one attribute against constants, as the sets of values for which they are true or false.

An attribute is any expression that reads columns: a column, a sum, the call of a function. The
sets follow the evaluation of expressions exactly: a comparison with NULL is NULL, but for ``<=>``;
NaN equals itself and is larger than any number.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from eddyline.algebra.expressions import Call, Expr, Literal, columns_of
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

#: The Python value of an expression without columns. It may raise ValueError or OverflowError where
#: Python has no such value (instants of far years).
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
    """An attribute of a row must have one of some values."""

    attribute: Expr
    accepts: ValueSet


@dataclass(frozen=True, slots=True)
class Test:
    """A condition of three-valued logic: the values for which it is TRUE, and for which FALSE.

    For the others it is NULL.
    """

    attribute: Expr
    true: ValueSet
    false: ValueSet

    def condition(self, truths: frozenset[bool | None]) -> Condition:
        """That the test has one of these truth values (None is NULL)."""
        values = self.true if True in truths else NOTHING
        if False in truths:
            values = values.union(self.false)
        if None in truths:
            values = values.union(self.true.union(self.false).complement())
        return Condition(*before_casts(self.attribute, canonical(values, self.attribute.type)))


def test_of(expr: Expr, fold: Fold) -> Test:
    """A boolean expression that is no AND, OR or NOT as a test of one attribute.

    What does not compare an attribute with constants is an attribute itself, tested for being true.
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
            test = _false_elsewhere(text, _starting_with(prefix))
        case Call(function="is_null", arguments=(value,)) if is_ordered(value.type):
            test = Test(value, ONLY_NULL, NOT_NULL)
        case Call(function="is_not_null", arguments=(value,)) if is_ordered(value.type):
            test = Test(value, NOT_NULL, ONLY_NULL)
    return test or truth_test(expr)


def truth_test(expr: Expr) -> Test:
    """A boolean expression as an attribute."""
    return Test(expr, equal(True), equal(False))


def is_constant(expr: Expr) -> bool:
    """Whether an expression has one value for all rows."""
    return not columns_of(expr)


def constant_value(expr: Expr, fold: Fold) -> Any:
    """The value of a constant expression, in the one Python form that its type has."""
    return literal(expr.value, expr.type).value if isinstance(expr, Literal) else fold(expr)


def _sameness(left: Expr, right: Expr, fold: Fold) -> Test | None:
    attribute, other = (right, left) if is_constant(left) else (left, right)
    values = _constants(attribute, [other], fold)
    if values is None:
        return None
    true = ONLY_NULL if values == [None] else equal(values[0])
    return Test(attribute, true, true.complement())


def _comparison(function: str, left: Expr, right: Expr, fold: Fold) -> Test | None:
    if is_constant(left):
        function, left, right = _MIRRORED.get(function, function), right, left
    values = _constants(left, [right], fold)
    if values is None:
        return None
    if values == [None]:
        return Test(left, NOTHING, NOTHING)
    return _false_elsewhere(left, _COMPARED[function](values[0]))


def _membership(needle: Expr, choices: list[Expr], fold: Fold) -> Test | None:
    values = _constants(needle, choices, fold)
    if values is None:
        return None
    if None in values:  # what is not found may be the unknown one
        return Test(needle, one_of(values), NOTHING)
    return _false_elsewhere(needle, one_of(values))


def _likeness(text: Expr, pattern: str) -> Test | None:
    """LIKE of a text, or of all that begin with it."""
    prefix = pattern.rstrip("%")
    if any(c in prefix for c in "%_\\"):
        return None
    return _false_elsewhere(text, equal(prefix) if prefix == pattern else _starting_with(prefix))


def _starting_with(prefix: str) -> ValueSet:
    """The texts from the prefix to the next one that does not begin with it.

    Texts are ordered by code point, as their UTF-8 bytes are.
    """
    stem = prefix.rstrip(chr(sys.maxunicode))
    if not stem:
        return at_least(prefix) if prefix else ValueSet(NOT_NULL.intervals)
    following = ord(stem[-1]) + 1
    if following == _SURROGATES.start:  # they are no characters
        following = _SURROGATES.stop
    return ValueSet((Interval(prefix, True, stem[:-1] + chr(following), False),))


def _false_elsewhere(attribute: Expr, true: ValueSet) -> Test:
    """A test that is false where it is not true, and NULL for NULL."""
    return Test(attribute, true, true.complement().intersection(NOT_NULL))


def _constants(attribute: Expr, others: list[Expr], fold: Fold) -> list[Any] | None:
    """What an attribute is compared with; None if these are not constants that can be indexed."""
    if is_constant(attribute) or not is_ordered(attribute.type):
        return None
    if not all(is_constant(o) and o.type == attribute.type for o in others):
        return None
    try:
        return [constant_value(o, fold) for o in others]
    except (ValueError, OverflowError):
        return None
