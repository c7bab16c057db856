"""Streams all of whose rows are bad, and rows at the ends of time, can be shown."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.types import END_OF_TIME, FIRST_INSTANT

SCRIPT = """
CREATE STREAM a (ts TIMESTAMP, v BIGINT) TIMESTAMP BY ts LATENESS 1 DAY AHEAD AT MOST 3650000 DAYS;
CREATE STREAM b (ts TIMESTAMP, v BIGINT) TIMESTAMP BY ts LATENESS 2 DAYS AHEAD AT MOST 3650000 DAYS;
CREATE QUERY pairs AS SELECT a.v FROM a [RANGE 1 DAY], b [RANGE 1 DAY] WHERE a.v = b.v;
CREATE QUERY counted AS SELECT COUNT(*) AS n FROM b [RANGE 3 DAYS] EMIT CHANGES;
"""


def rows(*ts: int | None) -> pa.Table:
    times = pa.array(ts, pa.int64()).cast(pa.timestamp("us", "UTC"))
    return pa.table({"ts": times, "v": [1] * len(ts)})


def shown(engine: Engine) -> str:
    """All that is shown of an engine."""
    texts = [f"{q.explain()} {q.stats()} {q.snapshot()}" for q in engine.queries.values()]
    return "\n".join([*texts, str(engine.stats())])


def test_all_rows_are_bad() -> None:
    engine = Engine()
    engine.sql(SCRIPT)
    changes = engine.process({"a": rows(None, None), "b": rows(None)})
    assert {name: table.num_rows for name, table in changes.bad.items()} == {"a": 2, "b": 1}
    assert not changes.active()
    assert "'bad': 2" in shown(engine)
    ended = engine.advance("2026-01-01T00:00:00Z")
    assert ended["counted"]["n"].to_pylist() == [0] and not ended["pairs"].num_rows
    assert "rows_in" in shown(engine)


@pytest.mark.parametrize("ts", [FIRST_INSTANT, END_OF_TIME - 1])
def test_rows_at_the_ends_of_time(ts: int) -> None:
    engine = Engine()
    engine.sql(SCRIPT)
    for name in ("a", "b"):  # with the lateness the watermark is before the year 1
        engine.process({name: rows(ts)})
        assert "wait for the watermark" in shown(engine) or "waits for" in shown(engine)
    engine.advance("9999-12-31T23:59:59.999999Z")
    assert engine.queries["pairs"].snapshot().num_rows == (ts > 0)
