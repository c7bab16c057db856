"""Definitions made by statements: streams, tables, output modes, bound queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from eddyline.algebra.expressions import Expr, columns_of
from eddyline.algebra.plan import Plan
from eddyline.types import Schema


@dataclass(frozen=True)
class DeclaredSizes:
    """Sizes that a statement declares of a stream or table; None and missing: not declared.

    Attributes:
        rate: rows per second; of a table, rows that are added per second. rows: of a table.
        distinct: number of distinct values in the long run, by column.
    """

    rate: float | None = None
    rows: float | None = None
    distinct: Mapping[str, float] = field(default_factory=dict)


#: Unit of numbers in a column of event times, counted from 1970.
TimeUnit = Literal["s", "ms", "us", "ns"]


#: The steps from a JSON record to a value: names of fields, and positions in arrays.
JsonPath = tuple[str | int, ...]


@dataclass(frozen=True)
class ColumnSources:
    """Where the columns of a source are that are not its columns of the same name.

    Attributes:
        paths: in a record of JSON, by column. metadata: what the source tells of a record beside
            its content (the key of a message, for instance), by column.
    """

    paths: Mapping[str, JsonPath] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class StreamDef:
    """A stream: its columns, its event time column, and its rules for late rows.

    Attributes:
        timestamp: the event time column, or the text of ``event_time``.
        ts_unit: unit of event times that are numbers; None: integers are microseconds, and
            improbable values are refused.
        idle_us: wall-clock time without rows after which the stream is idle: others do not wait for
            it, and time goes on if all are idle; None: it never is.
        ahead_us: maximum distance of a timestamp ahead of the wall clock; None: the engine's.
        lateness_by: lateness is decided per row, by the rows of the stream before it, or per batch,
            by the watermark after the previous call.
        computed: the expressions of computed columns, by name. Its columns are those of ``schema``,
            and not computed themselves. That of the event time column may have numbers.
        event_time: the expression of the event time, likewise, if that is not a column.
        columns: where columns are in a record of the source.
    """

    name: str
    schema: Schema
    timestamp: str
    lateness_us: int = 0
    options: Mapping[str, str] = field(default_factory=dict)
    sizes: DeclaredSizes = field(default_factory=DeclaredSizes)
    ts_unit: TimeUnit | None = None
    idle_us: int | None = None
    ahead_us: int | None = None
    lateness_by: Literal["batch", "row"] = "batch"
    computed: Mapping[str, Expr] = field(default_factory=dict)
    event_time: Expr | None = None
    columns: ColumnSources = ColumnSources()

    @property
    def supplied(self) -> Schema:
        """The columns that rows of the source have: those that are not computed."""
        return tuple(f for f in self.schema if f.name not in self.computed)

    @property
    def event_time_columns(self) -> frozenset[str]:
        """The supplied columns that determine the event time."""
        expression = self.event_time or self.computed.get(self.timestamp)
        if expression is None:
            return frozenset([self.timestamp])
        return frozenset(self.schema[c].name for c in columns_of(expression))


@dataclass(frozen=True)
class TableDef:
    """A table; ``updates``: whether it changes, and whether changes affect earlier results.

    ``ts_unit``: unit of the instants of changes, as for a stream's event times. ``columns``: where
    columns are in a record of the source.
    """

    name: str
    schema: Schema
    updates: Literal["static", "non-retroactive", "retroactive"] = "static"
    options: Mapping[str, str] = field(default_factory=dict)
    sizes: DeclaredSizes = field(default_factory=DeclaredSizes)
    ts_unit: TimeUnit | None = None
    columns: ColumnSources = ColumnSources()


@dataclass(frozen=True)
class Emit:
    """The output mode of a query (DESIGN: semantics)."""

    mode: Literal["inserts", "changes", "snapshot", "final"] = "inserts"
    every_us: int | None = None  #: the period of SNAPSHOT
    stated: bool = field(default=True, compare=False)  #: whether the text has it
    offset_us: int = 0  #: of snapshots behind the multiples of the period, less than it

    @property
    def adds_only(self) -> bool:
        """Whether results are emitted, and not that they expire."""
        return self.mode in ("inserts", "final")

    @property
    def is_periodic(self) -> bool:
        """Whether the answer is emitted at the instants of a period, and only then."""
        return self.mode == "snapshot"

    def __str__(self) -> str:
        from eddyline.algebra.windows import format_duration

        if self.mode == "snapshot":
            assert self.every_us is not None
            offset = f" OFFSET {format_duration(self.offset_us)}" if self.offset_us else ""
            return f"EMIT SNAPSHOT EVERY {format_duration(self.every_us)}{offset}"
        return f"EMIT {self.mode.upper()}"


#: EMIT INSERTS.
INSERTS: Final = Emit()


@dataclass(frozen=True)
class BoundQuery:
    """The result of the binder: a typed plan with resolved names.

    Attributes:
        rules: the table of FOR EACH ROW OF, if any: the query runs once per row of it, and the
            plan's Parameters are the columns of that row, by ordinal.
    """

    plan: Plan
    emit: Emit = Emit()
    rules: str | None = None
