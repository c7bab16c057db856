"""``a JOIN (b JOIN c ON ...) ON ...``: what it means, with outer joins too, and how it runs."""

from __future__ import annotations

import pytest

from eddyline.algebra.plan import Join, Plan, StreamScan
from eddyline.testing import rows_of
from eddyline.testing.script import Script

DDL = "".join(
    f"CREATE STREAM {s} (ts TIMESTAMP, k BIGINT, j BIGINT) TIMESTAMP BY ts;" for s in "abcd"
)
DDL += "CREATE TABLE dim (k BIGINT, name STRING);"
DDL += "CREATE TABLE nrr (k BIGINT, w BIGINT) WITH (updates = 'non-retroactive');"
TABLES = {"dim": "k:int | name:str\n1 | one\n2 | two", "nrr": "k:int | w:int\n1 | 10"}

WINDOWS = {
    "a": "[RANGE 4 SECONDS]",
    "b": "[RANGE 3 SECONDS]",
    "c": "[ROWS 2]",
    "d": "[RANGE 5 SECONDS]",
}
QUERIES = (
    "SELECT a.j, b.j AS bj, c.j AS cj, d.j AS dj"
    " FROM (a JOIN b ON a.k = b.k) JOIN (c JOIN d ON c.k = d.k) ON a.j = c.j",
    "SELECT a.j, b.j AS bj, c.j AS cj FROM a JOIN b JOIN c ON b.k = c.k ON a.j = b.j",
    "SELECT a.j, b.j AS bj, c.j AS cj FROM a LEFT JOIN (b JOIN c ON b.k = c.k) ON a.j = b.j",
    "SELECT a.j, b.j AS bj, c.j AS cj FROM a RIGHT JOIN (b LEFT JOIN c ON b.k = c.k) ON a.j = c.j",
    "SELECT a.j, b.j AS bj, c.j AS cj FROM a FULL JOIN (b FULL JOIN c ON b.k = c.k) ON a.j = c.j",
    "SELECT a.j, b.j AS bj, d.j AS dj FROM a JOIN (b LEFT JOIN d ON b.k = d.k) ON a.k = b.k"
    " WHERE d.j IS NULL OR a.j > 0",
    "SELECT k, a.j, b.j AS bj FROM a FULL JOIN (b RIGHT JOIN d USING (k)) USING (k)",
    "SELECT * FROM (a JOIN (b JOIN d USING (k)) USING (k)) LEFT JOIN dim USING (k)",
    "SELECT a.j, name, b.j AS bj FROM a LEFT JOIN (b JOIN dim ON b.k = dim.k) ON a.k = b.k",
    "SELECT a.j FROM a WHERE NOT EXISTS"
    " (SELECT * FROM (b JOIN d ON b.k = d.k) WHERE b.j = a.j AND d.j > a.k)",
    "SELECT a.k, COUNT(*) AS n FROM (a JOIN b ON a.k = b.k) LEFT JOIN d ON a.j = d.j GROUP BY a.k",
    "SELECT a.j, q.bj FROM (SELECT b.k, b.j AS bj FROM b JOIN d ON b.k = d.k) AS q"
    " JOIN a ON a.k = q.k",
    "SELECT a.j, b.j AS bj, nrr.w FROM a JOIN (b JOIN nrr ON b.k = nrr.k) ON a.k = b.k",
)
ROWS = (
    {
        "a": "1s | 1 | 1\n2s | 2 | .",
        "b": "1s | 1 | 1\n1s | 1 | 2",
        "c": "1s | 1 | 1",
        "d": "2s | 1 | 2",
    },
    {"nrr": "2500ms | 1 | 11", "a": "3s | 2 | 1\n4s | . | 2", "c": "3s | 1 | 2\n4s | 2 | 1"},
    {"b": "5s | 2 | 1", "d": "4s | 2 | 1\n5s | 1 | 1", "c": "6s | 1 | 1"},
    {"a": "7s | 1 | 1\n7s | 2 | 2", "b": "7s | 2 | 2\n8s | 1 | 1", "d": "9s | 2 | 2"},
)


