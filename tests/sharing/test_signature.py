"""Which plans have a signature in common, and what is each one's own part."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.algebra.catalog import Emit
from eddyline.algebra.plan import Plan
from eddyline.algebra.windows import format_duration
from eddyline.engine.query import QuerySpec
from eddyline.engine.query_plans import OwnPlans
from eddyline.optimizer.joins.trees import left_deep
from eddyline.optimizer.optimizer import REQUIRED_RULES, RULES, optimize
from eddyline.sharing.reordering import joins_of
from eddyline.sharing.signature import Part, Signature, decompose
from eddyline.sql.binder import bind
from eddyline.sql.parser import parse
from eddyline.sql.statements import SelectStatement
from eddyline.testing import difference, engine_with, rows_of
from eddyline.testing.feeding import process_all
from golden import bound_plan, check_golden

DDL = "".join(
    f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, v BIGINT, s STRING) TIMESTAMP BY ts;"
    for name in "abcd"
)
ENGINE = Engine()
ENGINE.sql(DDL)


def plan_of(sql: str, *, optimized: bool = True) -> Plan:
    """The plan of a SELECT over the streams a, b, c and d."""
    (statement,) = parse(sql)
    assert isinstance(statement, SelectStatement)
    bound = bind(statement.select, statement.emit, ENGINE.catalog).plan
    return optimize(bound, RULES if optimized else REQUIRED_RULES)


def parts_of(sql: str) -> tuple[Signature, Part]:
    found = decompose(plan_of(sql))
    assert found is not None, sql
    return found


def shown(plan: Plan) -> str:
    """A signature with a query's part, as the golden files have it."""
    found = decompose(plan)
    if found is None:
        return "none"
    signature, part = found
    lines = [f"{'windowed ' * signature.windowed}sources:"]
    together = zip(signature.sources, part.filters, part.windows, signature.counted, strict=True)
    for source, filters, length, counted in together:
        window = "for ever" if length is None else format_duration(length)
        window = f"{length} rows" if counted else window
        conditions = f": {' AND '.join(map(str, filters))}" if filters else ""
        lines.append(f"  {type(source).__name__} {source.label}, {window}{conditions}")
    lines += [f"edge: {e.left}.{e.left_key} = {e.right}.{e.right_key}" for e in signature.edges]
    lines += [f"theta: {term}" for term in signature.theta]
    lines += [f"residual: {term}" for term in part.residual]
    outputs = (f"{e} AS {name}" for e, name in zip(part.outputs, part.names, strict=True))
    return "\n".join([*lines, f"select: {', '.join(outputs)}"])


def test_golden() -> None:
    path = Path(__file__).parent / "golden" / "signatures.sql"
    check_golden(path, lambda sql: shown(optimize(bound_plan(sql))))


JOIN = "SELECT a.v FROM a [RANGE 1 SECOND], b [RANGE 2 SECONDS] WHERE a.k = b.k"
SHARED = {
    "FROM the other way round": "SELECT a.v FROM b [NOW], a [NOW] WHERE a.k = b.k",
    "the key the other way round": "SELECT a.v FROM a [NOW], b [NOW] WHERE b.k = a.k",
    "JOIN ON": "SELECT a.v FROM a [NOW] JOIN b [NOW] ON a.k = b.k",
    "other names": "SELECT y.v FROM b [NOW] AS x JOIN a [NOW] AS y ON x.k = y.k",
    "the key twice": "SELECT a.v FROM a [NOW], b [NOW] WHERE a.k = b.k AND b.k = a.k",
    "unbounded": "SELECT a.v FROM a [UNBOUNDED], b [NOW] WHERE a.k = b.k",
    "filters": "SELECT a.v FROM a [NOW], b [NOW] WHERE a.k = b.k AND a.v > 3 AND b.s LIKE 'x%'",
    "residuals": "SELECT a.v FROM a [NOW], b [NOW] WHERE a.k = b.k AND a.v > b.v",
    "select list": "SELECT b.s, a.v + b.v AS n, 7 AS seven FROM a [NOW], b [NOW] WHERE a.k = b.k",
    "sub-query": "SELECT x.v FROM (SELECT k, v FROM a WHERE v > 1) AS x, b WHERE x.k = b.k"
    " WINDOW 1 SECOND",
}
NOT_SHARED = {
    "another key": "SELECT a.v FROM a [NOW], b [NOW] WHERE a.v = b.v",
    "a key more": "SELECT a.v FROM a [NOW], b [NOW] WHERE a.k = b.k AND a.s = b.s",
    "a computed key": "SELECT a.v FROM a [NOW], b [NOW] WHERE a.k + 0 = b.k",
    "another stream": "SELECT a.v FROM a [NOW], c [NOW] WHERE a.k = c.k",
    "ROWS": "SELECT a.v FROM a [ROWS 3], b [ROWS 4] WHERE a.k = b.k",
    "ROWS of one": "SELECT a.v FROM a [ROWS 3], b [NOW] WHERE a.k = b.k",
    "a stream more": "SELECT a.v FROM a [NOW], b [NOW], c [NOW] WHERE a.k = b.k AND a.k = c.k",
    "one stream": "SELECT a.v FROM a [NOW]",
    "with itself": "SELECT a.v FROM a [NOW], a [NOW] AS b WHERE a.k = b.k",
}


