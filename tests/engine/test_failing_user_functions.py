"""Functions of users that fail: wrong results, and rows for which they raise."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from user_function_cases import ROWS, engine


def _fails(_: Any) -> Any:
    raise ZeroDivisionError("no")


@pytest.mark.parametrize(
    ("kind", "evaluate", "returns", "message"),
    [
        ("arrow", lambda v: v.slice(1), "BIGINT", "returned 3 values for 4 rows"),
        ("arrow", lambda v: v.cast(pa.string()), "BIGINT", "returned STRING, but .* return BIGINT"),
        (
            "arrow",
            lambda v: pc.is_null(v).cast("double"),
            "BIGINT",
            "returned DOUBLE, but .* BIGINT",
        ),
        ("arrow", lambda v: v, "INT", "returned a value that does not fit INT"),
        ("arrow", lambda v: 1, "BIGINT", "returned a int, not a pyarrow.Array"),
        ("pandas", lambda v: v.sum(), "BIGINT", "returned a int.*, not a pandas.Series"),
        ("pandas", lambda v: v.dropna(), "BIGINT", "returned 3 values for 4 rows"),
        (
            "pandas",
            lambda v: pd.Series([1, "a", 2, 3]),
            "BIGINT",
            "returned values of several types",
        ),
        ("python", str, "BIGINT", "returned a value that is no BIGINT"),
        ("python", lambda v: 1 << 70, "BIGINT", "returned a value that is no BIGINT"),
        ("arrow", _fails, "BIGINT", "failed: ZeroDivisionError: no"),
        ("pandas", _fails, "BIGINT", "failed: ZeroDivisionError: no"),
        ("python", _fails, "BIGINT", "failed: ZeroDivisionError: no"),
    ],
)
def test_wrong_results(kind: Any, evaluate: Callable[..., Any], returns: str, message: str) -> None:
    run = engine()
    run.function("wrong", evaluate, args=["BIGINT"], returns=returns, kind=kind)
    query = run.query("SELECT wrong(x) AS v, x FROM s [NOW]")
    out = run.process({"s": ROWS})
    bad = out.bad[query.name]["_reason"].to_pylist()
    seen = 3 if kind == "python" else 4  # NULL is not shown to functions of a row's values
    assert len(bad) == seen
    assert all(re.match(f"function wrong {message}", reason) for reason in bad)
    assert out[query.name]["x"].to_pylist() == [None] * (4 - seen)


def test_a_query_whose_constants_fail_has_bad_rows_only() -> None:
    run = engine()
    run.function("wrong", _fails, args=["BIGINT"], returns="BIGINT")
    run.query("SELECT x FROM s [NOW] WHERE wrong(1) = x", name="q")
    run.query("SELECT x FROM s [NOW] WHERE x > 0 AND wrong(1) = 2", name="r")
    out = run.process({"s": ROWS})
    assert out["q"].num_rows == out["r"].num_rows == 0
    assert out.bad["q"].num_rows >= 3
    assert set(out.bad["r"]["_reason"].to_pylist()) == {
        "function wrong failed: ZeroDivisionError: no (arguments: 1)"
    }


def numbered(count: int) -> pa.Table:
    rows = {f.name: pa.nulls(count, f.type) for f in ROWS.schema}
    return pa.table(rows | {"ts": range(count), "x": range(count)})


def _picky(n: Any) -> Any:
    if n in (3, 7, 8):
        raise ValueError(n)
    return n * 10


@pytest.mark.parametrize("kind", ["arrow", "pandas", "python"])
@pytest.mark.parametrize("chunk_rows", [1, 4, 100])
def test_rows_for_which_a_function_raises(kind: Any, chunk_rows: int) -> None:
    def whole(values: Any) -> Any:
        results = [_picky(n) for n in (values.to_pylist() if kind == "arrow" else values)]
        return (
            pa.array(results, pa.int64()) if kind == "arrow" else pd.Series(results, dtype="Int64")
        )

    run = engine(chunk_rows)
    evaluate = _picky if kind == "python" else whole
    run.function("picky", evaluate, args=["BIGINT"], returns="BIGINT", kind=kind)
    query = run.query("SELECT picky(x) AS v FROM s [NOW] WHERE x < 9")
    out = run.process({"s": numbered(20)})
    assert out[query.name]["v"].to_pylist() == [0, 10, 20, 40, 50, 60]
    assert out.bad[query.name]["_reason"].to_pylist() == [
        f"function picky failed: ValueError: {n} (arguments: {n})" for n in (3, 7, 8)
    ]


def test_a_function_that_always_raises_is_not_tried_row_by_row() -> None:
    calls = 0

    def fails(_: Any) -> Any:
        nonlocal calls
        calls += 1
        raise ValueError("no")

    run = engine(chunk_rows=8192)
    run.function("fails", fails, args=["BIGINT"], returns="BIGINT")
    query = run.query("SELECT fails(x) AS v FROM s [NOW]")
    out = run.process({"s": numbered(8192)})
    assert out.bad[query.name].num_rows == 8192
    assert calls < 2000


def test_a_function_sees_no_row_that_has_failed_before() -> None:
    seen: list[Any] = []

    def note(values: pa.Array) -> pa.Array:
        seen.extend(values.to_pylist())
        return values

    run = engine()
    run.function("note", note, args=["BIGINT"], returns="BIGINT")
    query = run.query("SELECT note(CAST(t AS BIGINT)) AS v FROM s [NOW]")
    rows = numbered(3).set_column(3, "t", pa.array(["1", "x", "3"]))
    out = run.process({"s": rows})
    assert (seen, out[query.name]["v"].to_pylist()) == ([1, 3], [1, 3])
    assert out.bad[query.name]["_reason"].to_pylist() == ["cannot cast 'x' to BIGINT"]
