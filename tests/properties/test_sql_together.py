"""Queries that use all of the language together: the answer at every instant is DuckDB's.

A query is made of queries: each reads streams in their windows, tables, or queries like it, and has
the columns k and x.
"""

from __future__ import annotations

import os
from random import Random
from typing import Any, Final

import pyarrow as pa
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from eddyline.errors import SqlError
from eddyline.testing.script import Script
from eddyline.testing.strategies import OPTIONS
from thinned import more_when_long
from window_rows import rows

DDL: Final = """\
CREATE STREAM s (ts TIMESTAMP, k STRING, x BIGINT) TIMESTAMP BY ts;
CREATE STREAM r (ts TIMESTAMP, k STRING, x BIGINT) TIMESTAMP BY ts;
CREATE TABLE t (k STRING, x BIGINT);
CREATE TABLE w (k STRING, s STRING, w BIGINT) WITH (updates = 'retroactive')"""
TABLE: Final = pa.table({"k": ["a", "b", "b", None], "x": pa.array([1, None, 2, 3], pa.int64())})
WINDOWS: Final = (
    *("[RANGE 1 SECOND]", "[RANGE 2 SECONDS]", "[RANGE 300001 MICROSECONDS]", "[ROWS 4]"),
    *("[PARTITION BY k ROWS 2]", "[NOW]"),
)
FIXED: Final = ("[TUMBLE 1 SECOND]", "[HOP 2 SECONDS EVERY 1 SECOND]", "[TUMBLE 700 MILLISECONDS]")
SESSIONS: Final = ("[SESSION 500 MILLISECONDS BY k]", "[SESSION 300 MILLISECONDS]")
VALUES: Final = (
    *("x", "x", "x + 1", "-x", "x % 3", "COALESCE(x, 7)", "ABS(x - 2)", "NULLIF(x, 2)"),
    *("CASE WHEN x > 1 THEN x ELSE 0 END", "LENGTH(k) + x", "GREATEST(x, 2)"),
    *("INSTR(CONCAT('ab', k), k)", "LEVENSHTEIN(k, 'ab')"),
    "CASE WHEN CONTAINS('xa', k) THEN 1 ELSE x END",
)
NAMES: Final = ("k", "k", "k", "COALESCE(k, 'z')", "CASE WHEN x = 1 THEN 'a' ELSE k END")
CONDITIONS: Final = (
    *("x > 0", "x IS NOT NULL", "k <> 'b'", "x IN (1, 2, 5)", "x BETWEEN 1 AND 4", "k LIKE 'a%'"),
    *("NOT (x = 2)", "x <> 3 OR k = 'a'", "k IS NULL OR x < 3"),
)
AGGREGATES: Final = (
    *("COUNT(*)", "SUM(x)", "MIN(x)", "MAX(x)", "COUNT(DISTINCT x)", "SUM(x) - COUNT(x)"),
    *("COUNT(*) FILTER (WHERE x > 1)", "CAST(AVG(x) * 4 AS BIGINT)", "CAST(MEDIAN(x) AS BIGINT)"),
    *("CASE WHEN BOOL_OR(x > 2) THEN 1 ELSE 0 END", "SUM(DISTINCT x)"),
    "CASE WHEN PRODUCT(x) > 5 THEN 1 ELSE 0 END",
)
RANKS: Final = ("ROW_NUMBER()", "RANK()", "DENSE_RANK()")
OF_ROWS: Final = ("LAG(x)", "LEAD(x, 2, 0)", "FIRST_VALUE(x)", "NTILE(2)", *RANKS)
#: The same with IGNORE NULLS, and values of frames.
OF_FRAMES: Final = (
    "LAG(x, 2, -1) IGNORE NULLS OVER (PARTITION BY k ORDER BY x)",
    "LEAD(x, 2) IGNORE NULLS OVER (ORDER BY k, x DESC)",
    "NTH_VALUE(x, 2) IGNORE NULLS OVER (PARTITION BY k ORDER BY x ROWS UNBOUNDED PRECEDING)",
    "NTH_VALUE(x, 2) OVER (ORDER BY x DESC, k ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)",
    "SUM(x) OVER (PARTITION BY k ORDER BY x GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW)",
    "COUNT(x) OVER (ORDER BY x DESC GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE GROUP)",
    "MAX(x) OVER (ORDER BY k GROUPS BETWEEN CURRENT ROW AND 1 FOLLOWING)",
    "NTH_VALUE(x, 2) OVER (PARTITION BY k ORDER BY x)",
    "NTH_VALUE(x, 2) OVER (ORDER BY x DESC RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
    "SUM(x) OVER (ORDER BY k ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
    "FIRST_VALUE(x) OVER (PARTITION BY k ORDER BY k DESC ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING)",
    "COUNT(x) OVER (ORDER BY k ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING EXCLUDE TIES)",
    "ROW_NUMBER() OVER (ORDER BY k)",
    "LAG(x) OVER (PARTITION BY k ORDER BY k)",
    "FIRST_VALUE(INSTR('ab', k)) OVER (ORDER BY x RANGE BETWEEN 2 PRECEDING AND CURRENT ROW)",
    "LAST_VALUE(INSTR('ba', k)) OVER (ORDER BY x DESC)",
)
RUNNING: Final = (
    "LAG(x) OVER (PARTITION BY k ORDER BY ts)",
    "SUM(x) OVER (PARTITION BY k ORDER BY ts)",
    "MAX(x) OVER (ORDER BY ts ROWS 2 PRECEDING)",
    "COUNT(*) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL '1' SECOND PRECEDING)",
    "ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts)",
    "LAG(x, 2, 0) IGNORE NULLS OVER (PARTITION BY k ORDER BY ts)",
    "NTH_VALUE(x, 2) IGNORE NULLS OVER (ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW)",
    "SUM(x) OVER (PARTITION BY k ORDER BY ts GROUPS CURRENT ROW)",
    "MAX(x) OVER (ORDER BY ts GROUPS 2 PRECEDING)",
    "NTH_VALUE(x, 2) OVER (PARTITION BY k ORDER BY ts)",
    "SUM(x) OVER (PARTITION BY k ORDER BY ts GROUPS BETWEEN 3 PRECEDING AND 1 PRECEDING)",
    "MAX(x) OVER (ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW EXCLUDE TIES)",
    "COUNT(x) OVER (PARTITION BY k ORDER BY ts RANGE UNBOUNDED PRECEDING EXCLUDE CURRENT ROW)",
    "SUM(x) OVER (ORDER BY ts RANGE BETWEEN CURRENT ROW AND INTERVAL '1' SECOND FOLLOWING)",
    "NTH_VALUE(x, 2) IGNORE NULLS OVER (ORDER BY ts RANGE INTERVAL '1' SECOND PRECEDING)",
    "FIRST_VALUE(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL '1' SECOND PRECEDING)",
    "LAST_VALUE(x) OVER (PARTITION BY k ORDER BY ts)",
)