def windowed(sql: str) -> str:
    """The query with the window of each stream behind its name."""
    for name, window in WINDOWS.items():
        for before in ("FROM ", "JOIN ", "("):
            sql = sql.replace(f"{before}{name} ", f"{before}{name} {window} ")
    return sql if "nrr" not in sql else sql.replace("[ROWS 2]", "[RANGE 2 SECONDS]")


@pytest.mark.parametrize(
    "options",
    [{}, {"optimize": False, "chunk_rows": 2}, {"state": "negative-tuple"}, {"executor": "eddy"}],
    ids=str,
)
def test_same_answers_as_the_oracle(options: dict[str, object]) -> None:
    queries = {f"q{i}": windowed(sql) for i, sql in enumerate(QUERIES)}
    script = Script(DDL, queries, tables=TABLES, options=options)
    for batch in ROWS:
        heads = {n: "_ts | k:int | w:int" if n == "nrr" else "ts | k:int | j:int" for n in batch}
        script.process(**{name: f"{heads[name]}\n{rows}" for name, rows in batch.items()})
        script.check()
    script.restart().advance("30s").finish()
    assert all(script.changes(name).num_rows for name in queries)


def test_a_window_behind_the_parentheses_is_for_the_streams_inside() -> None:
    script = Script(
        DDL, "SELECT a.j FROM (a JOIN b [RANGE 1 SECOND] ON a.k = b.k) [RANGE 9 SECONDS]"
    )
    script.process_all(a="ts | k | j\n1s | 1 | 5", b="ts | k | j\n4s | 1 | 6")
    script.expect("_op | _ts | _exp | j\n+ | 4s | 5s | 5")


def test_names_inside_stay_and_the_star_shows_them_in_order() -> None:
    sql = "SELECT *, d.j AS last FROM a [NOW] JOIN (b [NOW] JOIN d [NOW] USING (k)) USING (k)"
    script = Script(DDL, sql)
    assert script.engine.queries["q"].schema.names == [
        "ts",
        "k",
        "j",
        "ts_1",
        "j_1",
        "ts_2",
        "j_2",
        "last",
    ]
    rows = {n: f"ts | k | j\n1s | 1 | {i}" for i, n in enumerate("abd")}
    (row,) = rows_of(script.process(**rows).changes())
    assert [v for v in row[3:] if isinstance(v, int) and v < 10] == [1, 0, 1, 2, 2]


@pytest.mark.parametrize("optimize", [True, False])
def test_the_tree_is_the_one_that_was_written(optimize: bool) -> None:
    shapes = {
        "(a JOIN b ON a.k = b.k) JOIN (c JOIN d ON c.k = d.k) ON a.j = c.j": (
            ("a", "b"),
            ("c", "d"),
        ),
        "a JOIN (b JOIN (c JOIN d ON c.k = d.k) ON b.k = d.k) ON a.k = b.k": (
            "a",
            ("b", ("c", "d")),
        ),
        "a JOIN b ON a.k = b.k JOIN (c JOIN d ON c.k = d.k) ON a.j = c.j": (("a", "b"), ("c", "d")),
        "a JOIN b ON a.k = b.k JOIN c ON b.k = c.k JOIN d ON c.k = d.k": ((("a", "b"), "c"), "d"),
    }
    for source, shape in shapes.items():
        script = Script(DDL, windowed(f"SELECT a.j FROM {source}"), options={"optimize": optimize})
        assert shape_of(script.engine.queries["q"].plan) == shape, source


def shape_of(plan: Plan) -> object:
    """The streams, paired as they are joined."""
    if isinstance(plan, StreamScan):
        return plan.stream
    shapes = tuple(map(shape_of, plan.inputs))
    return shapes if isinstance(plan, Join) else shapes[0]
