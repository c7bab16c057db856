"""The queries in the embedded engine, on one core, from Arrow to Arrow."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from eddyline.bench.measure import Figure, Sample, repeat
from eddyline.bench.nexmark.generator import Auctions
from eddyline.bench.nexmark.workload import batches_of, engine_of, text

_BATCH_EVENTS: Final = 100_000
#: Longer than every window: after the last event it ends them all.
_AFTERMATH_US: Final = 60_000_000


def measured(names: Sequence[str], events: int, title: str) -> Figure:
    """Rows/s of the queries in one engine; all results are in hand at the end.

    The rows are those of all three streams, whichever the queries read.
    """
    load = Auctions()
    batches = list(batches_of(load, events, _BATCH_EVENTS))
    queries = {name: text(name) for name in names}

    def run() -> Sample:
        engine = engine_of(queries)
        results = 0
        begin = time.perf_counter()
        for rows, until_us in batches:
            changes = engine.process(rows, watermark=until_us)
            results += sum(table.num_rows for table in changes.batches())
        changes = engine.advance(load.time_us(events) + _AFTERMATH_US)
        results += sum(table.num_rows for table in changes.batches())
        return Sample(events, results, time.perf_counter() - begin)

    return repeat(title, run, note=f"batches of {_BATCH_EVENTS:,} rows")
