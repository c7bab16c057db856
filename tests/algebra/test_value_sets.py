"""Sets of values against their members."""

from __future__ import annotations

import math
import operator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.algebra.value_sets import (
    EVERYTHING,
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

NAN = math.nan
#: Constants are even: there are values between them, and outside.
POINTS = [None, NAN, *range(-1, 12)]

constants = st.integers(0, 5).map(lambda c: 2 * c)
simple = st.one_of(
    st.sampled_from([NOTHING, EVERYTHING, ONLY_NULL, NOT_NULL]),
    st.builds(
        lambda make, c: make(c),
        st.sampled_from([above, at_least, below, at_most, equal, not_equal]),
        constants,
    ),
    st.lists(constants, max_size=3).map(one_of),
)
sets = st.recursive(
    simple,
    lambda inner: st.one_of(
        st.builds(ValueSet.union, inner, inner),
        st.builds(ValueSet.intersection, inner, inner),
        st.builds(ValueSet.complement, inner),
    ),
    max_leaves=6,
)


def members(values: ValueSet) -> list[bool]:
    return [p in values for p in POINTS]


@given(a=sets, b=sets)
def test_algebra_is_that_of_the_members(a: ValueSet, b: ValueSet) -> None:
    both = list(zip(members(a), members(b), strict=True))
    assert members(a.union(b)) == [x or y for x, y in both]
    assert members(a.intersection(b)) == [x and y for x, y in both]
    assert members(a.complement()) == [not x for x, _ in both]


@given(values=sets)
def test_intervals_are_ascending_and_apart(values: ValueSet) -> None:
    for one, other in pairwise(values.intervals):
        assert one.high < other.low or (
            one.high == other.low and not one.high_closed and not other.low_closed
        )
    for i in values.intervals:
        if i.low is not None and i.high is not None:
            assert i.low < i.high or (i.low == i.high and i.low_closed and i.high_closed)


@given(a=sets, b=sets)
def test_equal_sets_have_one_form(a: ValueSet, b: ValueSet) -> None:
    assert (members(a) == members(b)) == (a == b)
    assert a.complement().complement() == a


@pytest.mark.parametrize("constant", [2.0, -0.0, 0.0, math.inf, -math.inf, NAN, None])
def test_comparisons_are_those_of_the_language(constant: float | None) -> None:
    """NaN equals itself and is larger than any number."""

    def order(v: float) -> tuple[bool, float]:
        return (True, 0.0) if math.isnan(v) else (False, v)

    values = [NAN, -math.inf, -1.0, -0.0, 0.0, 2.0, 2.5, math.inf]
    comparisons: list[tuple[Any, Any]] = [
        (above, operator.gt),
        (at_least, operator.ge),
        (below, operator.lt),
        (at_most, operator.le),
        (equal, operator.eq),
        (not_equal, operator.ne),
    ]
    for make, holds in comparisons:
        accepted = make(constant)
        assert None not in accepted
        for v in values:
            expected = constant is not None and holds(order(v), order(constant))
            assert (v in accepted) == expected, (make, v)


@settings(max_examples=50)
@given(st.lists(st.text(max_size=3), min_size=2, max_size=2))
def test_texts_are_ordered_by_their_bytes(texts: list[str]) -> None:
    text, constant = texts
    assert (text in below(constant)) == (text.encode() < constant.encode())
    assert (text in at_least(constant)) == (text.encode() >= constant.encode())


def test_sets_read_as_they_are_written() -> None:
    assert str(at_least(2).intersection(below(5)).union(equal(7)).union(ONLY_NULL)) == (
        "[2, 5) | {7} | NULL"
    )
    assert str(above(3).union(at_most(1))) == "(-inf, 1] | (3, inf) | NaN"
    assert str(NOTHING) == "nothing"
    assert ValueSet((Interval(1, True, 2, False),)) == at_least(1).intersection(below(2))
