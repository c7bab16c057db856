"""Every function against DuckDB where the semantics agree, else against Spark's values."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from eddyline.algebra.expressions import Call, ColumnRef, Expr, Literal
from eddyline.algebra.functions import FUNCTIONS, cast
from eddyline.physical.expressions import compile_expr, compile_predicate
from eddyline.physical.expressions.compile import KERNELS
from eddyline.physical.expressions.encodings import ENCODING_KERNELS, FALLIBLE_ENCODINGS
from eddyline.physical.expressions.fallible import FALLIBLE_KERNELS, TOLERANT_KERNELS
from eddyline.physical.expressions.json_reading import JSON_READING_KERNELS
from eddyline.physical.expressions.json_values import JSON_KERNELS
from eddyline.physical.expressions.list_functions import LIST_KERNELS
from eddyline.physical.expressions.maps import FALLIBLE_MAPS, MAP_KERNELS
from eddyline.physical.expressions.nested import FALLIBLE_NESTED, NESTED_KERNELS
from eddyline.physical.expressions.sort_keys import SORT_KEY_KERNELS
from eddyline.physical.expressions.texts import FALLIBLE_TEXTS, TEXTS_KERNELS
from eddyline.types import TIMESTAMP
from expression_columns import TABLE, Rows, column, evaluate, fn, lit, same

I, J, X, Y, S, U, B, C, T, R, D, E = (column(n) for n in "ijxysubctrde")  # noqa: E741
HOUR = dt.timedelta(hours=1)


AGREE: list[tuple[Expr, str]] = [
    (fn("+", I, J), "i + j"),
    (fn("-", X, J), "x - j"),
    (fn("*", X, 3), "x * 3"),
    (fn("/", J, I), "j / nullif(i, 0)"),
    (fn("/", X, Y), "x / nullif(y, 0)"),
    (fn("/", J, 4), "j / 4"),
    (fn("/", J, 0), "NULL"),
    (fn("/", 7, I), "7 / nullif(i, 0)"),
    (fn("div", J, I), "j // nullif(i, 0)"),
    (fn("div", J, -1), "-j"),
    (fn("%", J, I), "j % nullif(i, 0)"),
    (fn("%", X, Y), "x % nullif(y, 0)"),
    (fn("mod", J, 7), "j % 7"),
    (fn("-", X), "-x"),
    (fn("abs", J), "abs(j)"),
    (fn("sign", X), "sign(x)"),
    (fn("round", Y), "round(y)"),
    (fn("round", X, 1), "round(x, 1)"),
    (fn("round", J, -2), "round(j, -2)"),
    (fn("floor", X), "floor(x)::BIGINT"),
    (fn("ceil", X), "ceil(x)::BIGINT"),
    (fn("sqrt", fn("abs", X)), "sqrt(abs(x))"),
    (fn("exp", Y), "exp(y)"),
    (fn("ln", X), "CASE WHEN x > 0 THEN ln(x) END"),
    (fn("log10", J), "CASE WHEN j > 0 THEN log10(j) END"),
    (fn("log2", J), "CASE WHEN j > 0 THEN log2(j) END"),
    (fn("log", 2, fn("abs", I)), "CASE WHEN i <> 0 THEN log2(abs(i)) END"),
    (fn("power", Y, 2), "power(y, 2)"),
    (fn("cbrt", X), "cbrt(x)"),
    (fn("hypot", X, Y), "sqrt(x * x + y * y)"),
    (fn("expm1", Y), "exp(y) - 1"),
    (fn("log1p", X), "CASE WHEN x > -1 THEN ln(1 + x) END"),
    (fn("sinh", Y), "sinh(y)"),
    (fn("cosh", Y), "cosh(y)"),
    (fn("tanh", Y), "tanh(y)"),
    (fn("sin", X), "sin(x)"),
    (fn("cos", X), "cos(x)"),
    (fn("tan", X), "tan(x)"),
    (fn("asin", fn("/", Y, 2)), "asin(y / 2)"),
    (fn("acos", fn("/", Y, 2)), "acos(y / 2)"),
    (fn("atan", X), "atan(x)"),
    (fn("atan2", X, Y), "atan2(x, y)"),
    (fn("degrees", X), "degrees(x)"),
    (fn("radians", X), "radians(x)"),
    *((fn(op, I, Y), f"i {op} y") for op in ("=", "<>", "<", "<=", ">", ">=")),
    *((fn(op, S, U), f"s {op} u") for op in ("=", "<>", "<", ">=")),
    *((fn(op, B, C), f"b {op} c") for op in ("=", "<", ">=")),
    *((fn(op, T, R), f"t {op} r") for op in ("=", "<", ">=")),
    (fn("<", D, T), "d < t"),
    (fn("<=>", I, J), "i IS NOT DISTINCT FROM j"),
    (fn("<=>", S, None), "s IS NULL"),
    (fn("between", J, I, 500), "j BETWEEN i AND 500"),
    (fn("in", I, 1, 2, 3), "i IN (1, 2, 3)"),
    (fn("in", S, "a", "abc"), "s IN ('a', 'abc')"),
    (fn("in", I, 1, None, 3), "i IN (1, NULL, 3)"),
    (fn("in", I, J, 3), "i IN (j, 3)"),
    (fn("in", Y, 0, 1.5), "y IN (0, 1.5)"),
    (fn("in", 2, I, J), "2 IN (i, j)"),
    (fn("and", B, C), "b AND c"),
    (fn("or", B, C), "b OR c"),
    (fn("or", B, None), "b OR NULL"),
    (fn("not", B), "NOT b"),
    (fn("is_null", S), "s IS NULL"),
    (fn("is_not_null", X), "x IS NOT NULL"),
    (fn("is_true", B), "b IS TRUE"),
    (fn("is_not_true", B), "b IS NOT TRUE"),
    (fn("is_false", B), "b IS FALSE"),
    (fn("is_not_false", B), "b IS NOT FALSE"),
    (fn("case", B, 1, C, X), "CASE WHEN b THEN 1 WHEN c THEN x END"),
    (fn("case", fn(">", I, 0), fn("/", J, I), 0), "CASE WHEN i > 0 THEN j / i ELSE 0 END"),
    (fn("case", None, I, B, J, 7), "CASE WHEN NULL THEN i WHEN b THEN j ELSE 7 END"),
    (fn("if", B, S, U), "CASE WHEN b THEN s ELSE u END"),
    (fn("if", True, S, U), "s"),
    (fn("coalesce", I, J, 9), "coalesce(i, j, 9)"),
    (fn("nvl", S, "none"), "coalesce(s, 'none')"),
    (fn("nvl2", S, I, J), "CASE WHEN s IS NOT NULL THEN i ELSE j END"),
    (fn("nullif", I, J), "nullif(i, j)"),
    (fn("greatest", I, X, Y), "greatest(i, x, y)"),
    (fn("least", S, U), "least(s, u)"),
    (fn("greatest", B, C), "greatest(b, c)"),
    (fn("least", T, R), "least(t, r)"),
    (fn("length", S), "length(s)"),
    (fn("lower", S), "lower(s)"),
    (fn("upper", S), "upper(s)"),
    (fn("reverse", S), "reverse(s)"),
    (fn("trim", S), "trim(s)"),
    (fn("ltrim", S), "ltrim(s)"),
    (fn("rtrim", S), "rtrim(s)"),
    (fn("trim", "az ", S), "trim(s, 'az ')"),
    (fn("substring", S, 2), "substring(s, 2)"),
    (fn("substring", S, 1, 2), "substring(s, 1, 2)"),
    (fn("substring", S, fn("abs", I), fn("abs", J)),
     "substring(s, CASE i WHEN 0 THEN 1 ELSE abs(i) END, abs(j))"),
    (fn("left", S, 2), "left(s, 2)"),
    (fn("left", S, fn("abs", I)), "left(s, abs(i))"),
    (fn("right", S, 2), "right(s, 2)"),
    (fn("concat", S, "-", I), "s || '-' || i"),
    (fn("concat_ws", "+", S, U, I), "concat_ws('+', s, u, i)"),
    (fn("replace", S, "a", "zz"), "replace(s, 'a', 'zz')"),
    (fn("translate", S, "abX語", "xy"), "translate(s, 'abX語', 'xy')"),
    (fn("translate", S, "ab", "ba"), "translate(s, 'ab', 'ba')"),
    (fn("overlay", S, U, 2), "substring(s, 1, 1) || u || substring(s, 2 + length(u))"),
    (fn("overlay", S, "#", 2, 0), "substring(s, 1, 1) || '#' || substring(s, 2)"),
    (fn("regexp_count", S, "[a-c]|,"), "len(regexp_extract_all(s, '[a-c]|,'))::INT"),
    (fn("lpad", S, 4, "xy"), "lpad(s, 4, 'xy')"),
    (fn("rpad", S, 4, "xy"), "rpad(s, 4, 'xy')"),
    (fn("startswith", S, "a"), "starts_with(s, 'a')"),
    (fn("startswith", S, U), "starts_with(s, u)"),
    (fn("endswith", S, U), "ends_with(s, u)"),
    (fn("endswith", S, "b"), "ends_with(s, 'b')"),
    (fn("contains", S, "本"), "contains(s, '本')"),
    (fn("instr", S, "語"), "instr(s, '語')"),
    (fn("position", "b", S), "position('b' IN s)"),
    (fn("split_part", S, ",", 2), "split_part(s, ',', 2)"),
    (fn("split_part", S, ",", -1), "split_part(s, ',', -1)"),
    (fn("split_index", S, ",", 1), "CASE WHEN s <> '' THEN string_split(s, ',')[2] END"),
    (fn("regexp_replace", S, "[a-c]+", "<$1>".replace("$1", "")),
     "regexp_replace(s, '[a-c]+', '<>', 'g')"),
    (fn("regexp_replace", S, "(a)(.)", "$2$1"), r"regexp_replace(s, '(a)(.)', '\2\1', 'g')"),
    (fn("regexp_extract", S, "(.)([bX])", 2), "regexp_extract(s, '(.)([bX])', 2)"),
    (fn("repeat", S, I), "repeat(s, i)"),
    (fn("ascii", S), "ascii(s)"),
    (fn("like", S, "a%"), "s LIKE 'a%'"),
    (fn("like", S, "_b%"), "s LIKE '_b%'"),
    (fn("like", S, "a!%b", "!"), "s LIKE 'a!%b' ESCAPE '!'"),
    (fn("ilike", S, "ZÜ%"), "s ILIKE 'ZÜ%'"),
    (fn("rlike", S, "^a.?b"), "regexp_matches(s, '^a.?b')"),
    *((fn(f, T), f"{f}(t)") for f in ("year", "quarter", "month", "week", "day", "dayofyear")),
    *((fn(f, T), f"{f}(t)") for f in ("hour", "minute", "second")),
    (fn("year", D), "year(d)"),
    (fn("dayofweek", T), "dayofweek(t) + 1"),
    (fn("weekday", T), "isodow(t) - 1"),
    *((fn("date_trunc", u, T), f"date_trunc('{u}', t)")
      for u in ("year", "quarter", "month", "week", "day", "hour", "minute", "second")),
    (fn("date_trunc", "month", D), "date_trunc('month', d)::TIMESTAMP"),
    (fn("date_format", T, "yyyy-MM-dd HH:mm:ss.SSSSSS"), "strftime(t, '%Y-%m-%d %H:%M:%S.%f')"),
    (fn("date_format", T, "EEE d MMM yy, h:mm a"), "strftime(t, '%a %-d %b %y, %-I:%M %p')"),
    (fn("date_format", T, "EEEE 'at' MMMM DDD"), "strftime(t, '%A at %B %j')"),
    (fn("to_timestamp", fn("date_format", T, "dd/MM/yyyy HH:mm"), "dd/MM/yyyy HH:mm"),
     "date_trunc('minute', t)"),
    (fn("to_date", fn("date_format", D, "yyyyMMdd"), "yyyyMMdd"), "d"),
    (fn("unix_seconds", T), "epoch_us(t) // 1000000 - (epoch_us(t) % 1000000 < 0)::INT"),
    (fn("unix_millis", T), "epoch_us(date_trunc('milliseconds', t)) // 1000"),
    (fn("unix_micros", T), "epoch_us(t)"),
    (fn("timestamp_seconds", J), "make_timestamp(j * 1000000)"),
    (fn("timestamp_millis", J), "make_timestamp(j * 1000)"),
    (fn("timestamp_micros", J), "make_timestamp(j)"),
    (fn("timestamp_nanos", J), "make_timestamp(j // 1000 - (j % 1000 < 0)::INT)"),
    (fn("add_months", D, I), "(d + to_months(i))::DATE"),
    (fn("last_day", D), "last_day(d)"),
    (fn("make_date", fn("+", I, 2000), fn("month", T), 28), "make_date(2000 + i, month(t), 28)"),
    (fn("md5", S), "md5(s)"),
    (fn("sha1", S), "sha1(s)"),
    (fn("sha2", S, 256), "sha256(s)"),
    (fn("from_utc_timestamp", T, "Europe/Berlin"), "timezone('Europe/Berlin', t::TIMESTAMPTZ)"),
    (fn("to_utc_timestamp", T, "+09:00"), "t - INTERVAL '9' HOUR"),
    (
        fn("make_timestamp", fn("year", T), 2, 3, 4, fn("minute", T), 5.25),
        "make_timestamp(year(t), 2, 3, 4, minute(t), 5.25)",
    ),
    (fn("timestampadd", "month", J, T), "t + to_months(j::INT)"),
    (fn("timestampadd", "hour", J, T), "t + to_hours(j)"),
    (fn("timestampdiff", "month", R, T), "datesub('month', r, t)"),
    (fn("timestampdiff", "hour", R, T), "datesub('hour', r, t)"),
    (fn("date_part", "isodow", T), "isodow(t)"),
    (fn("date_part", "isoyear", T), "isoyear(t)"),
    (fn("date_part", "epoch", T), "epoch(t)"),
    (fn("date_add", D, I), "d + i"),
    (fn("date_sub", D, I), "d - i"),
    (fn("+", D, 3), "d + 3"),
    (fn("-", D, I), "d - i"),
    (fn("datediff", D, E), "date_diff('day', e, d)"),
    (fn("+", T, HOUR), "t + INTERVAL 1 HOUR"),
    (fn("-", T, fn("*", I, HOUR)), "t - i * INTERVAL 1 HOUR"),
    (fn(">", fn("-", T, R), HOUR), "epoch_us(t) - epoch_us(r) > 3600000000"),
    (fn(">=", T, "1990-01-01 12:30"), "t >= TIMESTAMP '1990-01-01 12:30:00'"),
    (fn("<", D, "1990-01-01"), "d < DATE '1990-01-01'"),
    (cast(I, pa.string()), "i::VARCHAR"),
    (cast(J, pa.float64()), "j::DOUBLE"),
    (cast(I, pa.bool_()), "i::BOOLEAN"),
    (cast(B, pa.int32()), "b::INT"),
    (cast(B, pa.string()), "b::VARCHAR"),
    (cast(X, pa.int64()), "trunc(x)::BIGINT"),
    (cast(X, pa.decimal128(10, 3)), "x::DECIMAL(10, 3)"),
    (cast(S, pa.float64()), "TRY_CAST(s AS DOUBLE)"),
    (cast(S, pa.int32()), "CASE WHEN regexp_full_match(s, '[+-]?[0-9]+') THEN s::INT END"),
    (cast(S, pa.decimal128(6, 1)), "TRY_CAST(s AS DECIMAL(6, 1))"),
    (cast(T, pa.date32()), "t::DATE"),
    (cast(D, TIMESTAMP), "d::TIMESTAMP"),
    (cast(D, pa.string()), "d::VARCHAR"),
    (cast(T, pa.string()), "rtrim(rtrim(strftime(t, '%Y-%m-%d %H:%M:%S.%f'), '0'), '.')"),
    (cast(cast(T, pa.string()), TIMESTAMP), "t"),
    (fn("+", cast(X, pa.decimal128(10, 3)), J), "x::DECIMAL(10, 3) + j"),
    (fn("*", cast(I, pa.decimal128(4, 1)), cast(Y, pa.decimal128(4, 1))), "i * y"),
]  # fmt: skip


@pytest.mark.parametrize(("expr", "sql"), AGREE, ids=[sql for _, sql in AGREE])
def test_agrees_with_duckdb(expr: Expr, sql: str, duck: duckdb.DuckDBPyConnection) -> None:
    ours = evaluate(expr)
    theirs = [row[0] for row in duck.execute(f"SELECT {sql} FROM t").fetchall()]
    if pa.types.is_floating(expr.type):
        theirs = [float(v) if v is not None else None for v in theirs]
    if pa.types.is_decimal(expr.type):
        theirs = [Decimal(str(v)) if v is not None else None for v in theirs]
    same(ours, theirs)


BITS = ("&", "|", "~", "bit_count", "shiftleft", "shiftright", "shiftrightunsigned")


def test_every_kernel_is_compared_somewhere() -> None:
    used = {e.function for top, _ in AGREE for e in _calls(top)}
    of_spark = {
        *LIST_KERNELS,
        *TEXTS_KERNELS,
        *FALLIBLE_TEXTS,
        *JSON_READING_KERNELS,
        "time_bucket",
        *ENCODING_KERNELS,
        *FALLIBLE_ENCODINGS,
        *BITS,
        *("acosh", "asinh", "atanh", "cot", "csc", "sec", "rint", "factorial"),
        "to_json",
        "truncate",
        "crc32",
        "hash",
        "months_between",
        "width_bucket",
        "xxhash64",
    }
    elsewhere = {
        "initcap",
        *of_spark,
        *NESTED_KERNELS,
        *FALLIBLE_NESTED,
        *MAP_KERNELS,
        *FALLIBLE_MAPS,
        *JSON_KERNELS,
        *SORT_KEY_KERNELS,
    }
    assert used | elsewhere == (set(KERNELS) | set(FALLIBLE_KERNELS)) - set(TOLERANT_KERNELS)
    inner = {
        *("array_reverse", "try_date_add", "value_of_key", "whole_months", *SORT_KEY_KERNELS),
        *("same_parts", "sequence_of_months"),
    }
    assert {*KERNELS, *FALLIBLE_KERNELS} <= {*FUNCTIONS} | inner


def _calls(expr: Expr) -> list[Call]:
    below = [c for a in expr.args for c in _calls(a)]
    return [expr, *below] if isinstance(expr, Call) else below


def test_empty_input() -> None:
    empty = TABLE.slice(0, 0)
    for expr, _ in AGREE:
        assert len(evaluate(expr, empty)) == 0


def test_sliced_input_gives_the_same_rows() -> None:
    part = pa.Table.from_batches([TABLE.combine_chunks().to_batches()[0].slice(37, 101)])
    for expr, sql in AGREE:
        expected = evaluate(expr).slice(37, 101)
        same_values = evaluate(expr, part).to_pylist()
        assert repr(same_values) == repr(expected.to_pylist()), sql


VALUES: list[tuple[pa.DataType, list[Any], str, list[Any], list[Any]]] = [
    # type of the column, its values, function, further arguments, expected
    (pa.int64(), [7, -7], "div", [-1], [-7, 7]),
    (pa.int64(), [-(2**63), -7], "%", [-1], [0, 0]),
    (pa.float64(), [0.0, -0.0, math.nan], "in", [0.0, 5.0], [True, True, False]),
    (pa.float64(), [0.0, -math.nan, None], "in", [math.nan, 5.0], [False, True, None]),
    (pa.float64(), [0.0, math.nan], "in", [None, math.nan], [None, True]),
    (pa.float64(), [2.5, -2.5, 0.5], "round", [], [3.0, -3.0, 1.0]),
    (pa.float64(), [1e18, -1e18, math.nan], "floor", [], [10**18, -(10**18), 0]),
    (pa.float64(), [-1.0, 0.0], "ln", [], [None, None]),
    (pa.string(), ["it's a dAY", "", None, "über x"], "initcap", [],
     ["It's A Day", "", None, "Über X"]),
    (pa.string(), ["abcde", "ab", None], "substring", [-3, 2], ["cd", "a", None]),
    (pa.string(), ["abc"], "substring", [0, 2], ["ab"]),
    (pa.string(), ["abc"], "substring", [2, -1], [""]),
    (pa.string(), ["abc"], "left", [-1], [""]),
    (pa.string(), ["abc"], "right", [-1], [""]),
    (pa.string(), ["a,b"], "split_part", ["", 1], ["a,b"]),
    (pa.string(), ["a//é", "/b", "c", "", None], "split_index", ["/", 0],
     ["a", "", "c", None, None]),
    (pa.string(), ["a//é", "/b", "c", "", None], "split_index", ["/", 2],
     ["é", None, None, None, None]),
    (pa.string(), ["a,, b, c"], "split_index", [", ", 2], ["c"]),
    (pa.string(), ["a,b"], "split_index", [",", -1], [None]),
    (pa.string(), ["a,b"], "split_index", [",", 2**31 - 1], [None]),
    (pa.string(), ["a,b"], "split_index", [",", None], [None]),
    (pa.string(), ["a,b", ""], "split_index", ["", 0], ["a,b", None]),
    (pa.string(), ["é", "語", "𝄞", "", None], "ascii", [], [233, 35486, 119070, 0, None]),
    (pa.string(), ["abc"], "lpad", [2], ["ab"]),
    (pa.string(), ["a\nb"], "like", ["a%b"], [True]),
    (pa.string(), ["a\\b"], "like", [r"a\\b"], [True]),
    (pa.string(), ["a\\b", "a\\\\b", "ab"], "like", [r"a\\b%"], [True, False, False]),
    (pa.string(), ["xa\\", "xa\\\\", None], "like", [r"%a\\"], [True, False, None]),
    (pa.string(), ["x\nA\\By"], "ilike", [r"%_a\\b%"], [True]),
    (pa.string(), ["x-1"], "regexp_extract", [r"(\w)-(\d)", 0], ["x-1"]),
    (pa.string(), ["a$"], "regexp_replace", [r"\$", r"\$\\"], ["a$\\"]),
    (pa.string(), ["a"], "replace", ["", "x"], ["a"]),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "values", "name", "args", "expected"), VALUES)
def test_spark_values(
    type_: pa.DataType, values: list[Any], name: str, args: list[Any], expected: list[Any]
) -> None:
    table = pa.table({"v": pa.array(values, type_)})
    assert evaluate(fn(name, column("v", table), *args), table).to_pylist() == expected


def test_constants_are_broadcast() -> None:
    assert evaluate(lit("a")).to_pylist() == ["a"] * TABLE.num_rows
    assert evaluate(fn("+", fn("*", 2, 3), 1)).to_pylist() == [7] * TABLE.num_rows
    assert evaluate(lit(None)).null_count == TABLE.num_rows


def test_instants_beyond_the_years_of_python() -> None:
    far = cast(Literal(pa.int64(), 5 * 10**11), TIMESTAMP)
    assert evaluate(fn("year", far)).to_pylist() == [17814] * TABLE.num_rows


@pytest.mark.parametrize("position", range(-5, 6))
@pytest.mark.parametrize("length", [None, -1, 0, 1, 3, 9])
def test_substring_is_the_same_by_column_and_by_constant(position: int, length: int | None) -> None:
    bounds = [position] if length is None else [position, length]
    zero = fn("-", fn("coalesce", I, 0), fn("coalesce", I, 0))
    by_column = evaluate(fn("substring", S, *(fn("+", zero, b) for b in bounds)))
    assert evaluate(fn("substring", S, *bounds)).equals(by_column)


def test_predicate_is_false_for_null() -> None:
    for expr in (fn(">", I, 0), fn("or", B, None), lit(True), cast(lit(None), pa.bool_())):
        answer = compile_predicate(expr)(Rows(TABLE))
        assert answer.dtype == np.bool_
        assert answer.tolist() == [v is True for v in evaluate(expr).to_pylist()]


def test_fast_path_costs_little_more_than_the_kernel() -> None:
    """A column is handed to Arrow as it is: no copy, no fill, no cast of equal types."""
    assert evaluate(J).equals(Rows(TABLE).column(1))
    node = compile_expr(ColumnRef(pa.int64(), 1, "j"))
    rows = Rows(TABLE)
    assert node(rows).buffers()[1].address == rows.column(1).buffers()[1].address


def test_cube_roots_of_cubes_are_exact_on_any_machine() -> None:
    roots = [0.0, 1.0, 3.0, 5.0, 7.0, 13.0, 1e5, 2097152.0, 0.5, 1e100]
    roots = [*roots, *(-r for r in roots), math.inf, -math.inf]
    cubes = pa.array([r * r * r for r in roots[:-2]] + roots[-2:], pa.float64())
    call = fn("cbrt", X)
    assert isinstance(call, Call)
    kernel = KERNELS["cbrt"](call)
    found = kernel(cubes)
    assert found.to_pylist()[:20] == roots[:20]
    assert found.to_pylist()[-2:] == [math.inf, -math.inf]
    (largest,) = kernel(pa.array([1.7e308])).to_pylist()
    assert math.isclose(largest, 1.7e308 ** (1 / 3), rel_tol=1e-12)
