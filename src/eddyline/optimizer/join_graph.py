"""The join graph of a product: its parts, the terms that connect them, and their estimates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Final

from eddyline.algebra.expressions import Call, Expr, columns_of
from eddyline.algebra.plan import Plan, StreamScan, TableScan, below_projections
from eddyline.algebra.reads import stream_scans
from eddyline.algebra.windows import PartitionRows, Rows
from eddyline.optimizer.estimates import Estimate, estimate
from eddyline.optimizer.joins.query import JoinQuery, Mask, Source, Term, mask_of, members
from eddyline.optimizer.joins.trees import Tree
from eddyline.optimizer.selectivity import selectivity
from eddyline.optimizer.statistics import Statistics

#: Lower bound of selectivities, so that products of them stay positive.
_LEAST_SHARE: Final = 1e-12


@dataclass(frozen=True)
class JoinGraph:
    """Plans that are joined, and the terms on their columns, numbered across all of them.

    Attributes:
        parts: in the order of the query's text.
        terms: conjuncts that read at least one column.
    """

    parts: tuple[Plan, ...]
    terms: tuple[Expr, ...]

    @cached_property
    def _starts(self) -> list[int]:
        """The first column of each part, and the number of columns."""
        return list(accumulate((len(p.schema) for p in self.parts), initial=0))

    @cached_property
    def _part_of(self) -> list[int]:
        """The part of each column."""
        return [part for part in range(len(self.parts)) for _ in self.columns(part)]

    @cached_property
    def _known(self) -> dict[int, tuple[Mask, tuple[Mask, Mask] | None]]:
        """By the identity of a term, the parts that it reads, and those of its two sides."""
        return {id(t): (self._reads(t), self._sides(t)) for t in self.terms}

    def columns(self, part: int) -> range:
        """The columns of a part."""
        return range(self._starts[part], self._starts[part + 1])

    def reads(self, expr: Expr) -> Mask:
        """The parts that an expression reads."""
        known = self._known.get(id(expr))
        return self._reads(expr) if known is None else known[0]

    def sides(self, term: Expr) -> tuple[Mask, Mask] | None:
        """For an equality between disjoint sets of parts, these sets; else None."""
        known = self._known.get(id(term))
        return self._sides(term) if known is None else known[1]

    def _reads(self, expr: Expr) -> Mask:
        return mask_of({self._part_of[column] for column in columns_of(expr)})

    def _sides(self, term: Expr) -> tuple[Mask, Mask] | None:
        if not (isinstance(term, Call) and term.function == "="):
            return None
        a, b = map(self._reads, term.arguments)
        return (a, b) if a and b and not a & b else None

    def is_key(self, term: Expr, left: Mask, right: Mask) -> bool:
        """Whether a term is a key of a join between two sets of parts."""
        sides = self.sides(term)
        if sides is None:
            return False
        (a, b), (c, d) = sides, (left, right)
        return not (a & ~c or b & ~d) or not (a & ~d or b & ~c)

    @property
    def late(self) -> Mask:
        """Non-retroactive tables.

        A result joins them as of its own ts, which is known once all other parts are joined.
        """
        return mask_of(i for i, part in enumerate(self.parts) if is_non_retroactive(part))

    def as_written(self) -> Tree:
        """The parts in the order of the text, equi-joins before cross products.

        The first part is the first that reads a stream. The next part is the first with an
        equality to the joined ones; without one, the first that reads a stream; tables follow,
        and non-retroactive tables are last.
        """
        everything = (1 << len(self.parts)) - 1
        waves = [members(everything & ~self.late), members(self.late)]
        first = waves[0] or waves[1]
        begin = next((i for i in first if reads_stream(self.parts[i])), first[0])
        first.remove(begin)
        tree: Tree = begin
        joined = 1 << begin
        for wave in waves:
            while wave:
                part = self._next(joined, wave)
                wave.remove(part)
                tree, joined = (tree, part), joined | 1 << part
        return tree

    def _next(self, joined: Mask, waiting: Sequence[int]) -> int:
        """The next part to join."""
        connected = (i for i in waiting if any(self.is_key(t, joined, 1 << i) for t in self.terms))
        streams = (i for i in waiting if reads_stream(self.parts[i]))
        return next(connected, next(streams, waiting[0]))

    def is_known(self, statistics: Statistics) -> bool:
        """Whether the rates of all streams are known."""
        streams = {scan.stream for part in self.parts for scan in stream_scans(part)}
        return bool(streams) and streams <= statistics.rates.keys()

    def query(self, statistics: Statistics) -> JoinQuery:
        """The graph as sources and selectivities; source ``i`` is part ``i``."""
        estimates = [estimate(part, statistics) for part in self.parts]
        values = [v for e in estimates for v in e.values]
        terms = [
            Term(
                self.reads(term),
                min(1.0, max(_LEAST_SHARE, selectivity(term, values))),
                self.sides(term),
            )
            for term in self.terms
            if self.reads(term).bit_count() > 1
        ]
        sources = map(_source, self.parts, estimates)
        return JoinQuery(tuple(sources), tuple(terms))


def reads_stream(plan: Plan) -> bool:
    """Whether a plan reads a stream."""
    return any(True for _ in stream_scans(plan))


def is_non_retroactive(plan: Plan) -> bool:
    """Whether the rows are those of an NRR, possibly filtered or projected."""
    table = below_projections(plan)
    return isinstance(table, TableScan) and table.updates == "non-retroactive"


def _source(part: Plan, found: Estimate) -> Source:
    return Source(
        _name(part),
        found.rate,
        found.rows,
        by_time=not any(isinstance(s.window, (Rows, PartitionRows)) for s in stream_scans(part)),
        taken_back=found.retracted,
        is_table=not reads_stream(part),
    )


def _name(part: Plan) -> str:
    part = below_projections(part)
    if isinstance(part, StreamScan):
        return part.stream
    return part.table if isinstance(part, TableScan) else "sub-query"
