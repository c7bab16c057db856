"""Queries over subsets of the same streams share an eddy: each answers as if it ran alone, while
queries come and go, eddies are made and undone, and the engine restarts.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from eddyline import Engine
from eddyline.engine.placement import eddies
from eddyline.runtime.eddy import eddy
from eddyline.testing.bags import difference, rows_of
from eddyline.testing.feeding import process_all
from eddyline.testing.script import Script
from eddyline.testing.strategies import OPTIONS
from window_rows import rows

STREAMS: Final = "abcd"
DDL: Final = ";".join(
    f"CREATE STREAM {s} (ts TIMESTAMP, k STRING, x BIGINT) TIMESTAMP BY ts" for s in STREAMS
)
#: Keys that two streams share: most queries of a set have the first.
KEYS: Final = (
    "{0}.k = {1}.k",
    "{0}.x = {1}.x",
    "{0}.k = {1}.k AND {0}.x = {1}.x",
    "{0}.x = {1}.x + 1",
    "{0}.x = 6 / {1}.x",
    "{0}.x = {1}.x AND {0}.x + 1 = {1}.x",
)
FILTERS: Final = (
    *("{0}.x > {c}", "{0}.x IN (1, {c})", "{0}.k = 'a'", "({0}.x = {c} OR {0}.k = 'b')"),
    *("{0}.x IS NOT NULL", "6 / {0}.x > {c}"),
)
RESIDUALS: Final = ("{0}.x <= {1}.x", "{0}.x + {1}.x <> {c}", "6 / ({0}.x - {1}.x) > {c}")
WINDOWS: Final = (
    *("[RANGE 1 SECOND]", "[RANGE 1 SECOND]", "[RANGE 300 MILLISECONDS]", "[RANGE 4 SECONDS]"),
    *("[ROWS 3]", "[UNBOUNDED]"),
)
SHAPES: Final = (
    *("SELECT {columns}", "SELECT {columns}", "SELECT DISTINCT {first}.k"),
    "SELECT {first}.k, COUNT(*) AS n, SUM({first}.x) AS x",
)
EMITS: Final = (
    *("INSERTS", "INSERTS", "CHANGES"),
    *("SNAPSHOT EVERY 700 MILLISECONDS", "SNAPSHOT EVERY 1 SECOND OFFSET 300 MILLISECONDS"),
)


def query(random: Random, key: str, window: str) -> str:
    """A query over some of the streams, which most often has this key and window."""
    streams = random.sample(STREAMS, random.choice([2, 2, 3, 3, 4]))
    terms = []
    for place, stream in enumerate(streams[1:]):
        other = random.choice(streams[: place + 1])  # the first one, or a chain
        mine = key if random.random() < 0.8 else random.choice(KEYS)
        terms.append(mine.format(other, stream))
    constants = {"c": random.choice([0, 1, 2])}
    filtered = [s for s in streams if random.random() < 0.4]
    terms += [random.choice(FILTERS).format(stream, **constants) for stream in filtered]
    if random.random() < 0.2:
        terms.append(random.choice(RESIDUALS).format(*streams[:2], **constants))
    sources = [f"{s} {window if random.random() < 0.7 else random.choice(WINDOWS)} AS {s}"
               for s in streams]  # fmt: skip
    columns = ", ".join(f"{s}.x AS x{s}, {s}.k AS k{s}" for s in streams)
    text = random.choice(SHAPES).format(columns=columns, first=streams[0])
    text += f" FROM {', '.join(sources)} WHERE {' AND '.join(terms)}"
    if "COUNT" in text:
        text += f" GROUP BY {streams[0]}.k"
    return f"{text} EMIT {random.choice(EMITS)}"


def set_of(random: Random, count: int) -> list[str]:
    """Queries that have much in common."""
    key, window = random.choice(KEYS[:5]), random.choice(WINDOWS[:4])
    found = [query(random, key, window) for _ in range(count)]
    grouped_unbounded = [q for q in found if "UNBOUNDED" in q and "GROUP BY" in q]
    return [q for q in found if q not in grouped_unbounded]


def batches(random: Random, clock: int) -> tuple[dict[str, pa.Table], int]:
    """Rows of some streams, and the time of the last one."""
    found, ends = {}, [clock]
    for stream in random.sample(STREAMS, random.randint(1, 4)):
        start = [clock]
        found[stream] = rows(random, start, random.choice([1, 4, 7]), "ab")
        ends.append(start[0])
    return found, max(ends)


def play(random: Random, queries: list[str], options: dict[str, Any]) -> None:
    """Rows, queries that come and go, and restarts, compared with the oracle."""
    first = random.randint(1, len(queries))
    started, waiting = queries[:first], queries[first:]
    script = Script(DDL, {f"q{i}": q for i, q in enumerate(started)}, options=options)
    names = [f"q{i}" for i in range(first)]
    clock = 1_000_000
    for _ in range(random.randint(2, 4)):
        given, clock = batches(random, clock)
        script.process_all(**given)
        while waiting and random.random() < 0.6:
            name = f"late{len(waiting)}"
            script.add(name, waiting.pop())
            names.append(name)
        while len(names) > 1 and random.random() < 0.4:
            script.drop(names.pop(random.randrange(len(names))))
        if random.random() < 0.3:
            script.restart()
        if random.random() < 0.4:
            clock += random.choice([1, 700_000, 4_000_000])
            script.advance(clock)
    script.advance(clock + random.choice([0, 900_000, 6_000_000])).finish()


def played(seed: int, options: dict[str, Any]) -> None:
    """Play a set of queries, which get an eddy sooner or later."""
    random = Random(seed)
    made_below = random.choice([0.8, 1.3, 9.0])
    event(f"made below {made_below}")
    with (
        patch.object(eddies, "_MADE_BELOW", made_below),
        patch.object(eddies, "_LEAST", random.choice([1, 3])),
        patch.object(eddies, "_KEPT_BELOW", random.choice([1.0, 1.3, 9.0])),
        patch.object(eddy, "_PERIOD_ROWS", random.choice([0, 5, 65_536])),
        patch.object(eddy, "_MOST_PER_ROW", random.choice([0.2, 16])),
    ):
        play(random, set_of(random, random.randint(4, 9)), options)


@given(st.integers(0, 2**48), OPTIONS)
def test_sets_of_queries_over_subsets(seed: int, options: dict[str, Any]) -> None:
    played(seed, options | {"keep": {}})


@pytest.mark.parametrize("seed", range(10))
def test_the_changes_are_those_of_the_query_alone(seed: int) -> None:
    random = Random(seed)
    queries = {f"q{i}": q for i, q in enumerate(set_of(random, 14))}
    together = Engine()
    together.sql(DDL)
    alone = {name: Engine() for name in queries}
    for name, text in queries.items():
        together.query(text, name=name)
        alone[name].sql(DDL)
        alone[name].query(text, name=name)
    clock = 1_000_000
    for _ in range(6):
        given = {s: rows(random, [clock], 6, "abc") for s in STREAMS}
        clock += 1_500_000
        changes = process_all(together, given)
        for name, engine in alone.items():
            expected = engine.process(given, watermark=clock_of(given))[name]
            assert not any(difference(rows_of(expected), rows_of(changes[name]))), queries[name]
    executors = {q["why"] for q in together.stats()["queries"].values()}
    assert eddies.IN_EDDY in executors


def clock_of(given: dict[str, pa.Table]) -> int:
    """The largest timestamp."""
    return max(us for table in given.values() for us in table["ts"].to_pylist())
