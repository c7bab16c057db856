"""Double quotes name columns, streams and aliases, as in standard SQL; texts have single ones."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eddyline import Engine

ROWS = pa.table({"ts": [1, 2], "device": ["a", "b"], "a b": [1, 2], "n": [10, 20]})


def answer(sql: str) -> list[dict[str, object]]:
    engine = Engine()
    for name in ("s", "t"):
        engine.sql(
            f'CREATE STREAM "{name}" (ts TIMESTAMP, "device" STRING, "a b" INT, n BIGINT) '
            'TIMESTAMP BY "ts"'
        )
    query = engine.query(sql, name="q")
    engine.process({"s": ROWS, "t": ROWS})
    return query.snapshot().to_pylist()


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ('SELECT "device" FROM s [RANGE 1 DAY]', [{"device": "a"}, {"device": "b"}]),
        ('SELECT "DEVICE" FROM "S" [RANGE 1 DAY] WHERE "n" > 10', [{"DEVICE": "b"}]),
        ('SELECT x."a b" AS "c d" FROM s [RANGE 1 DAY] AS "x"', [{"c d": 1}, {"c d": 2}]),
        (
            'SELECT "device", SUM("n") AS "all" FROM s [RANGE 1 DAY] GROUP BY "device"',
            [{"device": "a", "all": 10}, {"device": "b", "all": 20}],
        ),
        (
            'SELECT s."n" FROM s [RANGE 1 DAY] JOIN t [RANGE 1 DAY] ON s."n" = t."n" '
            "WHERE t.\"device\" = 'a'",
            [{"n": 10}],
        ),
        ('SELECT n FROM s [RANGE 1 DAY] JOIN t [RANGE 1 DAY] USING ("n", "device", "a b", ts)',
         [{"n": 10}, {"n": 20}]),
        ('SELECT n FROM s [PARTITION BY "device" ROWS 1]', [{"n": 10}, {"n": 20}]),
        ("SELECT 'say \"\"x\"\"' AS \"a\"\"b\" FROM s [ROWS 1]", [{'a"b': 'say ""x""'}]),
        ("SELECT r'\\d' AS c FROM s [ROWS 1]", [{"c": "\\d"}]),
    ],
)  # fmt: skip
def test_double_quotes_name_things(sql: str, rows: list[dict[str, object]]) -> None:
    assert sorted(answer(sql), key=str) == rows
