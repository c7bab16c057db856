"""Functions of users: how they are called, where SQL takes them, and what goes wrong."""

from __future__ import annotations

import datetime as dt
import io
import math
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from eddyline import CatalogError, Engine, SqlError, StateError
from user_function_cases import ROWS, SIX, column, engine


def same(a: list[Any], b: list[Any]) -> bool:
    """Equal, and NaN is NaN."""
    return len(a) == len(b) and all(
        x == y
        or (isinstance(x, float) and isinstance(y, float) and math.isnan(x) and math.isnan(y))
        for x, y in zip(a, b, strict=True)
    )


# -- the three kinds ---------------------------------------------------


@pytest.mark.parametrize("chunk_rows", [1, 100])
@pytest.mark.parametrize("name", ["x", "y", "t", "b", "d", "day", "ts"])
@pytest.mark.parametrize("kind", ["arrow", "pandas", "python"])
def test_values_pass_unchanged(kind: Any, name: str, chunk_rows: int) -> None:
    """NULL, NaN and numbers that are no doubles among them, whatever is in the chunk."""
    run = engine(chunk_rows)
    types = dict(zip(("x", "y", "t", "b", "d", "day", "ts"), [*SIX, "TIMESTAMP"], strict=True))
    run.function("same", lambda v: v, args=[types[name]], returns=types[name], kind=kind)
    expected = column(engine(), name)
    assert same(column(run, f"same({name})"), expected)


def test_arrow() -> None:
    run = engine()
    seen: list[Any] = []

    def twice(values: pa.Array) -> pa.Array:
        seen.append(values)
        return pc.multiply(values, 2)

    run.function("twice", twice, args=["DOUBLE"], returns="DOUBLE")
    assert same(column(run, "TWICE(y)"), [1.0, math.nan, None, 18.0])
    assert [v.type for v in seen] == [pa.float64()]


def test_pandas() -> None:
    run = engine()

    def label(x: pd.Series, t: pd.Series) -> pd.Series:
        assert (str(x.dtype), str(t.dtype)) == ("Int64", "string")
        return t + x.astype("string")

    run.function("label", label, args=["BIGINT", "STRING"], returns="STRING", kind="pandas")
    assert column(run, "label(x, t)") == ["a1", None, None, "-4"]


def test_in_a_series_of_plain_floats_nan_is_null() -> None:
    run = engine()
    run.function(
        "root",
        lambda s: pd.Series(np.sqrt(s.to_numpy(float, na_value=np.nan))),
        args=["DOUBLE"],
        returns="DOUBLE",
        kind="pandas",
    )
    assert column(run, "root(y)") == [math.sqrt(0.5), None, None, 3.0]


def test_python_sees_no_null() -> None:
    run = engine()
    calls = []

    def both(x: int, t: str) -> str | None:
        calls.append((x, t))
        return f"{x}{t}" if t else None

    run.function("both", both, args=["BIGINT", "STRING"], returns="STRING", kind="python")
    assert column(run, "both(x, t)") == ["1a", None, None, None]
    assert calls == [(1, "a"), (-4, "")]


def test_numpy_arrays_and_chunked_arrays_are_arrays_too() -> None:
    run = engine()
    run.function("a", lambda v: np.asarray(v.fill_null(0)), args=["BIGINT"], returns="BIGINT")
    run.function("c", lambda v: pa.chunked_array([v]), args=["BIGINT"], returns="BIGINT")
    assert column(run, "a(x) - coalesce(c(x), 0)") == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("returned", "declared", "expected"),
    [
        (pa.array([1, 2, 3, None], pa.int8()), "DOUBLE", [1.0, 2.0, 3.0, None]),
        (pa.array([1, 2, 3, None], pa.uint64()), "INT", [1, 2, 3, None]),
        (pa.array(["a", "b", "a", None]).dictionary_encode(), "STRING", ["a", "b", "a", None]),
        (pa.array(["a", "b", "a", None], pa.large_string()), "STRING", ["a", "b", "a", None]),
        (pa.nulls(4), "DATE", [None] * 4),
        (pa.array([0, 1, 2, 3], pa.timestamp("ms")), "TIMESTAMP", None),
    ],
)
def test_results_of_a_near_type_are_converted(
    returned: pa.Array, declared: str, expected: list[Any] | None
) -> None:
    run = engine()
    run.function("f", lambda _: returned, args=["BIGINT"], returns=declared)
    values = column(run, "f(x)")
    if expected is None:
        second = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
        expected = [second + dt.timedelta(milliseconds=n) for n in range(4)]
    assert values == expected


