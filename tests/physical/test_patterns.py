"""LIKE in queries, alone and shared, against the oracle."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eddyline.testing import Oracle, engine_with
from eddyline.testing.bags import difference

TEXTS = [
    "",
    "a",
    "ab",
    "Ab",
    "a%",
    "a%b",
    "a_",
    "a\\",
    "a\\b",
    "a\\\\b",
    "b\\",
    "xa\\b",
    "a\n",
    None,
]
ROWS = pa.table({"ts": pa.array(range(len(TEXTS))).cast(pa.timestamp("us", "UTC")), "s": TEXTS})

#: As in SQL text, where two backslashes are one.
CONDITIONS = [
    "s LIKE 'a%'",
    "s LIKE 'a_'",
    r"s LIKE 'a\\%'",
    r"s LIKE 'a\\%%'",
    r"s LIKE 'a\\_'",
    r"s LIKE 'a\\\\%'",
    r"s LIKE 'a\\\\b%'",
    r"s LIKE '%\\\\'",
    r"s LIKE '%a\\\\b'",
    r"s LIKE '%a\\\\b%'",
    r"s NOT LIKE '%\\\\%'",
    r"s ILIKE 'A\\\\B'",
    "s LIKE 'a!%' ESCAPE '!'",
    "s LIKE 'a!_%' ESCAPE '!'",
    "s NOT LIKE 'a!%%' ESCAPE '!'",
    "NOT s LIKE 'a!%b' ESCAPE '!'",
    r"s LIKE 'a\\b' ESCAPE '!'",
    r"s LIKE 'a\\%' ESCAPE '!'",
    r"s LIKE 'a\\\\b' ESCAPE '\\'",
    "s LIKE 'aab' ESCAPE 'a' OR s LIKE 'a%%' ESCAPE '%'",
    "s ILIKE 'A!%%' ESCAPE '!' AND s LIKE '%b'",
]


@pytest.mark.parametrize("executor", ["tree", "eddy"])
def test_like_in_queries(executor: str) -> None:
    engine = engine_with(executor=executor)
    engine.sql("CREATE STREAM a (ts TIMESTAMP, s STRING) TIMESTAMP BY ts")
    sql = [f"SELECT ts, s FROM a [RANGE 1 MINUTE] WHERE {condition}" for condition in CONDITIONS]
    for n, select in enumerate(sql):
        engine.query(select, name=f"q{n}")
    engine.process({"a": ROWS}, watermark=len(TEXTS))
    oracle = Oracle({"a": ROWS})
    for n, select in enumerate(sql):
        found = engine.queries[f"q{n}"].snapshot()
        rows = list(
            zip(found["ts"].cast(pa.int64()).to_pylist(), found["s"].to_pylist(), strict=True)
        )
        expected = oracle.answer(select, len(TEXTS))
        assert difference(expected, rows) == ([], []), select
