"""Messages of wrong and unsupported SQL, carets included: golden/errors.sql (see golden.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from eddyline.errors import SqlError
from eddyline.sql.binder import bind
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateQuery, SelectStatement
from golden import bound_plan, check_golden, example_catalog


def message(sql: str) -> str:
    """What is wrong with a script; each of its SELECTs and queries is bound."""
    catalog = example_catalog()
    try:
        for statement in parse(sql):
            if isinstance(statement, SelectStatement | CreateQuery):
                bind(statement.select, statement.emit, catalog)
            if isinstance(statement, CreateQuery):
                catalog.apply(statement)
    except SqlError as e:
        assert e.line is not None, f"no position: {e}"
        return f"{type(e).__name__}: {e}"
    return "no error"


@pytest.mark.parametrize("path", sorted(Path(__file__).parent.glob("golden/*.sql")), ids=str)
def test_messages(path: Path) -> None:
    check_golden(path, message)


def test_unknown_function_lists_functions() -> None:
    with pytest.raises(SqlError, match="there is no function uper; did you mean 'upper'") as caught:
        bound_plan("SELECT uper(symbol) FROM trades")
    assert (caught.value.line, caught.value.column) == (1, 8)


def test_unknown_name_lists_sources() -> None:
    with pytest.raises(SqlError, match="did you mean 'trades'"):
        bound_plan("SELECT price FROM trade")


def test_a_view_that_reads_itself() -> None:
    catalog = example_catalog()
    for statement in parse("CREATE VIEW a AS SELECT x FROM b; CREATE VIEW b AS SELECT x FROM a"):
        catalog.apply(statement)
    (select,) = parse("SELECT x FROM a")
    assert isinstance(select, SelectStatement)
    with pytest.raises(SqlError, match="'a' reads itself: a -> b -> a"):
        bind(select.select, select.emit, catalog)


def test_an_option_without_a_name_is_called_an_option() -> None:
    with pytest.raises(SqlError, match="expected the name of an option"):
        parse("CREATE STREAM s (ts TIMESTAMP) TIMESTAMP BY ts WITH (= 3)")
