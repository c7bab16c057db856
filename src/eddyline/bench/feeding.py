"""Rows for measurements of results: all of a call are processed, whichever streams they are of."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from eddyline import Changes, Engine


def process_all(engine: Engine, rows: Mapping[str, pa.Table]) -> Changes:
    """``engine.process`` with the largest ``ts`` of these rows, in microseconds, as the watermark.

    Without it rows wait for those of the other streams that their queries read.
    """
    times = (pc.max(table["ts"]).cast(pa.int64()).as_py() for table in rows.values())
    newest = max((us for us in times if us is not None), default=None)
    return engine.process(rows, watermark=newest)
