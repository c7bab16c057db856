"""LEFT, RIGHT and FULL JOIN of streams without windows: pairs come once, and so do rows without a
match, when no match can come any more; computed here from all rows ever.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from eddyline.testing.engines import engine_with
from eddyline.testing.strategies import OPTIONS
from interval_runs import DDL, STEPS, run
from thinned import fewer

#: A result: its instant, and the rows of a and b, as (ts, k, x), or None.
Result = tuple[int, Any, Any]


def sql(side: str, back: int, ahead: int) -> str:
    """b is between ``back`` before a and ``ahead`` after."""
    bounds = [f"INTERVAL '{us}' MICROSECOND" for us in (back, ahead)]
    return (
        "SELECT a.ts AS at, a.k AS ak, a.x AS ax, b.ts AS bt, b.k AS bk, b.x AS bx FROM a "
        f"{side} JOIN b ON a.k = b.k AND b.x > 0 AND b.ts BETWEEN a.ts - {bounds[0]} AND a.ts + "
        f"{bounds[1]}"
    )


def expected(
    side: str, back: int, ahead: int, given_rows: dict[str, list[Any]], until: int
) -> list[Result]:
    found: list[Result] = []
    matched: set[tuple[str, int]] = set()
    for i, a in enumerate(given_rows["a"]):
        for j, b in enumerate(given_rows["b"]):
            same = a[1] is not None and a[1] == b[1] and b[2] is not None and b[2] > 0
            if same and -back <= b[0] - a[0] <= ahead:
                found.append((max(a[0], b[0]), a, b))
                matched |= {("a", i), ("b", j)}
    for i, a in enumerate(given_rows["a"]):
        if side != "RIGHT" and ("a", i) not in matched:
            found.append((a[0] + max(ahead, 0) + 1, a, None))
    for j, b in enumerate(given_rows["b"]):
        if side != "LEFT" and ("b", j) not in matched:
            found.append((b[0] + max(back, 0) + 1, None, b))
    return sorted((r for r in found if r[0] <= until), key=repr)


def results(tables: list[pa.Table]) -> list[Result]:
    found = []
    for table in tables:
        assert set(table["_op"].to_pylist()) <= {"+"}
        times = {n: table[n].cast(pa.int64()).to_pylist() for n in ("_ts", "at", "bt")}
        values = {n: table[n].to_pylist() for n in ("ak", "ax", "bk", "bx")}
        assert times["_ts"] == sorted(times["_ts"])
        for i, ts in enumerate(times["_ts"]):
            a = (times["at"][i], values["ak"][i], values["ax"][i])
            b = (times["bt"][i], values["bk"][i], values["bx"][i])
            found.append((ts, None if a[0] is None else a, None if b[0] is None else b))
    return sorted(found, key=repr)


def play(random: Random, options: dict[str, Any]) -> int:
    """Rows and restarts; returns the number of results."""
    engine = engine_with(**options)
    engine.sql(DDL)
    cases = {}
    for side in ("LEFT", "RIGHT", "FULL"):
        back = random.choice(STEPS)
        ahead = random.choice([s for s in STEPS if s >= -back])
        cases[side] = (back, ahead)
        engine.query(sql(side, back, ahead), name=side)
        counts = f"SELECT COUNT(*) AS n FROM TUMBLE(({sql(side, back, ahead)}), DESCRIPTOR(_ts), "
        engine.query(
            f"{counts}INTERVAL '1' SECOND) GROUP BY window_start, window_end", name=f"n{side}"
        )
    ran = run(random, engine)
    total = 0
    for side, case in cases.items():
        found = results(ran.out[side])
        assert found == expected(side, *case, ran.given, ran.until), (side, case, ran.given)
        counted = [n for t in ran.out[f"n{side}"] for n in t["n"].to_pylist()]
        assert sum(counted) == len(found)
        total += len(found)
    return total


@pytest.mark.parametrize("chunk_rows", [1, 3, 1000])
def test_results_come_once(chunk_rows: int) -> None:
    found = [play(Random(f"{seed} {chunk_rows}"), {"chunk_rows": chunk_rows}) for seed in range(8)]
    assert sum(found) > 100


@settings(max_examples=fewer(2))
@given(st.integers(0, 2**48), OPTIONS)
def test_results_come_once_under_each_strategy(seed: int, options: dict[str, Any]) -> None:
    event(f"state: {options['state']}")
    play(Random(seed), options | {"keep": {}})
