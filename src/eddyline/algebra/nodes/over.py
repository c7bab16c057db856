"""The node of OVER: values of rows by their place among the rows of their partition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NamedTuple

import pyarrow as pa

from eddyline.algebra.durations import format_duration
from eddyline.algebra.expressions import Aggregate, Expr
from eddyline.algebra.nodes.base import Unary, check_columns
from eddyline.algebra.nodes.running_over import Excluded
from eddyline.algebra.orderings import Ordering
from eddyline.algebra.patterns import Pattern
from eddyline.types import Field, Schema

#: Functions whose values are numbers of rows, and those that take the value of a row.
RANKS: Final = ("row_number", "rank", "dense_rank")
COUNTS: Final = (*RANKS, "ntile", "rows")
#: The number of a stream's row, by which rows that tie in another OVER above are in the order of
#: arrival. It is the last function.
ARRIVAL: Final = "arrival"
OF_ROWS: Final = ("lag", "lead", "from", "first_value", "last_value", "nth_value")
#: The same without NULLs, which are computed where rows only come, by RunningOver alone.
OF_KNOWN: Final = ("first_known", "last_known", "known_before", "nth_known")
#: Functions that do not read the rows behind.
OF_EARLIER: Final = (*RANKS, "lag", "from", "first_value", "nth_value", ARRIVAL)


@dataclass(frozen=True, slots=True)
class RowFunction:
    """A value of a row by its place in its partition.

    Attributes:
        function: ARRIVAL; of COUNTS, where ``rows`` is the number of rows of the partition; or of
            OF_ROWS, which take the argument of another row: ``lag`` and ``lead`` of the row
            ``offset`` before or behind; ``first_value`` and ``last_value`` of the first and the
            last of the partition; ``nth_value`` of row ``offset``, NULL in rows before it;
            ``from`` of the row ``offset`` before, or of the first if there are fewer. ntile has
            ``offset`` tiles.
        argument: of OF_ROWS.
    """

    function: str
    argument: Expr | None = None
    offset: int = 0

    @property
    def type(self) -> pa.DataType:
        """The type of its values: numbers are INT, as in Spark."""
        if self.argument is not None:
            return self.argument.type
        return pa.int64() if self.function in ("rows", ARRIVAL) else pa.int32()

    def __str__(self) -> str:
        shown = [] if self.argument is None else [str(self.argument)]
        if self.function == "from":
            return f"first_value({shown[0]}, of {self.offset} rows before)"
        shown += [str(self.offset)] if self.offset else []
        return f"{self.function}({', '.join(shown)})"


Unit = Literal["rows", "range", "groups"]


class Bounds(NamedTuple):
    """The rows of a frame by their distance from the current one.

    Attributes:
        unit: rows, values of ORDER BY, or groups of rows that tie in ORDER BY.
        start, end: how many rows, or how much, behind the current one; negative before it; None:
            the first and the last row of the partition. Lengths of time are in microseconds.
        of_time: whether they are lengths of time.
        exclude: which rows around the current one are left out, if any.
    """

    unit: Unit
    start: int | None
    end: int | None
    of_time: bool = False
    exclude: Excluded = ""

    def __str__(self) -> str:
        start, end = self._bound(self.start, "PRECEDING"), self._bound(self.end, "FOLLOWING")
        exclude = f" EXCLUDE {self.exclude}" if self.exclude else ""
        return f"{self.unit.upper()} BETWEEN {start} AND {end}{exclude}"

    def _bound(self, distance: int | None, all_rows: str) -> str:
        if distance is None:
            return f"UNBOUNDED {all_rows}"
        if not distance:
            return "CURRENT ROW"
        length = format_duration(abs(distance)) if self.of_time else str(abs(distance))
        return f"{length} {'PRECEDING' if distance < 0 else 'FOLLOWING'}"


@dataclass(frozen=True, slots=True)
class RowPlace(Expr):
    """The place of a row in the order of its partition, a sort key, in an aggregate of a frame."""

    def __str__(self) -> str:
        return "place"


@dataclass(frozen=True, slots=True)
class FramedAggregate:
    """An aggregate over a frame of each row.

    Attributes:
        low, high: of RANGE, the sort keys between which those of rows in the frame are; None: it is
            that of the row itself, or there is no bound.
    """

    aggregate: Aggregate
    bounds: Bounds
    low: Expr | None = None
    high: Expr | None = None

    @property
    def type(self) -> pa.DataType:
        """The type of its values."""
        return self.aggregate.type

    def __str__(self) -> str:
        return f"{self.aggregate} {self.bounds}"


@dataclass(frozen=True)
class Over(Unary):
    """Adds values of each row's place in its partition to the row: a '-' and a '+' where they
    change. Keeps the rows of the input.

    Attributes:
        partition: what rows of a partition agree on.
        order: their order. ties: the order of rows that tie there; of what still ties, arrival.
        functions, names: the values, and their names.
        limit: the highest value of the first function, which is a rank, that is shown; 0: all.
        silent: whether the first function is not read: a row whose rank alone changes stays.
        frames: aggregates of frames, whose columns are before those of functions, which are none
            but ARRIVAL then.
    """

    partition: tuple[Expr, ...]
    order: tuple[Ordering, ...]
    ties: tuple[Ordering, ...]
    functions: tuple[RowFunction, ...]
    names: tuple[str, ...]
    limit: int = 0
    silent: bool = False
    frames: tuple[FramedAggregate, ...] = ()

    def __post_init__(self) -> None:
        assert len(self.names) == len(self._added), "one name per value"
        assert not self.frames or {f.function for f in self.functions} <= {ARRIVAL}, "one kind"
        assert not self.limit or self.functions[0].function in RANKS, "the limit is one of a rank"
        for expr in self.expressions:
            check_columns(expr, self.input.schema)

    @property
    def expressions(self) -> Iterator[Expr]:
        """What it computes of rows of the input."""
        yield from self.partition
        yield from (o.value for o in (*self.order, *self.ties))
        yield from (f.argument for f in self.functions if f.argument is not None)
        for frame in self.frames:
            read = (frame.aggregate.value, frame.low, frame.high)
            yield from (e for e in read if e is not None)

    @property
    def _added(self) -> tuple[FramedAggregate | RowFunction, ...]:
        return (*self.frames, *self.functions)

    @cached_property
    def schema(self) -> Schema:
        added = (Field(n, v.type) for n, v in zip(self.names, self._added, strict=True))
        return (*self.input.schema, *added)

    @cached_property
    def pattern(self) -> Pattern:  # values change before their rows expire
        return Pattern.STR

    @cached_property
    def takes_back(self) -> bool:
        return True

    @property
    def is_endless(self) -> bool:
        """Whether rows of the input never leave."""
        return self.input.pattern is Pattern.MONOTONIC and not self.input.takes_back

    @property
    def forgets(self) -> bool:
        """Whether rows behind the limit are forgotten: they stay there, and nothing reads them."""
        functions = {f.function for f in self.functions}
        return bool(self.limit) and self.is_endless and functions <= set(OF_EARLIER)

    @property
    def label(self) -> str:
        words = [f"PARTITION BY {', '.join(map(str, self.partition))}"] if self.partition else []
        if self.order:
            words.append(f"ORDER BY {', '.join(map(str, self.order))}")
        shown = ", ".join(map(str, self._added[self.silent :]))
        if self.limit:
            words.append(f"{self.functions[0].function} <= {self.limit}")
        return f"{' '.join(words)}: {shown}" if shown else " ".join(words)
