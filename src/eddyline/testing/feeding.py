"""Input helpers for tests of results that do not depend on the watermark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from eddyline.engine.changes import Changes
from eddyline.engine.engine import Engine
from eddyline.engine.ingest.arrow_values import flat, instants, to_table
from eddyline.engine.ingest.row_reader import RowReader


def process_all(engine: Engine, inputs: Mapping[str, Any]) -> Changes:
    """``engine.process`` with the largest timestamp of the rows as the watermark: all rows are
    processed.
    """
    return engine.process(inputs, watermark=up_to(engine, inputs))


def up_to(engine: Engine, inputs: Mapping[str, Any]) -> int | None:
    """The largest timestamp among rows of streams and changes of tables, in us; None without
    rows.
    """
    streams = engine.catalog.streams
    found = []
    for name, rows in inputs.items():
        if name in streams:
            times = RowReader(streams[name]).read(rows).times
        else:
            times = instants(flat(to_table(rows, name).column("_ts")))
        found.append(pc.max(times).cast(pa.int64()).as_py())
    return max((us for us in found if us is not None), default=None)
