"""What sinks have in common: their targets, who writes them, and what they are created from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final, Literal

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from eddyline.engine.changes import QUERY_COLUMN
from eddyline.spark.exchange.query_rows import QueryRows, decoded_query
from eddyline.spark.sinks.sequence import with_seq

#: Rows of a target: changes of a query, or the late or bad rows of a stream.
Kind = Literal["changes", "late", "bad"]

#: Name of the target that has the bad rows of all queries; no stream can have it.
OF_QUERIES: Final = ""


@dataclass(frozen=True)
class Target:
    """A query or side output whose rows are written to a sink.

    Attributes:
        schema: of its rows.
        replace_key: columns by which a row of a query replaces an older one; None: none does.
        has_seq: whether its rows get the column ``_seq``.
    """

    kind: Kind
    name: str
    schema: pa.Schema
    replace_key: tuple[str, ...] | None = None
    has_seq: bool = False

    @property
    def columns(self) -> pa.Schema:
        """The columns that its sink gets."""
        return with_seq(self.schema) if self.has_seq else self.schema

    @property
    def label(self) -> str:
        """Its name in messages and for :meth:`Session.results`: the query, or ``late:stream``."""
        return self.name if self.kind == "changes" else f"{self.kind}:{self.name}"


class DriverSink(ABC):
    """A sink that receives rows in the driver.

    Attributes:
        waits: whether batches can wait for it; otherwise an error of it is one of the job.
        has_rules: whether it may refuse some rows.
        is_remote: whether it waits for a server: it is written beside others, after the local ones.
    """

    waits: ClassVar[bool] = True
    has_rules: ClassVar[bool] = False
    is_remote: ClassVar[bool] = False

    @property
    def has_seq(self) -> bool:
        """Whether its rows have the column ``_seq``."""
        return False

    @abstractmethod
    def deliver(
        self,
        batch_id: int,
        parts: Sequence[QueryRows],
        counts: Mapping[str, int],
        emptied: Sequence[str] = (),
    ) -> None:
        """Take the rows of a batch.

        Args:
            parts: rows by target label. counts: number of rows by label; ``parts`` may have fewer.
            emptied: queries whose answers have become empty before these rows.
        """

    def refused(self, parts: Sequence[QueryRows]) -> Iterator[tuple[str, pa.Table]]:
        """By query, the rows that it cannot have, as bad rows of the query; it passes over them
        when they are delivered.
        """
        return iter(())


@dataclass(eq=False)
class OwnedSink(DriverSink):
    """A sink whose rows have the columns of its first target.

    Attributes:
        owner: this target.
    """

    owner: Target

    @property
    def has_seq(self) -> bool:
        return self.owner.has_seq


@dataclass(eq=False)
class SparkSink(ABC):
    """A sink that Spark writes.

    Attributes:
        owner: the first target. schema: of the written rows.
        shared: whether several queries write here; a first column then names the query.
    """

    owner: Target
    format: str
    options: Mapping[str, str]
    shared: bool = field(default=False, kw_only=True)

    @property
    def schema(self) -> pa.Schema:
        """The columns of the written rows."""
        if not self.shared:
            return self.owner.columns
        return pa.schema([pa.field(QUERY_COLUMN, pa.string()), *self.owner.columns])

    @abstractmethod
    def write(self, batch_id: int, rows: DataFrame) -> None:
        """Write the rows of a batch; a repeated batch has the same id and rows."""


class DiscardSink:
    """Discards rows: they have left the shards, and are not unpacked."""


Sink = DriverSink | SparkSink | DiscardSink


def named_schema(target: Target) -> pa.Schema:
    """The columns of a target; of a query with its name before them."""
    if target.kind != "changes":
        return target.columns
    return pa.schema([pa.field(QUERY_COLUMN, pa.string()), *target.columns])


def named_rows(target: Target, parts: Sequence[QueryRows]) -> pa.Table:
    """The rows of a batch, with the columns of :func:`named_schema`.

    Args:
        target: one of those with the rows; all have the same columns.
    """
    schema = named_schema(target)
    tables = [decoded_query(part.rows) if part.is_named else part.rows for part in parts]
    return pa.concat_tables([schema.empty_table(), *(table.cast(schema) for table in tables)])


def column_of(name: str) -> Column:
    """A column of a DataFrame, whatever its name has."""
    return F.col("`{}`".format(name.replace("`", "``")))