class Maker:
    """Makes queries."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self._names = 0
        self.used: set[str] = set()

    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    def name(self) -> str:
        self._names += 1
        return f"q{self._names}"

    def where(self, share: float = 0.4) -> str:
        return f" WHERE {self.pick(*CONDITIONS)}" if self.random.random() < share else ""

    def item(self, depth: int) -> str:
        """An item of FROM, without a name."""
        if depth and self.random.random() < 0.7:
            return f"({self.select(depth - 1)})"
        pick = self.random.random()
        if pick < 0.1:
            windows = self.pick(*FIXED, *SESSIONS)
            return f"(SELECT k, x FROM {self.pick('s', 'r')} {windows})"
        return f"{self.pick('s', 'r')} {self.pick(*WINDOWS)}"

    def select(self, depth: int) -> str:
        """A SELECT, or several, with the columns k and x."""
        form = self.random.choice(_FORMS)
        self.used.add(form.__name__)
        return form(self, depth)

    def plain(self, depth: int) -> str:
        names, values = self.pick(*NAMES), self.pick(*VALUES)
        return f"SELECT {names} AS k, {values} AS x FROM {self.item(depth)} AS p{self.where()}"

    def grouped(self, depth: int) -> str:
        having = self.pick("", "", " HAVING COUNT(*) > 1", " HAVING MAX(x) > 1")
        group = self.pick("k", "k", "k", "k, x % 2")
        return (
            f"SELECT k, {self.pick(*AGGREGATES)} AS x FROM {self.item(depth)} AS p{self.where()} "
            f"GROUP BY {group}{having}"
        )

    def in_windows(self, depth: int) -> str:
        """Grouped by windows between fixed instants."""
        source = f"{self.pick('s', 'r')} {self.pick(*FIXED)}"
        return (
            f"SELECT k, {self.pick(*AGGREGATES)} AS x FROM {source} AS p{self.where()} "
            "GROUP BY k, window_start, window_end"
        )

    def in_sessions(self, depth: int) -> str:
        """Grouped by sessions, as far as they have come."""
        source = f"{self.pick('s', 'r')} {self.pick(*SESSIONS)}"
        value = self.pick(*AGGREGATES, "MINUTE(window_end) + COUNT(*)")
        group = self.pick("k", "k, window_start, window_end", "k, x % 2, window_end")
        if "window_end" in value:
            group = "k, window_end"
        return f"SELECT k, {value} AS x FROM {source} AS p{self.where()} GROUP BY {group}"

    def distinct(self, depth: int) -> str:
        return f"SELECT DISTINCT k, {self.pick(*VALUES)} AS x FROM {self.item(depth)} AS p"

    def joined(self, depth: int) -> str:
        a, b = self.name(), self.name()
        kind = self.pick("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
        more = self.pick("", "", f" AND {a}.x < {b}.x", f" AND {b}.x > 0", f" AND {a}.x = {b}.x")
        value = self.pick(f"{a}.x + {b}.x", f"COALESCE({b}.x, {a}.x)", f"{a}.x")
        return (
            f"SELECT COALESCE({a}.k, {b}.k) AS k, {value} AS x FROM {self.item(depth)} AS {a} "
            f"{kind} {self.item(depth)} AS {b} ON {a}.k = {b}.k{more}"
        )

    def with_table(self, depth: int) -> str:
        a = self.name()
        source = self.item(depth)
        return self.pick(
            f"SELECT {a}.k, w.w AS x FROM {source} AS {a} JOIN w ON {a}.k = w.k",
            f"SELECT {a}.k, t.x FROM {source} AS {a} LEFT JOIN t ON {a}.k = t.k AND {a}.x > t.x",
            f"SELECT {a}.k, {a}.x FROM {source} AS {a} WHERE {a}.k NOT IN (SELECT s FROM w)",
        )

    def filtered(self, depth: int) -> str:
        """By a sub-query."""
        a, b = self.name(), self.name()
        inner = self.item(max(depth - 1, 0))
        term = self.pick(
            f"EXISTS (SELECT 1 FROM {inner} AS {b} WHERE {b}.k = {a}.k)",
            f"NOT EXISTS (SELECT 1 FROM {inner} AS {b} WHERE {b}.k = {a}.k AND {b}.x > 1)",
            f"{a}.x IN (SELECT {b}.x FROM {inner} AS {b})",
            f"({a}.k, {a}.x) IN (SELECT {b}.k, {b}.x FROM {inner} AS {b})",
            f"({a}.k, {a}.x) NOT IN (SELECT {b}.k, {b}.x FROM {inner} AS {b} WHERE {b}.x <> 1)",
            f"{a}.x >= (SELECT MAX({b}.x) FROM {inner} AS {b} WHERE {b}.k = {a}.k)",
            f"({a}.x = 1 OR EXISTS (SELECT 1 FROM {inner} AS {b} WHERE {b}.x = {a}.x))",
        )
        return f"SELECT {a}.k, {a}.x FROM {self.item(depth)} AS {a} WHERE {term}"

    def by_times(self, depth: int) -> str:
        """By rows of a stream without a window, whose times are near."""
        a, b = self.name(), self.name()
        term = self.pick(
            f"EXISTS (SELECT 1 FROM r AS {b} WHERE {b}.k = {a}.k AND ",
            f"NOT EXISTS (SELECT 1 FROM r AS {b} WHERE {b}.k = {a}.k AND {b}.x > 0 AND ",
            f"{a}.x IN (SELECT {b}.x FROM r AS {b} WHERE ",
            f"{a}.x NOT IN (SELECT {b}.x FROM r AS {b} WHERE ",
        )
        back, ahead = (f"INTERVAL '{self.pick('0', '300', '700')}' MILLISECOND" for _ in "12")
        near = f"{b}.ts BETWEEN {a}.ts - {back} AND {a}.ts + {ahead}"
        window = self.pick("[RANGE 1 SECOND]", "[RANGE 300 MILLISECONDS]", "[NOW]")
        source, term = f"FROM s {window} AS {a}", f"{term}{near})"
        return self.pick(
            f"SELECT {a}.k, {a}.x {source} WHERE {term}",
            f"SELECT {a}.k, {a}.x {source} WHERE {a}.x = 1 OR {term}",
            f"SELECT {a}.k, CASE WHEN {term} THEN {a}.x ELSE 7 END AS x {source}",
        )

    def several(self, depth: int) -> str:
        word = self.pick("UNION ALL", "UNION ALL", "UNION", "INTERSECT", "EXCEPT")
        left, right = (f"SELECT k, x FROM {self.item(depth)} AS {self.name()}" for _ in "12")
        return f"{left} {word} {right}"

    def ordered(self, depth: int) -> str:
        """Values with OVER."""
        over = self.pick("PARTITION BY k ORDER BY x", "ORDER BY x DESC, k")
        value = f"{self.pick(*OF_ROWS)} OVER ({over})"
        if self.random.random() < 0.3:
            value = self.pick(*OF_FRAMES)
        elif self.random.random() < 0.3:
            value = f"{self.pick('COUNT(*)', 'SUM(x)', 'MAX(x)')} OVER (PARTITION BY k)"
        return f"SELECT k, {value} AS x FROM {self.item(depth)} AS p{self.where()}"

    def first(self, depth: int) -> str:
        """The first rows."""
        source = f"{self.item(depth)} AS p{self.where()}"
        rank = f"{self.pick(*RANKS)} OVER (PARTITION BY k ORDER BY x DESC)"
        return self.pick(
            f"SELECT k, x FROM {source} QUALIFY {rank} <= {self.pick('1', '2')}",
            f"SELECT k, x FROM (SELECT k, x, {rank} AS n FROM {source}) AS f WHERE n < 3",
            f"SELECT k, x FROM {source} ORDER BY x DESC, k LIMIT {self.pick('1', '3')}",
            f"SELECT DISTINCT ON (k) k, x FROM {source} ORDER BY k, x DESC",
        )

    def running(self) -> str:
        """Values of rows that only come."""
        inner = f"SELECT k, {self.pick(*RUNNING)} AS x FROM s{self.where()}"
        return self.pick(
            inner,
            f"SELECT k, {self.pick(*VALUES)} AS x FROM ({inner}) AS p{self.where(0.8)}",
            f"SELECT p.k, p.x + t.x AS x FROM ({inner}) AS p JOIN t ON p.k = t.k",
        )

    def query(self) -> str:
        if self.random.random() < 0.1:
            self.used.add("running")
            return self.running()
        return self.select(self.random.choice([0, 1, 1, 2]))


_FORMS: Final = (
    *(Maker.plain, Maker.grouped, Maker.in_windows, Maker.distinct, Maker.joined, Maker.joined),
    *(Maker.with_table, Maker.filtered, Maker.several, Maker.ordered, Maker.first),
    *(Maker.in_sessions, Maker.by_times),
)


def changed(clock: int, op: str, keys: list[str], values: list[int]) -> pa.Table:
    """Rows that come to the table, or leave it."""
    n = len(keys)
    return pa.table({"_ts": [clock] * n, "_op": [op] * n, "k": keys, "s": keys, "w": values})


def play(random: Random, sql: str, options: dict[str, Any]) -> None:
    script = Script(DDL, {"q": sql}, tables={"t": TABLE}, options=options)
    clock = 1_000_000
    script.process(w=changed(clock, "+", ["a", "b"], [1, 2]))
    for _ in range(random.randint(1, 3)):
        ends = [clock]
        for stream in random.choice([("s", "r"), ("r", "s")]):
            start = [clock]
            script.process(**{stream: rows(random, start, random.choice([1, 4, 7]), "ab")})
            ends.append(start[0])
        clock = max(ends)
        if random.random() < 0.3:
            script.process(w=changed(clock, "+", [random.choice("ab")], [random.choice([1, 3])]))
        if random.random() < 0.3:
            script.restart()
        if random.random() < 0.3:
            clock += random.choice([1, 700_000, 4_000_000])
            script.advance(clock)
    script.advance(clock + random.choice([0, 900_000, 6_000_000])).finish()


#: Which once had wrong answers, with options.
KNOWN: Final = (
    (
        "SELECT k, x FROM r [RANGE 1 SECOND] AS a "
        "UNION ALL SELECT k, x FROM r [TUMBLE 1 SECOND] AS b",
        {"chunk_rows": 3},
    ),
    (
        "SELECT a.k, a.x + b.x AS x FROM (SELECT k, CAST(MEDIAN(x) AS BIGINT) AS x "
        "FROM s [RANGE 1 SECOND] AS p GROUP BY k) AS a JOIN s [RANGE 1 SECOND] AS b ON a.k = b.k",
        {"chunk_rows": 3, "state": "negative-tuple"},
    ),
)


@pytest.mark.parametrize(("sql", "options"), KNOWN)
def test_known_cases(sql: str, options: dict[str, Any]) -> None:
    for seed in range(5):
        play(Random(seed), f"{sql} EMIT CHANGES", options)


@settings(max_examples=more_when_long(3))
@given(st.integers(0, 2**48), OPTIONS)
def test_queries_of_queries_match_the_oracle(seed: int, options: dict[str, Any]) -> None:
    random = Random(seed)
    maker = Maker(random)
    sql = f"{maker.query()} EMIT {random.choice(['CHANGES', 'SNAPSHOT EVERY 700 MILLISECONDS'])}"
    for form in maker.used:
        event(form)
    if os.environ.get("EDDYLINE_SHOW_QUERIES"):
        print(sql)
    try:
        play(random, sql, options | {"keep": {}})
    except SqlError as e:
        event(f"refused: {e.message[:60]}")
