"""CREATE FUNCTION: bodies of SQL, code in Python, aggregates."""

from __future__ import annotations

import io
import random
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from eddyline import CatalogError, Engine, SqlError, StateError
from eddyline.algebra.parts import in_parts
from eddyline.engine.functions import add_function

STREAM = "CREATE STREAM s (ts TIMESTAMP, k BIGINT, x DOUBLE, t STRING) TIMESTAMP BY ts;"
TOTAL = """
CREATE AGGREGATE FUNCTION total(x DOUBLE, k BIGINT) RETURNS DOUBLE LANGUAGE PYTHON AS $$
    import pyarrow.compute as pc

    class total:
        state = {"x": "SUM DOUBLE", "k": "SUM BIGINT", "most": "MAX DOUBLE", "rows": "COUNT INT"}

        @staticmethod
        def accumulate(x, k):
            return {"x": pc.multiply(x, 2.0), "k": k, "most": x, "rows": k}

        @staticmethod
        def finish(x, k, most, rows):
            return pc.add(pc.add(x, k), pc.add(most, rows))
$$;"""
MIDDLE = """
CREATE AGGREGATE FUNCTION middle(x DOUBLE) RETURNS DOUBLE LANGUAGE PYTHON AS $$
    import numpy as np
    import pyarrow as pa

    class middle:
        @staticmethod
        def finish(lists):  # each is in order
            offsets = np.asarray(lists.offsets)
            places = (offsets[:-1] + offsets[1:]) // 2
            return lists.values.take(pa.array(places, mask=offsets[:-1] == offsets[1:]))
$$;"""


def engine_of(*statements: str) -> Engine:
    engine = Engine()
    engine.sql(STREAM)
    for statement in statements:
        engine.sql(statement)
    return engine


def rows_of(count: int, seed: int = 1) -> pa.Table:
    rng = random.Random(seed)
    numbers = [rng.choice([None, 0.0, -1.5, 2.0, 7.25]) for _ in range(count)]
    return pa.table(
        {
            "ts": sorted(rng.randrange(60) for _ in range(count)),
            "k": [rng.randrange(3) for _ in range(count)],
            "x": pa.array(numbers, pa.float64()),
            "t": ["ab"] * count,
        }
    )


def values(engine: Engine, expression: str) -> list[object]:
    engine.query(f"SELECT {expression} AS v FROM s [NOW]", name="q")
    rows = pa.table({"ts": [0, 1], "k": [3, None], "x": [1.5, 4.0], "t": ["a.b", None]})
    return engine.process({"s": rows})["q"]["v"].to_pylist()


def test_a_body_of_sql_is_inlined() -> None:
    engine = engine_of(
        "CREATE FUNCTION twice(n BIGINT) RETURNS BIGINT AS n * 2",
        "CREATE FUNCTION five() RETURNS BIGINT RETURN 5",
        "CREATE FUNCTION label(n BIGINT, t STRING) RETURNS STRING LANGUAGE SQL AS"
        " CASE WHEN TWICE(n) > five() THEN upper(t) ELSE 'none' END",
    )
    assert "upper(t)" in engine.explain("SELECT label(k, t) AS v FROM s [NOW]")
    assert values(engine, "label(k, t) || twice(five())") == ["A.B10", "none10"]


def test_code_of_a_body_and_of_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rules_of_a_test.py").write_text(
        "class Rules:\n    pass\ndef half(x): return x / 2"
    )
    monkeypatch.syspath_prepend(tmp_path)
    engine = engine_of(
        "CREATE FUNCTION half(x DOUBLE) RETURNS DOUBLE LANGUAGE PYTHON AS 'rules_of_a_test.half'"
        " WITH (kind = 'python')",
        "CREATE FUNCTION plus(x DOUBLE, n BIGINT) RETURNS DOUBLE LANGUAGE PYTHON AS $$\n"
        "import pyarrow.compute as pc\none = 1.0; two = ';'\n"
        "def Plus(x, n): return pc.add(pc.add(x, n), one)\n$$",
    )
    assert values(engine, "plus(half(x), k)") == [4.75, None]
    del sys.modules["rules_of_a_test"]


