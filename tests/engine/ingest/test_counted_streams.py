"""Engines with a part of a stream's rows count all of them in windows of rows."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.engine.ingest.row_reader import COPY, DROPPED, ELSEWHERE, OWN, ROLE
from eddyline.engine.options import StrategyOptions
from eddyline.runtime.eddy.policies import PolicyName
from eddyline.testing.bags import rows_of
from eddyline.types import TIMESTAMP

SECOND = 1_000_000
STREAM = "CREATE STREAM s (ts TIMESTAMP, k BIGINT, t STRING) TIMESTAMP BY ts LATENESS 1 SECOND"
QUERIES = {
    "last": "SELECT k, t FROM s [ROWS 3]",
    "chosen": "SELECT * FROM s [ROWS 4] WHERE k > 1",
    "recent": "SELECT k FROM s [RANGE 2 SECONDS]",
    "sum": "SELECT k, COUNT(*) AS n FROM s [ROWS 5] GROUP BY k EMIT CHANGES",
    "failing": "SELECT CAST(t AS BIGINT) AS n FROM s [ROWS 2] WHERE 10 DIV k > 1",
}


def started(counted: bool, queries: Mapping[str, str] = QUERIES) -> Engine:
    engine = Engine()
    engine.parts.inputs.counted = frozenset("s") if counted else frozenset()
    engine.sql(STREAM)
    for name, sql in queries.items():
        engine.query(sql, name=name)
    if queries is QUERIES:
        engine.sql("CREATE TABLE rules (id BIGINT, least BIGINT)")
        engine.table("rules", pa.table({"id": [1, 2], "least": [0, 2]}))
        engine.sql(
            "CREATE QUERY each FOR EACH ROW OF rules AS r AS "
            "SELECT r.id, s.k FROM s [ROWS 4] WHERE s.k > r.least"
        )
    return engine


def rows(seconds: list[int], first: int = 0) -> pa.Table:
    numbers = range(first, first + len(seconds))
    return pa.table(
        {
            "ts": pa.array([s * SECOND for s in seconds], pa.int64()).cast(TIMESTAMP),
            "k": [n % 4 for n in numbers],
            "t": ["x" if n % 5 == 0 else str(n) for n in numbers],
        }
    )


def part(table: pa.Table, roles: list[int]) -> pa.Table:
    """All rows with their roles; of those of other engines only the timestamps."""
    own = pa.array([n if r in (OWN, COPY) else None for n, r in enumerate(roles)], pa.int64())
    columns = {n: table[n] if n == "ts" else table[n].take(own) for n in table.column_names}
    return pa.table({**columns, ROLE: pa.array(roles, pa.int8())})


def merged(outputs: list[Any], name: str) -> list[Any]:
    return sorted(map(str, (row for changes in outputs for row in rows_of(changes[name]))))


def saved(engine: Engine) -> Engine:
    target = io.BytesIO()
    engine.save(target)
    return Engine.load(io.BytesIO(target.getvalue()))


BATCHES = ([1, 1, 1, 2, 2], [4, 0, 3, 4], [4, 4, 4], [9, 8, 8, 2], [12])


@pytest.mark.parametrize("is_saved", [True, False])
def test_windows_of_parts_are_those_of_all_rows(is_saved: bool) -> None:
    one, parts = started(counted=False), [started(counted=True), started(counted=True)]
    first, late = 0, 0
    for seconds in BATCHES:
        table = rows(seconds, first)
        owner = [n % 4 < 2 for n in range(first, first + len(seconds))]  # by k
        first += len(seconds)
        expected = one.process({"s": table})
        found = [
            engine.process({"s": part(table, [OWN if o is own else ELSEWHERE for o in owner])})
            for engine, own in zip(parts, (True, False), strict=True)
        ]
        for name in one.queries:
            assert merged(found, name) == merged([expected], name), name
        for kind in ("late", "bad"):
            known = getattr(expected, kind)
            for name in {*known, *(n for changes in found for n in getattr(changes, kind))}:
                both = [getattr(changes, kind) for changes in found]
                tables = [of[name] for of in both if name in of]
                assert pa.concat_tables(tables).schema == known[name].schema
                shown = sorted(str(row) for table in tables for row in rows_of(table))
                assert shown == sorted(map(str, rows_of(known[name])))
                late += kind == "late"
        for counter in ("rows_in", "late", "bad"):
            totals = [e.stats()["streams"]["s"][counter] for e in (one, *parts)]
            assert totals[0] == totals[1] + totals[2]
        snapshots = [[e.queries["last"].snapshot() for e in of] for of in ([one], parts)]
        assert len({str(sorted(r for t in of for r in rows_of(t))) for of in snapshots}) == 1
        if is_saved:
            parts = [saved(engine) for engine in parts]
    assert late == 2
    assert {str(e.measured.rates) for e in parts} == {str(parts[0].measured.rates)}


def test_rows_without_roles_are_own() -> None:
    one, counted = started(counted=False), started(counted=True)
    for seconds in BATCHES:
        expected, found = (e.process({"s": rows(seconds)}) for e in (one, counted))
        for name in one.queries:
            assert merged([found], name) == merged([expected], name)


def test_an_added_query_begins_with_the_own_rows_of_its_window() -> None:
    engine = started(counted=True, queries={"last": "SELECT k FROM s [ROWS 4]"})
    roles = [OWN, OWN, ELSEWHERE, OWN, ELSEWHERE, ELSEWHERE]
    engine.process({"s": part(rows([1, 2, 3, 4, 5, 6]), roles)}, watermark=6 * SECOND)
    for count in (2, 3, 4):
        query = engine.query(f"SELECT k FROM s [ROWS {count}]")
        assert query.snapshot()["k"].to_pylist() == ([3] if count > 2 else [])


def test_copies_count_once_and_dropped_rows_do_not() -> None:
    engine = started(counted=True, queries={"last": "SELECT k FROM s [ROWS 2] EMIT CHANGES"})
    roles = [COPY, DROPPED, DROPPED, ELSEWHERE, DROPPED, OWN]
    changes = engine.process({"s": part(rows([1, 2, 3, 4, 5, 6]), roles)}, watermark=6 * SECOND)
    assert [
        (row[0], row[1] // SECOND)
        for row in zip(
            changes["last"]["_op"].to_pylist(),
            np.asarray(changes["last"]["_ts"].cast(pa.int64())),
            strict=True,
        )
    ] == [("+", 1), ("-", 6), ("+", 6)]
    assert engine.stats()["streams"]["s"]["rows_in"] == 2


def test_a_drop_box_keeps_the_rows_of_other_engines() -> None:
    sql = "CREATE QUERY q AS SELECT k FROM s [ROWS 20] EMIT CHANGES ON OVERLOAD SHED"
    engine = started(counted=True, queries={})
    engine.sql(sql)
    engine.shed({"s": 0.5})
    count = 400
    roles = [OWN if n % 2 else ELSEWHERE for n in range(count)]
    table = rows([*range(count)])
    engine.process({"s": part(table, roles)}, watermark=count * SECOND)
    shedding = engine.shedding["s"]
    assert shedding["seen"] == count // 2
    assert 60 < shedding["kept"] < 140
    assert engine.stats()["streams"]["s"]["dropped"] == count // 2 - shedding["kept"]
    rows_kept = engine.stats()["streams"]["s"]["rows_kept"]
    assert rows_kept == 20
    assert 0 < engine.queries["q"].snapshot().num_rows < 10


@pytest.mark.parametrize("policy", ["ticket", "random"])
def test_predicates_are_not_evaluated_for_rows_of_other_engines(policy: PolicyName) -> None:
    """Else a function that fails for their NULLs, too often in a chunk, fails for own rows, too."""

    def strict(values: pa.Array) -> pa.Array:
        assert not values.null_count, "no own row has a NULL"
        return values

    engine = Engine(strategy=StrategyOptions(policy=policy))
    engine.parts.inputs.counted = frozenset("s")
    engine.sql(STREAM)
    engine.function("strict", strict, args=["BIGINT"], returns="BIGINT")
    for least in range(3):
        engine.query(f"SELECT k FROM s [ROWS 50] WHERE strict(k) > {least} AND k > 0", f"q{least}")
        pairs = "s [ROWS 50], s [ROWS 9] AS r WHERE s.k = r.k AND s.t <> 'y'"
        engine.query(f"SELECT s.k FROM {pairs} AND strict(s.k) > {least}", f"j{least}")
    for first in range(0, 4_000, 1_000):
        seconds = [first + n for n in range(1_000)]
        roles = [OWN if n % 9 == 0 else ELSEWHERE for n in range(1_000)]
        changes = engine.process({"s": part(rows(seconds, first), roles)})
        assert not changes.bad
        assert all(changes[name].num_rows for name in engine.queries)
