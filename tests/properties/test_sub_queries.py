"""Sub-queries in expressions, NOT IN and LATERAL: the answer at every instant is DuckDB's."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from eddyline.testing.script import Script
from eddyline.testing.strategies import OPTIONS
from window_rows import rows

DDL = "".join(
    f"CREATE STREAM {name} (ts TIMESTAMP, k STRING, x BIGINT) TIMESTAMP BY ts;" for name in "abc"
)
DDL += "CREATE TABLE t (k STRING, x BIGINT);"
TABLE = pa.table({"k": ["a", "b", "b", None], "x": pa.array([1, None, 2, 3], pa.int64())})
WINDOWS = (
    *("[RANGE 300 MILLISECONDS]", "[RANGE 1 SECOND]", "[RANGE 500001 MICROSECONDS]"),
    *("[ROWS 2]", "[PARTITION BY k ROWS 1]", "[NOW]"),
)
AGGREGATES = (
    *("COUNT(*)", "COUNT(q.x)", "MAX(q.x)", "SUM(q.x) + 1", "COALESCE(MIN(q.x), 7)"),
    *("COUNT(DISTINCT q.x)", "COUNT(*) FILTER (WHERE q.x > 1)", "AVG(q.x)", "MAX(q.x) - COUNT(*)"),
)


class Maker:
    """Makes queries that read a [..] AS p."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.rows = "p"  #: whose columns sub-queries read

    def source(self) -> str:
        if self.random.random() < 0.15:
            return "t AS q"
        return f"{self.random.choice('bc')} {self.random.choice(WINDOWS)} AS q"

    def where(self, outer: str, *, only_equal: bool) -> str:
        """A WHERE of a sub-query."""
        terms = [f"q.k = {outer}.k"] * (self.random.random() < 0.6)
        terms += ["q.x > 0"] * (self.random.random() < 0.3)
        if self.rows == "p" and self.random.random() < 0.2:
            terms.append("p.x > 1")
        if self.rows == "p" and self.random.random() < 0.2:
            terms.append("q.x = p.x")
        if self.rows == "p" and not only_equal and self.random.random() < 0.2:
            terms.append("q.x < p.x")
        if self.random.random() < 0.1:
            terms.append("q.x IN (SELECT r.x FROM c [RANGE 1 SECOND] AS r)")
        if self.random.random() < 0.1:
            terms.append("q.x >= (SELECT MIN(r.x) FROM c [RANGE 1 SECOND] AS r WHERE r.k = q.k)")
        self.random.shuffle(terms)
        return f" WHERE {' AND '.join(terms)}" if terms else ""

    def scalar(self, outer: str) -> str:
        value = self.random.choice(AGGREGATES)
        having = " HAVING COUNT(*) > 1" if self.random.random() < 0.15 else ""
        where = self.where(outer, only_equal=True)
        group = (
            " GROUP BY q.k" if f"q.k = {outer}.k" in where and self.random.random() < 0.2 else ""
        )
        return f"(SELECT {value} FROM {self.source()}{where}{group}{having})"

    def exists(self, outer: str) -> str:
        return f"EXISTS (SELECT 1 FROM {self.source()}{self.where(outer, only_equal=False)})"

    def compared(self, outer: str, value: str) -> str:
        """A comparison with ANY or ALL, of values of which some are NULL."""
        sign = self.random.choice(["<", "<=", ">", ">=", "=", "<>"])
        word = self.random.choice(["ANY", "ALL"])
        inner = self.where(outer, only_equal=False)
        return f"{value} {sign} {word} (SELECT q.x FROM {self.source()}{inner})"

    def first(self, outer: str) -> str:
        """The first value in an order, of which those that tie are equal."""
        where = self.where(outer, only_equal=True)
        order = self.random.choice(["q.x", "q.x DESC", "q.x DESC NULLS FIRST"])
        return f"(SELECT q.x FROM {self.source()}{where} ORDER BY {order} LIMIT 1)"

    def outer(self, source: str) -> str:
        """An outer join whose ON has a sub-query, which reads one of its inputs."""
        side = self.random.choice(["LEFT", "RIGHT", "FULL"])
        self.rows = "o"  # without other conditions on p
        reader = self.random.choice(["p", "o"])
        on = self.condition(reader, f"{reader}.x", self.random.choice([0, 1]))
        other = f"b {self.random.choice(WINDOWS)} AS o"
        return f"SELECT p.x, o.x AS y FROM {source} {side} JOIN {other} ON p.k = o.k AND {on}"

    def lateral(self) -> str:
        """A sub-query of several rows for each row in front of it."""
        terms = ["q.k = p.k", *["q.x > 0"] * (self.random.random() < 0.5)]
        rest = self.random.choice(["", "", " ORDER BY q.x DESC LIMIT 2", " GROUP BY q.x"])
        if not rest and self.random.random() < 0.5:
            terms.append("q.x < p.x + 1")
        value = "q.x + COUNT(*)" if "GROUP" in rest else "q.x"
        where = " AND ".join(terms)
        distinct = self.random.choice(["", "DISTINCT "]) if not rest and len(terms) < 3 else ""
        if "p.x" in where:
            distinct = ""
        return f"(SELECT {distinct}{value} AS m FROM {self.source()} WHERE {where}{rest})"

    def contains(self, outer: str, value: str) -> str:
        inner = self.where(outer, only_equal=False)
        negated = self.random.choice(["", "NOT "])
        if self.rows == "p" and self.random.random() < 0.3:
            return self.tuple_in(value, negated, inner)
        return f"{value} {negated}IN (SELECT q.x FROM {self.source()}{inner})"

    def tuple_in(self, value: str, negated: str, where: str) -> str:
        """Both values are NULL for some rows."""
        others, found = self.random.choice(
            [(("p.k",), "q.x, q.k"), ((f"{value} + 1",), "q.x, NULLIF(q.x, 2)")]
        )
        tested = ", ".join((value, *others))
        return f"({tested}) {negated}IN (SELECT {found} FROM {self.source()}{where})"

    def condition(self, outer: str, value: str, depth: int) -> str:
        pick = self.random.random()
        if depth and pick < 0.5:
            word = self.random.choice(["AND", "OR", "OR"])
            parts = [self.condition(outer, value, depth - 1) for _ in "12"]
            joined = f"({parts[0]} {word} {parts[1]})"
            return f"NOT {joined}" if self.random.random() < 0.3 else joined
        if pick < 0.65:
            return f"{value} > 1"
        if pick < 0.75:
            return self.random.choice(["", "NOT "]) + self.exists(outer)
        if pick < 0.85:
            return self.contains(outer, value)
        if pick < 0.92:
            return self.compared(outer, value)
        return f"{value} {self.random.choice(['<', '>=', '<>'])} {self.scalar(outer)}"

    def value(self, outer: str, value: str) -> str:
        pick = self.random.random()
        if pick < 0.15:
            return self.first(outer)
        if pick < 0.5:
            return self.scalar(outer)
        if pick < 0.6:
            return f"CASE WHEN {self.exists(outer)} THEN {value} ELSE -1 END"
        return self.condition(outer, value, 1)

    def query(self) -> str:
        """The rows have no more than three sub-queries or so."""
        source = f"a {self.random.choice(WINDOWS)} AS p"
        kind = self.random.random()
        if kind < 0.3:
            return f"SELECT p.k, p.x FROM {source} WHERE {self.condition('p', 'p.x', 1)}"
        if kind < 0.5:
            return f"SELECT p.k, p.x, {self.value('p', 'p.x')} AS v FROM {source}"
        if kind < 0.6:
            if kind < 0.55:
                return f"SELECT p.x FROM {source} WHERE {self.tuple_in('p.x', 'NOT ', '')}"
            return f"SELECT p.x FROM {source} WHERE p.x NOT IN (SELECT q.x FROM {self.source()})"
        if kind < 0.67:
            if self.random.random() < 0.5:
                side = self.random.choice([", LATERAL", " LEFT JOIN LATERAL"])
                always = " ON TRUE" if "LEFT" in side else ""
                return f"SELECT p.k, p.x, l.m FROM {source}{side} {self.lateral()} AS l{always}"
            where = self.where("p", only_equal=True)
            joined = self.random.choice([", LATERAL", " LEFT JOIN LATERAL", " CROSS JOIN LATERAL"])
            always = " ON TRUE" if "LEFT" in joined else ""
            return (
                f"SELECT p.x, l.n, l.m FROM {source}{joined} (SELECT COUNT(*) AS n, MAX(q.x) AS m "
                f"FROM {self.source()}{where}) AS l{always} WHERE l.n <> 2"
            )
        if kind < 0.7:
            on = self.condition("p", "p.x", 0)
            return f"SELECT p.x, o.x AS y FROM {source} JOIN b [NOW] AS o ON p.k = o.k AND {on}"
        if kind < 0.75:
            if self.random.random() < 0.5:
                return self.outer(source)
            return f"SELECT p.k, MAX(p.x) AS m FROM {source} GROUP BY p.k, {self.exists('p')}"
        self.rows = "groups"
        having = self.condition("p", "COUNT(*)", 0)
        if kind < 0.85:
            return f"SELECT p.k, COUNT(*) AS n FROM {source} GROUP BY p.k HAVING {having}"
        value = self.value("p", "COUNT(*)")
        return f"SELECT p.k, COUNT(*) AS n, {value} AS v FROM {source} GROUP BY p.k"


