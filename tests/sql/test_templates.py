"""A statement that is made from a template is the one that parsing gives."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from eddyline import Engine, SqlError
from eddyline.sql.dialect import Eddyline
from eddyline.sql.parser import StatementParser, parse
from eddyline.sql.source import SourceText
from eddyline.sql.statements import CreateQuery, SelectStatement, Statement
from eddyline.sql.templates import Templates, Text
from eddyline.testing.strategies.query_set_cases import random_case


def parsed(sql: str) -> list[Statement]:
    return StatementParser(dialect=Eddyline()).statements(sql)


def shown(statement: Statement | None) -> Any:
    """All that a statement says, with the places of its words."""
    assert isinstance(statement, CreateQuery | SelectStatement)
    select = statement.select
    nodes = [(type(n), n.meta.get("start"), n.meta.get("end")) for n in select.ast.walk()]
    return replace(statement, select=None), repr(select.ast), select.source, nodes  # type: ignore[arg-type]


def check(learnt: str, sql: str) -> bool:
    """Whether a text is found after another was learnt; if so, it must be what parsing gives."""
    templates = Templates()
    templates.learn(Text(learnt), parsed(learnt))
    found = templates.find(Text(sql), SourceText(sql))
    if found is not None:
        (expected,) = parsed(sql)
        assert shown(found) == shown(expected)
    return found is not None


FROM = "SELECT s FROM a [RANGE 5 SECONDS] WHERE"


@pytest.mark.parametrize(
    ("learnt", "sql", "is_found"),
    [
        (f"{FROM} k = 1 AND s > 'a'", f"{FROM} k = 123 AND s > 'bcd'", True),
        (f"{FROM} k = 1.5", f"{FROM} k = 22.25", True),
        (f"{FROM} k = 1", f"{FROM} k = 1.5", False),
        (f"{FROM} k = 1", f"{FROM} k = '1'", False),
        (f"{FROM} k = 1", f"{FROM} v = 1", False),
        (f"{FROM} -k < -1 OR k IN (1, 20)", f"{FROM} -k < -300 OR k IN (7, 8)", True),
        (f"{FROM} k IN (1, 20)", f"{FROM} k IN (1, 20, 3)", False),
        (f"{FROM} s LIKE 'a!%' ESCAPE '!'", f"{FROM} s LIKE '%long%' ESCAPE '?'", True),
        (f"{FROM} k BETWEEN 1 AND 2", f"{FROM} k BETWEEN 10 AND 20", True),
        (f"{FROM} CASE WHEN k > 1 THEN 2 ELSE 3 END = 4",
         f"{FROM} CASE WHEN k > 10 THEN 20 ELSE 30 END = 40", True),
        (f"{FROM} CAST(k AS DECIMAL(10, 2)) > 1", f"{FROM} CAST(k AS DECIMAL(5, 1)) > 2", True),
        ("SELECT s FROM a [RANGE 5 SECONDS]", "SELECT s FROM a [RANGE 6 SECONDS]", False),
        ("SELECT s FROM a [ROWS 5]", "SELECT s FROM a [ROWS 6]", False),
        (f"{FROM} k = 1 EMIT SNAPSHOT EVERY 2 SECONDS",
         f"{FROM} k = 1 EMIT SNAPSHOT EVERY 3 SECONDS", False),
        (f"{FROM} k = 1 EMIT CHANGES", f"{FROM} k = 77 EMIT CHANGES", True),
        (f"{FROM} ts > ts - INTERVAL '5 MINUTES'", f"{FROM} ts > ts - INTERVAL '5'", False),
        (f"{FROM} ts > ts - INTERVAL 5 MINUTES", f"{FROM} ts > ts - INTERVAL 6 MINUTES", False),
        (f"{FROM} ts > TIMESTAMP '2026-01-01'", f"{FROM} ts > TIMESTAMP '2026-01-02'", False),
        (f"{FROM} s = x'41'", f"{FROM} s = x'42'", False),
        (f"{FROM} s = 'it''s'", f"{FROM} s = 'it''t'", False),
        (f"{FROM} s = 'a\\\\b'", f"{FROM} s = 'b\\\\b'", False),
        (f"{FROM} s = \"a\"", f"{FROM} s = \"b\"", False),
        (f"{FROM} k = 1 -- 'a'", f"{FROM} k = 1 -- 'b'", False),
        (f"\n  {FROM}\n k = 1  ", f"\n  {FROM}\n k = 100  ", True),
        (f"{FROM} k = 1;", f"{FROM} k = 2;", False),
        (f"CREATE QUERY q1 AS {FROM} k = 1", f"CREATE QUERY query20 AS {FROM} k = 300", True),
        (f"CREATE QUERY `q` AS {FROM} k = 1", f"CREATE QUERY `select` AS {FROM} k = 2", True),
        (f"CREATE QUERY q AS {FROM} k = 1", f"CREATE QUERY r AS {FROM} k = 1", False),
        (f"CREATE QUERY q1 AS {FROM} k = 1 WITH (sink = 'memory')",
         f"CREATE QUERY q2 AS {FROM} k = 2 WITH (sink = 'memory')", True),
        (f"CREATE QUERY q1 AS {FROM} k = 1 WITH (`sink` = 'memory')",
         f"CREATE QUERY q2 AS {FROM} k = 2 WITH (`sink` = 'print')", False),
    ],
)  # fmt: skip
def test_statements_that_a_template_serves(learnt: str, sql: str, is_found: bool) -> None:
    assert check(learnt, sql) == is_found
    assert check(sql, learnt) == is_found


def test_random_queries() -> None:
    luck, found, asked = Random(5), 0, 0
    for seed in range(12):
        for sql in {sql for turn in random_case(Random(seed)).turns for _, sql in turn.add}:
            other = re.sub(r"'[a-zé]*'", lambda m: f"'{'xé'[: luck.randrange(3)]}z'", sql)
            other = re.sub(r"(?<=[<>=+] )\d+(?![\w.])", lambda _: str(luck.randrange(1000)), other)
            asked += 1
            found += check(sql, other)
            found += check(f"CREATE QUERY a1 AS {sql}", f"CREATE QUERY other2 AS {other}")
    assert found > asked


def test_errors_point_at_the_words_of_their_own_statement() -> None:
    def place(sql: str) -> tuple[int | None, int | None, str]:
        engine = Engine()
        engine.sql("CREATE STREAM a (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts")
        with pytest.raises(SqlError) as caught:
            engine.query(sql)
        return caught.value.line, caught.value.column, str(caught.value)

    for k, s in itertools.product(("1", "1000"), ("'a'", "'abc'")):
        sql = f"SELECT k FROM a [NOW]\nWHERE k = {k} AND UPPER({s}) = nothing"
        line, column, message = place(sql)
        assert (line, column) == (2, sql.splitlines()[1].index("nothing") + 1)
        assert sql.splitlines()[1] in message


def test_names_that_are_keywords_stay_wrong() -> None:
    parse("CREATE QUERY q1 AS SELECT k FROM a [NOW] WHERE k = 1")
    with pytest.raises(SqlError, match="expected the name of a query"):
        parse("CREATE QUERY select AS SELECT k FROM a [NOW] WHERE k = 1")


def test_escaped_constants_are_parsed() -> None:
    sql = r"SELECT x FROM s WHERE x LIKE 'a\\b'"
    parse("SELECT x FROM s WHERE x LIKE 'ab'")
    assert shown(parse(sql)[0]) == shown(parsed(sql)[0])
