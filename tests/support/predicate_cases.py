"""A stream with a column of each type, and predicates over it in conjunctive normal form."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from eddyline.algebra.catalog import Emit
from eddyline.algebra.expressions import Expr
from eddyline.algebra.plan import Filter, Project
from eddyline.physical.clauses import fold
from eddyline.physical.expressions import compile_expr, compile_predicate
from eddyline.runtime.failures import collecting, failed_rows
from eddyline.sharing.predicates import MAX_CONDITIONS, Clause, clauses_of
from eddyline.sql.binder import bind
from eddyline.sql.catalog import Catalog
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateStream, SelectStatement
from eddyline.types import arrow_schema

DDL = (
    "CREATE STREAM a (ts TIMESTAMP, k BIGINT, v BIGINT, i INT, tiny TINYINT, d DOUBLE, f FLOAT, "
    "s STRING, u STRING, b BOOLEAN, c BOOLEAN, p DECIMAL(6,2), t TIMESTAMP, day DATE, raw BINARY) "
    "TIMESTAMP BY ts"
)
[STREAM] = [s for s in parse(DDL) if isinstance(s, CreateStream)]
CATALOG = Catalog()
CATALOG.create_stream(STREAM.definition)

ONE = float(np.float32(0.1))
INTEGERS = [-5, -1, 0, 1, 2, 3, 4, 5, 6, 7, None]
FLOATS = [-1.0, -0.0, 0.0, 0.1, ONE, 0.5, 1.0, 2.0, 2.5, math.inf, -math.inf, math.nan, None]
TEXTS = [
    "",
    "a",
    "ab",
    "abc",
    "ac",
    "a%",
    "a%c",
    "a\\b",
    "a\\",
    "a\n",
    "b",
    "B",
    "é",
    "z\uffff",
    "\U0010ffff",
]
TIMES = [dt.datetime(2026, 1, day, tzinfo=dt.UTC) for day in (1, 2, 3)] + [None]
POOLS: dict[str, list[Any]] = {
    "k": [*INTEGERS, 2**53 + 1, 2**63 - 1, -(2**63)],
    "v": INTEGERS,
    "i": [*INTEGERS, 2**31 - 1, -(2**31)],
    "tiny": [*INTEGERS, 127, -128],
    "d": FLOATS,
    "f": FLOATS,
    "s": [*TEXTS, None],
    "u": [*TEXTS, None],
    "b": [True, False, None],
    "c": [True, False, None],
    "p": [*map(Decimal, ("-1", "0", "0.5", "2", "2.5", "2.51", "9999.99", "-9999.99")), None],
    "ts": TIMES[:3],
    "t": TIMES,
    "day": [dt.date(2026, 1, day) for day in (1, 2, 3)] + [None],
    "raw": [b"", b"a", b"\xff", None],
}
ROWS = 600


@cache
def rows() -> Any:
    random = np.random.default_rng(5)
    schema = arrow_schema(STREAM.definition.schema)
    columns = [
        pa.array([POOLS[f.name][n] for n in random.integers(0, len(POOLS[f.name]), ROWS)], f.type)
        for f in schema
    ]
    return _Columns(columns)


class _Columns:
    def __init__(self, columns: list[pa.Array], length: int = ROWS) -> None:
        self.columns, self._length = columns, length

    def column(self, index: int) -> pa.Array:
        return self.columns[index]

    def __len__(self) -> int:
        return self._length


def bound(predicate: str) -> Expr:
    [query] = parse(f"SELECT 1 AS one FROM a [NOW] WHERE {predicate}")
    assert isinstance(query, SelectStatement)
    plan = bind(query.select, Emit(), CATALOG).plan
    assert isinstance(plan, Project)
    assert isinstance(plan.input, Filter)
    return plan.input.predicate


def passed(clauses: tuple[Clause, ...]) -> list[bool | None]:
    """Which rows all clauses accept, by brute force; None: there is an attribute without a value,
    and no clause refuses the row.
    """
    refused, unknown = np.zeros(ROWS, bool), np.zeros(ROWS, bool)
    for clause in clauses:
        any_, failed = np.zeros(ROWS, bool), np.zeros(ROWS, bool)
        for condition in clause:
            with collecting() as failures:
                values = compile_expr(condition.attribute)(rows()).to_pylist()
            bad = failed_rows(failures, ROWS)
            any_ |= ~bad & [v in condition.accepts for v in values]
            failed |= bad
        refused |= ~(any_ | failed)
        unknown |= failed & ~any_
    return [False if r else None if u else True for r, u in zip(refused, unknown, strict=True)]


def check(predicate: Expr) -> tuple[Clause, ...]:
    clauses = clauses_of(predicate, fold)
    with collecting() as failures:
        truth = compile_predicate(predicate)(rows())
    bad = failed_rows(failures, ROWS)
    expected = [None if b else bool(t) for b, t in zip(bad, truth, strict=True)]
    wrong = [n for n, (a, b) in enumerate(zip(passed(clauses), expected, strict=True)) if a != b]
    assert not wrong, (shown(clauses), [c[wrong[0]] for c in rows().columns], expected[wrong[0]])
    for clause in clauses:
        attributes = [c.attribute for c in clause]
        assert len(set(attributes)) == len(attributes)
        assert len(clause) <= MAX_CONDITIONS
    alone = [c[0].attribute for c in clauses if len(c) == 1]
    assert len(set(alone)) == len(alone)
    assert () not in clauses or clauses == ((),)
    return clauses


def shown(clauses: tuple[Clause, ...]) -> list[str]:
    return [" or ".join(f"{c.attribute} in {c.accepts}" for c in clause) for clause in clauses]
