"""The leaves of plans: rows of streams, of tables, and of a flow."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal

import pyarrow as pa

from eddyline.algebra.expressions import Expr
from eddyline.algebra.nodes.base import Plan
from eddyline.algebra.patterns import Pattern
from eddyline.algebra.windows import PartitionRows, Range, Rows, Unbounded, Window
from eddyline.types import Field, Schema

#: A hidden last column of the rows of a stream of which an engine has a part, but counts all rows:
#: whether a row is its own; of others it has the event time only. No declared column has an empty
#: name. See ``engine/ingest/counted_streams.py``.
OWN_ROW: Final = Field("", pa.bool_())

#: Which rows a change of a table affects.
Updates = Literal["static", "non-retroactive", "retroactive"]


@dataclass(frozen=True)
class StreamScan(Plan):
    """Emits each row of a stream as it arrives; keeps nothing itself (the SteM does).

    ``evicts``: a window of rows also emits a '-' for each row that leaves it.
    """

    stream: str
    window: Window
    fields: Schema
    evicts: bool = True

    @cached_property
    def schema(self) -> Schema:
        return self.fields

    @cached_property
    def pattern(self) -> Pattern:
        if isinstance(self.window, Unbounded):
            return Pattern.MONOTONIC
        if isinstance(self.window, Range):
            return Pattern.WKS
        return Pattern.STR if self.evicts else Pattern.WK

    @cached_property
    def takes_back(self) -> bool:
        return self.evicts and isinstance(self.window, (Rows, PartitionRows))

    @cached_property
    def lifespan_us(self) -> int | None:
        return self.window.us if isinstance(self.window, Range) else None

    @property
    def label(self) -> str:
        return f"{self.stream} {self.window}"


@dataclass(frozen=True)
class TableScan(Plan):
    """The rows of a table; a static one never changes.

    Changes of a retroactive table affect earlier stream rows as well, those of a non-retroactive
    one (NRR) only later ones (Golab and Ozsu 2005, section 4.1).
    """

    table: str
    fields: Schema
    updates: Updates = "static"

    @cached_property
    def schema(self) -> Schema:
        return self.fields

    @cached_property
    def pattern(self) -> Pattern:
        return Pattern.STR if self.takes_back else Pattern.MONOTONIC

    @cached_property
    def takes_back(self) -> bool:
        return self.updates == "retroactive"

    @cached_property
    def lifespan_us(self) -> int | None:
        return None

    @property
    def label(self) -> str:
        return self.table if self.updates == "static" else f"{self.table} ({self.updates})"


@dataclass(frozen=True)
class SharedRows(Plan):
    """The results of a flow, once per query that gets them; the first column is its number.

    Attributes:
        sources: of the flow, as far as queries have them in common.
        lifespan_us: about how long a row lives; None if that has no bound.
    """

    fields: Schema
    sources: tuple[Plan, ...]
    lifespan_us: int | None = field(compare=False)

    @property
    def inputs(self) -> tuple[Plan, ...]:
        return self.sources

    @cached_property
    def schema(self) -> Schema:
        return self.fields

    @cached_property
    def pattern(self) -> Pattern:  # windows differ from query to query
        return max(Pattern.WK, *(s.pattern for s in self.sources))


@dataclass(frozen=True)
class MatchedRows(SharedRows):
    """Those of the rows of a flow over one stream that have a match in another one, or none. Each
    query has windows of its own over both.

    Attributes:
        right: the other stream, without the length of the window.
        keys: pairs of equal expressions over the columns of the streams.
        terms: predicates over rows of the other stream.
        shows_matched: whether it is the rows with a match. nulls_match: whether NULL equals NULL.
        joined: LEFT JOIN: rows without a match, with NULLs, and all pairs of rows that match.
    """

    right: StreamScan
    keys: tuple[tuple[Expr, Expr], ...]
    terms: tuple[Expr, ...]
    shows_matched: bool
    nulls_match: bool
    joined: bool = False

    @cached_property
    def pattern(self) -> Pattern:
        return Pattern.STR

    @cached_property
    def takes_back(self) -> bool:
        return True