def play(random: Random, queries: dict[str, str], options: dict[str, Any]) -> Script:
    script = Script(DDL, queries, tables={"t": TABLE}, options=options)
    now = random.choice([-3_200_000, 1_000_000])
    for _ in range(random.randint(1, 5)):
        ends = [now]
        for stream in random.sample("abc", 3):
            clock = [now]
            script.process(**{stream: rows(random, clock, random.choice([1, 3, 6]), "ab")})
            ends.append(clock[0])
        now = max(ends)
        if random.random() < 0.4:
            script.restart()
        if random.random() < 0.4:
            now += random.choice([1, 300_000, 500_000, 4_000_000])
            script.advance(now)
    return script.advance(now + random.choice([0, 500_000, 6_000_000])).finish()


def make(random: Random, emit: str = "") -> dict[str, str]:
    return {f"q{i}": f"{Maker(random).query()} {emit}" for i in range(2)}


@pytest.mark.parametrize("state", ["upa", "direct", "negative-tuple"])
def test_sub_queries(state: str) -> None:
    for seed in range(8):
        random = Random(f"{state} {seed}")
        play(random, make(random, random.choice(["", "EMIT CHANGES"])), {"state": state})


@pytest.mark.parametrize("kind", ["compared", "first", "lateral", "outer", "grouped", "key"])
def test_each_kind(kind: str) -> None:
    for seed in range(12):
        random = Random(f"{kind} {seed}")
        maker = Maker(random)
        source = f"a {random.choice(WINDOWS)} AS p"
        text = {
            "compared": f"SELECT p.x, {maker.compared('p', 'p.x')} AS v FROM {source}",
            "first": f"SELECT p.x, {maker.first('p')} AS v FROM {source}",
            "lateral": f"SELECT p.x, l.m FROM {source}, LATERAL {maker.lateral()} AS l",
            "outer": maker.outer(source),
            "grouped": f"SELECT p.k, COUNT({maker.value('p', 'p.x')}) AS n, SUM(p.x) FILTER (WHERE "
            f"{maker.condition('p', 'p.x', 0)}) AS v FROM {source} GROUP BY p.k",
            "key": f"SELECT COUNT(*) AS n, MAX(p.x) AS x FROM {source} GROUP BY "
            f"{maker.condition('p', 'p.x', 0)}",
        }[kind]
        play(random, {"q": f"{text} EMIT CHANGES"}, {"chunk_rows": 3})


@given(st.integers(0, 2**48), OPTIONS)
def test_sub_queries_match_the_oracle(seed: int, options: dict[str, Any]) -> None:
    event(f"state: {options['state']}")
    random = Random(seed)
    queries = make(random, random.choice(["", "EMIT CHANGES"]))
    play(random, queries, options | {"keep": {}})
