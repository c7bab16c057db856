"""Output routes: changes of queries with equal columns and equal sinks leave a shard as one table.

Ten thousand queries with one sink make one table of changes per batch, whose first column names the
query. It is split only where the changes of a single query are needed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa

from eddyline.engine.changes import QUERY_COLUMN
from eddyline.engine.query import Query
from eddyline.runtime.stores.columns import Array
from eddyline.spark.formats import sink_format

PREVIEW_ROWS: Final = 10
#: Options of a query that do not say where its changes go.
PER_QUERY: Final = ("rows", "shared")
#: Many parts of fewer rows than this are worth putting together.
_SMALL_PART: Final = 1_000


@dataclass(frozen=True, slots=True)
class OutputRoute:
    """Where the changes of a query go.

    Attributes:
        key: equal for queries with equal sinks and equal columns.
        preview: how many rows of a batch are wanted; None: all.
    """

    key: str
    preview: int | None


def route_of(query: Query) -> OutputRoute:
    """The route that a query's (valid) options name. Shards and the driver come to the same."""
    options = {k: v for k, v in query.options.items() if k not in PER_QUERY}
    options["sink"] = sink = sink_format(options)
    columns = [(f.name, str(f.type)) for f in query.change_schema]
    text = json.dumps([sorted(options.items()), columns])
    key = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    return OutputRoute(
        key, int(query.options.get("rows", PREVIEW_ROWS)) if sink == "print" else None
    )


class QueryRows:
    """Rows of several queries in one table.

    Attributes:
        rows: n rows. names: the queries that have some.
        owner: int[n], whose each row is, as a number in ``names``.
    """

    def __init__(self, rows: pa.Table, names: list[str], owner: Array, *, told: bool) -> None:
        self.rows = rows
        self.names = names
        self.owner = owner
        self._told = told  # whether the first column says whose a row is

    @classmethod
    def of(cls, changes: pa.Table) -> QueryRows:
        """Changes whose first column says whose they are."""
        column = changes.column(0).unify_dictionaries()
        if not changes.num_rows:
            return cls(changes, [], np.zeros(0, np.int32), told=True)
        codes = np.concatenate([chunk.indices.to_numpy() for chunk in column.chunks])
        known = column.chunk(0).dictionary
        present = np.flatnonzero(np.bincount(codes, minlength=len(known)))
        number = np.zeros(len(known), np.int32)
        number[present] = np.arange(present.size)
        names = known.take(pa.array(present))
        owner = number[codes]
        query = pa.DictionaryArray.from_arrays(pa.array(owner), names)
        rows = changes.set_column(0, QUERY_COLUMN, query)
        return cls(rows, names.to_pylist(), owner, told=True)

    @classmethod
    def whole(cls, name: str, rows: pa.Table) -> QueryRows:
        """Rows that are all of one, and do not say so."""
        return cls(rows, [name], np.zeros(rows.num_rows, np.int32), told=False)

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many rows each has."""
        counts = np.bincount(self.owner, minlength=len(self.names))
        return dict(zip(self.names, counts.tolist(), strict=True))

    def each(self) -> Iterator[tuple[str, pa.Table]]:
        """The rows of each query, as the query itself would give them."""
        rows = self._untold()
        if len(self.names) == 1:
            yield self.names[0], rows
            return
        order, starts = self._by_owner()
        rows = rows.take(pa.array(order))
        for i, name in enumerate(self.names):
            yield name, rows.slice(starts[i], starts[i + 1] - starts[i])

    def only(self, name: str) -> pa.Table:
        """The rows of one query, as the query itself would give them."""
        rows = self._untold()
        if name not in self.names:
            return rows.slice(0, 0)
        if len(self.names) == 1:
            return rows
        return rows.filter(pa.array(self.owner == self.names.index(name)))

    def through(self, routes: Mapping[str, OutputRoute]) -> Iterator[tuple[str, pa.Table]]:
        """The rows by key of an route, as many of each query as are wanted.

        Args:
            routes: of each query.
        """
        mine = [routes[name] for name in self.names]
        keys = list(dict.fromkeys(o.key for o in mine))
        wanted = self._previewed(mine)
        number = {key: i for i, key in enumerate(keys)}
        place = np.array([number[o.key] for o in mine], np.int32)[self.owner]
        for i, key in enumerate(keys):
            some = wanted if len(keys) == 1 else wanted & (place == i)
            yield key, self.rows if some.all() else self.rows.filter(pa.array(some))

    def _previewed(self, routes: list[OutputRoute]) -> Array:
        """bool[n]: the first rows where an route wants no more of a query, else all."""
        if all(o.preview is None for o in routes):
            return np.ones(self.owner.size, np.bool_)
        order, starts = self._by_owner()
        rank = np.empty(order.size, np.int64)
        rank[order] = np.arange(order.size) - starts[self.owner[order]]
        everything = self.owner.size
        limits = [everything if o.preview is None else o.preview for o in routes]
        few: Array = rank < np.array(limits)[self.owner]
        return few

    def _by_owner(self) -> tuple[Array, Array]:
        """int64[n], the rows query by query; int64[queries + 1], where those of each start."""
        counts = np.bincount(self.owner, minlength=len(self.names))
        starts = np.concatenate(([0], np.cumsum(counts)))
        return np.argsort(self.owner, kind="stable"), starts

    def _untold(self) -> pa.Table:
        return self.rows.remove_column(0) if self._told else self.rows


def together(tables: Iterable[pa.Table]) -> pa.Table:
    """Tables of the same columns as one; many small ones are copied into one piece."""
    parts = list(tables)
    table = pa.concat_tables(parts)
    if len(parts) > 1 and table.num_rows < _SMALL_PART * len(parts):
        return table.unify_dictionaries().combine_chunks()
    return table


class OutputRoutes(Mapping[str, OutputRoute]):
    """The routes of an engine's queries, worked out when they are first asked for."""

    def __init__(self, queries: Mapping[str, Query]) -> None:
        self._queries = queries
        self._known: WeakKeyDictionary[Query, OutputRoute] = WeakKeyDictionary()

    def __getitem__(self, name: str) -> OutputRoute:
        query = self._queries[name]
        found = self._known.get(query)
        if found is None:
            found = self._known[query] = route_of(query)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._queries)

    def __len__(self) -> int:
        return len(self._queries)