@pytest.mark.parametrize("kind", SHARED)
def test_same_signature(kind: str) -> None:
    assert parts_of(SHARED[kind])[0] == parts_of(JOIN)[0]
    assert hash(parts_of(SHARED[kind])[0]) == hash(parts_of(JOIN)[0])


@pytest.mark.parametrize("kind", NOT_SHARED)
def test_other_signature(kind: str) -> None:
    assert parts_of(NOT_SHARED[kind])[0] != parts_of(JOIN)[0]


CHAIN = (
    "SELECT {list} FROM {items} WHERE x.k = y.k AND y.v = z.v AND x.s <> z.s AND y.v > 1"
    " AND x.v + y.v + z.v > 4"
)
ITEMS = ["a [RANGE 3 SECONDS] AS x", "b [RANGE 2 SECONDS] AS y", "c [RANGE 4 SECONDS] AS z"]
LIST = "x.v, y.s, z.k, x.v - z.v AS d"


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_order_of_joins_is_nothing_that_queries_have_to_share(order: tuple[int, ...]) -> None:
    sql = CHAIN.format(list=LIST, items=", ".join(ITEMS[i] for i in order))
    given = CHAIN.format(list=LIST, items=", ".join(ITEMS))
    assert parts_of(sql) == parts_of(given)


def test_a_self_join_by_the_same_key_may_have_its_windows_either_way() -> None:
    one, other = (
        f"SELECT x.v FROM a [RANGE {m} SECOND] AS x, a [RANGE {n} SECOND] AS y WHERE x.k = y.k"
        for m, n in ((1, 2), (2, 1))
    )
    (signature, part), (same, mirrored) = parts_of(one), parts_of(other)
    assert signature == same
    assert part.windows == mirrored.windows[::-1] == (1_000_000, 2_000_000)


def test_joins_share_whatever_their_windows_count_to() -> None:
    rows = "SELECT a.v FROM {} WHERE a.k = b.k"
    (signature, part), (same, other) = (
        parts_of(rows.format(items))
        for items in ("a [ROWS 3], b [ROWS 4]", "b [ROWS 1], a [ROWS 9]")
    )
    assert signature == same
    assert signature.counted == (True, True)
    assert (part.windows, other.windows) == ((3, 4), (9, 1))
    (mixed, part), (same, other) = (
        parts_of(rows.format(items))
        for items in ("a [ROWS 3], b [NOW]", "b [RANGE 2 SECONDS], a [ROWS 9]")
    )
    assert mixed == same
    assert mixed.counted == (True, False)
    assert (part.windows, other.windows) == ((3, 1), (9, 2_000_000))
    assert parts_of(rows.format("a [NOW], b [ROWS 3]"))[0] != mixed


def test_a_self_join_of_time_and_rows_may_have_them_either_way() -> None:
    items = ("a [ROWS 3] AS x, a [NOW] AS y", "a [NOW] AS y, a [ROWS 3] AS x")
    one, other = (parts_of(f"SELECT x.v FROM {i} WHERE x.k = y.k")[0] for i in items)
    assert one == other


