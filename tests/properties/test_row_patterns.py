"""MATCH_RECOGNIZE: matches are those of a brute-force matcher, when it decides them, however
the rows are cut into batches and chunks, with restarts.
"""

from __future__ import annotations

from collections import defaultdict
from random import Random
from typing import Any, Final

import pyarrow as pa
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from eddyline.testing.engines import engine_with
from eddyline.testing.row_patterns import Row, TooManyWays, matches
from eddyline.testing.strategies import OPTIONS
from eddyline.testing.strategies.row_patterns import PatternQuery, pattern_queries
from restarts import restarted
from window_rows import rows

DDL: Final = "CREATE STREAM s (ts TIMESTAMP, k STRING, x BIGINT) TIMESTAMP BY ts"


def emitted(table: pa.Table) -> list[tuple[int, tuple[Any, ...]]]:
    """The instants and values of results."""
    assert set(table["_op"].to_pylist()) <= {"+"}
    assert table["_exp"].null_count == table.num_rows
    columns = [_numbers(table[n]) for n in table.column_names if n not in ("_op", "_exp")]
    found = [(ts, tuple(values)) for ts, *values in zip(*columns, strict=True)]
    assert [ts for ts, _ in found] == sorted(ts for ts, _ in found)
    return found


def _numbers(column: pa.ChunkedArray) -> list[Any]:
    is_time = pa.types.is_timestamp(column.type)
    values: list[Any] = (column.cast(pa.int64()) if is_time else column).to_pylist()
    return values


def expected(
    query: PatternQuery, given_rows: list[Row], until: int
) -> list[tuple[int, tuple[Any, ...]]]:
    parts: dict[Any, list[Row]] = defaultdict(list)
    for row in given_rows:
        parts[row["k"] if query.by else ""].append(row)
    found = []
    for part in parts.values():
        for match in matches(part, query.pattern, until):
            if not match.failed:
                found += [(match.decided_us, values) for values in query.rows_of(match)]
    return found


def ordered(results: list[tuple[int, tuple[Any, ...]]]) -> list[Any]:
    return sorted(results, key=repr)


def play(random: Random, queries: list[PatternQuery], options: dict[str, Any]) -> int:
    """Rows and restarts; returns the number of results."""
    engine = engine_with(**options)
    engine.sql(DDL)
    for i, query in enumerate(queries):
        engine.query(query.sql, name=f"q{i}")
    results: list[list[tuple[int, tuple[Any, ...]]]] = [[] for _ in queries]
    clock = [random.choice([-3_200_000, 1_000_000])]
    fed: list[Row] = []
    for _ in range(random.randint(1, 5)):
        table = rows(random, clock, random.choice([1, 4, 12, 30]), "ab")
        fed += table.to_pylist()
        out = engine.process({"s": table})
        collect(results, out)
        if random.random() < 0.4:
            engine = restarted(engine)
        if random.random() < 0.4:
            clock[0] += random.choice([1, 300_000, 1_000_000, 4_000_000])
            collect(results, engine.advance(clock[0]))
    clock[0] += random.choice([0, 500_000, 6_000_000])
    collect(results, engine.advance(clock[0]))
    for query, found in zip(queries, results, strict=True):
        try:
            wanted = expected(query, fed, clock[0])
        except TooManyWays:
            continue
        assert ordered(found) == ordered(wanted), (query.sql, fed)
    return sum(map(len, results))


def collect(results: list[list[tuple[int, tuple[Any, ...]]]], out: Any) -> None:
    for i, found in enumerate(results):
        found += emitted(out[f"q{i}"])


@pytest.mark.parametrize("chunk_rows", [1, 3, 1000])
def test_matches(chunk_rows: int) -> None:
    found = 0
    for seed in range(10):
        random = Random(f"{seed} {chunk_rows}")
        queries = [pattern_queries(random) for _ in range(4)]
        found += play(random, queries, {"chunk_rows": chunk_rows})
    assert found > 50


@given(st.integers(0, 2**48), OPTIONS)
def test_matches_under_each_strategy(seed: int, options: dict[str, Any]) -> None:
    event(f"state: {options['state']}")
    random = Random(seed)
    play(random, [pattern_queries(random) for _ in range(3)], options | {"keep": {}})
