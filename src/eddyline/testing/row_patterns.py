"""The oracle of MATCH_RECOGNIZE: all matches of a pattern, by plain backtracking.

Every way to match is tried in the order of preference of SQL:2016, from each row at which a match
may begin, over all rows of a partition at once::

    pattern = Pattern(sequence(row("A"), repeat(row("B"), 1, None), row("C")),
                      {"B": lambda run: run.row["x"] < run.previous()["x"]}, within_us=60_000_000)
    matches(rows, pattern)

A match is decided when the search that finds it needs no later row: rows that it looks at have
come, or can no longer come in time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

Row: TypeAlias = Mapping[str, Any]
#: The numbers of the rows that have been matched, with their variables.
Matched: TypeAlias = tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Run:
    """What the condition of a variable sees: the rows that have been matched, the last of them as
    that variable.
    """

    rows: Sequence[Row]
    matched: Matched

    @property
    def row(self) -> Row:
        """The current row."""
        return self.rows[self.matched[-1][0]]

    def previous(self, offset: int = 1) -> Row | None:
        """The row before the current one in the partition."""
        number = self.matched[-1][0] - offset
        return self.rows[number] if number >= 0 else None

    def of(self, *variables: str) -> list[Row]:
        """The rows of some variables, or all rows."""
        return [self.rows[n] for n, v in self.matched if not variables or v in variables]


#: Whether a row can be of a variable; NULL counts as no.
Condition: TypeAlias = Callable[[Run], "bool | None"]
#: All ways to go on behind the rows that have been matched, the preferred ones first.
Ways: TypeAlias = Callable[["_Search", Matched], Iterator[Matched]]


@dataclass(frozen=True)
class Pattern:
    """A pattern.

    Attributes:
        ways: what it consists of. define: conditions by variable.
        within_us: the longest time from the first to the last row.
        skip: the way to skip. target: variables to skip to.
        from_start: whether matches begin with the first row.
    """

    ways: Ways
    define: Mapping[str, Condition]
    within_us: int | None = None
    skip: Literal["past last", "next", "first", "last"] = "past last"
    target: tuple[str, ...] = ()
    from_start: bool = False


@dataclass(frozen=True)
class Match:
    """A match: its rows with their variables, and the instant at which it is decided. ``failed``:
    there is no row to skip to.
    """

    run: Run
    decided_us: int
    failed: bool


class Undecided(Exception):
    """The search needs a row that has not come."""


class TooManyWays(Exception):
    """Trying every way takes too long: nested quantifiers have exponentially many."""


#: Most rows that are looked at from one row.
_MOST_LOOKS: Final = 50_000


@dataclass
class _Search:
    """The search from one row.

    Attributes:
        decided_us: when all that it has looked at so far was known. looks: how often it has looked.
    """

    rows: Sequence[Row]
    pattern: Pattern
    start: int
    decided_us: int
    looks: int = 0

    @property
    def end_us(self) -> int | None:
        """The first instant whose rows are no part of a match."""
        within = self.pattern.within_us
        return None if within is None else int(self.rows[self.start]["ts"]) + within + 1

    def sees(self, number: int) -> bool:
        """Whether there is a row in time."""
        self.looks += 1
        if self.looks > _MOST_LOOKS:
            raise TooManyWays
        end = self.end_us
        ts = int(self.rows[number]["ts"]) if number < len(self.rows) else None
        if ts is not None and (end is None or ts < end):
            self.decided_us = max(self.decided_us, ts)
            return True
        if end is None:
            raise Undecided
        self.decided_us = max(self.decided_us, end)
        return False

    def accepts(self, matched: Matched) -> bool:
        """Whether the last row can be of its variable."""
        condition = self.pattern.define.get(matched[-1][1])
        return condition is None or bool(condition(Run(self.rows, matched)))


def row(variable: str) -> Ways:
    """A row of a variable."""

    def ways(search: _Search, matched: Matched) -> Iterator[Matched]:
        number = search.start + len(matched)
        if search.sees(number):
            longer = (*matched, (number, variable))
            if search.accepts(longer):
                yield longer

    return ways


def sequence(*parts: Ways) -> Ways:
    """Parts one behind the other."""

    def ways(search: _Search, matched: Matched) -> Iterator[Matched]:
        if not parts:
            yield matched
            return
        for before in parts[0](search, matched):
            yield from sequence(*parts[1:])(search, before)

    return ways


def either(*parts: Ways) -> Ways:
    """One of the parts, the first one preferably."""

    def ways(search: _Search, matched: Matched) -> Iterator[Matched]:
        for part in parts:
            yield from part(search, matched)

    return ways


def repeat(part: Ways, least: int, most: int | None, *, greedy: bool = True) -> Ways:
    """A part a number of times."""

    def ways(search: _Search, matched: Matched) -> Iterator[Matched]:
        if not greedy and least == 0:
            yield matched
        if most is None or most > 0:
            fewer = repeat(
                part, max(least - 1, 0), None if most is None else most - 1, greedy=greedy
            )
            for before in part(search, matched):
                yield from fewer(search, before)
        if greedy and least == 0:
            yield matched

    return ways


def matches(rows: Sequence[Row], pattern: Pattern, until_us: int) -> list[Match]:
    """The matches in the rows of a partition that are decided up to an instant.

    Args:
        rows: with ``ts`` in us, in their order.

    Raises:
        TooManyWays: it would take too long.
    """
    found = []
    start, decided = 0, -(1 << 62)
    while start < (1 if pattern.from_start else len(rows)):
        search = _Search(rows, pattern, start, decided)
        try:
            matched = next(pattern.ways(search, ()), None)
        except Undecided:
            break
        decided = search.decided_us
        if decided > until_us:
            break
        if matched is None:
            start += 1
            continue
        after = _after(matched, pattern)
        found.append(Match(Run(rows, matched), decided, after is None))
        start = start + 1 if after is None else after
    return found


def _after(matched: Matched, pattern: Pattern) -> int | None:
    """The row at which the next match may begin; None: there is none to skip to."""
    first, last = matched[0][0], matched[-1][0]
    if pattern.skip == "past last":
        return last + 1
    if pattern.skip == "next":
        return first + 1
    targets = [n for n, v in matched if v in pattern.target]
    if not targets:
        return None
    target = targets[0] if pattern.skip == "first" else targets[-1]
    return None if target == first else target
