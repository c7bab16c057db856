"""The optimized plan gives the same bag of rows as the plan as bound, over random small inputs.

Plans are evaluated by the few obvious lines below, over all rows at once: time plays no part here.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.algebra.explain import explain
from eddyline.algebra.expressions import Aggregate, Call, ColumnRef, Expr, Literal
from eddyline.algebra.plan import (
    AntiJoin,
    Distinct,
    Filter,
    GroupBy,
    Join,
    Negation,
    Plan,
    Product,
    Project,
    SemiJoin,
    StreamScan,
    TableScan,
    Union,
)
from eddyline.optimizer.optimizer import COST_RULES, RULES, optimize
from eddyline.optimizer.rules.order_joins import order_joins
from eddyline.optimizer.rules.pull_up_negation import Choosing, places, pulled_up
from eddyline.optimizer.statistics import Statistics
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
    # joins that may be bushy, with a three-sided key, a term that is no equality, and a table
    "SELECT t.qty, v.qty, c.sector FROM trades t, quotes q, companies c, orders o, trades v "
    "WHERE t.symbol = q.symbol AND q.size = o.qty AND o.symbol = v.symbol AND c.symbol = v.symbol "
    "AND t.qty < v.qty",
    "SELECT * FROM trades t, orders o, quotes q WHERE t.qty + o.qty = q.size AND t.symbol <> 'b'",
    "SELECT o.id, COUNT(*) FROM companies c JOIN orders o USING (symbol), quotes q "
    "WHERE q.size = o.qty GROUP BY o.id HAVING o.id > 0 AND COUNT(*) > 1",
    "SELECT COUNT(*), SUM(n) FROM (SELECT qty + 1 AS n FROM trades) WHERE n > 1 HAVING TRUE",
    "SELECT COUNT(*) FROM trades HAVING FALSE",
    # a join of a union of joins
    "SELECT u.n, o.id FROM (SELECT t.qty AS n, q.symbol AS s FROM trades t, quotes q "
    "WHERE t.symbol = q.symbol UNION ALL SELECT id, symbol FROM orders) AS u, orders o "
    "WHERE u.s = o.symbol AND u.n < o.qty",
    "SELECT x + x FROM (SELECT qty + 1 AS x FROM trades UNION ALL SELECT size FROM quotes "
    "UNION ALL (SELECT qty FROM orders UNION ALL SELECT id FROM orders)) WHERE x > 0",
    "SELECT s FROM (SELECT DISTINCT symbol AS s, qty FROM trades) WHERE s = 'a' AND qty = 1",
    "SELECT a.symbol FROM (SELECT symbol, MAX(qty) AS m FROM trades GROUP BY symbol) a, "
    "(SELECT t.symbol, q.size FROM trades t, quotes q WHERE t.symbol = q.symbol) b "
    "WHERE a.symbol = b.symbol AND a.m = b.size AND a.symbol <> 'b'",
    "SELECT t.price, q.bid FROM trades t, quotes q WHERE t.symbol = q.symbol AND q.size > 0 "
    "AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.symbol = t.symbol) "
    "AND EXISTS (SELECT 1 FROM orders o WHERE o.qty = q.size AND o.id > q.bid)",
    "SELECT n.t FROM (SELECT symbol AS s, price AS t FROM trades t WHERE NOT EXISTS "
    "(SELECT 1 FROM orders o WHERE o.symbol = t.symbol AND o.qty <> t.qty)) n, quotes q, "
    "companies c WHERE n.s = q.symbol AND c.symbol = q.symbol",
    "SELECT DISTINCT t.symbol FROM trades t WHERE t.qty > 0 "
    "AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.symbol = t.symbol)",
    "SELECT t.qty, q.size FROM (SELECT qty FROM trades EXCEPT ALL SELECT id FROM orders) t, "
    "(SELECT DISTINCT size FROM quotes WHERE size < 2) q WHERE t.qty = q.size",
    "SELECT t.qty FROM (SELECT qty FROM trades EXCEPT ALL SELECT id FROM orders) t, quotes q "
    "WHERE t.qty = q.size",
    "SELECT DISTINCT t.symbol FROM trades t, quotes q WHERE t.symbol = q.symbol",
    "SELECT DISTINCT t.symbol, q.size FROM trades t, quotes q, orders o "
    "WHERE t.symbol = q.symbol AND o.qty = t.qty AND o.id > q.size",
    "SELECT DISTINCT t.qty + 1, q.symbol, t.qty, c.sector FROM trades t, quotes q, companies c "
    "WHERE t.symbol = q.symbol AND c.symbol = t.symbol",
]

#: By which rules that choose by cost go one way, and the other.
STATISTICS = [
    Statistics(),
    Statistics(rates={"trades": 100, "quotes": 0.01, "orders": 100}),
    Statistics(rates={"trades": 1, "quotes": 100, "orders": 0}),
    Statistics(values={(s, "symbol"): 2 for s in ("trades", "quotes", "orders")}),
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
    functions: dict[str, Any] = {"sum": sum, "max": max}
    return functions[of.function](values) if values else None


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
        case Negation():
            return list(_surplus(plan, *inputs))
        case SemiJoin() | AntiJoin():
            wanted = isinstance(plan, SemiJoin)
            return [a for a in inputs[0] if any(_meets(plan, a, b) for b in inputs[1]) is wanted]
    assert isinstance(plan, GroupBy)
    groups: dict[Row, list[Row]] = {} if plan.keys else {(): []}
    for row in inputs[0]:
        groups.setdefault(tuple(value(k, row) for k in plan.keys), []).append(row)
    return [(*k, *(aggregate(a, rows) for a in plan.aggregates)) for k, rows in groups.items()]


def _meets(plan: Join | SemiJoin | AntiJoin, a: Row, b: Row) -> bool:
    nulls = not isinstance(plan, Join) and plan.nulls_match
    keys = [(value(x, a), value(y, b)) for x, y in plan.keys]
    same = all(x == y and (nulls or x is not None) for x, y in keys)
    return same and (plan.residual is None or bool(value(plan.residual, a + b)))


def _surplus(plan: Negation, lefts: list[Row], rights: list[Row]) -> Iterator[Row]:
    """The last rows of each key; a Counter of the right rows hides the first ones."""
    hidden = Counter(tuple(value(y, b) for _, y in plan.keys) for b in rights)
    for a in lefts:
        key = tuple(value(x, a) for x, _ in plan.keys)
        if hidden[key]:
            hidden[key] -= 1
        else:
            yield a


def rewritten(plan: Plan, believed: Statistics) -> Iterator[Plan]:
    """The plan by each rule alone, by all, and with negations at all places that are right.

    Args:
        believed: what the rules that choose by cost are told, among others.
    """
    for rule in RULES:
        if rule not in COST_RULES:
            yield rule(plan)
    ordered = order_joins(plan)
    for statistics in (*STATISTICS, believed):
        yield order_joins(plan, statistics)
        yield optimize(plan, statistics=statistics)
        for rule in COST_RULES:
            yield rule(ordered, statistics)
    yield from _everywhere(pulled_up(ordered))


def _everywhere(plan: Plan) -> Iterator[Plan]:
    if isinstance(plan, Choosing):
        yield from places(plan)
    for i, below in enumerate(plan.inputs):
        for other in _everywhere(below):
            yield plan.with_inputs(*plan.inputs[:i], other, *plan.inputs[i + 1 :])


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


_statistics = st.builds(
    Statistics,
    rates=st.fixed_dictionaries(
        {s: st.sampled_from([0.001, 1.0, 100.0]) for s in ("trades", "quotes", "orders")}
    ),
    table_rows=st.fixed_dictionaries(
        {t: st.sampled_from([1, 100]) for t in ("companies", "sectors")}
    ),
    values=st.dictionaries(
        st.sampled_from([(s, "symbol") for s in ("trades", "quotes", "orders")]),
        st.sampled_from([1, 1_000]),
    ),
)


@pytest.mark.parametrize("sql", QUERIES)
@settings(max_examples=30)
@given(data=_data, believed=_statistics)
def test_same_answer(sql: str, data: Data, believed: Statistics) -> None:
    plan = bound_plan(f"{sql} WINDOW [UNBOUNDED]")
    expected = Counter(answer(plan, data))
    for other in dict.fromkeys(rewritten(plan, believed)):
        assert Counter(answer(other, data)) == expected, explain(other)
