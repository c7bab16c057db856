"""The optimized plan gives the same bag of rows as the plan as bound, over random small inputs.

Plans are evaluated by the few obvious lines below, over all rows at once: time plays no part here.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable
from itertools import chain, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.algebra.expressions import Aggregate, Call, ColumnRef, Expr, Literal
from eddyline.algebra.plan import (
    Distinct,
    Filter,
    GroupBy,
    Join,
    Plan,
    Product,
    Project,
    StreamScan,
    TableScan,
    Union,
)
from eddyline.optimizer.optimizer import RULES, optimize
from golden import bound_plan

Row = tuple[Any, ...]
Data = dict[str, list[Row]]

QUERIES = [
    "SELECT * FROM trades t, quotes q, orders o WHERE t.symbol = o.symbol AND q.size = o.qty",
    "SELECT * FROM companies c, trades t, quotes q WHERE t.symbol = c.symbol AND q.bid > t.price",
    "SELECT * FROM sectors s, companies c, trades t "
    "WHERE t.symbol = c.symbol AND c.sector = s.sector AND t.qty = 1",
    "SELECT * FROM trades t, quotes q WHERE t.symbol = q.symbol AND q.symbol > 'a' AND t.qty = 1",
    "SELECT * FROM trades t, quotes q, orders o WHERE t.qty + q.size = o.qty AND t.qty > 1 - o.id",
    "SELECT * FROM orders o, quotes q, trades t WHERE o.qty = t.qty AND t.qty = q.size AND TRUE",
    "SELECT o.id, COUNT(*) FROM companies c JOIN orders o USING (symbol), quotes q "
    "WHERE q.size = o.qty GROUP BY o.id HAVING o.id > 0 AND COUNT(*) > 1",
    "SELECT COUNT(*), SUM(n) FROM (SELECT qty + 1 AS n FROM trades) WHERE n > 1 HAVING TRUE",
    "SELECT COUNT(*) FROM trades HAVING FALSE",
    "SELECT x + x FROM (SELECT qty + 1 AS x FROM trades UNION ALL SELECT size FROM quotes "
    "UNION ALL (SELECT qty FROM orders UNION ALL SELECT id FROM orders)) WHERE x > 0",
    "SELECT s FROM (SELECT DISTINCT symbol AS s, qty FROM trades) WHERE s = 'a' AND qty = 1",
    "SELECT a.symbol FROM (SELECT symbol, MAX(qty) AS m FROM trades GROUP BY symbol) a, "
    "(SELECT t.symbol, q.size FROM trades t, quotes q WHERE t.symbol = q.symbol) b "
    "WHERE a.symbol = b.symbol AND a.m = b.size AND a.symbol <> 'b'",
]

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "+": operator.add,
    "-": operator.sub,
    "cast": lambda x: x,
}


def value(expr: Expr, row: Row) -> Any:
    match expr:
        case ColumnRef():
            return row[expr.index]
        case Literal():
            return expr.value
        case Call(function="and"):
            values = [value(a, row) for a in expr.args]
            return False if False in values else None if None in values else True
    assert isinstance(expr, Call)
    values = [value(a, row) for a in expr.args]
    return None if None in values else _FUNCTIONS[expr.function](*values)


def aggregate(of: Aggregate, rows: list[Row]) -> Any:
    if of.argument is None:
        return len(rows)
    values = [v for v in (value(of.argument, r) for r in rows) if v is not None]
    return {"sum": sum, "max": max}[of.function](values) if values else None


def answer(plan: Plan, data: Data) -> list[Row]:
    inputs = [answer(i, data) for i in plan.inputs]
    match plan:
        case StreamScan() | TableScan():
            return data[plan.stream if isinstance(plan, StreamScan) else plan.table]
        case Filter():
            return [r for r in inputs[0] if value(plan.predicate, r)]
        case Project():
            return [tuple(value(e, r) for e in plan.exprs) for r in inputs[0]]
        case Product():
            return [tuple(chain(*rows)) for rows in product(*inputs)]
        case Join():
            return [a + b for a, b in product(*inputs) if _meets(plan, a, b)]
        case Union():
            return list(chain(*inputs))
        case Distinct():
            return list(set(inputs[0]))
    assert isinstance(plan, GroupBy)
    groups: dict[Row, list[Row]] = {} if plan.keys else {(): []}
    for row in inputs[0]:
        groups.setdefault(tuple(value(k, row) for k in plan.keys), []).append(row)
    return [(*k, *(aggregate(a, rows) for a in plan.aggregates)) for k, rows in groups.items()]


def _meets(plan: Join, a: Row, b: Row) -> bool:
    keys = [(value(x, a), value(y, b)) for x, y in plan.keys]
    same = all(x is not None and x == y for x, y in keys)
    return same and (plan.residual is None or bool(value(plan.residual, a + b)))


_symbols = st.sampled_from(["a", "b", None])
_numbers = st.sampled_from([0, 1, 2, None])


def _rows(*columns: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Row]]:
    return st.lists(st.tuples(*columns), max_size=4)


_data = st.fixed_dictionaries(
    {
        "trades": _rows(_numbers, _symbols, _numbers, _numbers),
        "quotes": _rows(_numbers, _symbols, _numbers, _numbers),
        "orders": _rows(_numbers, _numbers, _symbols, _numbers),
        "companies": _rows(_symbols, _symbols),
        "sectors": _rows(_symbols, _symbols),
    }
)


@pytest.mark.parametrize("sql", QUERIES)
@settings(max_examples=30)
@given(data=_data)
def test_same_answer(sql: str, data: Data) -> None:
    plan = bound_plan(f"{sql} WINDOW [UNBOUNDED]")
    expected = Counter(answer(plan, data))
    for rewrite in (*RULES, optimize):
        assert Counter(answer(rewrite(plan), data)) == expected, rewrite
