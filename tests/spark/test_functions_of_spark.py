"""Functions of the calendar, of text and of numbers give what Spark gives, for generated values."""

from __future__ import annotations

import datetime as dt
import math
import random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline import Engine
from eddyline.algebra.functions.zone_rules import zone_rules

pytestmark = pytest.mark.spark

UNITS = ("MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK")
MONTHS = ("MONTH", "QUARTER", "YEAR")
PARTS = (
    *("year", "yearofweek", "quarter", "month", "week", "day", "dayofweek", "dow", "dayofweek_iso"),
    *("doy", "hour", "minute"),
)
ZONES = (
    *("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Africa/Cairo"),
    *(
        "America/Sao_Paulo",
        "Pacific/Apia",
        "Europe/Dublin",
        "UTC",
        "+05:30",
        "UTC-3",
        "Asia/Tehran",
    ),
)
URL_PARTS = ("PROTOCOL", "HOST", "PATH", "QUERY", "REF", "AUTHORITY", "FILE", "USERINFO")
EXPRESSIONS = (
    *(f"timestampadd({unit}, n, t)" for unit in (*UNITS, *MONTHS)),
    *(f"timestampdiff({unit}, t, u)" for unit in (*UNITS, *MONTHS)),
    *(f"extract({part} FROM t)" for part in PARTS),
    *(f"date_part('{part}', t)" for part in PARTS),
    *("dateadd(MONTH, n, t)", "date_add(DAY, n, t)", "datediff(YEAR, t, u)"),
    *("add_months(d, n)", "add_months(date_add(d, 20), -n)", "last_day(d)"),
    *("make_date(1900 + n, 1 + pmod_n, 28)", "make_date(2024, 2, 29)"),
    *("unix_timestamp(t)", "to_unix_timestamp(t)", "from_unixtime(n * 100000)"),
    *("from_unixtime(n, 'yyyy-MM-dd')", "to_unix_timestamp('2024-02-29', 'yyyy-MM-dd')"),
    *("date_format(t, 'yyyy')", "regexp_count(s, 'a|b')", "regexp_count(s, 'é+')"),
    *("translate(s, 'abé', 'xy')", "translate(s, 'aab', 'xyz')", "translate(s, 'ab', 'ba')"),
    *("translate(s, '', 'x')", "translate(s, 'a', '')", "overlay(s, '#', 2)"),
    *(
        "overlay(s PLACING '##' FROM 3)",
        "overlay(s PLACING s FROM 2 FOR 1)",
        "overlay(s, '', 1, 2)",
    ),
    *("overlay(s, 'x', 2, -1)", "overlay(s, 'x', -1, 1)", "substring(s FROM 2 FOR 2)"),
    *("substring(s FROM 2)", "position('b' IN s)", "trim(BOTH 'a' FROM s)", "trim(LEADING FROM s)"),
    *("trim(TRAILING 'b' FROM s)", "trim('a' FROM s)", "trim(s)"),
    *("t + INTERVAL '1' MONTH", "t - INTERVAL '1-2' YEAR TO MONTH", "INTERVAL 1 YEAR 2 MONTHS + t"),
    *("d + INTERVAL '13' MONTHS", "d - INTERVAL 2 YEARS", "t + INTERVAL '1 day 2 hours'"),
    *("t - INTERVAL '1 02:03:04.5' DAY TO SECOND", "t + INTERVAL '-02:30' HOUR TO MINUTE"),
    *("t + INTERVAL 1 DAY 2 HOURS", "t + INTERVAL '1 year' - INTERVAL '3 weeks 5 seconds'"),
    *(f"from_utc_timestamp(t, '{zone}')" for zone in ZONES),
    *(f"to_utc_timestamp(t, '{zone}')" for zone in ZONES),
    *(f"CAST(convert_timezone('America/New_York', '{zone}', t) AS TIMESTAMP)" for zone in ZONES),
    "CAST(convert_timezone('Asia/Tokyo', t) AS TIMESTAMP)",
    *("md5(s)", "sha1(s)", "sha(long_s)", "sha2(long_s, 0)", "sha2(s, 224)", "sha2(s, 256)"),
    *("sha2(s, 384)", "sha2(long_s, 512)", "crc32(s)", "crc32(long_s)", "md5(long_s)"),
    *("hash(s)", "hash(n, s, x)", "hash(long_s, t, d)", "hash(i, x > 0, CAST(x AS FLOAT))"),
    *("xxhash64(s)", "xxhash64(n, long_s, x)", "xxhash64(t, d, s)", "xxhash64(x > 0, i, n)"),
    *("hash(CAST(n AS DECIMAL(10, 2)))", "xxhash64(CAST(n AS DECIMAL(10, 2)), NULL)", "hash(NULL)"),
    *("make_timestamp(1900 + n, 1 + pmod_n, 28, pmod_n, 59, x * x % 60)",),
    *(
        "make_timestamp(2024, 2, 29, 23, 59, 60)",
        "make_timestamp(2024, 2, 29, 3, 9, 1.5, 'Asia/Tokyo')",
    ),
    *("months_between(t, u)", "months_between(t, u, false)", "months_between(d, t)"),
    *("last_day(t)", "add_months(t, n)", "date_add(t, n)", "date_sub(t, 3)", "next_day(d, 'Mon')"),
    *(
        "next_day(t, 'SU')",
        "dayname(t)",
        "monthname(d)",
        "typeof(x)",
        "typeof(array(n))",
        "typeof(t)",
    ),
    *("width_bucket(x, -2, 2, 7)", "width_bucket(x, 2, -2, 7)", "width_bucket(x, 1, 1, 3)"),
    *("width_bucket(n, 0, 40, pmod_n)", "regexp_substr(s, 'a+')", "typeof(named_struct('a', s))"),
    *("get_json_object(j, '$.a')", "get_json_object(j, '$.a.b')", "get_json_object(j, '$.c[1]')"),
    *("sort_array(split(s, 'a'))", "sort_array(array(n, NULL, pmod_n), false)", "sort_array(ns)"),
    *("array_sort(array(x, NULL, 0.0, CAST('NaN' AS DOUBLE)))", "array_max(ns)", "array_min(ns)"),
    *("array_max(array(x, CAST('NaN' AS DOUBLE), NULL))", "array_min(split(s, 'a'))"),
    *("array_max(array(x, -x))", "array_position(ns, 3)", "array_position(ns, n)"),
    *(
        "array_position(split(s, 'a'), 'b')",
        "slice(ns, 2, 2)",
        "slice(ns, -2, 5)",
        "slice(ns, 1, 0)",
    ),
    *("slice(split(s, 'a'), -3, 1)", "array_sort(ns)", "array_append(ns, n)"),
    *("array_prepend(ns, NULL)", "array_append(split(s, 'a'), s)", "array_repeat(s, 3)"),
    *("array_repeat(ns, 2)", "array_repeat(n, -1)", "array_prepend(array(n), n + 1)"),
    *("array_distinct(ns)", "array_distinct(split(s, 'a'))", "array_compact(array(n, NULL, n))"),
    *("array_distinct(array(x, -x, 0.0, NULL, NULL))", "array_remove(ns, 3)"),
    *("array_remove(ns, n)", "array_union(ns, array(n, NULL))", "array_union(array(x), array(-x))"),
    *("array_intersect(ns, array(1, NULL, n))", "array_except(ns, array(n, 3))"),
    *("array_except(split(s, 'a'), array('b', NULL))", "arrays_overlap(ns, array(n, 1))"),
    *("arrays_overlap(array(n, NULL), array(n + 1))", "arrays_overlap(split(s, 'a'), array(s))"),
    *("flatten(array(ns, array(n), ns))", "flatten(array(split(s, 'a'), split(s, 'b')))"),
    *("concat(ns, array(n), ns)", "split(s, 'a') || array(s)", "array(n) || ns || array(n + 1)"),
    *("concat(ns, array(CAST(NULL AS INT)))", "reverse(ns)", "reverse(split(s, 'a'))"),
    *("cbrt(x)", "hypot(x, n)", "expm1(x)", "log1p(x)", "sinh(x)", "cosh(x)", "tanh(x)", "e()"),
    *("hex(s)", "hex(long_s)", "hex(CAST(s AS BINARY))", "hex(n)", "hex(CAST(n AS BIGINT) * i)"),
    *("unhex(hex(s))", "unhex(s)", "unhex('abc')", "unhex(substring(hex(long_s), 2))", "bin(n)"),
    *("base64(CAST(s AS BINARY))", "base64(CAST(long_s AS BINARY))", "bin(i - 200)", "chr(n * 7)"),
    *("unbase64(base64(CAST(s AS BINARY)))", "unbase64(base64(CAST(long_s AS BINARY)))"),
    *("unbase64('YW J\nj')", "unbase64('YQ')", "url_encode(s)", "url_encode(long_s)"),
    *("url_decode(url_encode(s))", "url_decode('a+%C3%A9%2b')", "url_decode(long_s)"),
    *("octet_length(s)", "bit_length(long_s)", "octet_length(CAST(s AS BINARY))", "char(i)"),
    *("encode(s, 'UTF-8')", "decode(CAST(s AS BINARY), 'utf-8')", "decode(n, 1, 'a', NULL, 'b')"),
    *("decode(s, 'a', 1, 'ab', 2, 3)", "elt(1 + abs(n) % 3, s, long_s, 'x')", "positive(n)"),
    *("find_in_set(s, 'ab,,a')", "find_in_set('a', s)", "find_in_set('a,b', 'a,b')"),
    *("regexp_instr(s, 'b')", "regexp_instr(s, 'é|a')", "regexp_instr(s, '^$')", "factorial(n)"),
    *("regexp_instr(long_s, '日')", "asinh(x)", "acosh(x)", "acosh(abs(x) + 1)", "atanh(x / 10)"),
    *("cot(x)", "sec(x)", "csc(x)", "rint(x)", "rint(n / 2)", "shiftrightunsigned(n, pmod_n)"),
    *("shiftrightunsigned(i - 200, 60)", "shiftrightunsigned(n, 33)", "bit_get(n, 31)"),
    *("contains(s, long_s)", "contains(long_s, s)", "instr(long_s, s)", "instr(s, long_s)"),
    *("locate(s, long_s)", "locate('a', s, 2)", "locate(s, long_s, n)", "locate('', s, pmod_n)"),
    *("split(s, 'a', 2)", "split(s, 'a', 1)", "split(s, 'a|b', -1)"),
    *("replace(s, 'a')", "regexp_extract_all(s, '(a)(b?)', 2)", "regexp_extract_all(s, '([a-z])')"),
    *("regexp_extract_all(long_s, 'aé+', 0)", "levenshtein(s, long_s)", "levenshtein(s, 'abb')"),
    *("levenshtein(s, 'abb', 2)", "mask(s)", "mask(long_s, '*', '#', '+', '-')", "printf('a')"),
    *("mask(s, NULL, 'x', 'n', '?')", "format_string('%s-%d%%', s, n)", "printf('%s', x > 0)"),
    *(f"parse_url(url, '{part}')" for part in URL_PARTS),
    *("parse_url(url, 'QUERY', 'q')", "parse_url(url, 'QUERY', 'a.b')", "try_parse_url(s, 'PATH')"),
    *("to_binary(s, 'utf-8')", "to_binary(hex(s))", "to_binary('YQ==', 'base64')"),
    *("s LIKE ANY ('a%', '%é')", "s NOT LIKE ALL ('a%', '%é')", "s NOT LIKE ANY ('a%', '%é')"),
    *("s LIKE ALL ('%a%', '%b%')", "s ILIKE ANY ('A%')", "make_dt_interval(n, pmod_n, 3, 4.5)"),
    *("make_dt_interval()", "transform_keys(map(coalesce(s, 'k'), n), (k, v) -> concat(k, 'x'))"),
    *("json_array_length(j)", "json_object_keys(j)", "from_json(j, 'a STRING, c ARRAY<STRING>')"),
    *("from_json(k, 'a INT, b DOUBLE, c BOOLEAN, d DATE, e DECIMAL(5, 1), t TIMESTAMP')",),
    *("from_json(k, 'a STRING, l ARRAY<STRUCT<x: BIGINT, y: STRING>>, m MAP<STRING, INT>')",),
    *("from_json(k, 'MAP<STRING, STRING>')", "from_json(l, 'ARRAY<ARRAY<INT>>')"),
    *("try_url_decode(s || '%')", "try_make_timestamp(2024, n, pmod_n, 1, 2, 3.5)"),
    *(
        "CAST(to_timestamp_ntz('2024-02-29 01:02:03') AS TIMESTAMP)",
        "get_json_object(k, '$.l[0].x')",
    ),
    *("getbit(i, 3)", "int(x)", "string(n)", "double(n)", "date(t)", "boolean(n)", "bigint(x)"),
)
JSON = (
    *('{"a":{"b":[1,2]},"c":[1,"x"]}', '{"a":"t\\u00e9\\n","c":[]}', '{"a":null}', "[1]", "{", ""),
    *('{"a":true,"c":[0,{"d":2}]}', '{"a":{"b":"y"}}', '{"a":12,"c":[null,3.5]}'),
)
#: JSON of values of many types, right and wrong, and of lists.
RECORDS = (
    '{"a":1,"b":2.5,"c":true,"d":"2024-02-29","e":12.3,"t":"2024-02-29T01:02:03Z"}',
    '{"a":"1","b":3,"c":"true","d":20,"e":"1.5","t":1}',
    '{"a":2147483648,"b":"NaN","c":1,"d":"x","e":12345.6,"t":"x"}',
    '{"b":3,"a":-7,"c":null,"e":7,"l":[{"x":1,"y":"a"},null,{"y":"é\\n"},{"x":"z"}],"m":{"p":1}}',
    '{"l":[],"m":{},"a":null}',
    '{"l":{"x":1},"m":[1],"b":"Infinity"}',
    '{"m":{"p":null,"q":2},"a":[1,2]}',
    *("{}", "null", "3"),
)
LISTS = ("[[1,2],[],null]", "[]", "null", "[[3]]", "{}", "[[null]]")
URLS = (
    *("http://u:p@example.com:8080/a/b.html?q=1&a.b=x%20y#top", "https://example.com", "/a/b?c"),
    *("http://1.2.3.4/?q=", "mailto:a@b.c", "http://[::1]:80/x", "file:///etc/hosts", "a b"[:1]),
    *("http://a_b/c", "ftp://h/d;x?q=1&q=2#", "//h/p", "?q=5", "#r", "http://h?x", "HTTP://H/é"),
)
DAY_US = 86_400_000_000