@pytest.mark.parametrize("name", ["total(x, k)", "middle(x)"])
def test_aggregates_follow_what_enters_and_leaves(name: str) -> None:
    same = {
        "total(x, k)": "SUM(x * 2.0) + SUM(k) + MAX(x) + COUNT(k)",
        "middle(x)": "array_agg(x ORDER BY x)[(COUNT(x) DIV 2)]",
    }[name]
    engine = engine_of(TOTAL, MIDDLE)
    for query, expression in (("own", name), ("same", same)):
        engine.query(
            f"SELECT k, {expression} AS v FROM s [RANGE 7 MICROSECONDS] WHERE x IS NOT NULL"
            f" GROUP BY k EMIT CHANGES",
            name=query,
        )
    engine.process({"s": rows_of(150)})
    found = engine.advance(100)
    engine = engine_of(TOTAL, MIDDLE)
    told: dict[str, list[object]] = {"own": [], "same": []}
    for query, expression in (("own", name), ("same", same)):
        engine.query(
            f"SELECT k, {expression} AS v FROM s [RANGE 7 MICROSECONDS] WHERE x IS NOT NULL"
            f" GROUP BY k EMIT CHANGES",
            name=query,
        )
    for part in (rows_of(150).slice(0, 60), rows_of(150).slice(60)):
        out = engine.process({"s": part})
        for query in told:
            told[query] += out[query].to_pylist()
    assert told["own"] == told["same"]
    assert len(told["own"]) > 100
    assert found["own"].to_pylist() == found["same"].to_pylist()


def test_aggregates_with_filter_and_of_no_rows() -> None:
    engine = engine_of(TOTAL, "CREATE FUNCTION width(x DOUBLE) RETURNS DOUBLE AS max(x) - min(x)")
    query = engine.query(
        "SELECT total(x, k) FILTER (WHERE x > 0) AS a, width(x) FILTER (WHERE k = 1) AS b,"
        " width(x) AS c FROM s [RANGE 1 HOUR] HAVING width(x) IS NOT NULL OR TRUE",
        name="q",
    )
    engine.process({"s": pa.table({"ts": [0, 1], "k": [1, 1], "x": [-1.0, 3.0], "t": ["", ""]})})
    assert query.snapshot().to_pylist() == [{"a": 6.0 + 1 + 3.0 + 1, "b": 4.0, "c": 4.0}]


def test_a_saved_engine_needs_the_code_and_continues() -> None:
    engine = engine_of(TOTAL, MIDDLE, "CREATE FUNCTION twice(n BIGINT) RETURNS BIGINT AS n * 2")
    text = (
        "SELECT twice(k) AS k, total(x, k) AS a, middle(x) AS m FROM s [RANGE 9 MICROSECONDS]"
        " GROUP BY k EMIT CHANGES"
    )
    engine.query(text, name="q")
    rows = rows_of(80, 2)
    engine.process({"s": rows.slice(0, 40)})
    saved = io.BytesIO()
    engine.save(saved)
    with pytest.raises(StateError, match=r"the code of functions: total\(DOUBLE, BIGINT\)"):
        Engine.load(io.BytesIO(saved.getvalue()))
    code = {f.name: f.evaluate for f in engine.catalog.code}
    loaded = Engine.load(io.BytesIO(saved.getvalue()), functions=code)
    rest = {"s": rows.slice(40)}
    assert loaded.process(rest)["q"].to_pylist() == engine.process(rest)["q"].to_pylist()


def test_groups_are_merged_from_parts() -> None:
    engine = engine_of(TOTAL, MIDDLE)
    query = engine.query(
        "SELECT k, total(x, k) AS a, middle(x) AS m FROM s [RANGE 9 MICROSECONDS] GROUP BY k",
        name="q",
    )
    shown = str(in_parts(query.plan).merged)
    assert "merged_sum" in shown
    assert "merged_sorted_list" in shown


