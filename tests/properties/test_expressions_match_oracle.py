"""Random scalar expressions over random rows: Arrow's kernels compute what DuckDB computes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from eddyline.algebra.catalog import Emit
from eddyline.algebra.plan import Filter, Project, StreamScan
from eddyline.physical.expressions import compile_expr, compile_predicate
from eddyline.runtime.failures import collecting, failed_rows
from eddyline.sql.binder import bind
from eddyline.sql.catalog import Catalog
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateStream, SelectStatement
from eddyline.testing import Oracle, rows_of
from eddyline.testing.bags import close
from eddyline.testing.strategies.expressions import ScopeColumn, fallible, predicates, values
from eddyline.testing.strategies.streams import arrivals, tables_of

SCOPE = [
    ScopeColumn("k", "int"),
    ScopeColumn("s", "str"),
    ScopeColumn("d", "double"),
    ScopeColumn("v", "int"),
]
DDL = "CREATE STREAM a (ts TIMESTAMP, k BIGINT, s STRING, d DOUBLE, v BIGINT) TIMESTAMP BY ts"
END_US = 1 << 50


@dataclass(frozen=True)
class Rows:
    """A table as the columns that expressions read."""

    table: pa.Table

    def column(self, index: int) -> pa.Array:
        return self.table.column(index).combine_chunks()

    def __len__(self) -> int:
        return int(self.table.num_rows)


ROWS = arrivals(["a"], 0).map(
    lambda rows: tables_of([r for r in rows if r.row[0] is not None], ["a"])["a"]
)


KINDS: st.SearchStrategy[Any] = st.sampled_from(["int", "double", "str"])


@given(ROWS, KINDS.flatmap(lambda k: values(SCOPE, k) | fallible(SCOPE, k)))
def test_values(rows: pa.Table, expression: str) -> None:
    sql = f"SELECT {expression} AS x FROM a [UNBOUNDED]"
    plan = _plan(sql)
    assert isinstance(plan, Project)
    assert isinstance(plan.input, StreamScan)
    with collecting() as failures:
        found = compile_expr(plan.exprs[0])(Rows(rows))
    assert found.type == plan.exprs[0].type
    found = found.filter(pa.array(~failed_rows(failures, rows.num_rows)))
    expected = Oracle({"a": rows}).answer(sql, END_US)
    actual = rows_of(pa.table({"x": found}))
    assert len(actual) == len(expected)
    assert all(close(a, b) for (a,), (b,) in zip(actual, expected, strict=True)), (actual, expected)


@given(ROWS, predicates(SCOPE))
def test_predicates(rows: pa.Table, predicate: str) -> None:
    sql = f"SELECT k, s, d, v FROM a [UNBOUNDED] WHERE {predicate}"
    plan = _plan(sql)
    assert isinstance(plan, Project)
    assert isinstance(plan.input, Filter)
    chosen = compile_predicate(plan.input.predicate)(Rows(rows))
    assert chosen.dtype == np.bool_
    expected = Oracle({"a": rows}).answer(sql, END_US)
    assert rows_of(rows.filter(pa.array(chosen)), range(1, 5)) == expected


def _plan(sql: str) -> object:
    catalog = Catalog()
    [stream, query] = parse(f"{DDL}; {sql}")
    assert isinstance(stream, CreateStream)
    assert isinstance(query, SelectStatement)
    catalog.create_stream(stream.definition)
    return bind(query.select, Emit(), catalog).plan
