"""A conjunctive query over windows: sources, and what ties them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

#: A set of sources: bit ``i`` is source ``i``.
Mask = int


@dataclass(frozen=True)
class Source:
    """An input of the join, as it is behind its filter.

    Attributes:
        name: of the stream or table.
        rate: rows per second that pass the filter (Eq. 1).
        rows: rows of the active window: those of its window that pass the filter (Eq. 2).
        by_time: whether the window is one of time. Then fewer arrivals make fewer active rows; a
            window of rows stays as large as it is, it only reaches further back.
        taken_back: rows per second that leave by a '-', which runs through the joins like a row.
        arriving: rows per second before the filter, each of which is looked at.
        is_table: whether this is a table: it is joined with what reads a stream, and never dropped.

    Raises:
        ValueError: a number is negative or not finite.
    """

    name: str
    rate: float
    rows: float
    by_time: bool
    taken_back: float = 0.0
    arriving: float = 0.0
    is_table: bool = False

    def __post_init__(self) -> None:
        for number in (self.rate, self.rows, self.taken_back, self.arriving):
            if not (math.isfinite(number) and number >= 0):
                raise ValueError(f"source {self.name!r}: {number} is no rate or number of rows")

    @classmethod
    def range(cls, name: str, rate: float, seconds: float, selectivity: float = 1.0) -> Source:
        """A window of time: at ``rate`` rows per second it holds ``rate * seconds`` rows.

        >>> Source.range("a", rate=10, seconds=5, selectivity=0.5).rows
        25.0
        """
        passing = rate * selectivity
        return cls(name, passing, passing * seconds, by_time=True, arriving=rate)

    @classmethod
    def last(cls, name: str, rate: float, rows: float, selectivity: float = 1.0) -> Source:
        """The last ``rows`` rows that arrived, of which a share passes the filter."""
        passing = rate * selectivity
        return cls(name, passing, rows * selectivity, by_time=False, arriving=rate)


@dataclass(frozen=True)
class Term:
    """A conjunct of WHERE that reads several sources.

    Attributes:
        sources: that it reads.
        selectivity: the share of their Cartesian product that meets it, above 0.
        sides: of an equality, what its two sides read. Where a join has one side's sources in one
            input and the other's in the other, it is a key: a hash table finds the rows. An
            equality of two single sources is an edge of the join graph.
    """

    sources: Mask
    selectivity: float
    sides: tuple[Mask, Mask] | None = None

    @classmethod
    def edge(cls, a: int, b: int, selectivity: float) -> Term:
        """An equality of two sources."""
        return cls(1 << a | 1 << b, selectivity, (1 << a, 1 << b))

    @property
    def is_edge(self) -> bool:
        """Whether it is an equality of two single sources."""
        return self.sides is not None and self.sources.bit_count() == 2

    def is_key(self, left: Mask, right: Mask) -> bool:
        """Whether it is a key of a join of these."""
        if self.sides is None:
            return False
        a, b = self.sides
        return not (a & ~left or b & ~right) or not (a & ~right or b & ~left)


class Tie(NamedTuple):
    """What joins two disjoint sets of sources.

    Attributes:
        share: of all pairs that join (f).
        key_share: of all pairs that agree on the keys; None where there are none.
    """

    share: float
    key_share: float | None


@dataclass(frozen=True)
class JoinQuery:
    """Sources, and the terms that tie them; where nothing ties sources, all their rows join.

    Raises:
        ValueError: no source, a term reads fewer than two or others, or no share of rows meets it.

    >>> a, b = Source.last("a", 10, 10), Source.last("b", 70, 10)
    >>> JoinQuery((a, b), (Term.edge(0, 1, 0.5),)).tie(0b01, 0b10)
    Tie(share=0.5, key_share=0.5)
    """

    sources: tuple[Source, ...]
    terms: tuple[Term, ...] = ()
    _others: tuple[Term, ...] = field(init=False, repr=False, compare=False)
    _within: dict[Mask, tuple[float, int]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        if not self.sources:
            raise ValueError("a query needs a source")
        for term in self.terms:
            if term.sources.bit_count() < 2 or term.sources & ~self.everything:
                raise ValueError(f"{term} does not read two of {len(self.sources)} sources")
            if term.sides and term.sides[0] | term.sides[1] != term.sources:
                raise ValueError(f"the sides of {term} are not its sources")
            if not 0 < term.selectivity <= 1:
                raise ValueError(f"the selectivity of {term} must be in (0, 1]")
        object.__setattr__(self, "_others", tuple(t for t in self.terms if not t.is_edge))

    @property
    def everything(self) -> Mask:
        """The set of all sources."""
        return (1 << len(self.sources)) - 1

    @property
    def streams(self) -> Mask:
        """The sources that are no tables."""
        return mask_of(i for i, source in enumerate(self.sources) if not source.is_table)

    def neighbours(self) -> list[Mask]:
        """The join graph: for each source, those that an edge ties to it."""
        found = [0] * len(self.sources)
        for term in self.terms:
            if term.is_edge:
                for source in members(term.sources):
                    found[source] |= term.sources & ~(1 << source)
        return found

    def tie(self, left: Mask, right: Mask) -> Tie:
        """What joins two disjoint sets of sources: the terms that read both, and no others."""
        log, number = self._edges_between(left, right)
        share = key_share = math.exp(log)
        has_keys = number > 0
        for term in self._others:
            if _is_decided_by(term, left, right):
                share *= term.selectivity
                if term.is_key(left, right):
                    key_share *= term.selectivity
                    has_keys = True
        return Tie(share, key_share if has_keys else None)

    def _edges_between(self, left: Mask, right: Mask) -> tuple[float, int]:
        (log_l, n_l), (log_r, n_r) = self._edges_within(left), self._edges_within(right)
        log, n = self._edges_within(left | right)
        return log - log_l - log_r, n - n_l - n_r

    def _edges_within(self, sources: Mask) -> tuple[float, int]:
        """Of the edges among some sources: the log of their selectivities' product, the number."""
        found = self._within.get(sources)
        if found is None:
            edges = [t for t in self.terms if t.is_edge and not t.sources & ~sources]
            logs = math.fsum(math.log(t.selectivity) for t in edges)
            found = self._within[sources] = (logs, len(edges))
        return found


def _is_decided_by(term: Term, left: Mask, right: Mask) -> bool:
    """Whether the join of both sides is the first to have all columns of a term."""
    read = term.sources
    return not read & ~(left | right) and bool(read & ~left) and bool(read & ~right)


def members(sources: Mask) -> list[int]:
    """The numbers of the sources in a set, ascending.

    >>> members(0b1010)
    [1, 3]
    """
    return [i for i in range(sources.bit_length()) if sources >> i & 1]


def mask_of(numbers: Iterable[int]) -> Mask:
    """The set of some sources.

    >>> bin(mask_of([1, 3]))
    '0b1010'
    """
    mask = 0
    for number in numbers:
        mask |= 1 << number
    return mask
