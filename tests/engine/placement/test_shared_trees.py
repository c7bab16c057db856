"""Queries whose common join is a tree below a flow, and that were trees of their own before."""

from __future__ import annotations

import pyarrow as pa

from eddyline.testing.script import Script

FROM = "b [RANGE 5 SECONDS] AS r0, b [RANGE 8 SECONDS] AS r1, b [RANGE 5 SECONDS] AS r2, names AS t"
ON = "r0.k = r1.k AND r0.s = r2.s AND r0.k = r2.k AND r2.k = t.k"


def test_a_stream_that_a_join_reads_and_that_feedback_probes() -> None:
    """The window of r2 is that of r0: one buffer is an input of the join and probed by its gates.

    The second query ends the tree of the first one, and with it the probes.
    """
    script = Script(
        "CREATE STREAM b (ts TIMESTAMP, k INT, s STRING, v BIGINT) TIMESTAMP BY ts;"
        "CREATE TABLE names (k BIGINT)",
        {f"q{i}": f"SELECT r0.v FROM {FROM} WHERE {ON} AND t.k <= {i}" for i in (2, 1)},
        tables={"names": pa.table({"k": [1]})},
        options={"feedback": "jit"},
    )
    script.process(
        b="ts | k:int32 | s | v\n9s | 1 | x | 1\n9s | 1 | y | 2\n10s | 1 | y | 3"
    ).advance("30s").finish()
