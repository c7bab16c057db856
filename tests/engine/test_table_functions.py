"""Functions that return tables, in FROM."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.errors import SqlError

DDL = """
CREATE STREAM s (ts TIMESTAMP, t STRING) TIMESTAMP BY ts;
CREATE FUNCTION words(t STRING) RETURNS TABLE (word STRING, n BIGINT) LANGUAGE PYTHON AS $$
    def words(t):
        return [(w, len(w)) for w in t.split()]
$$ WITH (kind = 'python');
CREATE FUNCTION halves(t STRING) RETURNS TABLE (word STRING, n BIGINT) LANGUAGE PYTHON AS $$
    import pyarrow as pa
    import pyarrow.compute as pc

    def halves(t):
        words = pc.split_pattern(t, " ")
        flat = pc.list_flatten(words)
        rows = pa.StructArray.from_arrays([flat, pc.utf8_length(flat).cast("int64")], ["word", "n"])
        return pa.ListArray.from_arrays(words.offsets, rows)
$$
"""


def engine_of(items: str) -> Engine:
    engine = Engine()
    engine.sql(DDL)
    engine.query(f"SELECT t, word, n FROM {items}", name="q")
    return engine


def rows_of(engine: Engine, *texts: str | None) -> list[tuple[object, ...]]:
    out = engine.process({"s": pa.table({"ts": range(len(texts)), "t": list(texts)})})["q"]
    return [tuple(r.values()) for r in out.select(["t", "word", "n"]).to_pylist()]


@pytest.mark.parametrize(
    "items",
    [
        "s, LATERAL TABLE(words(t)) AS w (word, n)",
        "s, LATERAL words(t) AS w",
        "s LATERAL VIEW words(t) w AS word, n",
        "s CROSS JOIN LATERAL words(t) AS w",
        "s, UNNEST(words(t)) AS w",
        "s, LATERAL TABLE(halves(t)) AS w",
    ],
)
def test_each_row_has_those_of_its_table(items: str) -> None:
    assert rows_of(engine_of(items), "a bc", "d") == [
        ("a bc", "a", 1),
        ("a bc", "bc", 2),
        ("d", "d", 1),
    ]


@pytest.mark.parametrize(
    "items", ["s LEFT JOIN LATERAL words(t) AS w ON TRUE", "s LATERAL VIEW OUTER words(t) w"]
)
def test_rows_without_any_are_kept(items: str) -> None:
    engine = engine_of(items)
    assert rows_of(engine, "", "a", None) == [("", None, None), ("a", "a", 1), (None, None, None)]


def test_windows_over_the_rows_of_a_table_function() -> None:
    engine = Engine()
    engine.sql(DDL)
    query = engine.query(
        "SELECT word, COUNT(*) AS n FROM s [RANGE 10 SECONDS], LATERAL words(t) AS w GROUP BY word",
        name="q",
    )
    engine.process({"s": pa.table({"ts": [0, 5_000_000], "t": ["a b a", "b"]})})
    assert sorted(query.snapshot().to_pydict()["n"]) == [2, 2]
    engine.advance(10_000_000)
    assert query.snapshot().to_pydict() == {"word": ["b"], "n": [1]}


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ("s, LATERAL upper(t) AS w", "LATERAL needs an ARRAY or a MAP, not STRING"),
        ("s, words(t) AS w", "LATERAL words(...) for a function that returns a table"),
        ("s, LATERAL TABLE(words(t) AS w", "expected a call of a function"),
    ],
)
def test_what_is_no_table(items: str, message: str) -> None:
    with pytest.raises(SqlError) as error:
        engine_of(items)
    assert message in str(error.value)
