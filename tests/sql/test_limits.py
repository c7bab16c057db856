"""Texts that are too long or too deep: an error with a place, never one of Python's."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

import pytest

from eddyline.algebra.catalog import Emit
from eddyline.errors import EddylineError, SqlError
from eddyline.sql.binder import bind
from eddyline.sql.catalog import Catalog
from eddyline.sql.limits import MAX_NESTING, MAX_QUERIES
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateView, SelectStatement
from golden import SCHEMA

T = TypeVar("T")

#: A text nested this many levels deep.
NESTED: dict[str, Callable[[int], str]] = {
    "parentheses": lambda n: f"SELECT {'(' * n}qty{')' * n} FROM trades",
    "conditions": lambda n: f"SELECT qty FROM trades WHERE {'(' * n}qty > 1{')' * n}",
    "sums": lambda n: f"SELECT {'(1 + ' * n}qty{')' * n} FROM trades",
    "calls": lambda n: f"SELECT {'abs(' * n}qty{')' * n} FROM trades",
    "choices": lambda n: f"SELECT {'coalesce(qty, 1 + ' * n}qty{')' * n} FROM trades",
    "CAST": lambda n: f"SELECT {'CAST(' * n}qty{' AS BIGINT)' * n} FROM trades",
    "CASE": lambda n: f"SELECT {'CASE WHEN qty > 1 THEN ' * n}1{' ELSE 2 END' * n} FROM trades",
    "NOT": lambda n: f"SELECT qty FROM trades WHERE {'NOT ' * n}qty > 1",
    "signs": lambda n: f"SELECT {'- ' * n}qty FROM trades",
    "sub-queries": lambda n: f"SELECT qty FROM {'(SELECT qty FROM ' * n}trades{')' * n}",
    "queries": lambda n: f"{'(' * n}SELECT qty FROM trades{')' * n}",
    "UNION": lambda n: f"{'(SELECT qty FROM trades UNION ALL ' * n}SELECT qty FROM trades{')' * n}",
    "EXISTS": lambda n: (
        "SELECT qty FROM trades [NOW] WHERE "
        f"{'EXISTS (SELECT 1 FROM orders [NOW] WHERE ' * n}qty > 1{')' * n}"
    ),
    "NOT EXISTS": lambda n: (
        "SELECT qty FROM trades [NOW] WHERE "
        f"{'NOT EXISTS (SELECT 1 FROM orders [NOW] WHERE ' * n}qty > 1{')' * n}"
    ),
    "WITH": lambda n: f"{'WITH a AS (' * n}SELECT qty FROM trades{') SELECT qty FROM a' * n}",
    "types": lambda n: f"CREATE STREAM s (ts {'ARRAY<' * n}INT{'>' * n})",
}

#: Chains of operators.
CHAINED: dict[str, Callable[[int], str]] = {
    "sums": lambda n: f"SELECT {'+'.join(['qty'] * n)} FROM trades",
    "casts": lambda n: f"SELECT qty{'::BIGINT' * n} FROM trades",
    "tests": lambda n: f"SELECT qty FROM trades WHERE qty{' IS NULL' * n}",
    "comparisons": lambda n: f"SELECT qty FROM trades WHERE qty{' = qty' * n}",
    "brackets": lambda n: f"SELECT qty{'[1]' * n} FROM trades",
    "dots": lambda n: f"SELECT qty{'.a' * n} FROM trades",
    "zones": lambda n: f"SELECT ts{(' AT TIME ZONE ' + repr('UTC')) * n} FROM trades",
    "paths": lambda n: f"SELECT symbol{('->' + repr('a')) * n} FROM trades",
    "EXCEPT": lambda n: " EXCEPT ".join(["SELECT qty FROM trades [NOW]"] * n),
    "joins": lambda n: f"SELECT 1 FROM trades {' JOIN trades' * n}",
    "joins with ON": lambda n: f"SELECT 1 FROM {'trades JOIN ' * n}trades{' ON 1 = 1' * n}",
}


def planned(sql: str) -> None:
    catalog = Catalog()
    for statement in parse(SCHEMA):
        catalog.apply(statement)
    for statement in parse(sql):
        if isinstance(statement, SelectStatement):
            bind(statement.select, Emit(), catalog)


def at_depth(depth: int, work: Callable[[], T]) -> T:
    """Run it with this many frames below."""
    return work() if depth <= 0 else at_depth(depth - 1, work)


@pytest.mark.parametrize("form", NESTED)
@pytest.mark.parametrize("levels", [MAX_NESTING + 1, 200, 5_000])
def test_too_deep_is_an_error_with_its_place(form: str, levels: int) -> None:
    with pytest.raises(SqlError) as caught:
        planned(NESTED[form](levels))
    assert caught.value.line == 1
    assert caught.value.column is not None


def test_messages_of_deep_nesting() -> None:
    with pytest.raises(
        SqlError, match=r"line 2, column 48: this is nested more than 32 levels deep"
    ):
        parse("SELECT qty\n  FROM s WHERE " + "(" * 60 + "qty" + ")" * 60)


@pytest.mark.parametrize("form", NESTED)
def test_statements_within_the_limits_need_no_more_frames(form: str) -> None:
    """Also from the end of a stack that is all but used up, and on a thread with a small one."""
    sql = NESTED[form](MAX_NESTING // 3)  # a level may count for three: NOT EXISTS (
    deep = sys.getrecursionlimit() - 250

    def attempt() -> str:
        try:
            planned(sql)
        except EddylineError as e:
            return str(e)
        return ""

    here = attempt()
    assert "nested" not in here
    assert at_depth(deep, attempt) == here
    assert on_small_stack(attempt) == here


def on_small_stack(work: Callable[[], T]) -> T:
    results: list[T] = []
    before = threading.stack_size(128 << 10)
    try:
        thread = threading.Thread(target=lambda: results.append(work()))
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    return results[0]


@pytest.mark.parametrize("form", CHAINED)
def test_chains_of_operators_have_a_result_or_an_error(form: str) -> None:
    for length in (10, 60, 140, 160, 2_000):
        try:
            planned(CHAINED[form](length))
        except SqlError as e:
            assert e.line == 1, e


def test_a_sum_may_be_long_and_in_parts_longer() -> None:
    planned(CHAINED["sums"](140))
    parts = ["(" + "+".join(["qty"] * 100) + ")"] * 40
    planned(f"SELECT {'+'.join(parts)} FROM trades")
    with pytest.raises(SqlError, match="more than 150 operators are chained"):
        planned(CHAINED["sums"](1_000))


def test_views_and_with_entries_are_nested_up_to_a_limit() -> None:
    catalog = Catalog()
    for statement in parse(SCHEMA):
        catalog.apply(statement)
    deepest = MAX_QUERIES + 1
    for i in range(deepest):
        source = f"v{i - 1}" if i else "trades"
        (view,) = parse(f"CREATE VIEW v{i} AS SELECT * FROM {source}")
        assert isinstance(view, CreateView)
        catalog.create_view(view.name, view.select)

    def read(view: str) -> None:
        (statement,) = parse(f"SELECT qty FROM {view}")
        assert isinstance(statement, SelectStatement)
        bind(statement.select, Emit(), catalog)

    read(f"v{MAX_QUERIES - 2}")
    with pytest.raises(SqlError, match="more than 32 queries are nested here"):
        read(f"v{deepest - 1}")
    entries = ", ".join(f"a{i} AS (SELECT * FROM a{i - 1})" for i in range(1, 100))
    with pytest.raises(SqlError, match="more than 32 queries are nested here"):
        planned(f"WITH a0 AS (SELECT * FROM trades), {entries} SELECT qty FROM a99")


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        (f"SELECT {'9' * 5_000} FROM trades", r"column 8: 9+\.\.\. \(5000 characters\) does not"),
        (f"SELECT {'9' * 400}.0 FROM trades", "column 8: .* does not fit DOUBLE"),
        ("SELECT 1e999 FROM trades", "column 8: 1e999 does not fit DOUBLE"),
        (f"SELECT qty FROM trades [ROWS {'9' * 5_000}]", "column 30: ROWS takes a whole number"),
        (f"SELECT qty FROM trades [RANGE {'9' * 5_000} DAYS]", "is too long"),
        ("SELECT qty FROM trades [RANGE 1e999999 DAYS]", "is too long"),
        (f"SELECT INTERVAL {'9' * 5_000} DAYS FROM trades", "column 8: .* is too long"),
        (f"SELECT qty FROM trades [NOW] GROUP BY {'9' * 5_000}", "column 39: GROUP BY 999"),
        (f"CREATE TABLE t (d DECIMAL({'9' * 5_000}))", "column 19: DECIMAL.* out of range"),
        ("SELECT qty AS `\ud800` FROM trades", r"column 16: U\+D800 is half of a surrogate pair"),
        ("SELECT '\udfff' FROM trades", r"column 9: U\+DFFF is half of a surrogate pair"),
    ],
)  # fmt: skip
def test_numbers_and_characters_out_of_range(sql: str, message: str) -> None:
    with pytest.raises(SqlError, match=message) as caught:
        planned(sql)
    str(caught.value).encode()


def test_an_error_shows_a_part_of_a_long_line() -> None:
    sql = "SELECT " + ", ".join(["qty"] * 1_000) + ", prise, " + ", ".join(["qty"] * 1_000)
    with pytest.raises(SqlError, match="there is no column 'prise'") as caught:
        planned(sql + " FROM trades")
    _, shown, mark = str(caught.value).split("\n")
    assert shown[mark.index("^") :].startswith("prise")
    assert len(shown) < 250