def test_functions_of_two_engines_are_apart() -> None:
    one, two = engine_of(TOTAL), engine_of()
    for function in one.catalog.code:
        add_function(two.catalog, function)
    assert values(two, "1 + 1") == [2, 2]
    with pytest.raises(CatalogError, match="cannot define total"):
        two.sql(TOTAL)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("CREATE FUNCTION f(n BIGINT) RETURNS BIGINT AS m * 2", "there is no column 'm'"),
        ("CREATE FUNCTION f(n BIGINT) RETURNS INT AS n", "the body of 'f' is BIGINT, not INT"),
        ("CREATE FUNCTION f(n BIGINT) RETURNS BIGINT AS f(n)", "there is no function f"),
        ("CREATE FUNCTION f(n BIGINT) RETURNS BIGINT AS max(n) + n", "neither in an aggregate"),
        ("CREATE FUNCTION sum(n BIGINT) RETURNS BIGINT AS n", "SQL has a function of this name"),
        ("CREATE FUNCTION f(n BIGINT) AS n", "expected RETURNS"),
        ("CREATE FUNCTION f(n BIGINT) RETURNS BIGINT LANGUAGE JAVA AS 'x.y'", "unknown language"),
        ("CREATE FUNCTION f(n BIGINT) RETURNS BIGINT AS $$ x $$", "needs LANGUAGE PYTHON"),
        ("CREATE FUNCTION f(n BIGINT) RETURNS BIGINT LANGUAGE PYTHON AS 'f'", "not a module"),
        ("CREATE FUNCTION f(n BIGINT) RETURNS BIGINT LANGUAGE PYTHON AS 'no.f'", "No module"),
        ("CREATE FUNCTION f(n BIGINT) RETURNS BIGINT LANGUAGE PYTHON AS 'math.no'", "has no no"),
        ("CREATE FUNCTION f(n BIGINT) RETURNS BIGINT LANGUAGE PYTHON AS 'math.pi'", "a float"),
        ("CREATE FUNCTION f(n BIGINT) RETURNS BIGINT LANGUAGE PYTHON AS $$ g = 1 $$", "not define"),
        ("CREATE FUNCTION f(n BIGINT) RETURNS BIGINT LANGUAGE PYTHON AS $$ def $$", "SyntaxError"),
        ("CREATE FUNCTION f(n BIGINT) RETURNS BIGINT LANGUAGE PYTHON AS $$ x", r"\$\$ is missing"),
        (
            "CREATE FUNCTION f(n INT) RETURNS INT LANGUAGE PYTHON AS 'a.b' WITH (kind = 'x')",
            "unknown kind 'x'",
        ),
        ("CREATE AGGREGATE FUNCTION f(n INT) RETURNS INT AS n", "leave it out"),
        (
            "CREATE AGGREGATE FUNCTION f(n INT) RETURNS INT LANGUAGE PYTHON AS $$ def f(): 1 $$",
            "a class with finish",
        ),
        (
            "CREATE AGGREGATE FUNCTION f(n INT) RETURNS INT LANGUAGE PYTHON AS $$\nclass f:\n"
            "  state = {'n': 'MEAN INT'}\n  def accumulate(n): 1\n  def finish(n): 1\n$$",
            "valid: SUM, MIN, MAX or COUNT and a type",
        ),
        ("DROP FUNCTION f", "there is no function 'f'"),
        ("DROP FUNCTION IF EXISTS f", "write DROP FUNCTION name"),
        ("SELECT k FROM s [NOW] WHERE k > $", r"unexpected '\$'"),
    ],
)
def test_wrong_functions(statement: str, message: str) -> None:
    with pytest.raises((SqlError, CatalogError), match=message):
        engine_of().sql(statement)


@pytest.mark.parametrize(
    ("select", "message"),
    [
        ("SELECT total(x) AS v FROM s [NOW]", r"does not take \(DOUBLE\); valid: total\(DOUBLE"),
        ("SELECT k FROM s [NOW] WHERE total(x, k) > 1", "aggregate total is not allowed in WHERE"),
        ("SELECT total(DISTINCT x, k) AS v FROM s [NOW]", "DISTINCT in total"),
        ("SELECT middle(x ORDER BY k) AS v FROM s [NOW]", "ORDER BY in middle"),
        ("SELECT k, total(x, k) AS v FROM s GROUP BY k", "needs a window on stream 's'"),
    ],
)
def test_wrong_calls_of_aggregates(select: str, message: str) -> None:
    with pytest.raises(SqlError, match=message):
        engine_of(TOTAL, MIDDLE).query(select, name="q")


def test_a_function_is_dropped_when_nothing_calls_it() -> None:
    engine = engine_of()
    engine.sql("CREATE FUNCTION twice(n BIGINT) RETURNS BIGINT AS 2 * n")
    engine.sql("CREATE FUNCTION four_times(n BIGINT) RETURNS BIGINT AS twice(Twice(n))")
    engine.sql(
        "CREATE FUNCTION thrice(n BIGINT) RETURNS BIGINT LANGUAGE PYTHON AS $$\n"
        "def thrice(n): return n\n$$"
    )
    engine.sql("CREATE VIEW v AS SELECT Thrice(k) AS k FROM s [NOW]")
    engine.sql("CREATE QUERY q AS SELECT k FROM v WHERE k IN (SELECT Four_Times(k) FROM s [NOW])")
    for name, reader in (
        ("TWICE", "function 'four_times' calls it; DROP FUNCTION four_times first"),
        ("four_times", "query 'q' calls it; DROP QUERY q first"),
        ("thrice", "view 'v' calls it; DROP VIEW v first"),
    ):
        with pytest.raises(CatalogError, match=reader):
            engine.sql(f"DROP FUNCTION {name}")
    engine.sql("DROP QUERY q; DROP FUNCTION Four_times; DROP FUNCTION twice")
    engine.sql("DROP VIEW v; DROP FUNCTION thrice")
    assert not engine.catalog.functions
    engine.sql("CREATE FUNCTION twice(n BIGINT) RETURNS BIGINT AS 3 * n")
    saved = io.BytesIO()
    engine.save(saved)
    loaded = Engine.load(io.BytesIO(saved.getvalue()))
    assert [f.name for f in loaded.catalog.functions.values()] == ["twice"]
