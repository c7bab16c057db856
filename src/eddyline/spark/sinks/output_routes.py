"""Output routes: changes of queries with equal columns and equal sinks leave a shard as one table.

Ten thousand queries with one sink make one table of changes per batch, whose first column names the
query. It is split only where the changes of a single query are needed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Final
from weakref import WeakKeyDictionary

from eddyline.engine.query import Query
from eddyline.spark.exchange.query_rows import OutputRoute
from eddyline.spark.formats.format_options import ON_FAILURE, WAITING_BYTES, sink_format
from eddyline.spark.sinks.secrets import public_options
from eddyline.spark.sinks.sinks import OTHER_SINK, SINKS

#: Options of a query that do not affect its route.
PER_QUERY: Final = ("rows", "shared", ON_FAILURE, WAITING_BYTES)


def route_of(query: Query) -> OutputRoute:
    """The route given by a query's (valid) options and columns; equal on shards and driver."""
    public = public_options(query.options)  # as on the shards
    options = {k: v for k, v in public.items() if k not in PER_QUERY}
    options["sink"] = sink = sink_format(options)
    columns = [(f.name, str(f.type)) for f in query.change_schema]
    text = json.dumps([sorted(options.items()), columns])
    key = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    type_ = SINKS.get(sink, OTHER_SINK)
    return OutputRoute(key, type_.preview(query.options), type_.collected)


class OutputRoutes(Mapping[str, OutputRoute]):
    """The routes of an engine's queries, computed at first use."""

    def __init__(self, queries: Mapping[str, Query]) -> None:
        self._queries = queries
        self._known: WeakKeyDictionary[Query, tuple[dict[str, str], OutputRoute]] = (
            WeakKeyDictionary()
        )  # with the options from which it was computed

    def __getitem__(self, name: str) -> OutputRoute:
        query = self._queries[name]
        found = self._known.get(query)
        if found is None or found[0] is not query.options:
            found = self._known[query] = query.options, route_of(query)
        return found[1]

    def __iter__(self) -> Iterator[str]:
        return iter(self._queries)

    def __len__(self) -> int:
        return len(self._queries)
