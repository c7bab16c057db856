"""The counts of values: a map like any other, of which single values can be read."""

from __future__ import annotations

import pyarrow as pa

from eddyline import Engine


def test_a_single_value_can_be_read() -> None:
    engine = Engine()
    engine.sql("CREATE STREAM s (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts")
    query = engine.query("SELECT histogram(x) AS counts FROM s [ROWS 3]")
    engine.process({"s": pa.table({"ts": [1, 2, 3], "x": [7, 8, 7]})})
    counts = query.snapshot()["counts"]
    entries = counts.chunk(0).values.type
    assert list(entries) == [counts.type.key_field, counts.type.item_field]
    assert counts[0].as_py() == [(7, 2), (8, 1)]
