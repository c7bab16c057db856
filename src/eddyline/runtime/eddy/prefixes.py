"""Which way rows go through an eddy: the virtual sources that they pass, for each source a tree.

Rows of A of the queries over AB, ABC and ABD probe B once; what is found is a result of the first
and probes C and D for the others::

    A ──▶ AB ──▶ ABC          A ──▶ B: the prefix AB, made once
           └───▶ ABD

Each query has one way. At a virtual source the queries that are not complete there are divided
among the sources to probe next: those with which many queries can go on cost less for each. A query
shares a prefix only if no other next step leaves it much fewer rows.

Source: Madden et al. 2002, sections 2.3 and 3.2.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Protocol

import numpy as np

from eddyline.runtime.eddy.eddy_source import EddyJoin
from eddyline.runtime.eddy.edges import Equality, Key, ends_of
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.keys import is_exact

#: How many times as many rows a query may have after a shared step as after its best one.
_WORSE: Final = 2.0
#: Costs of a row that probes, and of a pair that is found.
_PROBE: Final = 1.0
_PAIR: Final = 1.0


@dataclass(frozen=True)
class Step:
    """How a source is joined with what has been joined.

    Attributes:
        source: the one probed.
        ends: the sources joined that share keys with it: each one, its key, and that of the source.
        count: the first ``count`` ends are of one source: these keys are probed.
    """

    source: int
    ends: tuple[tuple[int, Key, Key], ...]
    count: int

    @cached_property
    def name(self) -> Hashable:
        """Of the index that is probed."""
        return tuple(own.name for _, _, own in self.ends[: self.count])

    @cached_property
    def probing(self) -> Hashable:
        """Identifies the keys of the rows that probe."""
        return tuple((other, theirs.name) for other, theirs, _ in self.ends[: self.count])

    @cached_property
    def unproved(self) -> tuple[tuple[int, Key, Key], ...]:
        """The ends whose keys may differ in what a probe finds."""
        probed = self.ends[: self.count]
        return self.ends[self.count if is_exact([own.type for _, _, own in probed]) else 0 :]

    @cached_property
    def identity(self) -> Hashable:
        """Equal for steps that join the same."""
        return self.source, tuple((other, key.name, own.name) for other, key, own in self.ends)


@dataclass(eq=False)
class Branch:
    """A step of some of the queries at a virtual source.

    Attributes:
        mask: the queries. takes_all: all at the virtual source are among them.
        visited, found: rows that have probed, and what they found.
    """

    step: Step
    mask: Array
    takes_all: bool
    to: Prefix
    visited: int = 0
    found: int = 0


@dataclass(eq=False)
class Prefix:
    """A virtual source: what has been joined, in this order.

    Attributes:
        complete: the queries for which nothing is left to join. branches: of the others.
    """

    complete: list[EddyJoin] = field(default_factory=list)
    branches: list[Branch] = field(default_factory=list)


class Estimates(Protocol):
    """What is known of the rows of sources.

    Attributes:
        step: the cost of a step without rows, per row of the source where a way begins.
    """

    @property
    def step(self) -> float:
        """See above."""

    def fan_out(self, step: Step) -> float:
        """Rows found by one that probes."""

    def share(self, source: int, join: EddyJoin) -> float:
        """Which part of the rows held of a source some of these queries require."""


@dataclass(frozen=True)
class Rows:
    """Rows that reach a virtual source.

    Attributes:
        path: the sources joined. count: number of rows, per row that began.
        wanted: which part of them the queries require.
    """

    path: tuple[int, ...]
    count: float
    wanted: Mapping[EddyJoin, float]

    def of(self, group: Sequence[EddyJoin]) -> float:
        """How many of them some query of a group requires, if they are independent."""
        return self.count * _any(self.wanted[j] for j in group)


class Routes:
    """Finds the way of the rows of one source.

    Attributes:
        cost: expected, per row; all rows that come cost 1.
    """

    def __init__(self, estimates: Estimates) -> None:
        self._estimates = estimates
        self._steps: dict[tuple[EddyJoin, tuple[int, ...]], list[Step]] = {}
        self.cost = 0.0

    def of(self, origin: int, joining: Sequence[EddyJoin]) -> Prefix:
        """The way of the rows of a source, for queries that read it."""
        wanted = {j: self._estimates.share(origin, j) for j in joining}
        return self._prefix(Rows((origin,), 1.0, wanted))

    def _prefix(self, rows: Rows) -> Prefix:
        prefix = Prefix()
        left: list[EddyJoin] = []
        for joining in rows.wanted:
            is_done = len(joining.numbers) == len(rows.path)
            (prefix.complete if is_done else left).append(joining)
        while left:
            step, group = self._next(rows, left)
            left = [j for j in left if j not in group]
            mask = np.bitwise_or.reduce([j.mask for j in group])
            after = self._after(rows, step, group)
            takes_all = len(group) == len(rows.wanted)
            prefix.branches.append(Branch(step, mask, takes_all, self._prefix(after)))
            self.cost += self._cost(rows, step, group)
        return prefix

    def _next(self, rows: Rows, left: Sequence[EddyJoin]) -> tuple[Step, list[EddyJoin]]:
        """The next step with the least cost per query, and the queries that take it."""
        takers: dict[Hashable, tuple[Step, list[EddyJoin]]] = {}
        for joining in left:
            steps = self._possible(joining, rows.path)
            growth = [self._growth(step, joining) for step in steps]
            most = _WORSE * min(growth)
            for step, grown in zip(steps, growth, strict=True):
                if grown <= most:
                    takers.setdefault(step.identity, (step, []))[1].append(joining)

        def price(taken: tuple[Step, list[EddyJoin]]) -> float:
            step, group = taken
            return (self._cost(rows, step, group) + self._after(rows, step, group).count) / len(
                group
            )

        return min(takers.values(), key=price)

    def _possible(self, joining: EddyJoin, path: tuple[int, ...]) -> list[Step]:
        if (joining, path) not in self._steps:
            steps = (step_of(s, path, joining.edges) for s in joining.numbers if s not in path)
            self._steps[joining, path] = [s for s in steps if s is not None]
        return self._steps[joining, path]

    def _growth(self, step: Step, joining: EddyJoin) -> float:
        return self._estimates.fan_out(step) * self._estimates.share(step.source, joining)

    def _cost(self, rows: Rows, step: Step, group: Sequence[EddyJoin]) -> float:
        pairs = _PROBE + _PAIR * self._estimates.fan_out(step)
        return self._estimates.step + rows.of(group) * pairs

    def _after(self, rows: Rows, step: Step, group: Sequence[EddyJoin]) -> Rows:
        """What a step finds that some query of the group requires."""
        probing = rows.of(group)
        pairs = probing * self._estimates.fan_out(step)
        share = {
            j: rows.wanted[j] * rows.count / probing * self._estimates.share(step.source, j)
            for j in group
        }
        some = _any(share.values())
        wanted = {j: part / some for j, part in share.items()}
        return Rows((*rows.path, step.source), pairs * some, wanted)


def step_of(source: int, path: Sequence[int], edges: Sequence[Equality]) -> Step | None:
    """The step that joins a source; None: it shares no key with those joined."""
    ends = ends_of(source, path, edges)
    if not ends:
        return None
    return Step(source, tuple(ends), sum(other == ends[0][0] for other, _, _ in ends))


def _any(parts: Iterable[float]) -> float:
    """How likely one of some independent events is."""
    none = 1.0
    for part in parts:
        none *= 1.0 - min(part, 1.0)
    return max(1.0 - none, 1e-9)
