"""Queries that join two streams over windows of many lengths, and rows for them."""

from __future__ import annotations

import random

import pyarrow as pa

#: Neither waits for the other.
STREAMS = "".join(
    f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts IDLE AFTER 0 SECONDS;"
    for name in "ab"
)
#: Of both streams.
WINDOWS = {
    "time": ("[RANGE {} SECONDS]", "[RANGE {} SECONDS]"),
    "rows": ("[ROWS {}]", "[ROWS {}]"),
    "both": ("[ROWS {}]", "[RANGE {} SECONDS]"),
}


def join(length: int, where: str = "", length_b: int | None = None, kind: str = "time") -> str:
    """The SELECT of a join."""
    a, b = WINDOWS[kind]
    a, b = a.format(length), b.format(length if length_b is None else length_b)
    return f"SELECT a.v, b.v AS w FROM a {a}, b {b} WHERE a.k = b.k{where}"


def random_input(some: random.Random, rows: int, start: int) -> dict[str, pa.Table]:
    """Rows of both streams from an instant on, in seconds."""
    ts, data = start, {"a": [], "b": []}  # type: ignore[var-annotated]
    for _ in range(rows):
        ts += some.choice((0, 0, 1, 1, 3))
        data[some.choice("ab")].append((ts * 1_000_000, some.randrange(3), some.randrange(100)))
    return {
        name: pa.table(
            {c: pa.array([r[i] for r in mine], pa.int64()) for i, c in enumerate(("ts", "k", "v"))}
        )
        for name, mine in data.items()
    }


def last_second(rows: dict[str, pa.Table], before: int) -> int:
    """The largest timestamp so far, in seconds."""
    times = (int(t) for table in rows.values() for t in table["ts"].to_pylist())
    return max([before, *(t // 1_000_000 for t in times)])


def random_query(some: random.Random, kind: str) -> str:
    """A join with some predicates, on a key or a comparison."""
    where = some.choice(("", "", "", " AND a.v > 40", " AND a.v < b.v"))
    length = some.choice((1, 2, 3, 5, 8, 13, 30))
    sql = join(length, where, some.choice((None, None, 4)), kind)
    return sql.replace("a.k = b.k", some.choice(("a.k = b.k",) * 3 + ("a.k < b.k",)))