# -- where SQL takes them ----------------------------------------------


def test_a_function_stands_wherever_scalars_do() -> None:
    run = engine()
    run.function("half", lambda v: pc.divide(v, 2.0), args=["DOUBLE"], returns="DOUBLE")
    run.function("even", lambda v: v % 2 == 0, args=["BIGINT"], returns="BOOLEAN", kind="python")
    run.sql("CREATE VIEW halves AS SELECT half(x) AS h, x FROM s WHERE even(x)")
    grouped = run.query(
        "SELECT even(x) AS e, MAX(half(y)) AS m FROM s [RANGE 9 SECONDS] GROUP BY even(x) "
        "HAVING MAX(half(y)) > half(1)"
    )
    joined = run.query(
        "SELECT a.x FROM s [NOW] AS a, s [RANGE 9 SECONDS] AS b WHERE half(a.x) = half(b.x) * -1 "
        "AND NOT even(a.x)"
    )
    view = run.query("SELECT h FROM halves [NOW] WHERE CASE WHEN half(h) < 0 THEN even(x) END")
    rows = pa.concat_tables([ROWS, ROWS.set_column(1, "x", pa.array([5, 7, -1, 4]))])
    out = run.process({"s": rows.set_column(0, "ts", pa.array(range(8)))})
    assert out[view.name]["h"].to_pylist() == [-2.0]
    assert out[joined.name]["x"].to_pylist() == [-1]
    groups = {(r["e"], str(r["m"])) for r in grouped.snapshot().to_pylist()}
    assert groups == {(True, "4.5"), (False, "nan"), (None, "nan")}  # NaN is larger than half(1)


def test_arguments_are_converted_as_those_of_built_in_functions() -> None:
    run = engine()
    run.function("f", lambda v: v, args=["DOUBLE"], returns="DOUBLE")
    run.function("day_of", lambda v: v, args=["DATE"], returns="DATE")
    run.query(
        "SELECT f(x) + f(1) + f(1.5) AS a, f(NULL) AS b, day_of('2026-01-31') AS c FROM s [NOW]",
        name="q",
    )
    out = run.process({"s": ROWS})["q"]
    assert out["a"].to_pylist()[0] == 3.5
    assert out["b"].to_pylist() == [None] * 4
    assert out["c"].to_pylist() == [dt.date(2026, 1, 31)] * 4


def test_equal_calls_are_one() -> None:
    """Queries with the same plan share its operators, functions and all."""
    run = engine()
    calls = []

    def count(v: pa.Array) -> pa.Array:
        calls.append(len(v))
        return v

    run.function("count_calls", count, args=["BIGINT"], returns="BIGINT")
    for name in ("q1", "q2", "q3"):
        run.query("SELECT x FROM s [NOW] WHERE Count_Calls(x) > 0", name=name)
    out = run.process({"s": ROWS})
    assert [out[n].num_rows for n in ("q1", "q2", "q3")] == [2, 2, 2]
    assert calls == [4]


def test_two_engines_have_functions_of_their_own() -> None:
    one, other = engine(), engine()
    one.function("f", lambda v: pc.add(v, 1), args=["BIGINT"], returns="BIGINT")
    other.function("f", lambda v: pc.negate(v), args=["BIGINT"], returns="BIGINT")
    assert column(one, "f(x)")[0] == 2
    assert column(other, "f(x)")[0] == -1
    with pytest.raises(SqlError, match="there is no function f"):
        column(engine(), "f(x)")


def test_explain_names_them() -> None:
    run = engine()
    run.function("score", lambda a, b: a, args=["BIGINT", "DOUBLE"], returns="DOUBLE")
    assert "score(" in run.explain("SELECT x FROM s [NOW] WHERE score(x, y) > 1")


