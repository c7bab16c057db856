"""Values of JSON texts in queries."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eddyline import Engine

DOCUMENT = """{"a": "v\\n", "o": {"b.c": 1.10, "d": [true, {"e": 1}]}, "n": 2.5, "x": null}"""
ANSWERS = {
    "x ->> 'a'": "v\n",
    "x -> 'a'": '"v\\n"',
    "x -> 'o' ->> 'b.c'": "1.10",
    "x ->> '$.o.d[0]'": "true",
    "x -> 'o' -> 'd' -> 1 ->> 'e'": "1",
    "x ->> '$.o[''b.c'']'": "1.10",
    "x -> 'o' ->> 'd'": '[true, {"e": 1}]',
    "x ->> 'x'": None,
    "x -> 'x'": "null",
    "x -> 'x' ->> 'y'": None,
    "x ->> 0": None,
    "json_value(x, '$.n')": "2.5",
    "json_value(x, '$.o')": None,
    "json_query(x, '$.o.d')": '[true, {"e": 1}]',
    "json_query(x, '$.n')": None,
    "x ->> 'a' || '!'": "v\n!",
    "CAST(x ->> 'n' AS DOUBLE) + 1": 3.5,
    "CAST('[7]' ->> 0 AS INT)": 7,
    "array(1, 2)[1]": 2,
    "ARRAY[x ->> 'a', 'b']": ["v\n", "b"],
    "coalesce(CAST(NULL AS STRING) ->> 'a', 'none')": "none",
}


@pytest.mark.parametrize("expression", ANSWERS)
def test_values(expression: str) -> None:
    engine = Engine()
    engine.sql("CREATE STREAM s (ts TIMESTAMP, x STRING) TIMESTAMP BY ts")
    engine.query(f"SELECT {expression} AS v FROM s [NOW] WHERE x ->> 'n' = '2.5'", name="q")
    rows = pa.table({"ts": [1, 2, 3, 4], "x": [DOCUMENT, '{"n": 3}', None, DOCUMENT]})
    assert engine.process({"s": rows})["q"]["v"].to_pylist() == [ANSWERS[expression]] * 2


def test_many_queries_share_their_conditions() -> None:
    engine = Engine()
    engine.sql("CREATE STREAM s (ts TIMESTAMP, x STRING) TIMESTAMP BY ts")
    for i in range(20):
        engine.query(f"SELECT x FROM s [NOW] WHERE x ->> 'kind' = 'k{i}'", name=f"q{i}")
    texts = [f'{{"kind": "k{i % 20}", "i": {i}}}' for i in range(100)]
    out = engine.process({"s": pa.table({"ts": range(100), "x": texts})})
    for i in range(20):
        assert out[f"q{i}"]["x"].to_pylist() == texts[i::20]
