"""DISTINCT without negative tuples: a duplicate takes over when the row that is shown expires."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from eddyline import Engine, StrategyOptions


@pytest.mark.parametrize("state", ["upa", "direct"])
def test_a_duplicate_that_expires_in_the_same_chunk_is_shown_until_then(state: Any) -> None:
    engine = Engine(strategy=StrategyOptions(state=state))
    engine.sql("CREATE STREAM s (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts")
    engine.query("SELECT DISTINCT k FROM s [RANGE 3 SECONDS] EMIT CHANGES", name="q")
    found = []
    for ts in ([0, 1_000_000], [10_000_000]):
        rows = engine.process({"s": pa.table({"ts": ts, "k": [7] * len(ts)})}, watermark=ts[-1])
        changes = rows["q"].select(["_op", "_ts"]).to_pylist()
        found += [(change["_op"], change["_ts"].second) for change in changes]
    assert found == [("+", 0), ("-", 3), ("+", 3), ("-", 4), ("+", 10)]