def test_groups_and_windows_of_rows_are_shared_if_they_are_equal() -> None:
    groups = "SELECT k, n FROM (SELECT k, COUNT(*) AS n FROM a [{}] GROUP BY k) AS g WHERE n > {}"
    assert parts_of(groups.format("NOW", 3))[0] == parts_of(groups.format("NOW", 4))[0]
    assert parts_of(groups.format("NOW", 3))[0] != parts_of(groups.format("RANGE 1 SECOND", 3))[0]
    rows = "SELECT v FROM a [{}] WHERE v > {}"
    assert parts_of(rows.format("ROWS 3", 3))[0] == parts_of(rows.format("ROWS 3", 4))[0]
    assert parts_of(rows.format("ROWS 3", 3))[0] != parts_of(rows.format("ROWS 4", 3))[0]
    assert parts_of(rows.format("ROWS 3", 3))[0] != parts_of(rows.format("NOW", 3))[0]


TREES = {
    "chain": CHAIN.format(list=LIST, items=", ".join(ITEMS)),
    "ring": "SELECT a.v, b.v AS w, c.v AS x FROM a [NOW], b [RANGE 2 SECONDS], c [RANGE 5 SECONDS]"
    " WHERE a.k = b.k AND b.k = c.k AND c.v = a.v AND b.v + c.v > 2",
    "computed keys": "SELECT a.s FROM a [RANGE 3 SECONDS], b [RANGE 3 SECONDS], c [RANGE 3 SECONDS]"
    " WHERE a.k + 1 = b.k AND b.v - 1 = c.v + 0",
    "with itself": "SELECT x.v, y.v AS w, z.v AS u FROM a [RANGE 2 SECONDS] AS x,"
    " a [RANGE 3 SECONDS] AS y, b [RANGE 1 SECOND] AS z"
    " WHERE x.k = y.k AND y.v = z.v AND x.v < y.v",
    "star of four": "SELECT a.v, d.v AS w FROM a [RANGE 1 SECOND], b [RANGE 1 SECOND],"
    " c [RANGE 2 SECONDS], d [RANGE 2 SECONDS] WHERE a.k = b.k AND a.k = c.k AND a.v = d.v"
    " AND b.v = c.v AND d.s = 'x'",
    "rows": "SELECT a.v, b.v AS w, c.v AS x FROM a [ROWS 5], b [ROWS 3], c [RANGE 5 SECONDS]"
    " WHERE a.k = b.k AND b.k = c.k AND a.v < 3",
    "unbounded": "SELECT a.v FROM a [RANGE 2 SECONDS], b [UNBOUNDED], c [NOW]"
    " WHERE a.k = b.k AND a.v = c.v AND b.v > 1",
}


@pytest.mark.parametrize("kind", TREES)
def test_trees_in_any_order_give_the_same_changes(kind: str) -> None:
    engine = engine_with(executor="tree")
    engine.sql(DDL)
    joins = joins_of(plan_of(TREES[kind]))
    assert joins is not None
    sources = range(len(joins.regions[0].graph.parts))
    plans = {str(o): joins.plan((left_deep(o),)) for o in permutations(sources)}
    plans["as written"] = plan_of(TREES[kind], optimized=False)
    engine.parts.progress.bring_together("abcd")
    for name, plan in plans.items():
        assert plan.schema == plans["as written"].schema
        spec = QuerySpec(name, TREES[kind], OwnPlans(plan, plan, Emit()), Emit(), {}, sheds=False)
        engine.parts.queries.add(spec)
    random = np.random.default_rng(3)
    found: dict[str, list[pa.Table]] = {name: [] for name in plans}
    for second in range(0, 12, 4):
        out = process_all(engine, {name: rows(random, second) for name in "abcd"})
        for name in plans:
            found[name].append(out[name])
    expected = rows_of(pa.concat_tables(found["as written"]))
    assert len(expected) > 20
    for name, tables in found.items():
        assert difference(expected, rows_of(pa.concat_tables(tables))) == ([], []), name


def rows(random: np.random.Generator, start: int) -> pa.Table:
    """Rows of four seconds."""
    n = 25
    ts = np.sort(random.integers(start * 1_000_000, (start + 4) * 1_000_000, n))
    numbers = {"k": random.integers(0, 4, n), "v": random.integers(0, 4, n)}
    return pa.table({"ts": ts, **numbers, "s": random.choice(["x", "y"], n)})
