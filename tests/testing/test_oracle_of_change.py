"""The oracle on negation, existence, outer joins and tables that change, worked out by hand::

s      1       2       3       4       5
a      1,x     2,.     3,x     .,y
       1,y             1,z
b              1,x             .,y
live   -----------1,5------|          (from the beginning until 3.5 s)
                   2,7---------------- (from 1.5 s)
"""

import pytest

from eddyline.testing import Oracle, batch, difference, parse_time
from eddyline.testing.bags import Row
from eddyline.testing.live import LiveTable, LiveUpdates, as_changes

A = batch("""
    ts | k | s
    1s | 1 | x
    1s | 1 | y
    2s | 2 | .
    3s | 3 | x
    3s | 1 | z
    4s | . | y
""")
B = batch("""
    ts | k:int | s
    2s | 1     | x
    4s | .     | y
""")
CONTENTS = batch("k | w\n1 | 5")
CHANGES = batch("""
    _ts    | _op | k | w
    1500ms | +   | 2 | 7
    3500ms | -   | 1 | 5
""")


def table(updates: LiveUpdates) -> LiveTable:
    return LiveTable(updates, CONTENTS, as_changes(CHANGES, CONTENTS.schema))


@pytest.fixture(scope="module")
def oracle() -> Oracle:
    live = {"live": table("retroactive"), "nrr": table("non-retroactive")}
    return Oracle({"a": A, "b": B}, live=live)


QUERIES: list[tuple[str, str, list[Row]]] = [
    ("SELECT k FROM a [UNBOUNDED] EXCEPT ALL SELECT k FROM b [UNBOUNDED]", "4s",
     [(1,), (1,), (2,), (3,)]),
    ("SELECT k FROM a [UNBOUNDED] EXCEPT SELECT k FROM b [UNBOUNDED]", "4s", [(2,), (3,)]),
    ("SELECT k, s FROM a [UNBOUNDED] INTERSECT SELECT k, s FROM b [ROWS 2]", "4s",
     [(1, "x"), (None, "y")]),
    ("SELECT s FROM a [UNBOUNDED] INTERSECT ALL SELECT s FROM (SELECT s FROM b [ROWS 1] UNION ALL"
     " SELECT s FROM b [ROWS 2]) q", "4s", [("x",), ("y",), ("y",)]),
    # of three rows with k = 1 the two youngest stay; NULL is a value
    ("SELECT k, s FROM a [UNBOUNDED] EXCEPT ALL ON (k) SELECT k FROM b [UNBOUNDED]", "4s",
     [(1, "y"), (1, "z"), (2, None), (3, "x")]),
    ("SELECT k, s FROM a [ROWS 5] EXCEPT ALL ON (k) (SELECT k FROM b [NOW] UNION ALL"
     " SELECT 1 FROM b [NOW])", "4s", [(1, "z"), (2, None), (3, "x")]),
    ("SELECT s, k AS n FROM a [RANGE 3 SECONDS] EXCEPT ALL ON (n) SELECT k AS n FROM b [ROWS 1]",
     "2s", [("y", 1), (None, 2)]),
    ("SELECT q.s FROM (SELECT k, s FROM a [NOW] EXCEPT ALL ON (s) SELECT s FROM b [NOW]) q", "1s",
     [("x",), ("y",)]),
    ("SELECT k FROM a [UNBOUNDED] WHERE EXISTS (SELECT 1 FROM b [UNBOUNDED] AS e"
     " WHERE e.k = a.k AND e.s <> a.s)", "4s", [(1,), (1,)]),
    ("SELECT k FROM a [UNBOUNDED] WHERE NOT EXISTS (SELECT 1 FROM b [UNBOUNDED] AS e"
     " WHERE e.k = a.k)", "4s", [(2,), (3,), (None,)]),
    ("SELECT k FROM a [UNBOUNDED] WHERE k IN (SELECT k FROM b [ROWS 1])", "3s",
     [(1,), (1,), (1,)]),
    ("SELECT x.k, y.k FROM a [NOW] x FULL JOIN b [UNBOUNDED] y ON x.k = y.k AND x.s > y.s", "3s",
     [(3, None), (1, 1)]),
    ("SELECT x.k, y.s FROM a [NOW] x LEFT JOIN b [UNBOUNDED] y ON x.k = y.k", "4s",
     [(None, None)]),
    ("SELECT x.s, y.s FROM a [NOW] x RIGHT JOIN b [UNBOUNDED] y ON x.k = y.k", "3s", [("z", "x")]),
    ("SELECT a.k, t.w FROM a [UNBOUNDED] JOIN live t ON a.k = t.k", "3s",
     [(1, 5), (1, 5), (2, 7), (1, 5)]),
    ("SELECT a.k, t.w FROM a [UNBOUNDED] JOIN live t ON a.k = t.k", "3s500ms", [(2, 7)]),
    ("SELECT k FROM live", "2s", [(1,), (2,)]),
    ("SELECT a.k, t.w FROM a [UNBOUNDED] JOIN nrr t ON a.k = t.k", "5s",
     [(1, 5), (1, 5), (2, 7), (1, 5)]),
    # 2,7 came after the first rows: a result sees it from 1.5 s on, by the later of its rows
    ("SELECT y.k, t.w FROM a [RANGE 1 SECOND] x, a [RANGE 2 SECONDS] y, nrr t"
     " WHERE x.k = 1 AND x.s = 'x' AND y.s = 'y' AND t.w > 0", "1s500ms", [(1, 5)]),
    ("SELECT x.k, y.k, t.w FROM a [UNBOUNDED] x, b [UNBOUNDED] y, nrr t WHERE x.s = 'y'"
     " AND y.k = 1 AND t.w = 7", "5s", [(1, 1, 7), (None, 1, 7)]),
    ("SELECT q.k, t.w FROM (SELECT x.k FROM a [UNBOUNDED] x, b [UNBOUNDED] y WHERE x.k = y.k"
     " UNION ALL SELECT k FROM b [NOW]) q, nrr t WHERE t.w = 7", "4s",
     [(1, 7), (1, 7), (1, 7), (None, 7)]),
    ("SELECT t.w, COUNT(*) FROM a [UNBOUNDED] x, nrr t GROUP BY t.w", "5s", [(5, 5), (7, 4)]),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "at", "expected"), QUERIES)
