"""GROUPING SETS, ROLLUP and CUBE: answers are those of the oracle, with restarts, under each
strategy; and those of one engine if they are merged from parts.

A grouping without keys has a row in DuckDB even if there are no rows, in Spark it has none: queries
here leave that row out.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from eddyline.engine.merged_query import MergedQuery
from eddyline.sql.statements import in_parts_statement
from eddyline.testing import engine_with
from eddyline.testing.script import Script

DDL: Final = "CREATE STREAM s (ts TIMESTAMP, k STRING, x BIGINT, y BIGINT) TIMESTAMP BY ts"
SOME: Final = "HAVING COUNT(*) > 0"
QUERIES: Final = (
    "SELECT k, x, COUNT(*) AS n, SUM(y) AS y, grouping_id(k, x) AS g FROM s [W] "
    f"GROUP BY ROLLUP (k, x) {SOME}",
    f"SELECT k, x, COUNT(DISTINCT y) AS n, MEDIAN(y) AS m FROM s [W] GROUP BY CUBE (k, x) {SOME}",
    "SELECT k, x, MAX(k) AS m, grouping(x) AS g FROM s [W] "
    f"GROUP BY GROUPING SETS ((k, x), k, (k), ()) {SOME}",
    "SELECT k, x, y, COUNT(*) AS n FROM s [W] GROUP BY k, ROLLUP ((x, y))",
    "SELECT n, COUNT(*) AS c FROM (SELECT k, x, COUNT(*) AS n FROM s [W] GROUP BY CUBE (k, x) "
    f"{SOME}) AS q GROUP BY n",
)
WINDOWS: Final = ("RANGE 1 SECOND", "ROWS 4", "PARTITION BY k ROWS 2", "TUMBLE 1 SECOND")
EMITS: Final = ("CHANGES", "INSERTS", "SNAPSHOT EVERY 700 MILLISECONDS OFFSET 250 MILLISECONDS")
#: Of fixed windows.
FINAL: Final = (
    f"SELECT k, window_end, COUNT(*) AS n FROM s [W] GROUP BY window_end, ROLLUP (k) {SOME}"
)


def rows(random: Random, clock: list[int]) -> pa.Table:
    found = []
    for _ in range(random.choice([1, 4, 12])):
        clock[0] += random.choice([0, 100_000, 300_000, 800_000])
        numbers = (random.choice([None, 0, 1, 2]) for _ in range(2))
        found.append((clock[0], random.choice([None, "a", "b"]), *numbers))
    columns = list(zip(*found, strict=True))
    types = {"ts": pa.int64(), "k": pa.string(), "x": pa.int64(), "y": pa.int64()}
    return pa.table({n: pa.array(c, t) for (n, t), c in zip(types.items(), columns, strict=True)})


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("state", ["upa", "direct", "negative-tuple"])
def test_groupings(window: str, state: str) -> None:
    random = Random(window + state)
    queries = {
        f"q{i}{emit[0]}": f"{text.replace('[W]', f'[{window}]')} EMIT {emit}"
        for i, text in enumerate(QUERIES)
        for emit in EMITS
    }
    if window.startswith("TUMBLE"):
        queries["final"] = f"{FINAL.replace('[W]', f'[{window}]')} EMIT FINAL"
    script = Script(DDL, queries, options={"state": state, "chunk_rows": random.choice([1, 3, 50])})
    clock = [1_000_000]
    for number in range(3):
        script.process(s=rows(random, clock))
        if number == 1:
            script.restart()
    script.advance(clock[0] + 400_000).advance(clock[0] + 5_000_000).finish()
    assert script.changes("q0C").num_rows


@pytest.mark.parametrize("text", QUERIES[:4])
def test_groupings_of_parts(text: str) -> None:
    random = Random(text)
    select = text.replace("[W]", "[RANGE 2 SECONDS]")
    one, other, *places = (engine_with() for _ in range(4))
    for engine in (one, other, *places):
        engine.sql(DDL)
    merged = MergedQuery(one.query(select, name="q"))
    expected = other.query(select, name="q")
    for place in places:
        place.sql(in_parts_statement(f"CREATE QUERY q AS {select}"))
    clock = [1_000_000]
    for _ in range(4):
        batch = rows(random, clock)
        dealt = pa.array([random.randrange(2) for _ in range(batch.num_rows)])
        changes: list[Any] = []
        for number, place in enumerate(places):
            own = batch.filter(pc.equal(dealt, number))
            changes.append(place.process({"s": own}, watermark=clock[0])["q"])
        merged.take_in(changes, clock[0])
        other.process({"s": batch}, watermark=clock[0])
        found, wanted = (
            sorted(map(str, q.snapshot().to_pylist())) for q in (merged.query, expected)
        )
        assert found == wanted and found
