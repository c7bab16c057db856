"""The operators of an engine as a graph."""

from __future__ import annotations

from typing import Literal

import pytest

from eddyline.engine.operator_graph import operator_graph
from eddyline.testing import batch, engine_with

CHAIN = """
    SELECT a.k FROM a [RANGE 1 MINUTE], b [RANGE 1 MINUTE], c [RANGE 1 MINUTE]
    WHERE a.k = b.k AND b.v = c.v
"""


@pytest.mark.parametrize("executor", ["tree", "eddy"])
def test_edges_say_how_many_rows_wait_for_a_match(executor: Literal["tree", "eddy"]) -> None:
    engine = engine_with(executor=executor, feedback="jit")
    for name in "abc":
        engine.sql(f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts")
    engine.query(CHAIN, name="q")
    rows = {
        "a": batch("ts | k | v\n1s | 1 | 0"),
        "b": batch("ts | k | v\n2s | 1 | 1\n3s | 1 | 2\n4s | 1 | 3"),
        "c": batch("ts | k | v\n5s | 1 | 3"),
    }
    engine.process(rows, watermark=5_000_000)
    nodes, _ = operator_graph(engine.parts, engine.lock)
    assert sum(edge.waiting for node in nodes for edge in node.inputs) == 2, "b's first rows"
