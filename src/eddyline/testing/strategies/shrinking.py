"""Shrinks a failing case: removes steps, queries and rows that the failure does not need.

Hypothesis does not shrink cases that are generated from a seed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from eddyline.testing.strategies.query_set_cases import QuerySetCase, Turn

_Part = TypeVar("_Part")


def shrunk(
    case: QuerySetCase, fails: Callable[[QuerySetCase], bool], seconds: float = 60
) -> QuerySetCase:
    """A minimal part of the case that still fails.

    Args:
        case: a failing case. fails: whether a case fails.
        seconds: time limit; then the smallest case so far is returned.
    """
    end = time.monotonic() + seconds
    again = True
    while again:
        again = False
        for candidate in _parts(case):
            if time.monotonic() > end:
                return case
            if _is_possible(candidate) and fails(candidate):
                case, again = candidate, True
                break
    return case


def _parts(case: QuerySetCase) -> Iterator[QuerySetCase]:
    """The case without some part, large parts first."""
    turns = case.turns
    for some in _without_runs(turns):
        yield replace(case, turns=tuple(some))
    for name in sorted({name for turn in turns for name, _ in turn.add}):
        yield replace(case, turns=tuple(_without_query(turn, name) for turn in turns))
    for i, turn in enumerate(turns):
        for less in _smaller_turns(turn):
            yield replace(case, turns=(*turns[:i], less, *turns[i + 1 :]))


def _smaller_turns(turn: Turn) -> Iterator[Turn]:
    yield from (replace(turn, rows=tuple(some)) for some in _without_runs(turn.rows))
    yield from (replace(turn, add=tuple(some)) for some in _without_runs(turn.add))
    yield from (replace(turn, drop=tuple(some)) for some in _without_runs(turn.drop))
    if turn.restart:
        yield replace(turn, restart=False)
    if turn.read_tables is not None:
        yield replace(turn, read_tables=None)


def _without_query(turn: Turn, name: str) -> Turn:
    add = tuple((n, sql) for n, sql in turn.add if n != name)
    return replace(turn, add=add, drop=tuple(n for n in turn.drop if n != name))


def _without_runs(values: Sequence[_Part]) -> Iterator[list[_Part]]:
    """The sequence without a half, a quarter, ..., and without each single element."""
    size = len(values)
    while size > 0:
        for start in range(0, len(values), size):
            yield [*values[:start], *values[start + size :]]
        size //= 2


def _is_possible(case: QuerySetCase) -> bool:
    """Whether added names are free and dropped names exist."""
    current: set[str] = set()
    for turn in case.turns:
        if not current.issuperset(turn.drop):
            return False
        current -= set(turn.drop)
        names = {name for name, _ in turn.add}
        if current & names:
            return False
        current |= names
    return True
