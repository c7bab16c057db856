"""Statements with thousands of operands: planned, run, explained, saved, and used as templates."""

from __future__ import annotations

import io

import pyarrow as pa
import pytest

from eddyline import Engine

COUNT = 2_000
NUMBERS = range(COUNT)

LONG = {
    "AND": "SELECT x FROM s [RANGE 1 DAY] WHERE " + " AND ".join(f"x <> {i}" for i in NUMBERS),
    "OR": "SELECT x FROM s [RANGE 1 DAY] WHERE " + " OR ".join(f"x = -{i}" for i in NUMBERS),
    "OR of ANDs": "SELECT x FROM s [RANGE 1 DAY] WHERE "
    + " OR ".join(f"x = -{i} AND y <> '{i}'" for i in range(300)),
    "IN": f"SELECT x FROM s [RANGE 1 DAY] WHERE x NOT IN ({', '.join(map(str, NUMBERS))})",
    "UNION ALL": " UNION ALL ".join(
        f"SELECT x FROM s [RANGE 1 DAY] WHERE x = -{i}" for i in range(1_000)
    ),
    "UNION": " UNION ".join(f"SELECT x FROM s [RANGE 1 DAY] WHERE x = -{i}" for i in range(500)),
    "CASE": "SELECT x, CASE "
    + " ".join(f"WHEN x = {i} THEN '{i}'" for i in range(1_000))
    + " END AS c FROM s [RANGE 1 DAY]",
    "||": "SELECT x, " + " || ".join(["y"] * COUNT) + " AS c FROM s [RANGE 1 DAY]",
    "select list": "SELECT x, " + " AND ".join(f"x <> {i}" for i in NUMBERS)
    + " FROM s [RANGE 1 DAY]",
    "ON": "SELECT s.x FROM s [RANGE 1 DAY] JOIN t [RANGE 1 DAY] ON s.x = t.x AND "
    + " AND ".join(f"s.x <> t.x + {i + 1}" for i in range(500)),
    "HAVING": "SELECT x FROM s [RANGE 1 DAY] GROUP BY x HAVING "
    + " AND ".join(f"COUNT(*) <> {i + 2}" for i in range(500)),
}  # fmt: skip


def engine() -> Engine:
    made = Engine()
    for name in ("s", "t"):
        made.sql(f"CREATE STREAM {name} (ts TIMESTAMP, x BIGINT, y STRING) TIMESTAMP BY ts")
    return made


@pytest.mark.parametrize("form", LONG)
def test_long_statements_run(form: str) -> None:
    first = engine()
    query = first.query(LONG[form], name="long")
    assert "StreamScan" in query.explain()
    assert "StreamScan" in first.explain(LONG[form])
    saved = io.BytesIO()
    first.save(saved)
    saved.seek(0)
    again = Engine.load(saved)
    rows = pa.table({"ts": [1, 2], "x": [-7, 5_000], "y": ["a", "b"]})
    for one in (first, again):
        one.process({"s": rows, "t": rows})
    answer = again.queries["long"].snapshot()
    assert -7 in answer["x"].to_pylist()
    assert answer.equals(first.queries["long"].snapshot())


def test_long_statements_are_templates_for_others() -> None:
    """Below the length up to which texts are compared."""
    made = engine()
    for number in (1, 2, 3):
        terms = " AND ".join(f"x <> {i + number}" for i in range(700))
        made.query(f"SELECT x FROM s WHERE {terms}", name=f"q{number}")
        texts = " || ".join(["y"] * 1_000)
        made.query(f"SELECT {texts} AS c FROM s WHERE x = {number}", name=f"c{number}")
    rows = pa.table({"ts": [1], "x": [1], "y": ["a"]})
    changes = made.process({"s": rows})
    assert [changes[f"q{n}"].num_rows for n in (1, 2, 3)] == [0, 1, 1]
    assert changes["c1"]["c"].to_pylist() == ["a" * 1_000]
