"""Windows of calendar months: changes and final results are those of the oracle, in random batches,
with restarts.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eddyline.testing.script import Script
from eddyline.testing.strategies import OPTIONS
from eddyline.testing.text import parse_time

DDL: Final = "CREATE STREAM s (ts TIMESTAMP, k STRING, x BIGINT) TIMESTAMP BY ts"
DAY: Final = 86_400_000_000
WINDOWS: Final = (
    "s [TUMBLE 1 MONTH]",
    "TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' QUARTER)) AS s",
    "TUMBLE(s, ts, INTERVAL '1' YEAR, INTERVAL '3' MONTHS) AS s",
    "s [TUMBLE 1 MONTH OFFSET 14 DAYS]",
    "s [TUMBLE 5 MONTHS OFFSET 2 MONTHS]",
    "s [HOP 3 MONTHS EVERY 1 MONTH]",
    "HOP(s, ts, INTERVAL '2' MONTHS, INTERVAL '5' MONTHS) AS s",
    "s [HOP 1 MONTH EVERY 2 MONTHS OFFSET 1 MONTH]",
    "s [CUMULATE 1 MONTH EVERY 1 DAY]",
    "s [CUMULATE 1 MONTH EVERY 12 HOURS OFFSET 6 HOURS]",
    "CUMULATE(s, ts, INTERVAL '1' MONTH, INTERVAL '1' YEAR) AS s",
)
QUERIES: Final = (
    "SELECT k, window_start, window_end, COUNT(*) AS n, SUM(x) AS x, AVG(x) AS a FROM [W] "
    "GROUP BY k, window_start, window_end",
    "SELECT window_end, COUNT(DISTINCT x) AS n, MAX(k) AS k FROM [W] "
    "GROUP BY window_start, window_end HAVING COUNT(*) > 1",
    "SELECT DISTINCT k, window_end FROM [W]",
)
EMITS: Final = ("FINAL", "CHANGES", "INSERTS")


def rows(random: Random, clock: list[int], count: int) -> pa.Table:
    """Rows from ``clock[0]`` on, in us, which becomes the time of the last one."""
    found = []
    for _ in range(count):
        steps = (0, 1, 3_600_000_000, DAY - 1, DAY, 13 * DAY, 27 * DAY, 33 * DAY, 200 * DAY)
        clock[0] += random.choice(steps)
        found.append((clock[0], random.choice("ab"), random.choice([None, 0, 1, 2])))
    ts, k, x = zip(*found, strict=True)
    return pa.table({"ts": pa.array(ts, pa.int64()), "k": list(k), "x": pa.array(x, pa.int64())})


def play(random: Random, queries: dict[str, str], options: dict[str, Any]) -> Script:
    script = Script(DDL, queries, options=options)
    start = random.choice(["1969-10-31 23:59:59", "1970-01-01 00:00:00", "2024-01-31 12:00:00"])
    clock = [parse_time(start)]
    for _ in range(random.randint(1, 3)):
        script.process(s=rows(random, clock, random.choice([1, 4, 8])))
        if random.random() < 0.3:
            script.restart()
        if random.random() < 0.3:
            clock[0] += random.choice([1, DAY, 40 * DAY])
            script.advance(clock[0])
    return script.advance(clock[0] + random.choice([0, 5 * DAY, 400 * DAY])).finish()


@pytest.mark.parametrize("windows", WINDOWS)
def test_final_results(windows: str) -> None:
    queries = {f"q{i}": f"{q.replace('[W]', windows)} EMIT FINAL" for i, q in enumerate(QUERIES)}
    scripts = [play(Random(f"{windows} {seed}"), queries, {"chunk_rows": 3}) for seed in range(3)]
    assert any(script.changes("q0").num_rows for script in scripts)


@given(st.integers(0, 2**48), OPTIONS)
def test_windows_of_months_match_the_oracle(seed: int, options: dict[str, Any]) -> None:
    random = Random(seed)
    texts = [random.choice(QUERIES).replace("[W]", random.choice(WINDOWS)) for _ in range(2)]
    queries = {f"q{i}": f"{t} EMIT {random.choice(EMITS)}" for i, t in enumerate(texts)}
    play(random, queries, options | {"keep": {}})