def test_queries(oracle: Oracle, sql: str, at: str, expected: list[Row]) -> None:
    assert difference(expected, oracle.answer(sql, parse_time(at))) == ([], [])


def test_changes_of_tables_are_instants(oracle: Oracle) -> None:
    at = oracle.instants("SELECT a.k FROM a [RANGE 1 MINUTE], live", parse_time("9s"))
    assert {parse_time("1500ms"), parse_time("3500ms")} <= set(at)


BEYOND = [
    "SELECT k, s FROM a [NOW] WHERE k IN (SELECT k FROM b [NOW])"
    " EXCEPT ALL ON (k) SELECT k FROM b [NOW]",
    "SELECT DISTINCT k FROM a [NOW] EXCEPT ALL ON (k) SELECT k FROM b [NOW]",
    "SELECT k, COUNT(*) FROM a [NOW] GROUP BY k EXCEPT ALL ON (k) SELECT k FROM b [NOW]",
    "SELECT a.k FROM a [NOW], b [NOW] EXCEPT ALL ON (k) SELECT k FROM b [NOW]",
    "SELECT k FROM live EXCEPT ALL ON (k) SELECT k FROM b [NOW]",
    "SELECT s FROM a [NOW] EXCEPT ALL ON (k) SELECT k FROM b [NOW]",
    "SELECT k FROM a [NOW] EXCEPT ALL ON (k) SELECT k FROM b [NOW] UNION ALL SELECT 1 FROM b [NOW]",
    "SELECT t.k FROM nrr t",
    "SELECT t.k FROM a [NOW] LEFT JOIN nrr t ON a.k = t.k",
    "SELECT t.k FROM live JOIN nrr t ON live.k = t.k",
    "SELECT * FROM a [NOW] JOIN nrr t ON a.k = t.k",
    "SELECT t.k FROM (SELECT DISTINCT k FROM a [NOW]) q, nrr t",
    "SELECT t.k FROM (SELECT k FROM a [NOW] EXCEPT SELECT k FROM b [NOW]) q, nrr t",
]


@pytest.mark.parametrize("sql", BEYOND)
def test_queries_that_the_oracle_does_not_support(oracle: Oracle, sql: str) -> None:
    with pytest.raises(ValueError, match="the oracle supports only"):
        oracle.answer(sql, parse_time("2s"))


def test_nan_in_a_change_is_the_largest() -> None:
    contents, changes = (
        batch("k | w:double\n1 | 5.0"),
        batch("_ts | _op | k | w:double\n1s | + | 1 | nan"),
    )
    live = LiveTable("non-retroactive", contents, as_changes(changes, contents.schema))
    found = Oracle({"a": A}, live={"t": live})
    sql = "SELECT t.w FROM a [NOW], t WHERE a.k = t.k AND a.s = 'z' AND t.w >= 1.0D"
    assert sorted(found.answer(sql, parse_time("3s")), key=repr) == [("NaN",), (5.0,)]
