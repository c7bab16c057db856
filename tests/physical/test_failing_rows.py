"""Rows for which an expression has no value, as in Spark's ANSI mode: which they are, and why."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.algebra.expressions import Call, Expr, Literal
from eddyline.algebra.functions import cast, try_cast
from eddyline.algebra.functions.fallibility import can_fail
from eddyline.physical.expressions import compile_predicate
from eddyline.runtime.failures import collecting
from eddyline.types import TIMESTAMP
from expression_columns import TABLE, Rows, column, evaluate, failing, fn, lit

MOST, LEAST = 2**63 - 1, -(2**63)
HOUR = dt.timedelta(hours=1)
FAR = pa.array([2**63 - 1]).cast(TIMESTAMP)

#: Type of the column, its values, function, further arguments, what it gives, and reasons by row.
CASES: list[tuple[pa.DataType, list[Any], str, list[Any], list[Any], dict[int, str]]] = [
    (pa.int64(), [MOST, 1, None], "+", [1], [None, 2, None],
     {0: "integer overflow: 9223372036854775807 + 1"}),
    (pa.int64(), [LEAST, 1], "-", [1], [None, 0],
     {0: "integer overflow: -9223372036854775808 - 1"}),
    (pa.int64(), [2**62, -(2**62), 3, None, 0], "*", [2], [None, LEAST, 6, None, 0],
     {0: "integer overflow: 4611686018427387904 * 2"}),
    (pa.int64(), [LEAST, 5], "*", [-1], [None, -5],
     {0: "integer overflow: -9223372036854775808 * -1"}),
    (pa.int32(), [2**31 - 1, 5], "+", [1], [None, 6], {0: "integer overflow: 2147483647 + 1"}),
    (pa.int64(), [LEAST, 5], "negative", [], [None, -5],
     {0: "integer overflow: -(-9223372036854775808)"}),
    (pa.int8(), [-128, -5, None], "abs", [], [None, 5, None], {0: "integer overflow: abs(-128)"}),
    (pa.int64(), [7, None, 0], "/", [0], [None, None, None],
     {0: "division by zero: 7.0 / 0.0", 2: "division by zero: 0.0 / 0.0"}),
    (pa.float64(), [math.nan, None], "/", [0.0], [None, None],
     {0: "division by zero: NaN / 0.0"}),
    (pa.int64(), [7, None], "div", [0], [None, None], {0: "division by zero: 7 div 0"}),
    (pa.int64(), [LEAST, 7], "div", [-1], [None, -7],
     {0: "integer overflow: -9223372036854775808 div -1"}),
    (pa.int64(), [7, None], "%", [0], [None, None], {0: "division by zero: 7 % 0"}),
    (pa.int64(), [LEAST, 7], "%", [-1], [0, 0], {}),
    (pa.float64(), [7.5], "%", [0.0], [None], {0: "division by zero: 7.5 % 0.0"}),
    (pa.float64(), [1e300, 1.5, math.nan, None], "floor", [], [None, 1, 0, None],
     {0: "integer overflow: floor(1.0E300)"}),
    (pa.float64(), [-1e300], "ceil", [], [None], {0: "integer overflow: ceil(-1.0E300)"}),
    (pa.int8(), [127, 124], "round", [-1], [None, 120], {0: "round(127, -1) does not fit TINYINT"}),
    (pa.float64(), [0.0, -1.0], "ln", [], [None, None], {}),
    (pa.float64(), [-1.0], "sqrt", [], [math.nan], {}),
    (pa.float64(), [1e308], "*", [10.0], [math.inf], {}),
    (pa.string(), ["YQ==", "YQ=", "Y", None, "YQ", "Y!Q", "YQ=Q", "", "YWJj=", "YQ==="], "unbase64",
     [], [b"a", None, None, None, b"a", b"a", None, b"", None, b"a"],
     {1: "not Base64: 'YQ='", 2: "not Base64: 'Y'", 6: "not Base64: 'YQ=Q'",
      8: "not Base64: 'YWJj='"}),
    (pa.string(), ["a+%41", "%4", "%zz", None, "%%41", "", "%e9"], "url_decode", [],
     ["a A", None, None, None, None, "", "\ufffd"],
     {1: "not the code of a URL: '%4'", 2: "not the code of a URL: '%zz'",
      4: "not the code of a URL: '%%41'"}),
    (pa.string(), ["5", "x", None], "to_date", ["yyyy"], [None, None, None],
     {0: "cannot read '5' as a DATE by the pattern",
      1: "cannot read 'x' as a DATE by the pattern"}),
    (pa.string(), ["5", "x", None], "try_to_date", ["yyyy"], [None, None, None], {}),
    (pa.string(), ["noon"], "to_timestamp", [], [None], {0: "cannot cast 'noon' to TIMESTAMP"}),
    (pa.string(), ["noon"], "try_to_timestamp", [], [None], {}),
    (pa.int64(), [MOST, LEAST, None], "timestamp_millis", [], [None] * 3,
     {0: "timestamp out of range: 9223372036854775807 since 1970",
      1: "timestamp out of range: -9223372036854775808 since 1970"}),
    (pa.int64(), [MOST], "timestamp_seconds", [], [None],
     {0: "timestamp out of range: 9223372036854775807 since 1970"}),
    (pa.date32(), [dt.date(2026, 1, 1), None], "date_add", [2**31 - 1], [None, None],
     {0: "date out of range: 2026-01-01 and 2147483647 days"}),
    (pa.date32(), [dt.date(2026, 1, 1)], "try_add", [2**31 - 1], [None], {}),
    (pa.string(), ["a,b", None], "split_part", [",", 0], [None, None],
     {0: "split_part counts from 1, or from -1: 0 is not valid"}),
    (pa.int64(), [MOST, 1], "try_add", [1], [None, 2], {}),
    (pa.int64(), [LEAST, 1], "try_subtract", [1], [None, 0], {}),
    (pa.int64(), [MOST, 1], "try_multiply", [2], [None, 2], {}),
    (pa.int64(), [1, None], "try_divide", [0], [None, None], {}),
    (pa.int64(), [1, None], "try_mod", [0], [None, None], {}),
    (pa.duration("us"), [HOUR, None], "/", [0], [None, None],
     {0: "division by zero: 3600000000 / 0"}),
    (pa.duration("us"), [HOUR, None], "*", [2**40], [None, None],
     {0: "interval overflow: 3600000000 * 1099511627776"}),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "values", "name", "args", "expected", "reasons"), CASES)
def test_which_rows_fail_and_why(
    type_: pa.DataType,
    values: list[Any],
    name: str,
    args: list[Any],
    expected: list[Any],
    reasons: dict[int, str],
) -> None:
    table = pa.table({"v": pa.array(values, type_)})
    constants: list[Expr] = [Literal(pa.int64(), a) if isinstance(a, int) else lit(a) for a in args]
    if pa.types.is_integer(type_) and name in ("+", "-", "*", "round"):
        constants = [cast(c, type_) if name != "round" else c for c in constants]
    found, why = failing(fn(name, column("v", table), *constants), table)
    assert why == reasons
    assert repr(found.to_pylist()) == repr(expected)


def test_a_timestamp_that_overflows() -> None:
    table = pa.table({"t": pa.concat_arrays([FAR, pa.array([0]).cast(TIMESTAMP)])})
    found, reasons = failing(fn("+", column("t", table), HOUR), table)
    assert found.cast(pa.int64()).to_pylist() == [None, 3_600_000_000]
    assert [*reasons] == [0]
    assert reasons[0].startswith("timestamp overflow: ")


def test_columns_with_columns() -> None:
    random = np.random.default_rng(3)
    ends: Any = [MOST, LEAST, 0, 1, -1, 2**31, -(2**31), 2**32, None]
    x = [*random.choice(ends, 300).tolist(), *random.integers(LEAST, MOST, 100).tolist()]
    y = [*random.choice(ends, 300).tolist(), *random.integers(LEAST, MOST, 100).tolist()]
    table = pa.table({"x": pa.array(x, pa.int64()), "y": pa.array(y, pa.int64())})
    for name, exact in {"+": int.__add__, "-": int.__sub__, "*": int.__mul__}.items():
        found, reasons = failing(fn(name, column("x", table), column("y", table)), table)
        known = [None if None in pair else exact(*pair) for pair in zip(x, y, strict=True)]
        fits = [v is None or LEAST <= v <= MOST for v in known]
        assert found.to_pylist() == [v if f else None for v, f in zip(known, fits, strict=True)]
        assert [*reasons] == [i for i, f in enumerate(fits) if not f]


S = pa.table({"s": ["1", "x", None, "3"], "k": pa.array([0, 1, None, 2], pa.int64())})
NUMBER, K = cast(column("s", S), pa.int64()), column("k", S)
BAD = "cannot cast 'x' to BIGINT"


@pytest.mark.parametrize(
    ("expr", "expected", "failed"),
    [
        (fn("+", NUMBER, K), [1, None, None, 5], [1]),
        (fn("is_null", NUMBER), [False, None, True, False], [1]),
        (fn("coalesce", NUMBER, 7), [1, None, 7, 3], [1]),
        (fn("coalesce", K, NUMBER), [0, 1, None, 2], []),
        (fn("coalesce", None, NUMBER, K), [1, None, None, 3], [1]),
        (fn("if", fn("=", column("s", S), "x"), 9, NUMBER), [1, 9, None, 3], []),
        (fn("case", fn("=", NUMBER, 1), "one", fn("=", K, 1), "k"), ["one", None, None, None], [1]),
        (fn("case", fn("=", K, 1), "k", fn("=", NUMBER, 1), "one"), ["one", "k", None, None], []),
        (fn("nullif", NUMBER, K), [1, None, None, 3], [1]),
        (fn("nvl2", K, K, NUMBER), [0, 1, None, 2], []),
        (fn("and", fn("=", NUMBER, 1), fn("<>", K, 1)), [True, False, None, False], []),
        (fn("and", fn("<>", K, 1), fn("=", NUMBER, 1)), [True, False, None, False], []),
        (fn("and", fn("=", NUMBER, 1), fn("=", K, 1)), [False, None, None, False], [1]),
        (fn("or", fn("=", NUMBER, 1), fn("=", K, 1)), [True, True, None, False], []),
        (fn("or", fn("=", NUMBER, 1), fn("=", K, 5)), [True, None, None, False], [1]),
        (fn("or", fn("=", NUMBER, 1), None), [True, None, None, None], [1]),
        (fn("in", K, NUMBER, 1), [False, True, None, False], []),
        (fn("in", NUMBER, 1, 3), [True, None, None, True], [1]),
        (fn("between", K, 2, NUMBER), [False, False, None, True], []),
        (fn("greatest", NUMBER, K), [1, None, None, 3], [1]),
        (fn("not", fn("=", NUMBER, 1)), [False, None, None, True], [1]),
        (fn("try_add", NUMBER, K), [1, None, None, 5], [1]),
        (try_cast(column("s", S), pa.int64()), [1, None, None, 3], []),
        (fn("case", fn("=", K, 1), NUMBER, fn("/", 6, K)), [None, None, None, 3.0], [0, 1]),
    ],
)  # fmt: skip
def test_effect_of_a_failing_operand(expr: Expr, expected: list[Any], failed: list[int]) -> None:
    found, reasons = failing(expr, S)
    assert found.to_pylist() == expected
    assert [*reasons] == failed
    assert reasons.get(1, BAD) == BAD


def test_constants_that_fail() -> None:
    nothing = fn("/", 1, 0)
    found, reasons = failing(nothing, S)
    assert found.null_count == len(reasons) == S.num_rows
    assert set(reasons.values()) == {"division by zero: 1.0 / 0.0"}
    found, reasons = failing(fn("case", fn("=", K, 1), nothing, 2.0), S)
    assert (found.to_pylist(), [*reasons]) == ([2.0, None, 2.0, 2.0], [1])
    found, reasons = failing(fn("coalesce", 1.0, nothing), S)
    assert (found.to_pylist(), reasons) == ([1.0] * 4, {})


def test_a_predicate_is_false_where_it_fails() -> None:
    with collecting() as failures:
        answer = compile_predicate(fn("or", fn("=", NUMBER, 3), fn("=", K, 5)))(Rows(S))
    assert answer.tolist() == [False, False, False, True]
    [failure] = failures
    assert (failure.rows.tolist(), failure.reads) == ([1], (("s", 0), ("k", 1)))


def test_a_term_that_is_null_decides_a_predicate() -> None:
    """So that terms may be applied together or one after the other."""
    null, error = fn("=", K, None), fn("=", NUMBER, 5)
    for predicate in (fn("and", null, error), fn("not", fn("or", fn("not", null), error))):
        with collecting() as failures:
            assert not compile_predicate(predicate)(Rows(S)).any()
        assert not failures
        assert [*failing(predicate, S)[1]] == [1]


def test_expressions_that_cannot_fail() -> None:
    x, d = column("j"), column("x")
    for expr in (
        fn("/", x, 2),
        fn("%", x, 3),
        fn("div", x, 2),
        fn("+", d, 1),
        fn("*", d, x),
        cast(x, pa.float64()),
        cast(column("i"), pa.int64()),
        fn("round", d, 1),
        fn("try_add", x, 1),
        try_cast(d, pa.int64()),
        fn("log", d, d),
        cast(column("i"), pa.decimal128(12, 2)),
        fn("split_part", column("s"), ",", 1),
    ):
        assert not can_fail(expr), expr
    for expr in (
        fn("+", x, 1),
        fn("/", d, x),
        fn("div", x, -1),
        cast(d, pa.int64()),
        fn("is_null", fn("/", 1, x)),
        cast(column("s"), TIMESTAMP),
    ):
        assert can_fail(expr), expr
    assert evaluate(fn("+", x, 1)).null_count == TABLE.column("j").null_count


# -- random expressions against a slow reference -----------------------

_VALUES = [None, 0, 1, -1, 2, 7, MOST, LEAST, 2**62]
_PAIRS = [(p, q) for p in _VALUES for q in _VALUES]
R = pa.table([pa.array(v, pa.int64()) for v in zip(*_PAIRS, strict=True)], names=["p", "q"])
_ONES = [Literal(pa.int64(), n) for n in (0, 1, -1)]
_INTS = st.recursive(
    st.sampled_from([column("p", R), column("q", R), *_ONES]),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["+", "-", "*", "div", "%", "try_add", "coalesce"]), inner, inner)
        .map(lambda t: fn(*t)),
        st.tuples(st.deferred(lambda: _TESTS), inner, inner).map(lambda t: fn("case", *t)),
        inner.map(lambda e: fn("negative", e)),
    ),
    max_leaves=6,
)  # fmt: skip
_TESTS: st.SearchStrategy[Expr] = st.recursive(
    st.tuples(st.sampled_from(["=", "<", "<=>"]), _INTS, _INTS).map(lambda t: fn(*t)),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["and", "or"]), inner, inner).map(lambda t: fn(*t)),
        inner.map(lambda e: fn("not", e)),
        inner.map(lambda e: fn("is_null", e)),
        st.tuples(_INTS, _INTS, _INTS).map(lambda t: fn("in", *t)),
    ),
    max_leaves=4,
)


class Failed(Exception):
    pass


def slowly(expr: Expr, row: dict[str, Any]) -> Any:
    """The value for one row."""
    if not isinstance(expr, Call):
        return expr.value if isinstance(expr, Literal) else row[str(expr)]
    name, args = expr.function, expr.args
    if name == "case":
        return slowly(args[1] if slowly(args[0], row) else args[2], row)
    if name == "coalesce":
        first = slowly(args[0], row)
        return slowly(args[1], row) if first is None else first
    if name in ("and", "or"):
        return connected(name == "or", [lambda a=a: slowly(a, row) for a in args])
    if name == "in":
        parts = [lambda c=c: slowly(fn("=", args[0], c), row) for c in args[1:]]
        return connected(True, parts)
    values = [slowly(a, row) for a in args]
    if name == "<=>":
        return values[0] == values[1]
    if name in ("is_null", "is_not_null"):
        return (values[0] is None) == (name == "is_null")
    if None in values:
        return None
    return strictly(name, *values)


def connected(decisive: bool, parts: list[Any]) -> Any:
    found: list[Any] = []
    for part in parts:
        try:
            found.append(part())
        except Failed:
            found.append(Failed)
    if any(f is decisive for f in found):
        return decisive
    if Failed in found:
        raise Failed
    return None if None in found else not decisive


def strictly(name: str, x: Any, y: Any = None) -> Any:
    if name in ("=", "<", "not"):
        return {"=": x == y, "<": y is not None and x < y, "not": not x}[name]
    if name in ("div", "%") and y == 0:
        raise Failed
    if name == "div":
        result = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    elif name == "%":
        result = abs(x) % abs(y) * (1 if x > 0 else -1)
    else:
        result = {"+": lambda: x + y, "try_add": lambda: x + y, "-": lambda: x - y,
                  "*": lambda: x * y, "negative": lambda: -x}[name]()  # fmt: skip
    if LEAST <= result <= MOST:
        return result
    if name == "try_add":
        return None
    raise Failed


@settings(max_examples=300, deadline=None, derandomize=True)
@given(expr=st.one_of(_INTS, _TESTS))
def test_random_expressions(expr: Expr) -> None:
    found, reasons = failing(expr, R)
    for i, row in enumerate(R.to_pylist()):
        try:
            expected = slowly(expr, row)
        except Failed:
            assert i in reasons, (row, found[i])
        else:
            assert (found[i].as_py(), i in reasons) == (expected, False), row
