"""Windows of OVER by name stand for what is written in WINDOW."""

from __future__ import annotations

import pytest

from eddyline import Engine
from eddyline.errors import SqlError

DDL = "CREATE STREAM s (ts TIMESTAMP, k BIGINT, x BIGINT) TIMESTAMP BY ts"


@pytest.mark.parametrize(
    ("named", "spelled"),
    [
        (
            "SELECT SUM(x) OVER w AS a, LAG(x) OVER (w) AS b FROM s WINDOW w AS (PARTITION BY k "
            "ORDER BY ts)",
            "SELECT SUM(x) OVER (PARTITION BY k ORDER BY ts) AS a, LAG(x) OVER (PARTITION BY k "
            "ORDER BY ts) AS b FROM s",
        ),
        (
            "SELECT SUM(x) OVER v AS a FROM s WINDOW w AS (PARTITION BY k), v AS (w ORDER BY ts "
            "ROWS 2 PRECEDING)",
            "SELECT SUM(x) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING) AS a FROM s",
        ),
        (
            "SELECT x FROM s QUALIFY RANK() OVER (w ORDER BY x) <= 2 WINDOW w AS (PARTITION BY k) "
            "WINDOW 10 SECONDS",
            "SELECT x FROM s [RANGE 10 SECONDS] QUALIFY RANK() OVER (PARTITION BY k ORDER BY x) "
            "<= 2",
        ),
        (
            "SELECT a FROM (SELECT RANK() OVER w AS a FROM s [NOW] WINDOW w AS (ORDER BY x)) AS q",
            "SELECT a FROM (SELECT RANK() OVER (ORDER BY x) AS a FROM s [NOW]) AS q",
        ),
    ],
)
def test_a_name_stands_for_its_window(named: str, spelled: str) -> None:
    engine = Engine()
    engine.sql(DDL)
    assert engine.explain(named) == engine.explain(spelled)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT RANK() OVER w FROM s", "there is no window 'w': write WINDOW w AS (...)"),
        (
            "SELECT RANK() OVER v FROM s WINDOW w AS (ORDER BY x)",
            "there is no window 'v'; valid: w",
        ),
        (
            "SELECT RANK() OVER (w ORDER BY k) FROM s WINDOW w AS (ORDER BY x)",
            "the window 'w' has ORDER BY already",
        ),
        (
            "SELECT RANK() OVER w FROM s WINDOW w AS (ORDER BY x), W AS (ORDER BY k)",
            "there are several windows 'w'",
        ),
        (
            "SELECT (SELECT MAX(x) OVER w FROM s [NOW]) FROM s [NOW] WINDOW w AS (ORDER BY x)",
            "there is no window 'w'",
        ),
    ],
)
def test_names_that_stand_for_nothing(sql: str, message: str) -> None:
    engine = Engine()
    engine.sql(DDL)
    with pytest.raises(SqlError) as error:
        engine.explain(sql)
    assert message in str(error.value)
