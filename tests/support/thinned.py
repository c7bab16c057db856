"""Combinations of parameters of a test, of which `make test` runs some and `make test-long` all;
numbers of generated cases that differ likewise.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from _pytest.mark.structures import ParameterSet


#: From this number of cases on the profile is that of `make test-long`.
_LONG: Final = 100


def more_when_long(times: int) -> int:
    """Number of generated cases: as many as of other tests, or in `make test-long` a multiple."""
    usual: int = settings().max_examples
    return times * usual if usual >= _LONG else usual


def fewer(times: int) -> int:
    """Number of generated cases that take seconds each: a fraction of that of other tests, or in
    `make test-long` as many.
    """
    usual: int = settings().max_examples
    return usual if usual >= _LONG else usual // times


def thinned(n: int, *axes: Collection[Any]) -> list[ParameterSet]:
    """All combinations of values of some axes; one in ``n`` lacks the mark ``long``.

    Those are spread like a Latin square: all values occur about equally often without the mark, and
    if each axis has at least ``n`` values, each combination of the values of all axes but one.

    >>> [p.values for p in thinned(2, "ab", "xyz") if not p.marks]
    [('a', 'x'), ('a', 'z'), ('b', 'y')]
    """
    found = []
    for numbered in product(*map(enumerate, axes)):
        numbers, values = zip(*numbered, strict=True)
        marks = pytest.mark.long if sum(numbers) % n else ()
        found.append(pytest.param(*values, marks=marks))
    return found
