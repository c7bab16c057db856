"""Whole engines, from Arrow tables to Arrow tables: one for all queries, and one for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.bench.figures.cacq.feeds import Feed, engine_of
from eddyline.bench.figures.cacq.scaling import (
    OVER_SOURCES,
    ScalePoint,
    by_queries,
    by_sources,
    dealt,
    measure_both,
)
from eddyline.bench.figures.cacq.workloads import (
    DOMAIN,
    FIELDS,
    Where,
    as_sql,
    random_queries,
    single_predicates,
)

_ROWS: Final = 16_384
_COUNTS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
_QUICK_COUNTS: Final = (1, 8, 64)
_SOURCES: Final = (1, 2, 4, 6, 8, 10)
_QUICK_SOURCES: Final = (1, 4)
_PERIOD_US: Final = 10_000_000


def measure_queries(quick: bool) -> list[ScalePoint]:
    """One stream, more and more random queries."""
    rng = np.random.default_rng(5)
    sizes = _QUICK_COUNTS if quick else _COUNTS
    queries, rows = random_queries(sizes[-1], rng), [_rows(rng)]
    return [p for n in sizes for p in _measure([queries[:n]], rows, quick)]


def measure_sources(quick: bool) -> list[ScalePoint]:
    """As many queries, over more and more streams, each over one of them."""
    rng = np.random.default_rng(6)
    sizes = _QUICK_SOURCES if quick else _SOURCES
    queries, homes = single_predicates(OVER_SOURCES, rng), rng.random(OVER_SOURCES)
    rows = [_rows(rng) for _ in range(sizes[-1])]
    return [p for n in sizes for p in _measure(dealt(queries, homes, n), rows[:n], quick)]


def _measure(
    queries: Sequence[Sequence[Where]], rows: Sequence[pa.Table], quick: bool
) -> list[ScalePoint]:
    """Both modes, on queries and rows per stream."""
    together = _feed([(s, query) for s, mine in enumerate(queries) for query in mine], rows)
    alone = [_feed([(0, q)], [mine]) for qs, mine in zip(queries, rows, strict=True) for q in qs]
    return measure_both(
        together.run,
        [feed.run for feed in alone],
        len(rows),
        _ROWS * len(rows),
        rounds=3 if quick else 9,
    )


def _feed(queries: Sequence[tuple[int, Where]], rows: Sequence[pa.Table]) -> Feed:
    """An engine with these queries, each over the stream with a number, and the streams' rows."""
    columns = ", ".join(f"{field} BIGINT" for field in FIELDS)
    script = "; ".join(
        f"CREATE STREAM s{n} (ts TIMESTAMP, {columns}) TIMESTAMP BY ts" for n in range(len(rows))
    )
    selects = [f"SELECT {', '.join(FIELDS)} FROM s{n} [NOW] WHERE {as_sql(q)}" for n, q in queries]
    named = {f"s{n}": table for n, table in enumerate(rows)}
    return Feed(engine_of(script, selects), named, _PERIOD_US)


def _rows(rng: np.random.Generator) -> pa.Table:
    """A microsecond between a row and the next."""
    fields = {field: rng.integers(0, DOMAIN, _ROWS) for field in FIELDS}
    return pa.table({"ts": np.arange(_ROWS), **fields})


QUERIES: Final = by_queries("engine-queries", "whole engines", measure_queries)
SOURCES: Final = by_sources("engine-sources", "whole engines", measure_sources)
