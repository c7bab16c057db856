"""Nodes of sessions: rows of a key between which no more than a gap of time passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from eddyline.algebra.durations import format_duration
from eddyline.algebra.expressions import Aggregate, Expr
from eddyline.algebra.nodes.base import Emitting, check_columns
from eddyline.algebra.nodes.windowed import WINDOW_COLUMNS, WithWindow
from eddyline.algebra.patterns import Pattern
from eddyline.types import Field, Schema


@dataclass(frozen=True)
class Sessions(WithWindow):
    """Rows with the start and the end of their session, as far as it has come. No operator makes
    them: EMIT FINAL replaces the groups above by SessionGroups, other forms replace the node itself
    by SessionRows, with which the end is computed.

    Attributes:
        partition: what rows of a session agree on.
        gap_us: the longest time between a row and the next one.
    """

    partition: tuple[Expr, ...]
    gap_us: int

    def __post_init__(self) -> None:
        for expr in self.partition:
            check_columns(expr, self.input.schema)

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """What it computes of rows of the input."""
        return self.partition

    @cached_property
    def pattern(self) -> Pattern:  # each row changes the end of others
        return Pattern.STR

    @cached_property
    def takes_back(self) -> bool:
        return True

    @cached_property
    def lifespan_us(self) -> int | None:
        return None

    @property
    def label(self) -> str:
        return _label(self.partition, self.gap_us)


@dataclass(frozen=True)
class SessionRows(Sessions):
    """Emits each row with the start of its session and, as window_end, the instant up to which the
    row itself keeps the session open: the end of the session is the latest of its rows. A '-' per
    row when time has passed the end. Keeps the rows of the sessions that are open.
    """


@dataclass(frozen=True)
class SessionGroups(Emitting):
    """GROUP BY over sessions: emits the groups of a session when it has ended, at its end. Nothing
    is taken back. Keeps the groups of the sessions that are open.

    The schema is the partition, the keys, window_start, window_end, and the aggregates.

    Attributes:
        partition, gap_us: as of Sessions.
        where: which rows of the sessions are grouped; None: all.
        keys: of groups in a session. names: of all columns but those of the window.
    """

    partition: tuple[Expr, ...]
    gap_us: int
    where: Expr | None
    keys: tuple[Expr, ...]
    aggregates: tuple[Aggregate, ...]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        assert len(self.names) == len(self.by) + len(self.aggregates), "one name per column"
        for expr in (*self.by, *((self.where,) if self.where is not None else ())):
            check_columns(expr, self.input.schema)

    @property
    def by(self) -> tuple[Expr, ...]:
        """The partition and the keys: the first columns."""
        return (*self.partition, *self.keys)

    @cached_property
    def schema(self) -> Schema:
        types = [e.type for e in self.by] + [a.type for a in self.aggregates]
        fields = [Field(n, t) for n, t in zip(self.names, types, strict=True)]
        width = len(self.by)
        return (*fields[:width], *WINDOW_COLUMNS, *fields[width:])

    @property
    def label(self) -> str:
        text = _label(self.partition, self.gap_us)
        text += f" WHERE {self.where}" if self.where is not None else ""
        groups = [", ".join(map(str, self.keys)), ", ".join(map(str, self.aggregates))]
        return f"{text}: {'; '.join(filter(None, groups))}" if any(groups) else text


def _label(partition: Sequence[Expr], gap_us: int) -> str:
    by = f" BY {', '.join(map(str, partition))}" if partition else ""
    return f"SESSION {format_duration(gap_us)}{by}"
