"""The node of OVER on rows that only come: values of each row and those before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

import pyarrow as pa

from eddyline.algebra.durations import format_duration
from eddyline.algebra.expressions import Aggregate, Expr
from eddyline.algebra.nodes.base import Emitting, check_columns
from eddyline.algebra.nodes.rows import Filter, Project
from eddyline.types import Field, Schema

_IGNORED: Final = " IGNORE NULLS"
#: Which rows around the current one a frame leaves out.
Excluded = Literal["", "CURRENT ROW", "GROUP", "TIES"]


@dataclass(frozen=True, slots=True)
class Frame:
    """Rows of a partition up to the current one.

    Attributes:
        unit: whether the frame is of a number of rows; of all rows in a length of time; or of those
            of a number of times. The last two include those that come at the time of the current
            row.
        preceding: how many rows before the current one, microseconds, or times, it begins; negative
            behind it; None: it has all rows.
        until: how much before the current row it ends; of RANGE negative behind it.
        exclude: which rows around the current one are left out, if any.
    """

    unit: Literal["rows", "range", "groups"]
    preceding: int | None
    until: int = 0
    exclude: Excluded = ""

    def __str__(self) -> str:
        bounds = start = self._bound(self.preceding)
        if self.until:
            bounds = f"BETWEEN {start} AND {self._bound(self.until)}"
        exclude = f" EXCLUDE {self.exclude}" if self.exclude else ""
        return f"{self.unit.upper()} {bounds}{exclude}"

    def _bound(self, before: int | None) -> str:
        if before is None:
            return "UNBOUNDED PRECEDING"
        length = format_duration(abs(before)) if self.unit == "range" else str(abs(before))
        return f"{length} {'PRECEDING' if before >= 0 else 'FOLLOWING'}"


@dataclass(frozen=True, slots=True)
class FrameAggregate:
    """An aggregate over the frame of each row."""

    aggregate: Aggregate
    frame: Frame

    @property
    def type(self) -> pa.DataType:
        """The type of its values."""
        return self.aggregate.type

    @property
    def argument(self) -> Expr | None:
        """What it is computed of; None: whole rows."""
        return self.aggregate.value

    def __str__(self) -> str:
        return f"{self.aggregate} {self.frame}"


@dataclass(frozen=True, slots=True)
class EarlierValue:
    """The value of the row that came ``rows`` before each one, from 1 on; NULL without one.

    Attributes:
        known: whether only rows with a value count.
    """

    argument: Expr
    rows: int
    known: bool = False

    @property
    def type(self) -> pa.DataType:
        """The type of its values."""
        return self.argument.type

    def __str__(self) -> str:
        return f"lag({self.argument}, {self.rows}{_IGNORED if self.known else ''})"


@dataclass(frozen=True, slots=True)
class NthValue:
    """The value of the row of a number (from 1 on) in its partition; NULL until it has come.

    Attributes:
        known: whether only rows with a value have a number.
    """

    argument: Expr
    number: int
    known: bool = False

    @property
    def type(self) -> pa.DataType:
        """The type of its values."""
        return self.argument.type

    def __str__(self) -> str:
        return f"nth_value({self.argument}, {self.number}{_IGNORED if self.known else ''})"


@dataclass(frozen=True, slots=True)
class KnownValue:
    """A value that is not NULL: the first one of the partition, the last one up to the current row,
    or the last one of a row before it; NULL without one.
    """

    argument: Expr
    which: Literal["first", "last", "before"]

    @property
    def type(self) -> pa.DataType:
        """The type of its values."""
        return self.argument.type

    def __str__(self) -> str:
        name = {"first": "first_value", "last": "last_value", "before": "lag"}[self.which]
        return f"{name}({self.argument}{_IGNORED})"


#: A value that a row gets when it comes, for good.
RunningValue = FrameAggregate | EarlierValue | NthValue | KnownValue


@dataclass(frozen=True)
class RunningOver(Emitting):
    """Adds values to each row that are computed of it and of earlier rows of its partition. Rows
    are in the order in which they come, which is that of their event times. Nothing is taken back.

    Attributes:
        partition: what rows of a partition agree on.
        values, names: what is computed, and the names of the columns.
    """

    partition: tuple[Expr, ...]
    values: tuple[RunningValue, ...]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        assert len(self.names) == len(self.values), "one name per value"
        assert not self.input.takes_back, "rows that only come"
        for expr in self.expressions:
            check_columns(expr, self.input.schema)

    @property
    def expressions(self) -> Iterator[Expr]:
        """What it computes of rows of the input."""
        yield from self.partition
        yield from (v.argument for v in self.values if v.argument is not None)

    @property
    def waits_us(self) -> int:
        """How long rows wait: until those behind them in their frames have come, and those of the
        same time, which count but in ROWS. These come together if they have waited below.
        """
        return self.behind_us + (self._has_ties and not self._is_late_below)

    @property
    def behind_us(self) -> int:
        """How long behind the times of rows frames end."""
        return max((-f.until for f in self._frames if f.unit == "range" and f.until < 0), default=0)

    @property
    def _frames(self) -> list[Frame]:
        return [v.frame for v in self.values if isinstance(v, FrameAggregate)]

    @property
    def _has_ties(self) -> bool:
        return any(f.unit != "rows" for f in self._frames)

    @property
    def _is_late_below(self) -> bool:
        """Whether the rows of the input have waited."""
        below = self.input
        while isinstance(below, (Filter, Project)):
            below = below.input
        return isinstance(below, RunningOver) and (below._has_ties or below._is_late_below)

    @cached_property
    def schema(self) -> Schema:
        added = (Field(n, v.type) for n, v in zip(self.names, self.values, strict=True))
        return (*self.input.schema, *added)

    @property
    def label(self) -> str:
        values = ", ".join(map(str, self.values))
        if not self.partition:
            return values
        return f"PARTITION BY {', '.join(map(str, self.partition))}: {values}"
