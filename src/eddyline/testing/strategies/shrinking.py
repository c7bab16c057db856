"""The smallest part of a case that still fails: turns, queries and rows that do not matter go.

Cases made from a seed are not shrunk by Hypothesis, to which they are one number.
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
    """A part of the case that fails as well and of which nothing can be left out.

    Args:
        case: it fails. fails: whether a case does.
        seconds: when to be content with what has been reached.
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
    """The case without something, large things first."""
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
    if turn.heard is not None:
        yield replace(turn, heard=None)


def _without_query(turn: Turn, name: str) -> Turn:
    add = tuple((n, sql) for n, sql in turn.add if n != name)
    return replace(turn, add=add, drop=tuple(n for n in turn.drop if n != name))


def _without_runs(values: Sequence[_Part]) -> Iterator[list[_Part]]:
    """The sequence without a half, a quarter, ..., and without each single one."""
    size = len(values)
    while size > 0:
        for start in range(0, len(values), size):
            yield [*values[:start], *values[start + size :]]
        size //= 2


def _is_possible(case: QuerySetCase) -> bool:
    """Whether names are free when they are given, and known when they are dropped."""
    there: set[str] = set()
    for turn in case.turns:
        if not there.issuperset(turn.drop):
            return False
        there -= set(turn.drop)
        names = {name for name, _ in turn.add}
        if there & names:
            return False
        there |= names
    return True
