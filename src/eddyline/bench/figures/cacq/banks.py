"""Filter banks, that route tuples to queries: one for all queries, and one for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from eddyline.bench.figures.cacq.scaling import (
    OVER_SOURCES,
    ScalePoint,
    by_queries,
    by_sources,
    dealt,
    measure_both,
)
from eddyline.bench.figures.cacq.workloads import (
    Where,
    bank_of,
    random_queries,
    single_predicates,
    tuples,
    wanted_by,
)
from eddyline.runtime.batch import Batch
from eddyline.runtime.eddy.policies import TicketPolicy
from eddyline.runtime.predicates.filter_bank import FilterBank
from eddyline.runtime.recipients import recipients_of
from eddyline.runtime.stores.columns import Array

_ROWS: Final = 4_096
_COUNTS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024)
_QUICK_COUNTS: Final = (1, 8, 64)
_SOURCES: Final = (1, 2, 4, 6, 8, 10)
_QUICK_SOURCES: Final = (1, 4)


@dataclass(frozen=True)
class _Feed:
    """A filter bank, a batch for it, and the queries of its rows."""

    bank: FilterBank
    batch: Batch
    wanted: Array

    def run(self) -> int:
        """Filter and deliver; returns the number of results."""
        blocks = self.bank.blocks(self.batch, self.wanted)
        return recipients_of(self.batch.exp, blocks, 64 * self.wanted.size, []).rows.size


def measure_queries(quick: bool) -> list[ScalePoint]:
    """One source, more and more random queries."""
    rng = np.random.default_rng(5)
    sizes = _QUICK_COUNTS if quick else _COUNTS
    queries = random_queries(sizes[-1], rng)
    batch = tuples(_ROWS, rng)
    return [p for n in sizes for p in _measure([queries[:n]], [batch], quick)]


def measure_sources(quick: bool) -> list[ScalePoint]:
    """As many queries, over more and more sources, each over one of them."""
    rng = np.random.default_rng(6)
    sizes = _QUICK_SOURCES if quick else _SOURCES
    queries, homes = single_predicates(OVER_SOURCES, rng), rng.random(OVER_SOURCES)
    batches = [tuples(_ROWS, rng) for _ in range(sizes[-1])]
    return [p for n in sizes for p in _measure(dealt(queries, homes, n), batches[:n], quick)]


def _measure(
    queries: Sequence[Sequence[Where]], batches: Sequence[Batch], quick: bool
) -> list[ScalePoint]:
    """Both modes, on queries and a batch per source."""
    sources = list(zip(queries, batches, strict=True))
    together = [feed_of(mine, batch) for mine, batch in sources]
    alone = [feed_of([query], batch) for mine, batch in sources for query in mine]
    return measure_both(
        lambda: sum(feed.run() for feed in together),
        [feed.run for feed in alone],
        len(batches),
        _ROWS * len(batches),
        rounds=3 if quick else 9,
    )


def feed_of(queries: Sequence[Where], batch: Batch) -> _Feed:
    """One filter bank for these queries, and the batch that it filters."""
    return _Feed(bank_of(queries, TicketPolicy()), batch, wanted_by(len(queries)))


QUERIES: Final = by_queries("queries", "filter banks", measure_queries)
SOURCES: Final = by_sources("sources", "filter banks", measure_sources)
