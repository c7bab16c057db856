"""What statements declare: streams, tables, views, and how a query emits its answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from eddyline.algebra.plan import Plan
from eddyline.types import Schema


@dataclass(frozen=True)
class Known:
    """What a statement says of the rows that will come; what it leaves out is not known.

    Attributes:
        rate: rows per second; of a table, those that are added to it. rows: that a table holds.
        distinct: how many values a column takes in the long run, by column.
    """

    rate: float | None = None
    rows: float | None = None
    distinct: Mapping[str, float] = field(default_factory=dict)


#: What a number in a column of event times counts since 1970.
TimeUnit = Literal["s", "ms", "us", "ns"]


@dataclass(frozen=True)
class StreamDef:
    """A stream: its columns, which of them is the event time, and how late rows may come.

    Attributes:
        ts_unit: of event times that come as numbers; None: integers are microseconds, unless that
            is improbable.
        idle_us: the streams beside it do not wait for it any longer when it has brought no row for
            so long, by the wall clock; None: they always do.
        ahead_us: how far a timestamp may be ahead of the wall clock; None: as the engine says.
        lateness_by: whether a row is late by the rows of its stream that came before it, or by the
            watermark as the call before has left it.
    """

    name: str
    schema: Schema
    timestamp: str
    lateness_us: int = 0
    options: Mapping[str, str] = field(default_factory=dict)
    known: Known = field(default_factory=Known)
    ts_unit: TimeUnit | None = None
    idle_us: int | None = None
    ahead_us: int | None = None
    lateness_by: Literal["batch", "row"] = "batch"


@dataclass(frozen=True)
class TableDef:
    """A table; ``updates`` says for which rows its later changes count, if there are any.

    ``ts_unit``: of the instants of changes, as of a stream's event times.
    """

    name: str
    schema: Schema
    updates: Literal["static", "non-retroactive", "retroactive"] = "static"
    options: Mapping[str, str] = field(default_factory=dict)
    known: Known = field(default_factory=Known)
    ts_unit: TimeUnit | None = None


@dataclass(frozen=True)
class Emit:
    """How a query reports its answer (DESIGN: semantics)."""

    mode: Literal["inserts", "changes", "snapshot"] = "inserts"
    every_us: int | None = None  #: the period of SNAPSHOT

    def __str__(self) -> str:
        from eddyline.algebra.windows import format_duration

        if self.mode == "snapshot":
            assert self.every_us is not None
            return f"EMIT SNAPSHOT EVERY {format_duration(self.every_us)}"
        return f"EMIT {self.mode.upper()}"


@dataclass(frozen=True)
class BoundQuery:
    """A query with names resolved and types checked, as the binder hands it to the optimizer.

    Attributes:
        rules: the table of FOR EACH ROW OF, as declared: the query stands once for each of its
            rows, and the plan's Parameters are that row's columns, by their ordinals.
    """

    plan: Plan
    emit: Emit = Emit()
    rules: str | None = None