# -- what is refused ---------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("scor(x)", r"line 1, column 8: there is no function scor; did you mean 'score'"),
        ("score(t)", r"score does not take \(STRING\); valid: score\(DOUBLE\)"),
        ("score(x, x)", r"score does not take \(BIGINT, BIGINT\); valid: score\(DOUBLE\)"),
        ("score()", r"score does not take \(\); valid: score\(DOUBLE\)"),
    ],
)
def test_wrong_calls(sql: str, message: str) -> None:
    run = engine()
    run.function("score", lambda v: v, args=["DOUBLE"], returns="DOUBLE")
    with pytest.raises(SqlError, match=message):
        run.query(f"SELECT {sql} FROM s [NOW]")


@pytest.mark.parametrize(
    "name",
    ["abs", "UPPER", "count", "stddev", "mean", "if", "cast", "between", "now", "rand", "exists"],
)
def test_names_of_sql_are_taken(name: str) -> None:
    with pytest.raises(CatalogError, match=f"cannot define function '?{name}"):
        engine().function(name, lambda v: v, args=["DOUBLE"], returns="DOUBLE")


@pytest.mark.parametrize(
    "name", ["", "1st", "a b", "a.b", "a(", "_f", "select", "where", "é", "a-b"]
)
def test_names_that_sql_cannot_call(name: str) -> None:
    with pytest.raises(CatalogError, match="SQL cannot call it by this name"):
        engine().function(name, lambda v: v, args=["DOUBLE"], returns="DOUBLE")


def test_wrong_definitions() -> None:
    run = engine()
    run.function("f", lambda v: v, args=["DOUBLE"], returns="DOUBLE")
    with pytest.raises(
        CatalogError, match=r"cannot define F\(BIGINT\) -> INT: function f\(DOUBLE\)"
    ):
        run.function("F", lambda v: v, args=["BIGINT"], returns="INT")
    with pytest.raises(SqlError, match="function g: unknown type 'BIGNT'; did you mean 'BIGINT'"):
        run.function("g", lambda v: v, args=["BIGNT"], returns="INT")
    with pytest.raises(SqlError, match="function g: unknown type INTERVAL"):
        run.function("g", lambda v: v, args=["INT"], returns="INTERVAL")
    with pytest.raises(ValueError, match="args is a list of at least one type"):
        run.function("g", lambda: 1, args=[], returns="INT")
    with pytest.raises(ValueError, match="args is a list of at least one type"):
        run.function("g", lambda v: v, args="INT", returns="INT")
    kind: Any = "pyarrow"
    with pytest.raises(ValueError, match="unknown kind; did you mean 'arrow'"):
        run.function("g", lambda v: v, args=["INT"], returns="INT", kind=kind)


# -- saved engines -----------------------------------------------------


def _saved() -> io.BytesIO:
    run = engine()
    run.function("plus", lambda v: pc.add(v, 1), args=["BIGINT"], returns="BIGINT")
    run.function("odd", lambda v: v % 2 == 1, args=["INT"], returns="BOOLEAN", kind="python")
    run.query("SELECT plus(x) AS p FROM s [RANGE 9 SECONDS] WHERE odd(CAST(x AS INT))", name="q")
    run.process({"s": ROWS})
    file = io.BytesIO()
    run.save(file)
    file.seek(0)
    return file


def test_a_loaded_engine_goes_on_with_the_code_that_it_is_given() -> None:
    functions = {
        "PLUS": lambda v: pc.add(v, 1),
        "odd": lambda v: v % 2 == 1,
        "another": lambda v: v,
    }
    run = Engine.load(_saved(), functions=functions)
    assert run.queries["q"].snapshot()["p"].to_pylist() == [2]  # 2**53 + 1 is no INT
    out = run.process({"s": ROWS.slice(0, 1).set_column(0, "ts", pa.array([7]))})
    assert out["q"]["p"].to_pylist()[-1] == 2
    again = io.BytesIO()
    run.save(again)
    again.seek(0)
    assert "q" in Engine.load(again, functions=functions).queries


def test_what_is_missing_is_named() -> None:
    with pytest.raises(StateError) as caught:
        Engine.load(_saved())
    assert "plus(BIGINT) -> BIGINT, odd(INT) -> BOOLEAN" in str(caught.value)
    assert "functions={'plus': ..., 'odd': ...}" in str(caught.value)
    with pytest.raises(StateError, match=r"the code of functions: odd\(INT\) -> BOOLEAN; pass"):
        Engine.load(_saved(), functions={"plus": lambda v: v})
