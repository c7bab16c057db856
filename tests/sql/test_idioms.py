"""A hundred idioms of other systems: each is refused with the way to say it here: idioms/*.sql."""

from __future__ import annotations

from pathlib import Path

import pytest

from eddyline.errors import SqlError
from eddyline.sql.binder import bind
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateQuery, SelectStatement
from golden import SEPARATOR, check_golden, example_catalog

FILES = sorted(Path(__file__).parent.glob("idioms/*.sql"))


def message(sql: str) -> str:
    try:
        for statement in parse(sql):
            assert isinstance(statement, SelectStatement | CreateQuery), "the idiom is accepted"
            bind(statement.select, statement.emit, example_catalog())
    except SqlError as e:
        assert e.line is not None, f"no position: {e}"
        return f"{type(e).__name__}: {e}"
    return "no error"


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_idioms(path: Path) -> None:
    check_golden(path, message)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_each_of_twenty_or_more_is_refused_with_advice(path: Path) -> None:
    cases = [c for c in path.read_text().split(SEPARATOR) if c.strip()]
    assert len(cases) >= 20
    for case in cases:
        said = case.split("=>")[1].strip().splitlines()[0]
        assert "Error: line 1, column" in said, case
        assert "no error" not in said, case
        assert "valid: ALTER" not in said, case  # a list of all statements is no advice
        assert "unexpected" not in said, case


def test_only_the_refused_statement_has_idioms() -> None:
    with pytest.raises(
        SqlError, match="line 2, column 1: unknown statement; did you mean 'SELECT'"
    ):
        parse("SELECT qty FROM trades [NOW] WHERE symbol = '#time(5)';\nSELEC 1; TAIL x")
    with pytest.raises(SqlError, match="line 2, column 1: SUBSCRIBE or TAIL is not supported"):
        parse("SELECT qty FROM trades [NOW];\nTAIL x;\nSELECT 1 FROM s")


def test_texts_are_no_idioms() -> None:
    with pytest.raises(SqlError, match="there is no column 'qt'"):
        bind_first("SELECT qt FROM trades WHERE symbol = 'a # time ( b' OR symbol = 'ROWTIME'")
    with pytest.raises(SqlError, match="there is no column 'rowtim'"):
        bind_first("SELECT rowtim FROM trades")


def bind_first(sql: str) -> None:
    (statement,) = parse(sql)
    assert isinstance(statement, SelectStatement)
    bind(statement.select, statement.emit, example_catalog())
