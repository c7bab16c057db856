"""The node of MATCH_RECOGNIZE, and what its expressions read of a match.

Rows of a partition are matched by their own columns, those of earlier rows, and the rows that have
been matched so far. All expressions of the node are over *extended* rows: the columns of the input,
the variable of the row, then those of earlier rows (``shifted``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

import pyarrow as pa

from eddyline.algebra.durations import format_duration
from eddyline.algebra.expressions import Aggregate, ColumnRef, Expr, walk
from eddyline.algebra.nodes.base import Emitting
from eddyline.algebra.row_patterns import RowPattern, Skip, shown
from eddyline.types import Field, Schema

#: All variables, as bits.
EVERY_VARIABLE: Final = -1
#: The type of the variable of a row.
CLASSIFIER_TYPE: Final = pa.string()


@dataclass(frozen=True, slots=True)
class Navigation(Expr):
    """A value of the first or last row of some variables, or of one a number of rows further in.

    Attributes:
        variables: as bits. argument: over extended rows. offset: number of rows.
        final: over the whole match; else over its rows up to the current one.
        text: for display, not compared.
    """

    end: Literal["first", "last"]
    variables: int
    argument: Expr
    offset: int
    final: bool
    text: str

    def __str__(self) -> str:
        return self.text

    def _identity(self) -> tuple[object, ...]:
        return self.type, self.end, self.variables, self.argument, self.offset, self.final

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Navigation) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())


@dataclass(frozen=True, slots=True)
class MatchedAggregate(Expr):
    """An aggregate over the rows of some variables; attributes as of :class:`Navigation`."""

    aggregate: Aggregate
    variables: int
    final: bool
    text: str

    def __str__(self) -> str:
        return self.text

    def _identity(self) -> tuple[object, ...]:
        return self.type, self.aggregate, self.variables, self.final

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MatchedAggregate) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())


#: What is read of the rows that have been matched.
OfMatch = Navigation | MatchedAggregate


def of_match(expr: Expr) -> Iterator[OfMatch]:
    """What an expression reads of the rows that have been matched."""
    return (e for e in walk(expr) if isinstance(e, (Navigation, MatchedAggregate)))


@dataclass(frozen=True)
class MatchRecognize(Emitting):
    """Finds matches of a pattern of rows in each partition, and emits one row per match, or all its
    rows, when it is decided. Nothing is taken back. Keeps the rows that may be part of a match.

    The schema is the partition, or all columns of the input if ``all_rows``, and ``values``.

    Attributes:
        partition: columns of the input.
        variables: their names. conditions: of each; None: any row.
        from_start: whether matches begin with the first row of a partition: a row of the last
            variable, which is not in the pattern.
        shifted: further columns of extended rows: a column, and how many rows earlier.
        pattern_of_rows: over the numbers of variables.
        within_us: the longest time from the first row of a match to the last; None: any.
        skip: where the next match may begin.
        values: of each match. names: of them.
    """

    partition: tuple[ColumnRef, ...]
    variables: tuple[str, ...]
    conditions: tuple[Expr | None, ...]
    shifted: tuple[tuple[int, int], ...]
    pattern_of_rows: RowPattern
    from_start: bool
    within_us: int | None
    skip: Skip
    all_rows: bool
    values: tuple[OfMatch, ...]
    names: tuple[str, ...]

    @property
    def classifier(self) -> int:
        """The column of extended rows that has the variable."""
        return len(self.input.schema)

    @cached_property
    def extended(self) -> Schema:
        """The columns of extended rows."""
        own = self.input.schema
        shifted = [Field(f"PREV({own[c].name}, {n})", own[c].type) for c, n in self.shifted]
        return (*own, Field("CLASSIFIER()", CLASSIFIER_TYPE), *shifted)

    @cached_property
    def schema(self) -> Schema:
        first = self.input.schema
        if not self.all_rows:
            first = tuple(self.input.schema[c.index] for c in self.partition)
        fields = (Field(n, v.type) for n, v in zip(self.names, self.values, strict=True))
        return (*first, *fields)

    @property
    def label(self) -> str:
        start = "^ " if self.from_start else ""
        text = f"PATTERN ({start}{shown(self.pattern_of_rows, self.variables)})"
        if self.partition:
            text = f"PARTITION BY {', '.join(map(str, self.partition))} {text}"
        if self.within_us is not None:
            text += f" WITHIN {format_duration(self.within_us)}"
        defined = (
            f"{v} AS {c}"
            for v, c in zip(self.variables, self.conditions, strict=True)
            if c is not None
        )
        conditions = ", ".join(defined)
        text += f" DEFINE {conditions}" if conditions else ""
        rows = "all rows, " if self.all_rows else ""
        return f"{text}: {rows}{', '.join(map(str, self.values))}; {self.skip}"
