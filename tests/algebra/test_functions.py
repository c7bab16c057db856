"""Typing rules, implicit casts, folding of constants, and the messages for what does not fit."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest

from eddyline.algebra.expressions import Call, ColumnRef, Expr, Literal
from eddyline.algebra.functions import (
    FUNCTIONS,
    base_aggregate,
    cast,
    common_type,
    literal,
    resolve,
    try_cast,
    unify,
)
from eddyline.algebra.functions.alternatives import ALTERNATIVES
from eddyline.algebra.functions.registry import find
from eddyline.errors import SqlError, UnsupportedError
from eddyline.types import TIMESTAMP, sql_type

TINY, INT, BIG = pa.int8(), pa.int32(), pa.int64()
FLOAT, DOUBLE, TEXT, BOOL = pa.float32(), pa.float64(), pa.string(), pa.bool_()
DATE, INTERVAL, NULL = pa.date32(), pa.duration("us"), pa.null()


def col(type_: pa.DataType) -> ColumnRef:
    return ColumnRef(type_, 0, f"c_{sql_type(type_).lower()}")


def text(value: str) -> Literal:
    return Literal(TEXT, value)


def number(value: int) -> Literal:
    return Literal(INT, value)


@pytest.mark.parametrize(
    ("a", "b", "common"),
    [
        (TINY, INT, INT),
        (INT, BIG, BIG),
        (TINY, FLOAT, FLOAT),
        (INT, FLOAT, DOUBLE),
        (FLOAT, DOUBLE, DOUBLE),
        (NULL, TEXT, TEXT),
        (DATE, TIMESTAMP, TIMESTAMP),
        (INT, pa.decimal128(5, 2), pa.decimal128(12, 2)),
        (pa.decimal128(38, 0), pa.decimal128(5, 2), DOUBLE),
        (pa.decimal128(5, 2), DOUBLE, DOUBLE),
    ],
)
def test_common_type(a: pa.DataType, b: pa.DataType, common: pa.DataType) -> None:
    assert common_type(a, b) == common == common_type(b, a)


@pytest.mark.parametrize(("a", "b"), [(INT, TEXT), (BOOL, INT), (TEXT, TIMESTAMP)])
def test_no_common_type(a: pa.DataType, b: pa.DataType) -> None:
    with pytest.raises(SqlError, match="CAST one of them"):
        common_type(a, b)


@pytest.mark.parametrize(
    ("name", "args", "type_", "shown"),
    [
        ("+", (col(INT), col(BIG)), BIG, "(CAST(c_int AS BIGINT) + c_bigint)"),
        ("/", (col(INT), number(2)), DOUBLE, "(CAST(c_int AS DOUBLE) / 2.0)"),
        ("div", (col(INT), number(2)), BIG, "div(CAST(c_int AS BIGINT), 2)"),
        ("%", (col(INT), col(DOUBLE)), DOUBLE, "(CAST(c_int AS DOUBLE) % c_double)"),
        ("+", (col(INTERVAL), col(TIMESTAMP)), TIMESTAMP, "(c_timestamp + c_interval)"),
        ("-", (col(TIMESTAMP), col(TIMESTAMP)), INTERVAL, "(c_timestamp - c_timestamp)"),
        ("-", (col(DATE), number(2)), DATE, "date_add(c_date, -2)"),
        ("*", (number(2), col(INTERVAL)), INTERVAL, "(c_interval * 2)"),
        (">", (col(BIG), number(5)), BOOL, "(c_bigint > 5)"),
        ("==", (col(TEXT), text("a")), BOOL, "(c_string = 'a')"),
        ("between", (col(INT), number(1), number(2)), BOOL, "((c_int >= 1) AND (c_int <= 2))"),
        ("in", (col(INT), number(1)), BOOL, "(c_int = 1)"),
        ("nvl", (col(INT), col(BIG)), BIG, "coalesce(CAST(c_int AS BIGINT), c_bigint)"),
        ("nullif", (col(INT), number(0)), INT, "case((c_int = 0), NULL, c_int)"),
        ("case", (col(BOOL), number(1)), INT, "case(c_boolean, 1, NULL)"),
        ("not", (resolve("is_null", (col(INT),)),), BOOL, "is_not_null(c_int)"),
        ("like", (col(TEXT), text("50!%"), text("!")), BOOL, r"like(c_string, '50\%')"),
        ("||", (col(TEXT), col(INT)), TEXT, "concat(c_string, CAST(c_int AS STRING))"),
        ("year", (col(DATE),), INT, "year(CAST(c_date AS TIMESTAMP))"),
        ("floor", (col(DOUBLE),), BIG, "floor(c_double)"),
        ("round", (col(INT),), INT, "c_int"),
        ("-", (number(5),), INT, "-5"),
        ("+", (Literal(NULL, None), col(INT)), INT, "(NULL + c_int)"),
    ],
)
def test_typing(name: str, args: tuple[Expr, ...], type_: pa.DataType, shown: str) -> None:
    expr = resolve(name, args)
    assert (expr.type, str(expr)) == (type_, shown)


def test_nested_and_is_flat() -> None:
    a, b, c = (ColumnRef(BOOL, i, f"b{i}") for i in range(3))
    assert resolve("and", (resolve("and", (a, b)), c)) == Call(BOOL, "and", (a, b, c))


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("lenght", (col(TEXT),), "did you mean 'length'"),
        ("length", (col(INT),), r"length does not take \(INT\); valid: length\(text\)"),
        ("+", (col(TEXT), col(INT)), r"\+ does not take \(STRING, INT\)"),
        ("=", (col(TEXT), col(INT)), "STRING and INT have no common type; CAST"),
        ("=", (col(TIMESTAMP), text("noon")), "'noon' is not a valid TIMESTAMP"),
        ("<", (col(DATE), text("2023-02-29")), "not a valid DATE"),
        ("like", (col(TEXT), col(TEXT)), "like needs a constant"),
        ("like", (col(TEXT), text("a!"), text("!")), "escape character"),
        ("like", (col(TEXT), text("a"), text("!!")), "ESCAPE takes one character"),
        ("rlike", (col(TEXT), text("a(?=b)")), "not a regular expression of RE2"),
        ("regexp_extract", (col(TEXT), text("a"), number(1)), "has 0 groups"),
        ("regexp_replace", (col(TEXT), text("a"), text("$2")), "does not fit the pattern"),
        ("date_trunc", (text("eon"), col(TIMESTAMP)), "no unit 'eon'; valid: year"),
        ("date_format", (col(TIMESTAMP), text("zz")), "no field 'z'"),
        ("to_date", (col(TEXT), text("EEE")), "can be written, but not read"),
        ("/", (col(pa.decimal128(5, 2)), number(2)), "CAST c_decimal\\(5,2\\) to DOUBLE"),
        ("*", (col(pa.decimal128(30, 2)), col(pa.decimal128(30, 2))), "more than 38 digits"),
        ("round", (col(DOUBLE), col(INT)), "must be an integer constant"),
        ("current_date", (), "another value in each run"),
        ("rand", (), "another value in each run"),
        ("sum", (col(INT),), "is an aggregate"),
        ("and", (col(INT), col(BOOL)), r"and does not take \(INT, BOOLEAN\)"),
    ],
)
def test_refused(name: str, args: tuple[Expr, ...], message: str) -> None:
    with pytest.raises(SqlError, match=message) as caught:
        resolve(name, args)
    assert caught.value.line is None


def test_casts_of_literals_fold_so_that_keys_compare_equal() -> None:
    day = resolve("=", (col(DATE), text("2024-01-31")))
    assert day == resolve("=", (col(DATE), literal(dt.date(2024, 1, 31), DATE)))
    assert cast(number(5), DOUBLE) == literal(5.0, DOUBLE)
    assert try_cast(text("x"), BIG) == Literal(BIG, None)
    with pytest.raises(SqlError, match="'x' is not a valid BIGINT"):
        cast(text("x"), BIG)
    moment = cast(text("2024-01-31 10:00+01:00"), TIMESTAMP)
    assert moment == literal(dt.datetime(2024, 1, 31, 9, tzinfo=dt.UTC), TIMESTAMP)
    assert hash(moment) == hash(cast(text("2024-01-31T09:00Z"), TIMESTAMP))


def test_cast_refuses_senseless_pairs() -> None:
    with pytest.raises(SqlError, match="cannot CAST BOOLEAN to DATE; it converts to: BOOL"):
        cast(col(BOOL), DATE)


def test_unify() -> None:
    assert [e.type for e in unify((col(INT), literal(1.5, DOUBLE)))] == [DOUBLE, DOUBLE]
    assert [e.type for e in unify((col(DATE), text("2024-01-01"), col(TIMESTAMP)))] == [
        TIMESTAMP
    ] * 3
    assert unify((text("a"), text("b"))) == (text("a"), text("b"))


@pytest.mark.parametrize(
    ("name", "argument", "type_", "shown"),
    [
        ("COUNT", None, BIG, "COUNT(*)"),
        ("count", col(TEXT), BIG, "COUNT(c_string)"),
        ("sum", col(INT), BIG, "SUM(CAST(c_int AS BIGINT))"),
        ("sum", col(FLOAT), DOUBLE, "SUM(CAST(c_float AS DOUBLE))"),
        ("avg", col(INT), DOUBLE, "AVG(CAST(c_int AS DOUBLE))"),
        ("mean", col(DOUBLE), DOUBLE, "AVG(c_double)"),
        ("stddev_samp", col(pa.decimal128(5, 2)), DOUBLE,
         "STDDEV(CAST(c_decimal(5,2) AS DOUBLE))"),
        ("min", col(TEXT), TEXT, "MIN(c_string)"),
        ("max", col(TIMESTAMP), TIMESTAMP, "MAX(c_timestamp)"),
    ],
)  # fmt: skip
def test_aggregates(name: str, argument: Any, type_: pa.DataType, shown: str) -> None:
    aggregate = base_aggregate(name, None if argument is None else [argument])
    assert (aggregate.type, str(aggregate)) == (type_, shown)


def test_distinct() -> None:
    assert base_aggregate("count", [col(INT)], distinct=True).distinct
    assert base_aggregate("max", [col(INT)], True) == base_aggregate("max", [col(INT)])
    with pytest.raises(UnsupportedError, match=r"these are: COUNT\(DISTINCT"):
        base_aggregate("bit_or", [col(INT)], distinct=True)


@pytest.mark.parametrize(
    ("name", "argument", "message"),
    [
        ("median", col(INT), "there is no aggregate median"),
        ("sum", col(TEXT), "sum needs numbers, not STRING"),
        ("bit_or", col(DOUBLE), "bit_or needs integers, not DOUBLE"),
        ("corr", col(INT), "corr takes two arguments, not 1"),
        ("max", col(pa.list_(INT)), "max needs ordered values"),
        ("avg", None, r"only COUNT\(\*\)"),
    ],
)
def test_refused_aggregates(name: str, argument: Any, message: str) -> None:
    with pytest.raises(SqlError, match=message):
        base_aggregate(name, None if argument is None else [argument])


def test_alternatives_exist_only_for_missing_functions() -> None:
    assert not [name for name in ALTERNATIVES if name in FUNCTIONS]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("QUANTILE", r"there is no function QUANTILE: write percentile\(x, 0.5\)"),
        ("entropy", r"there is no function entropy; docs/sql-functions.md lists"),
        ("any_match", r"there is no function any_match: write bool_or"),
        (
            "lenght",
            r"there is no function lenght; did you mean 'length'\? nearest of [0-9]+: length",
        ),
    ],
)
def test_unknown_functions(name: str, said: str) -> None:
    with pytest.raises(SqlError, match=said) as caught:
        find(name)
    assert len(str(caught.value)) < 250
