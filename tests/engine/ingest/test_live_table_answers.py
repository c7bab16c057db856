"""Answers over tables that change, against the oracle and against a list of rows."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest

from eddyline.testing import rows_of
from eddyline.testing.script import Script
from live_table_cases import (
    JOINED,
    NON_RETROACTIVE,
    OPTIONS,
    RETROACTIVE,
    SECOND,
    ddl,
    engine,
    rename,
)
from restarts import restarted

QUERIES = {
    "join": JOINED,
    "all": "SELECT s.v, t.name FROM s [RANGE 3 SECONDS], t WHERE s.v > t.k",
    "text key": "SELECT s.v, t.k FROM s [RANGE 9 SECONDS], t WHERE CAST(s.k AS STRING) = t.name",
    "two keys": "SELECT s.v FROM s [RANGE 9 SECONDS], t WHERE s.k = t.k AND s.v = LENGTH(t.name)",
    "filtered": JOINED + " AND t.name <> '2' AND s.v > 1",
    "changes": JOINED + " EMIT CHANGES",
    "groups": f"SELECT name, COUNT(*) AS n, SUM(v) AS total FROM ({JOINED}) GROUP BY name",
    "group changes": f"SELECT k, COUNT(*) AS n FROM ({JOINED}) GROUP BY k EMIT CHANGES",
    "distinct": f"SELECT DISTINCT name FROM ({JOINED}) EMIT CHANGES",
    "two streams": "SELECT s.v, r.w, t.name FROM s [RANGE 6 SECONDS], r [RANGE 4 SECONDS], t "
    "WHERE s.k = r.k AND r.k = t.k EMIT CHANGES",
    "union": f"{JOINED} UNION ALL SELECT k, w, 'none' FROM r [RANGE 2 SECONDS]",
}


#: Of a SELECT over ``s`` and ``t``: the select list for a row (k, v) and the names it finds.
OUTER: dict[str, tuple[str, Callable[[Any, int, list[Any]], list[tuple[Any, ...]]]]] = {
    "exists": (
        "SELECT s.k, s.v FROM s [RANGE 9 SECONDS] WHERE EXISTS (SELECT t.k FROM t WHERE t.k = s.k)",
        lambda k, v, names: [(k, v)] if names else [],
    ),
    "exists with more": (
        "SELECT s.k, s.v FROM s [RANGE 9 SECONDS] "
        "WHERE EXISTS (SELECT t.k FROM t WHERE t.k = s.k AND LENGTH(t.name) < s.v)",
        lambda k, v, names: [(k, v)] if any(n and len(n) < v for n in names) else [],
    ),
    "not exists": (
        "SELECT s.k, s.v FROM s [RANGE 9 SECONDS] "
        "WHERE NOT EXISTS (SELECT t.k FROM t WHERE t.k = s.k AND LENGTH(t.name) < s.v)",
        lambda k, v, names: [] if any(n and len(n) < v for n in names) else [(k, v)],
    ),
    "left": (
        "SELECT s.k, s.v, t.name FROM s [RANGE 9 SECONDS] LEFT JOIN t ON s.k = t.k",
        lambda k, v, names: [(k, v, n) for n in names or [None]],
    ),
}


def some_rows(choose: random.Random, start: int, value: str) -> pa.Table:
    """Rows in three seconds from ``start``, with ties and NULLs."""
    count = choose.randrange(5)
    ts = sorted(choose.randrange(start, start + 3) * SECOND for _ in range(count))
    keys = [choose.choice([1, 2, 3, None]) for _ in ts]
    values = [choose.randrange(4) for _ in ts]
    columns = {"ts": pa.array(ts, pa.timestamp("us", "UTC")), "k": pa.array(keys, pa.int64())}
    return pa.table({**columns, value: pa.array(values, pa.int64())})


def some_changes(choose: random.Random, start: int) -> pa.Table:
    """Changes in three seconds from ``start``; half of the deletions find a row."""
    count = choose.randrange(6)
    ts = sorted(choose.randrange(start, start + 3) * SECOND for _ in range(count))
    return pa.table(
        {
            "_ts": pa.array(ts, pa.timestamp("us", "UTC")),
            "_op": pa.array([choose.choice("++-") for _ in ts], pa.string()),
            "k": pa.array([choose.choice([1, 2, None]) for _ in ts], pa.int64()),
            "name": pa.array([choose.choice(["1", "22", None]) for _ in ts], pa.string()),
        }
    )


@pytest.mark.parametrize("updates", [RETROACTIVE, NON_RETROACTIVE])
@pytest.mark.parametrize("options", OPTIONS)
def test_same_answers_as_the_oracle(updates: str, options: str) -> None:
    choose = random.Random(f"{updates} {options}")
    queries = dict(QUERIES)
    if updates == RETROACTIVE:  # for the others see below: the oracle leaves them out
        queries |= {name: f"{sql} EMIT CHANGES" for name, (sql, _) in OUTER.items()}
    for _ in range(2):
        contents = "k:int | name:str\n1 | 1\n1 | 1\n. | 22"
        script = Script(ddl(updates), queries, tables={"t": contents}, options=OPTIONS[options])
        for start in range(0, 18, 3):
            script.process(
                t=some_changes(choose, start),
                s=some_rows(choose, start, "v"),
                r=some_rows(choose, start, "w"),
            )
            if choose.random() < 0.3:
                script.restart().check()
        script.advance("40s").finish()


def seen_by_rows(
    batches: list[dict[str, pa.Table]],
) -> Iterator[tuple[int, int | None, int, list[Any]]]:
    """(ts, k, v, names found) of every stream row, in the order of time."""
    events = [
        (row["_ts" if name == "t" else "ts"], number, row)
        for number, (name, rows) in enumerate(item for b in batches for item in b.items())
        for row in rows.to_pylist()
    ]
    content: list[tuple[Any, Any]] = []
    for ts, _, row in sorted(events, key=lambda e: e[:2]):
        if "v" in row:
            found = [name for k, name in content if k == row["k"] and k is not None]
            yield round(ts.timestamp() * SECOND), row["k"], row["v"], found
        elif row["_op"] == "+":
            content.append((row["k"], row["name"]))
        elif (row["k"], row["name"]) in content:
            content.remove((row["k"], row["name"]))


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("kind", OUTER)
def test_lookup_results_are_final(kind: str, options: str) -> None:
    choose = random.Random(f"{kind} {options}")
    sql, result = OUTER[kind]
    for _ in range(4):
        eng = engine(NON_RETROACTIVE, **OPTIONS[options])
        eng.query(sql, name="inserts")
        eng.query(f"{sql} EMIT CHANGES", name="changes")
        batches = []
        emitted: dict[str, list[pa.Table]] = {"inserts": [], "changes": []}
        for start in range(0, 18, 3):
            rows = some_rows(choose, start, "v")
            batches.append({"t": some_changes(choose, start), "s": rows})
            out = eng.process(batches[-1], watermark=(start + 2) * SECOND)
            for name, tables in emitted.items():
                tables.append(out[name])
            if choose.random() < 0.3:
                eng = restarted(eng)
        expected = [
            (ts, ts + 9 * SECOND, row)
            for ts, k, v, names in seen_by_rows(batches)
            for row in result(k, v, names)
        ]
        now = 17 * SECOND
        there = sorted((r for _, exp, r in expected if exp > now), key=repr)
        for query in eng.queries.values():
            assert sorted(rows_of(query.snapshot()), key=repr) == there
        out = eng.advance(60 * SECOND)
        inserts, changes = (pa.concat_tables([*emitted[n], out[n]]) for n in emitted)
        plus = [(ts, exp, "+", r) for ts, exp, r in expected]
        minus = [(exp, exp, "-", r) for _, exp, r in expected]
        assert changes_of(inserts) == sorted(plus, key=repr)
        assert changes_of(changes) == sorted(plus + minus, key=repr)


def changes_of(table: pa.Table) -> list[tuple[Any, ...]]:
    """(ts, exp, op, row) in an order of their own."""
    instants = [table[n].cast(pa.int64()).to_pylist() for n in ("_ts", "_exp")]
    rows = rows_of(table.drop_columns(["_op", "_ts", "_exp"]))
    return sorted(zip(*instants, table["_op"].to_pylist(), rows, strict=True), key=repr)


def busy_seconds(count: int) -> Iterator[dict[str, pa.Table]]:
    """Per second a hundred rows and a hundred updates: a table of 50 rows that never rest."""
    for second in range(count):
        us = [second * SECOND + i * 10_000 for i in range(100)]
        number = [100 * second + i for i in range(100)]
        keys = [i % 10 for i in range(100)]
        at = pa.array(us, pa.timestamp("us", "UTC"))
        changes = {
            "_ts": pa.chunked_array([at, at]),
            "_op": ["+"] * 100 + ["-"] * 100,
            "k": keys + keys,
            "name": [str(n // 10) for n in number] + [str(n // 10 - 5) for n in number],
        }
        yield {"s": pa.table({"ts": at, "k": keys, "v": number}), "t": pa.table(changes)}


@pytest.mark.parametrize("updates", [RETROACTIVE, NON_RETROACTIVE])
def test_memory_follows_the_table_and_the_window_not_the_updates(updates: str) -> None:
    eng = engine(updates, chunk_rows=500)
    eng.query(JOINED + " EMIT CHANGES", name="q")
    kept = []
    for second in busy_seconds(60):  # six windows
        eng.process(second)
        kept.append(eng.stats()["tables"]["t"]["rows_kept"])
    assert eng.stats()["tables"]["t"]["rows"] == 50
    assert max(kept[30:]) <= 1.1 * max(kept[:30]) <= 4000


@pytest.mark.parametrize("options", OPTIONS)
def test_rows_that_are_updated_often_are_found_as_they_were(options: str) -> None:
    eng = engine(NON_RETROACTIVE, **OPTIONS[options])
    sql = "SELECT s.k, s.v, t.name FROM s [RANGE 2 SECONDS], t WHERE s.k = t.k EMIT CHANGES"
    eng.query(sql, name="q")
    batches = list(busy_seconds(6))
    emitted = [eng.process(batch)["q"] for batch in batches]
    late = eng.query(sql, name="added later")
    assert sorted(rows_of(late.snapshot())) == sorted(rows_of(eng.queries["q"].snapshot()))
    emitted.append(eng.advance(60 * SECOND)["q"])
    expected = [
        (at, ts + 2 * SECOND, op, (k, v, name))
        for ts, k, v, names in seen_by_rows(batches)
        for name in names
        for at, op in ((ts, "+"), (ts + 2 * SECOND, "-"))
    ]
    assert changes_of(pa.concat_tables(emitted)) == sorted(expected, key=repr)
    stats = eng.stats()["operators"]
    assert [o["rows_kept"] for o in stats if o["operator"] == "Lookup"] in ([0], [0, 0])


def test_rows_of_an_unbounded_stream_that_pass_a_table_are_not_kept() -> None:
    eng = engine(NON_RETROACTIVE)
    query = eng.query("SELECT s.v, t.name FROM s [UNBOUNDED], t WHERE s.k = t.k", name="q")
    found = sum(eng.process(second)["q"].num_rows for second in busy_seconds(20))
    assert found > 9000
    assert eng.stats()["streams"]["s"]["rows_kept"] == 0
    assert eng.stats()["tables"]["t"]["rows_kept"] <= 2 * 1024
    assert not query.keeps_answer


def test_a_table_is_looked_up_twice() -> None:
    script = Script(
        ddl(NON_RETROACTIVE),
        "SELECT s.v, a.name, b.k FROM s [RANGE 3 SECONDS], t AS a, t AS b "
        "WHERE s.k = a.k AND a.name = b.name EMIT CHANGES",
        tables={"t": "k:int | name:str\n1 | one\n2 | one"},
    )
    rename(script).advance("20s").finish()
