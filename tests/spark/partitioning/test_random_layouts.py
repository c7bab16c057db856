"""Random queries: the cells of their layouts make each result exactly once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import zip_longest
from types import MappingProxyType

import pyarrow as pa
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from dealing_model import dealt
from eddyline import Engine
from eddyline.algebra.reads import tables_read
from eddyline.errors import SqlError
from eddyline.spark.partitioning.layouts import Layout
from eddyline.spark.partitioning.planned_query import PlannedQuery
from eddyline.spark.partitioning.planning import layouts
from eddyline.testing.bags import Row, difference, rows_of
from eddyline.testing.strategies import Case, cases, grid_queries
from eddyline.testing.strategies.streams import tables_of

#: Behind all rows, and longer than any window.
END_US = 3_600_000_000
SHARDS = st.sampled_from([2, 3, 4, 8])


def engine(
    case: Case,
    sql: str,
    counted: frozenset[str] = frozenset(),
    own: Mapping[str, pa.Table] = MappingProxyType({}),
) -> Engine:
    """An engine with a query. ``own``: its part of the contents of divided tables."""
    made = Engine()
    made.parts.inputs.counted = counted
    made.sql(case.ddl)
    for name, content in {**case.tables, **own}.items():
        made.table(name, content)
    made.query(sql, name="q")
    return made


def answer(
    case: Case,
    sql: str,
    parts: Iterable[Mapping[str, pa.Table]],
    counted: frozenset[str] = frozenset(),
    contents: Iterable[Mapping[str, pa.Table]] = (),
) -> tuple[list[Row], list[Row], int]:
    """What engines over parts of the rows add and take back, and how many rows were bad.

    Args:
        contents: of divided tables, by part; none if there is one engine.
    """
    net: Counter[Row] = Counter()
    bad = 0
    none: Mapping[str, pa.Table] = {}
    for part, own in zip_longest(parts, contents, fillvalue=none):
        runs = engine(case, sql, counted, own)
        out = [runs.process(part, watermark=END_US, now=END_US), runs.advance(2 * END_US)]
        for changes in out:
            table = changes["q"]
            signs = [1 if op == "+" else -1 for op in table.column("_op").to_pylist()]
            columns = [1, *range(3, table.num_columns)]
            for sign, row in zip(signs, rows_of(table, columns), strict=True):
                net[row] += sign
        bad += runs.queries["q"].stats()["bad"]
    added = [r for r, n in net.items() for _ in range(n)]
    return added, [r for r, n in net.items() for _ in range(-n)], bad


def check(case: Case, sql: str, layout: Layout) -> None:
    rows = tables_of([r for step in case.steps for r in step.rows], case.inputs)
    read = {name: rows[name] for name in layout.inputs if name in rows}
    tables = {name: case.tables[name] for name in layout.inputs if name in case.tables}
    plus, minus, bad = answer(case, sql, [read])
    in_cells = answer(case, sql, dealt(layout, read), layout.counted, dealt(layout, tables))
    assert difference(plus, in_cells[0]) == ([], []), (layout, sql)
    assert difference(minus, in_cells[1]) == ([], []), (layout, sql)
    assert in_cells[2] == bad, (layout, sql)


def without_emit(sql: str) -> str:
    return re.sub(r" EMIT .*$", "", sql)


def planned(case: Case, selects: Iterable[str], shards: int) -> list[tuple[Layout, str]]:
    """The layout of each query of a group that can run, with the query."""
    plans = {}
    for select in selects:
        try:
            plan = engine(case, select).queries["q"].plan
            plans[select] = PlannedQuery(plan, large=tables_read(plan))
        except SqlError:  # a constant that has no value
            reject()
    found = layouts(plans, shards)
    return [(layout, select) for layout, names in found for select in names]


@pytest.mark.parametrize("count", [40, pytest.param(2_000, marks=pytest.mark.long)])
def test_each_result_is_made_in_one_cell(count: int) -> None:
    seen: Counter[int | str] = Counter()

    @settings(max_examples=count, deadline=None)
    @given(st.lists(cases() | cases(grid_queries()), min_size=1, max_size=3), SHARDS)
    def compare(found: list[Case], shards: int) -> None:
        case = found[0]
        selects = [without_emit(c.sql) for c in found if c.tables.keys() <= case.tables.keys()]
        for layout, select in planned(case, selects, shards):
            seen[len(layout.axes)] += 1
            seen["cases"] += 1
            if layout.cells > 1:
                seen["counted"] += bool(layout.counted)
                seen["divided table"] += any(
                    layout.copies(name) == 1 for name in case.tables.keys() & layout.inputs.keys()
                )
                check(case, f"{select} EMIT CHANGES", layout)

    compare()
    assert seen["cases"] - seen[0] > seen["cases"] / 2, seen
    assert seen[2] and seen["counted"] and seen["divided table"], seen
