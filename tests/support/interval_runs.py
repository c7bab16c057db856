"""Runs of queries over streams without windows, by conditions on event times."""

from __future__ import annotations

from random import Random
from typing import Any, Final, NamedTuple

import pyarrow as pa

from eddyline import Engine
from restarts import restarted
from window_rows import rows

DDL: Final = "".join(
    f"CREATE STREAM {name} (ts TIMESTAMP, k STRING, x BIGINT) TIMESTAMP BY ts;" for name in "ab"
)
#: Bounds of times, in us: before a row, or after it.
STEPS: Final = (-300_000, -1, 0, 1, 100_000, 300_000, 800_001)


class Ran(NamedTuple):
    """What has become of the queries of an engine.

    Attributes:
        given: by stream the rows, as (ts, k, x). out: by query its changes, table by table.
        until: the instant up to which all rows have been processed, in us.
    """

    given: dict[str, list[Any]]
    out: dict[str, list[pa.Table]]
    until: int


def run(random: Random, engine: Engine) -> Ran:
    """Rows of both streams, and restarts."""
    given: dict[str, list[Any]] = {"a": [], "b": []}
    out: dict[str, list[pa.Table]] = {name: [] for name in engine.queries}
    now = random.choice([-3_200_000, 1_000_000])
    for _ in range(random.randint(1, 4)):
        tables, ends = {}, [now]
        for stream in "ab":
            clock = [now]
            tables[stream] = rows(random, clock, random.choice([1, 4, 9]), "ab")
            given[stream] += zip(*tables[stream].to_pydict().values(), strict=True)
            ends.append(clock[0])
        now = max(ends)
        changes = engine.process(tables, watermark=now)
        for name, found in out.items():
            found.append(changes[name])
        if random.random() < 0.4:
            engine = restarted(engine)
    until = now + 10_000_000
    changes = engine.advance(until)
    for name, found in out.items():
        found.append(changes[name])
    return Ran(given, out, until)
