"""Rows of several queries in one table, and how they are split by route or query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.engine.changes import QUERY_COLUMN
from eddyline.runtime.stores.columns import Array

#: Tables with fewer rows than this on average are copied into one chunk.
_SMALL_PART: Final = 1_000


@dataclass(frozen=True, slots=True)
class OutputRoute:
    """The route of a query's changes to its sink.

    Attributes:
        key: equal for queries with equal sinks and equal columns.
        preview: number of rows of a batch to send; None: all.
        collected: whether the driver may use the rows; else Spark writes or discards all of them.
    """

    key: str
    preview: int | None
    collected: bool = True


class QueryRows:
    """Rows of several queries in one table.

    Attributes:
        rows: n rows. names: the queries with rows.
        owner: int[n], index in ``names`` of each row's query.
        is_named: whether the first column is the query.
    """

    def __init__(self, rows: pa.Table, names: list[str], owner: Array, *, named: bool) -> None:
        self.rows = rows
        self.names = names
        self.owner = owner
        self.is_named = named

    @classmethod
    def of(cls, changes: pa.Table) -> QueryRows:
        """Changes whose first column, dictionary-encoded, is the query."""
        column = changes.column(0).unify_dictionaries()
        if not changes.num_rows:
            return cls(changes, [], np.zeros(0, np.int32), named=True)
        codes = np.concatenate([chunk.indices.to_numpy() for chunk in column.chunks])
        known = column.chunk(0).dictionary
        present = np.flatnonzero(np.bincount(codes, minlength=len(known)))
        number = np.zeros(len(known), np.int32)
        number[present] = np.arange(present.size)
        names = known.take(pa.array(present))
        owner = number[codes]
        query = pa.DictionaryArray.from_arrays(pa.array(owner), names)
        rows = changes.set_column(0, QUERY_COLUMN, query)
        return cls(rows, names.to_pylist(), owner, named=True)

    @classmethod
    def whole(cls, name: str, rows: pa.Table) -> QueryRows:
        """Rows of one query or side output, without a column that names it."""
        return cls(rows, [name], np.zeros(rows.num_rows, np.int32), named=False)

    @cached_property
    def counts(self) -> dict[str, int]:
        """Number of rows by query."""
        counts = np.bincount(self.owner, minlength=len(self.names))
        return dict(zip(self.names, counts.tolist(), strict=True))

    def each(self) -> Iterator[tuple[str, pa.Table]]:
        """The rows of each query, without the column that names it."""
        rows = self._without_name()
        if len(self.names) == 1:
            yield self.names[0], rows
            return
        order, starts = self._by_owner()
        rows = rows.take(pa.array(order))
        for i, name in enumerate(self.names):
            yield name, rows.slice(starts[i], starts[i + 1] - starts[i])

    def only(self, name: str) -> pa.Table:
        """The rows of one query, without the column that names it."""
        rows = self._without_name()
        if name not in self.names:
            return rows.slice(0, 0)
        if len(self.names) == 1:
            return rows
        return rows.filter(pa.array(self.owner == self.names.index(name)))

    def by_route(self, routes: Mapping[str, OutputRoute]) -> Iterator[tuple[OutputRoute, pa.Table]]:
        """The rows by route (one for each key), limited to the preview of each query.

        Args:
            routes: by query.
        """
        own = [routes[name] for name in self.names]
        by_key = {route.key: route for route in own}
        sent = self._in_preview(own)
        number = {key: i for i, key in enumerate(by_key)}
        key_of_row = np.array([number[route.key] for route in own], np.int32)[self.owner]
        for i, route in enumerate(by_key.values()):
            chosen = sent if len(by_key) == 1 else sent & (key_of_row == i)
            yield route, self.rows if chosen.all() else self.rows.filter(pa.array(chosen))

    def _in_preview(self, routes: list[OutputRoute]) -> Array:
        """bool[n]: whether the row is within its route's preview; all rows if that is None."""
        if all(route.preview is None for route in routes):
            return np.ones(self.owner.size, np.bool_)
        order, starts = self._by_owner()
        rank = np.empty(order.size, np.int64)
        rank[order] = np.arange(order.size) - starts[self.owner[order]]
        all_rows = self.owner.size
        limits = [all_rows if route.preview is None else route.preview for route in routes]
        within: Array = rank < np.array(limits)[self.owner]
        return within

    def _by_owner(self) -> tuple[Array, Array]:
        """int64[n], row numbers ordered by query; int64[queries + 1], start of each query."""
        counts = np.bincount(self.owner, minlength=len(self.names))
        starts = np.concatenate(([0], np.cumsum(counts)))
        return np.argsort(self.owner, kind="stable"), starts

    def _without_name(self) -> pa.Table:
        return self.rows.remove_column(0) if self.is_named else self.rows


def concatenated(tables: Iterable[pa.Table]) -> pa.Table:
    """Tables of the same columns as one; many small ones are copied into one chunk."""
    parts = list(tables)
    table = pa.concat_tables(parts)
    if len(parts) > 1 and table.num_rows < _SMALL_PART * len(parts):
        return table.unify_dictionaries().combine_chunks()
    return table


def decoded_query(changes: pa.Table) -> pa.Table:
    """Changes whose first column, dictionary-encoded, is the query, with that column as text."""
    names = [chunk.dictionary_decode() for chunk in changes.column(0).chunks]
    return changes.set_column(0, QUERY_COLUMN, pa.chunked_array(names, pa.string()))


def with_query(rows: pa.Table, name: str) -> pa.Table:
    """The rows with a first column that names their query."""
    query = pa.repeat(name, rows.num_rows).dictionary_encode()
    return rows.add_column(0, pa.field(QUERY_COLUMN, query.type), query)
