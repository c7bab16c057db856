"""Queries that share the prepared plan of a template are those that each text would be by itself:
plans, placements, errors with their places, EXPLAIN and changes, also after a restart.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from random import Random
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from eddyline import Engine
from eddyline.engine.placement.placements import Placements
from eddyline.engine.prepared import FilledPlans
from eddyline.engine.query import Query
from eddyline.errors import EddylineError, SqlError
from eddyline.sql.dialect import Eddyline
from eddyline.sql.parser import StatementParser, parse
from eddyline.sql.statements import CreateQuery, SelectStatement
from eddyline.testing.bags import rows_of
from eddyline.testing.engines import engine_with
from eddyline.testing.strategies import OPTIONS
from thinned import more_when_long

DDL: Final = """\
CREATE STREAM s (ts TIMESTAMP, k STRING, i INT, b BIGINT, n SMALLINT, f FLOAT, d DOUBLE,
  m DECIMAL(6, 2), t TIMESTAMP, y DATE, o BOOLEAN) TIMESTAMP BY ts;
CREATE STREAM r (ts TIMESTAMP, k STRING, i INT, d DOUBLE) TIMESTAMP BY ts;
CREATE TABLE names (k STRING, i INT)"""
COLUMNS: Final = ("k", "i", "b", "n", "f", "d", "m", "t", "y", "o")
#: Constants of several types, some of which are wrong or too large for some columns.
CONSTANTS: Final = (
    *("0", "1", "2", "3", "7", "007", "128", "40000", "2147483647", "2147483648"),
    *("9223372036854775807", "9223372036854775808", "1.0", "1.5", "0.1", "2.0", "3.25", "16777217"),
    *("'a'", "'b'", "''", "'1'", "'2026-01-31'", "'2026-02-30'", "'1970-01-01 00:00:02'", "'a%'"),
    *("NULL", "TRUE", "-1", "-0.0", "- 2", "1e3", "1.5D", "DATE '2026-01-31'", "INTERVAL 1 SECOND"),
)
USUAL: Final = ("1", "2", "3", "7", "1.5", "2.0", "'a'", "'b'")
#: Where a constant may stand; {c}, {d}: constants, {x}: a column.
CONDITIONS: Final = (
    *(
        "{x} = {c}",
        "{x} > {c}",
        "{x} <= {c}",
        "{c} < {x}",
        "{x} <> {c}",
        "{x} = -{c}",
        "{x} > - {c}",
    ),
    *("{x} BETWEEN {c} AND {d}", "{x} IN ({c}, {d})", "NOT {x} < {c}", "{x} + {c} > {d}"),
    *("{x} > {c} OR {x} < {d}", "({x} = {c})", "{x} * {c} = {d} * {x}", "{x} > {c} AND {x} > {d}"),
    *("{x} LIKE {c}", "{x} IS NULL OR {x} = {c}", "{x} <=> {c}", "{x} / {c} > {d}", "{c} = {d}"),
    *("{x} > {c} + {d}", "{x} > CAST({c} AS DOUBLE)", "coalesce({x}, {c}) = {d}", "{c}"),
    *("CASE WHEN {x} > {c} THEN {d} ELSE {x} END > {c}", "{x} > t - INTERVAL {c} SECONDS"),
    *("ts > now() - INTERVAL {c} SECONDS", "NOT ({x} = {c} AND NOT {x} = {d})"),
)
SELECTS: Final = (
    *("SELECT k, i FROM s [RANGE 2 SECONDS] WHERE {0}", "SELECT * FROM s WHERE {0} AND {1}"),
    "SELECT k, i + {c} AS z FROM s [RANGE {w} SECONDS] WHERE {0} EMIT CHANGES",
    "SELECT q.k FROM (SELECT k, i, b, n, f, d, m, t, y, o, ts FROM s [RANGE 1 SECOND]) AS q "
    "WHERE {0}",
    "SELECT k, COUNT(*) AS c, SUM(d) AS a FROM s [RANGE 2 SECONDS] WHERE {0} GROUP BY k HAVING {h}",
    "SELECT k, AVG(i) AS a FROM s [RANGE {w} SECONDS] GROUP BY k HAVING {h} AND {h}",
    "SELECT SUM(i) AS a, COUNT(*) AS c FROM s [RANGE 2 SECONDS] WHERE {0} HAVING {h}",
    "SELECT i > {c} AS z, COUNT(*) AS c FROM s [RANGE 2 SECONDS] GROUP BY i > {c} HAVING i > {c}",
    "SELECT DISTINCT k FROM s [RANGE 2 SECONDS] WHERE {0}",
    "SELECT s.k, r.i FROM s [RANGE 2 SECONDS] AS s, r [RANGE 2 SECONDS] AS r WHERE s.k = r.k "
    "AND s.{0} AND r.i > {c}",
    "SELECT s.k, r.i FROM s [RANGE 1 SECOND] AS s, r [RANGE 1 SECOND] AS r WHERE s.i < r.i "
    "AND s.{0} AND r.i - s.i < {c}",
    "SELECT s.k FROM s [RANGE 1 SECOND] AS s WHERE s.{0} AND NOT EXISTS (SELECT 1 FROM r "
    "[RANGE 1 SECOND] AS r WHERE r.k = s.k AND r.i > {c})",
    "SELECT s.k, r.i FROM s [RANGE 1 SECOND] AS s LEFT JOIN r [RANGE 1 SECOND] AS r ON s.k = r.k "
    "WHERE s.{0} AND s.{1}",
    "SELECT s.k, names.i FROM s [RANGE 1 SECOND] AS s JOIN names ON s.k = names.k WHERE s.{0}",
    "SELECT k, i FROM s [RANGE 1 SECOND] WHERE {0} UNION ALL SELECT k, i FROM r [RANGE 1 SECOND] "
    "WHERE i > {c}",
    "SELECT k, i FROM s [RANGE 1 SECOND] WHERE {0} QUALIFY ROW_NUMBER() OVER (PARTITION BY k "
    "ORDER BY i) <= {c}",
    "SELECT k FROM s [ROWS {w}] WHERE {0}",
    "SELECT nothing FROM s [NOW] WHERE {0}",
)
HAVINGS: Final = (
    *("COUNT(*) > {c}", "SUM(d) >= {c}", "{c} < AVG(i)", "MAX(i) = {c}", "COUNT(*) < {c}"),
    *("SUM(i) + COUNT(*) > {c}", "AVG(d) > -{c}", "COUNT(*) > {c} OR SUM(i) > {d}", "k = {c}"),
)


def shape(random: Random) -> list[str]:
    """Texts of a shape, between constants."""
    text = random.choice(SELECTS)
    for mark in ("{0}", "{1}"):
        column = random.choice(COLUMNS[:4] if "s." + mark in text else COLUMNS)
        condition = random.choice(CONDITIONS[:7] if "s." + mark in text else CONDITIONS)
        text = text.replace(mark, condition.replace("{x}", column))
    while "{h}" in text:
        text = text.replace("{h}", random.choice(HAVINGS), 1)
    text = text.replace("{w}", random.choice(("2", "{n}")))
    return text.replace("{d}", "{c}").split("{c}")


def instances(random: Random) -> list[str]:
    """Texts that differ in constants, most of them of the same types."""
    parts = shape(random)
    usual = [random.choice(CONSTANTS if random.random() < 0.1 else USUAL) for _ in parts[1:]]
    found = []
    for _ in range(random.randint(3, 6)):
        constants = [
            random.choice([c for c in CONSTANTS if kind(c) == kind(u)])
            if random.random() < 0.9
            else random.choice(CONSTANTS)
            for u in usual
        ]
        text = parts[0] + "".join(f"{c}{p}" for c, p in zip(constants, parts[1:], strict=True))
        found.append(text.replace("{n}", random.choice("1233333")))
    return found


def kind(constant: str) -> str:
    """Constants of a kind may be instances of one template."""
    if constant.isdigit():
        return "1"
    is_number = constant.replace(".", "", 1).isdigit()
    return "." if is_number else constant[0]


def added(engine: Engine, name: str, sql: str, *, alone: bool) -> Query | tuple[Any, ...]:
    """The query, or what its error says; ``alone``: without a template."""
    try:
        statements = StatementParser(dialect=Eddyline()).statements(sql) if alone else parse(sql)
        (statement,) = statements
        assert isinstance(statement, CreateQuery | SelectStatement)
        return engine.parts.statements.add_query(name, statement, statement.emit, {})
    except EddylineError as e:
        place = (e.line, e.column) if isinstance(e, SqlError) else ()
        return type(e), str(e), place


def new_engine(**options: Any) -> Engine:
    engine = engine_with(**options)
    engine.sql(DDL)
    engine.table("names", pa.table({"k": ["a", "b"], "i": pa.array([1, 2], pa.int32())}))
    return engine


def candidates(placements: Placements, query: Query) -> Any:
    """All placements that a query can have."""
    return query.plans.filled(placements.candidates_for(query))


def rows(random: Random, second: int) -> dict[str, pa.Table]:
    """Some rows of both streams, with few values."""
    count = random.choice([1, 4, 9])
    ts = [second * 1_000_000 + i * 100_000 for i in range(count)]
    few = pa.array([random.choice([None, 0, 1, 2, 3, 7]) for _ in ts], pa.int64())
    k = pa.array([random.choice(["a", "b", "1", None]) for _ in ts], pa.string())
    halves = pc.divide(few.cast(pa.float64()), 2.0)
    i = few.cast(pa.int32())
    s = {
        "ts": ts,
        "k": k,
        "i": i,
        "b": few,
        "n": few.cast(pa.int16()),
        "f": halves.cast(pa.float32()),
        "d": halves,
        "m": few.cast(pa.decimal128(21, 2)).cast(pa.decimal128(6, 2)),
        "t": pc.multiply(few, 1_000_000).cast(pa.timestamp("us", "UTC")),
        "y": pc.add(i, 20_483).cast(pa.int32()).cast(pa.date32()),
        "o": pc.greater(few, 1),
    }
    return {"s": pa.table(s), "r": pa.table({"ts": ts, "k": k, "i": i, "d": halves})}


def check(random: Random, texts: Sequence[str], **options: Any) -> int:
    """Compare queries of one engine with those that are alone; returns how many share a plan."""
    engine = new_engine(**options)
    alone: dict[str, Engine] = {}
    prepared = 0
    for number, sql in enumerate(texts):
        name, other = f"q{number}", new_engine(**options)
        expected = added(other, name, sql, alone=True)
        found = added(engine, name, sql, alone=False)
        if not isinstance(expected, Query) or not isinstance(found, Query):
            assert found == expected, sql
            continue
        assert (found.plan, found.bound) == (expected.plan, expected.bound), sql
        assert str(found.plan) == str(expected.plan), sql
        assert found.explain() == expected.explain(), sql
        mine = candidates(engine.parts.queries.placements, found)
        assert mine == candidates(other.parts.queries.placements, expected), sql
        alone[name] = other
        prepared += isinstance(found.plans, FilledPlans)
    cut = random.randrange(1, 4)
    for second in range(1, 5):
        given = rows(random, second)
        changes = engine.process(given)
        for name, other in alone.items():
            their = other.process(given)
            assert rows_of(changes[name]) == rows_of(their[name]), texts[int(name[1:])]
        if second == cut:
            saved = io.BytesIO()
            engine.save(saved)
            saved.seek(0)
            engine = Engine.load(saved)
    return prepared


@settings(max_examples=more_when_long(3))
@given(st.integers(0, 2**48), OPTIONS)
def test_instances_of_templates(seed: int, options: dict[str, Any]) -> None:
    random = Random(seed)
    event(f"{check(random, instances(random), **options)} prepared")


@pytest.mark.parametrize("select", SELECTS)
def test_each_form(select: str) -> None:
    valid = 0
    for seed in range(40):
        random = Random(f"{select} {seed}")
        texts = instances(random)
        if valid < 4:
            valid += check(random, texts) > 0
    assert valid or "nothing" in select or "QUALIFY" in select


def test_views_and_functions_that_are_created_again() -> None:
    engine = new_engine()
    for body, expected in (("i > 1", ["b"]), ("i < 2", ["a"])):
        engine.sql(f"CREATE VIEW v AS SELECT k FROM s [RANGE 5 SECONDS] WHERE {body}")
        engine.sql(f"CREATE FUNCTION fits(x INT) RETURNS BOOLEAN AS {body.replace('i', 'x')}")
        for number in range(3):
            engine.query(f"SELECT k FROM v WHERE k <> '{number}'", name=f"v{number}")
            engine.query(
                f"SELECT k FROM s [RANGE 5 SECONDS] WHERE fits(i) AND k <> '{number}'",
                name=f"f{number}",
            )
        ts = 1_000_000 if body == "i > 1" else 20_000_000
        given = pa.table({"ts": [ts, ts], "k": ["a", "b"], "i": pa.array([1, 2], pa.int32())})
        engine.process({"s": with_all_columns(given)})
        for name in list(engine.queries):
            assert engine.queries[name].snapshot()["k"].to_pylist() == expected, name
            engine.drop(name)
        engine.sql("DROP VIEW v; DROP FUNCTION fits")


def with_all_columns(given: pa.Table) -> pa.Table:
    """Rows of ``s`` with NULL in the other columns."""
    schema = rows(Random(1), 1)["s"].schema
    for field in schema:
        if field.name not in given.schema.names:
            given = given.append_column(field, pa.nulls(len(given), field.type))
    return given


def test_a_script_is_that_of_its_statements() -> None:
    random = Random(3)
    good: list[str] = []
    for number in range(60):
        for i, sql in enumerate(instances(random)):
            name = f"q{number}_{i}"
            if isinstance(added(new_engine(), name, sql, alone=True), Query):
                good.append(f"CREATE QUERY {name} AS {sql}")
    script = " ;\n-- one; of them\n ".join(good) + ";;"
    (whole, pieces) = StatementParser(dialect=Eddyline()).statements(script), parse(script)
    for one, other in zip(whole, pieces, strict=True):
        assert isinstance(one, CreateQuery) and isinstance(other, CreateQuery)
        assert (one.sql, one.line, one.column) == (other.sql, other.line, other.column)
        assert (one.name, one.emit, one.select.span) == (other.name, other.emit, other.select.span)
        assert repr(one.select.ast) == repr(other.select.ast)
    engine = new_engine()
    engine.sql(script)
    assert len(engine.queries) == len(good)


@pytest.mark.parametrize(
    ("condition", "constants", "prepared"),
    [
        ("k = {} AND i > {}", [("'a'", "1"), ("'b'", "2"), ("'c'", "40000")], [False, True, True]),
        ("i > {}", [("1",), ("2",), ("2147483648",), ("3",)], [False, True, False, True]),
        ("i > {}", [("1",), ("2",), ("1.5",), ("2.5",)], [False, True, False, True]),
        ("d > {}", [("1",), ("2",), ("9223372036854775807",)], [False, True, False]),
        ("t > {}", [("'2026-01-31'",), ("'2026-02-01'",), ("'2026-02-02'",)], [False, True, True]),
        ("i > {} AND i > {}", [("1", "2"), ("3", "4"), ("5", "5"), ("6", "6")],
         [False, True, True, True]),
        ("k LIKE {}", [("'a%'",), ("'b%'",), ("'c%'",)], [False, False, False]),
        ("k LIKE {} AND i > {}", [("'a%'", "1"), ("'b%'", "2"), ("'b%'", "3")],
         [False, True, True]),
    ],
)  # fmt: skip
def test_which_are_prepared(
    condition: str, constants: list[tuple[str, ...]], prepared: list[bool]
) -> None:
    engine = new_engine()
    found = []
    for number, values in enumerate(constants):
        alias = re.sub(r"\W", "_", f"{condition} {constants}")  # no other test has it
        sql = f"SELECT i AS z{alias} FROM s [NOW] WHERE {condition.format(*values)}"
        found.append(isinstance(engine.query(sql, f"q{number}").plans, FilledPlans))
    assert found == prepared


@pytest.mark.parametrize(
    ("select", "different"),
    [
        ("SELECT i AS zw FROM s [RANGE {} SECONDS] WHERE i > {}", 150),
        ("SELECT i AS zp FROM s [NOW] WHERE k LIKE 'a{}%' AND i > {}", 100),
    ],
)
def test_instances_of_many_plans_in_turn_are_prepared(select: str, different: int) -> None:
    """Windows of other lengths, and patterns that plans depend on."""
    engine, found = new_engine(), []
    for number in range(5 * different):
        sql = select.format(1 + number % different, 10_000 + number)
        found.append(isinstance(engine.query(sql, f"q{number}").plans, FilledPlans))
    assert all(found[-different:])


def test_plans_that_serve_one_query_each_are_few() -> None:
    engine = new_engine()
    for number in range(200):
        sql = f"SELECT i AS zf FROM s [NOW] WHERE k LIKE 'b{number}%' AND i > {number}"
        engine.query(sql, f"q{number}")
    prepared = [isinstance(query.plans, FilledPlans) for query in engine.queries.values()]
    assert prepared.count(True) < 70
