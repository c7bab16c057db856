"""An engine goes on with the tables of others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pytest

from eddyline import Engine, StateError
from eddyline.engine.ingest.ordered_rows import ARRIVALS_PER_CALL
from eddyline.engine.ingest.table_contents import TableContents
from eddyline.testing import batch, pretty

DDL = """
    CREATE STREAM s (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts;
    CREATE TABLE t (ts BIGINT, seq STRING) WITH (updates = 'retroactive');
    CREATE TABLE u (k BIGINT) WITH (updates = 'retroactive');
"""
CHANGES = "_ts | _op | ts:int | seq:str"
QUERIES = {
    "pairs": "SELECT s.k, t.seq FROM s [RANGE 9 SECONDS], t WHERE s.k = t.ts",
    "counts": "SELECT t.seq, COUNT(*) AS n FROM s [RANGE 9 SECONDS], t WHERE s.k = t.ts "
    "GROUP BY t.seq",
    "none": "SELECT s.k FROM s [RANGE 9 SECONDS] WHERE NOT EXISTS "
    "(SELECT * FROM t, u WHERE t.ts = s.k AND u.k = s.k)",
}


def engine() -> Engine:
    made = Engine()
    made.sql(DDL)
    made.table("t", batch("ts:int | seq:str\n1 | one\n1 | one\n. | ."))
    made.parts.progress.share_clock(("s", "t", "u"), ())
    return made


def begun(only: Iterable[str] = ("t", "u")) -> Engine:
    """An engine with changes that have been applied, and some that wait, also of one instant."""
    made = engine()
    for watermark, tables in (
        (2, {"t": f"{CHANGES}\n1s | - | 1 | one\n2s | + | 2 | two\n6s | + | 3 | three"}),
        (4, {"u": "_ts | _op | k:int\n3s | + | 2\n6s | + | 3\n6s | - | 2"}),
        (4, {"t": f"{CHANGES}\n6s | - | 3 | three\n6s | + | 3 | tres\n5s | - | 2 | two"}),
        (4, {"t": f"{CHANGES}\n6s | + | 1 | uno", "u": "_ts | _op | k:int\n6s | + | 1"}),
    ):
        rows = {name: batch(text) for name, text in tables.items() if name in only}
        made.process(rows, watermark=watermark * 1_000_000)
    return made


def going_on(*parts: TableContents, clocks: Engine) -> Engine:
    made = engine()
    content = TableContents.merged([TableContents.read(part.packed()) for part in parts])
    content.give(made.parts.inputs)
    made.parts.progress.follow(clocks.parts.progress.clocks())
    return made


def contents(of: Engine, *tables: str) -> TableContents:
    return TableContents.of(of.parts.inputs, tables)


def in_order(of: TableContents) -> list[tuple[Any, ...]]:
    """The waiting changes in the order in which they will be applied: table and values."""
    found = [
        (ts, arrival, name, *values)
        for name, rows in of.waiting.items()
        for ts, arrival, *values in zip(*(c.to_pylist() for c in rows.columns), strict=True)
    ]
    return [row[2:] for row in sorted(found, key=lambda row: row[:2])]


def changes(of: Engine, emit: str) -> dict[str, str]:
    """Of queries that are added now."""
    for name, sql in QUERIES.items():
        of.query(f"{sql} {emit}", name=name)
    found: dict[str, list[pa.Table]] = {name: [] for name in QUERIES}
    rows = "ts | k:int\n4s | 1\n4s | 2\n6s | 2\n6s | 3\n7s | 1"
    outs = [of.process({"s": batch(rows)}, watermark=5_500_000), of.advance(30_000_000)]
    for out in outs:
        for name in QUERIES:
            found[name].append(out[name])
    return {name: pretty(pa.concat_tables(tables)) for name, tables in found.items()}


@pytest.mark.parametrize("emit", ["", "EMIT CHANGES", "EMIT SNAPSHOT EVERY 1 SECOND"])
def test_queries_are_answered_as_by_the_engine_that_had_the_tables(emit: str) -> None:
    whole = begun()
    expected = changes(begun(), emit)
    assert all(text.count("\n") > 2 for text in expected.values())
    one = going_on(contents(whole, "t", "u"), clocks=whole)
    assert changes(one, emit) == expected
    apart = [contents(begun([name]), name) for name in ("u", "t")]
    assert changes(going_on(*apart, clocks=whole), emit) == expected


def test_waiting_changes_of_several_engines_are_in_the_order_of_their_arrival() -> None:
    apart = [contents(begun([name]), name) for name in ("u", "t")]
    merged, whole = TableContents.merged(apart), contents(begun(), "t", "u")
    assert in_order(merged) == in_order(whole)
    assert merged.arrival // ARRIVALS_PER_CALL == whole.arrival // ARRIVALS_PER_CALL == 4
    arrivals = {n: rows.column(1).to_numpy() for n, rows in merged.waiting.items()}
    calls = {n: (arrival // ARRIVALS_PER_CALL).tolist() for n, arrival in arrivals.items()}
    assert calls == {"t": [3, 1, 3, 3, 4], "u": [2, 2, 4]}


def test_what_is_there_and_what_waits() -> None:
    found = contents(begun(), "t")
    ts, _, *columns = (column.to_pylist() for column in found.rows["t"].columns)
    assert columns == [[1, None, 2], ["one", None, "two"]]
    assert ts[-1] == 2_000_000
    assert found.waiting["t"].column(0).to_pylist() == [5_000_000, *[6_000_000] * 4]
    made = going_on(found, clocks=begun())
    assert made.stats()["tables"]["t"]["rows"] == 3
    assert made.stats()["tables"]["t"]["held"] == 5


def test_content_that_is_damaged_is_refused() -> None:
    content = contents(begun(), "t").packed()
    with pytest.raises(StateError, match="not a saved engine"):
        TableContents.read(content[: len(content) // 2])