def rows(seed: int, count: int) -> pa.Table:
    rng = random.Random(seed)

    def maybe(value: Any) -> Any:
        return None if rng.random() < 0.1 else value

    def moment() -> int:
        """Often at the ends of months, at midnight and where the offset of a zone changes, before
        and after 1970.
        """
        if rng.random() < 0.25:
            changes = zone_rules(rng.choice(ZONES[:8])).changes[1:400]
            near = int(rng.choice(changes)) + rng.randrange(-14 * 3_600, 14 * 3_600)
            return near * 1_000_000 + rng.choice([0, -1, 1])
        day = dt.date(rng.randrange(1900, 2100), rng.randrange(1, 13), 1).toordinal() - 719_163
        day += rng.choice([-1, 0, rng.randrange(31)])
        return day * DAY_US + rng.choice([0, 1, DAY_US - 1, rng.randrange(DAY_US)])

    texts = ["", "a", "ab", "aab", "bba é", "ééa", "aXb\uf8ff", "日本語ab", " pad "]
    columns = {
        "t": pa.array([maybe(moment()) for _ in range(count)], pa.timestamp("us", "UTC")),
        "u": pa.array([maybe(moment()) for _ in range(count)], pa.timestamp("us", "UTC")),
        "d": pa.array([maybe(moment() // DAY_US) for _ in range(count)], pa.int32()).cast(
            pa.date32()
        ),
        "n": pa.array([maybe(rng.randrange(-50, 50)) for _ in range(count)], pa.int32()),
        "pmod_n": pa.array([rng.randrange(12) for _ in range(count)], pa.int32()),
        "x": pa.array([maybe(rng.choice([0.0, -1.0, rng.gauss(0, 3)])) for _ in range(count)]),
        "s": pa.array([maybe(rng.choice(texts)) for _ in range(count)]),
        "long_s": pa.array([maybe(rng.choice("aé日") * rng.randrange(200)) for _ in range(count)]),
        "ns": pa.array(
            [
                maybe([maybe(rng.randrange(5)) for _ in range(rng.randrange(5))])
                for _ in range(count)
            ],
            pa.list_(pa.int32()),
        ),
        "j": pa.array([maybe(rng.choice(JSON)) for _ in range(count)]),
        "i": pa.array(range(count), pa.int64()),
        "url": pa.array([maybe(rng.choice(URLS)) for _ in range(count)]),
        "k": pa.array([maybe(rng.choice(RECORDS)) for _ in range(count)]),
        "l": pa.array([maybe(rng.choice(LISTS)) for _ in range(count)]),
    }
    return pa.table(columns)


def test_values_are_those_of_spark(spark: SparkSession) -> None:
    table = rows(1, 400)
    names = [f"v{i}" for i in range(len(EXPRESSIONS))]
    listed = ", ".join(f"{e} AS {n}" for e, n in zip(EXPRESSIONS, names, strict=True))
    frame = spark.createDataFrame(table)
    frame.createOrReplaceTempView("values_of_functions")
    theirs = spark.sql(f"SELECT {listed} FROM values_of_functions ORDER BY i").toArrow()
    engine = Engine()
    engine.sql(
        "CREATE STREAM r (t TIMESTAMP, u TIMESTAMP, d DATE, n INT, pmod_n INT, x DOUBLE, s STRING, "
        "long_s STRING, ns ARRAY<INT>, j STRING, i BIGINT, url STRING, k STRING, l STRING, "
        "ts TIMESTAMP) TIMESTAMP BY ts"
    )
    engine.query(f"SELECT i, {listed} FROM r [NOW]", name="q")
    ts = pa.array([0] * len(table), pa.timestamp("us", "UTC"))
    changes = engine.process({"r": table.append_column("ts", ts)})
    assert not changes.bad
    ours = changes["q"].sort_by("i")
    for expression, name in zip(EXPRESSIONS, names, strict=True):
        expected, found = theirs[name].to_pylist(), ours[name].to_pylist()
        assert len(expected) == len(found) == 400
        different = [
            (row, e, f)
            for row, e, f in zip(table.to_pylist(), expected, found, strict=True)
            if not same(e, f)
        ]
        assert not different, (expression, different[:3])


def same(a: Any, b: Any) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-300) or (a != a and b != b)
    return bool(a == b)
