"""SELECTs to plans: plans/*.sql (see golden.py), and what a plan's text does not show."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from eddyline.algebra.catalog import Emit
from eddyline.algebra.explain import explain
from eddyline.algebra.expressions import Literal
from eddyline.algebra.plan import Plan, Project, StreamScan
from eddyline.algebra.windows import PartitionRows, Range, Unbounded
from eddyline.errors import SqlError, UnsupportedError
from eddyline.sql.binder import bind, check_view
from eddyline.sql.binder.output import deduplicated
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateQuery, CreateView, SelectStatement
from eddyline.types import TIMESTAMP
from golden import bound_plan, check_golden, example_catalog
from plan_parameters import parameters_of


def scans(plan: Plan) -> list[StreamScan]:
    if isinstance(plan, StreamScan):
        return [plan]
    return [s for i in plan.inputs for s in scans(i)]


def names(sql: str) -> list[str]:
    return [f.name for f in bound_plan(sql).schema]


def types(select_list: str) -> list[pa.DataType]:
    return [f.type for f in bound_plan(f"SELECT {select_list} FROM trades").schema]


@pytest.mark.parametrize("path", sorted(Path(__file__).parent.glob("plans/*.sql")), ids=str)
def test_plans(path: Path) -> None:
    check_golden(path, lambda sql: explain(bound_plan(sql)))


def test_windows_are_typed() -> None:
    (trades,) = scans(bound_plan("SELECT qty FROM trades [PARTITION BY symbol, QTY ROWS 3]"))
    assert trades.window == PartitionRows((1, 3), ("symbol", "qty"), 3)
    (trades,) = scans(bound_plan("SELECT qty FROM trades [UNBOUNDED]"))
    assert trades.window == Unbounded(explicit=True)
    (trades,) = scans(bound_plan("SELECT qty FROM trades"))
    assert trades.window == Unbounded(explicit=False)


def test_the_nearest_window_wins() -> None:
    plan = bound_plan(
        "SELECT a.symbol FROM averages [RANGE 2 SECONDS] a, trades [NOW] t, quotes q, "
        "(SELECT symbol FROM orders WINDOW 3 SECONDS) o WINDOW 4 SECONDS"
    )
    assert [s.window for s in scans(plan)] == [
        Range(2_000_000),
        Range(1),
        Range(4_000_000),
        Range(3_000_000),
    ]


def test_a_trailing_window_covers_all_of_a_union() -> None:
    plan = bound_plan("SELECT price FROM trades UNION ALL SELECT bid FROM quotes WINDOW 1 DAY")
    assert {s.window for s in scans(plan)} == {Range(86_400_000_000)}


def test_output_names_are_unique() -> None:
    assert names("SELECT price, price, qty AS PRICE, 1 AS price_1 FROM trades") == [
        "price",
        "price_2",
        "PRICE_3",
        "price_1",
    ]
    assert names("SELECT * FROM trades, quotes WINDOW 1 SECOND")[4:6] == ["ts_1", "symbol_1"]


def test_deduplicated() -> None:
    assert deduplicated(["x", "x", "x"]) == ["x", "x_1", "x_2"]
    assert deduplicated([]) == []


def test_unnamed_columns_are_called_as_written() -> None:
    assert names("SELECT price * 2, count(*), Sum(qty) FROM trades [NOW] GROUP BY price") == [
        "price * 2",
        "count(*)",
        "Sum(qty)",
    ]


def test_names_of_a_sub_query_stay_ambiguous() -> None:
    with pytest.raises(SqlError, match="column 'qty' is ambiguous"):
        bound_plan("SELECT qty FROM (SELECT qty, price AS qty FROM trades)")


def test_literals() -> None:
    assert types("1, 3000000000, 1.5, 1e3, 'a', TRUE, NULL, 10L") == [
        pa.int32(),
        pa.int64(),
        pa.float64(),
        pa.float64(),
        pa.string(),
        pa.bool_(),
        pa.null(),
        pa.int64(),
    ]
    assert types("DATE '2026-01-31', TIMESTAMP '2026-01-31 12:00:00', INTERVAL 5 MINUTES") == [
        pa.date32(),
        TIMESTAMP,
        pa.duration("us"),
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [("'it''s'", "it's"), ("'a\\'b'", "a'b"), ("-7", -7), ("''", "")],
)
def test_literal_values(text: str, value: object) -> None:
    plan = bound_plan(f"SELECT {text} FROM trades")
    assert isinstance(plan, Project)
    (expr,) = plan.exprs
    assert isinstance(expr, Literal)
    assert expr.value == value


@pytest.mark.parametrize(
    "condition",
    [
        "price = 1 AND NOT (qty <> 2 OR qty < 3)",
        "symbol LIKE 'a%' AND symbol NOT LIKE '%b' AND symbol ILIKE 'A' AND symbol RLIKE 'a+'",
        "symbol LIKE 'a!%' ESCAPE '!' AND symbol NOT LIKE '%b' ESCAPE '\\\\'",
        "price BETWEEN 1 AND 2 AND qty NOT BETWEEN 3 AND 4",
        "qty IN (1, 2, NULL) AND symbol NOT IN ('a', 'b')",
        "price IS NULL OR price IS NOT NULL OR (qty > 1) IS TRUE OR (qty > 1) IS NOT FALSE",
        "price <=> NULL OR price IS DISTINCT FROM qty",
        "CASE WHEN price > 1 THEN TRUE ELSE FALSE END",
        "CASE symbol WHEN 'a' THEN 1 WHEN 'b' THEN 2 END = 1",
        "IF(price > 1, qty, 0) = COALESCE(qty, 0) AND NULLIF(qty, 0) > 1",
        "ts > '2026-01-01' AND ts + INTERVAL '1' HOUR < TIMESTAMP '2026-02-01 00:00:00'",
        "EXTRACT(YEAR FROM ts) = year(ts) AND qty % 2 = 0 AND qty DIV 2 = 1 AND -qty < 0",
        "symbol || 'x' = CONCAT(symbol, 'x') AND CAST(qty AS STRING) = qty :: STRING",
        "TRY_CAST('abc' AS INT) IS NULL",
        "NULL",
    ],
)
def test_conditions_bind(condition: str) -> None:
    bound_plan(f"SELECT price FROM trades WHERE {condition}")


def test_bind_returns_the_emit_clause() -> None:
    (statement,) = parse("SELECT price FROM trades EMIT CHANGES")
    assert isinstance(statement, SelectStatement)
    bound = bind(statement.select, statement.emit, example_catalog())
    assert bound.emit == Emit("changes")


def test_a_query_for_each_row_names_its_table() -> None:
    (query,) = parse(
        "CREATE QUERY q FOR EACH ROW OF RULES AS r AS "
        "SELECT R.Symbol, r.* FROM trades [NOW] WHERE price > r.least"
    )
    assert isinstance(query, CreateQuery)
    bound = bind(query.select, query.emit, example_catalog())
    assert bound.rules == "rules"
    assert [f.name for f in bound.plan.schema] == ["Symbol", "id", "symbol_1", "least", "active"]
    assert [p.index for p in parameters_of(bound.plan)] == [0, 1, 2, 3]
    assert [str(p) for p in parameters_of(bound.plan)][2] == "$r.least"


def test_a_query_for_each_row_of_a_table_may_read_it() -> None:
    catalog = example_catalog()
    (query,) = parse(
        "CREATE QUERY q FOR EACH ROW OF rules AS r AS SELECT rules.id FROM rules WHERE id < r.id"
    )
    catalog.apply(query)
    assert isinstance(query, CreateQuery)
    bound = bind(query.select, query.emit, catalog)
    assert bound.rules == "rules"
    (reader,) = parse("SELECT id FROM q")
    assert isinstance(reader, SelectStatement)
    with pytest.raises(UnsupportedError, match="'q' is one query for each row of 'rules'"):
        bind(reader.select, reader.emit, catalog)


def test_a_query_reads_another() -> None:
    catalog = example_catalog()
    (query,) = parse("CREATE QUERY dear AS SELECT price, price FROM trades WHERE price > 100")
    catalog.apply(query)
    assert isinstance(query, CreateQuery)
    (reader,) = parse("SELECT price, Price_1 FROM Dear [NOW] AS d")
    assert isinstance(reader, SelectStatement)
    plan = bind(reader.select, reader.emit, catalog).plan
    assert [f.name for f in plan.schema] == ["price", "Price_1"]
    assert scans(plan)[0].window == Range(1)


def test_names_of_a_set_operation_are_those_of_its_first_operand() -> None:
    first, second = "SELECT price AS p, symbol FROM trades", "SELECT bid, symbol FROM quotes"
    for operation in ("UNION", "EXCEPT", "EXCEPT ALL", "INTERSECT", "INTERSECT ALL"):
        assert names(f"{first} {operation} {second} WINDOW 1 DAY") == ["p", "symbol"]


def test_columns_without_a_match_keep_their_types() -> None:
    plan = bound_plan("SELECT * FROM trades [NOW] t FULL JOIN quotes [NOW] q ON t.price = q.bid")
    (union,) = plan.inputs
    pairs, *alone = union.inputs
    for part in alone:
        assert [f.type for f in part.schema] == [f.type for f in pairs.schema]


def test_the_reader_of_a_view_gives_windows_to_its_sub_queries() -> None:
    catalog = example_catalog()
    (view,) = parse(
        "CREATE VIEW lonely AS SELECT t.price FROM trades t "
        "WHERE NOT EXISTS (SELECT 1 FROM quotes q WHERE q.symbol = t.symbol)"
    )
    catalog.apply(view)
    (reader,) = parse("SELECT price FROM lonely [RANGE 3 SECONDS]")
    assert isinstance(reader, SelectStatement)
    plan = bind(reader.select, reader.emit, catalog).plan
    assert {s.window for s in scans(plan)} == {Range(3_000_000)}


def test_equal_sub_queries_have_equal_plans() -> None:
    one = bound_plan(
        "SELECT price FROM trades t WHERE symbol IN (SELECT symbol FROM quotes) WINDOW 1 SECOND"
    )
    two = bound_plan(
        "SELECT price FROM trades [RANGE 1 SECOND] "
        "WHERE EXISTS (SELECT 1 FROM quotes [RANGE 1 SECOND] q WHERE trades.symbol = q.symbol)"
    )
    assert one == two


def test_equal_queries_have_equal_plans() -> None:
    one = bound_plan("SELECT t.price p FROM trades [NOW] AS t WHERE t.price > 1")
    two = bound_plan("select PRICE p from TRADES [range 1 microsecond] where price > 1")
    assert one == two
    assert hash(one) == hash(two)


@pytest.mark.parametrize("body", ["symbol, COUNT(*) FROM trades GROUP BY 1", "* FROM companies"])
def test_a_view_may_leave_windows_and_streams_to_its_readers(body: str) -> None:
    (view,) = parse(f"CREATE VIEW v AS SELECT {body}")
    assert isinstance(view, CreateView)
    check_view(view.select, example_catalog())


def test_a_view_is_checked_when_created() -> None:
    (view,) = parse("CREATE VIEW v AS SELECT prise FROM trades")
    assert isinstance(view, CreateView)
    with pytest.raises(SqlError, match="there is no column 'prise'"):
        check_view(view.select, example_catalog())
