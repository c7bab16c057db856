"""Golden files: cases of input and expected text, checked by tests and rewritten on demand.

A file is a sequence of cases, separated by lines of dashes::

    -- what the case shows
    SELECT price FROM trades
    =>
    Project  price            MONOTONIC
      StreamScan  trades ...  MONOTONIC
    ----------

``EDDYLINE_UPDATE_GOLDEN=1 pytest tests/sql tests/optimizer tests/algebra`` writes what the code
gives now; read the difference before you commit it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from eddyline.algebra.plan import Plan
from eddyline.sql.binder import bind
from eddyline.sql.catalog import Catalog
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateQuery, SelectStatement

SEPARATOR = "-" * 10

SCHEMA = """
CREATE STREAM trades (ts TIMESTAMP, symbol STRING, price DOUBLE, qty BIGINT) TIMESTAMP BY ts;
CREATE STREAM quotes (ts TIMESTAMP, symbol STRING, bid DOUBLE, size INT) TIMESTAMP BY ts;
CREATE STREAM orders (ts TIMESTAMP, id BIGINT, symbol STRING, qty INT) TIMESTAMP BY ts;
CREATE TABLE companies (symbol STRING, sector STRING);
CREATE TABLE sectors (sector STRING, country STRING);
CREATE TABLE limits (symbol STRING, most BIGINT) WITH (updates = 'retroactive');
CREATE TABLE rates (symbol STRING, rate DOUBLE) WITH (updates = 'non-retroactive');
CREATE TABLE rules (id BIGINT, symbol STRING, least INT, active BOOLEAN)
  WITH (updates = 'retroactive');
CREATE VIEW averages AS SELECT symbol, AVG(price) AS mean FROM trades GROUP BY symbol;
CREATE VIEW cheap AS SELECT symbol, price FROM trades [ROWS 10] WHERE price < 5;
"""


def example_catalog() -> Catalog:
    """The streams, tables and views that the cases read."""
    catalog = Catalog()
    for statement in parse(SCHEMA):
        catalog.apply(statement)
    return catalog


def bound_plan(sql: str) -> Plan:
    """The plan of one SELECT or CREATE QUERY, not optimized."""
    (statement,) = parse(sql)
    assert isinstance(statement, SelectStatement | CreateQuery)
    return bind(statement.select, statement.emit, example_catalog()).plan


def check_golden(path: Path, answer: Callable[[str], str]) -> None:
    """Compare the answer for each case of the file with the expected text."""
    given = cases(path)
    actual = [(question, answer(question)) for question, _ in given]
    if os.environ.get("EDDYLINE_UPDATE_GOLDEN"):
        path.write_text("".join(f"{q}\n=>\n{a}\n{SEPARATOR}\n" for q, a in actual))
        return
    for (question, expected), (_, text) in zip(given, actual, strict=True):
        assert text == expected, f"{path.name}: {question}"


def cases(path: Path) -> list[tuple[str, str]]:
    """The cases of a file, with the expected texts."""
    return [_split(c) for c in path.read_text().split(f"\n{SEPARATOR}\n") if c.strip()]


def questions(path: Path) -> list[str]:
    """The cases of a file."""
    return [question for question, _ in cases(path)]


def _split(case: str) -> tuple[str, str]:
    question, _, expected = case.partition("\n=>\n")
    return question.strip("\n"), expected.strip("\n")
