"""Layouts of groups of queries: which queries share one, and which layout fits a later query."""

from __future__ import annotations

from eddyline.spark.partitioning.layouts import Layout
from eddyline.spark.partitioning.planning import PlannedQuery, fits, layouts
from eddyline.spark.script import Script

STREAMS = """
    CREATE STREAM a (ts TIMESTAMP, k BIGINT, x INT, v DOUBLE) TIMESTAMP BY ts;
    CREATE STREAM b (ts TIMESTAMP, k BIGINT, x INT, v DOUBLE) TIMESTAMP BY ts;
    CREATE STREAM c (ts TIMESTAMP, k BIGINT, x BIGINT, v DOUBLE) TIMESTAMP BY ts;
"""


def planned(*selects: str) -> dict[str, PlannedQuery]:
    """The queries q0, q1, ..."""
    script = Script.of([STREAMS, *(f"CREATE QUERY q{i} AS {s}" for i, s in enumerate(selects))])
    return {name: PlannedQuery(query.plan) for name, query in script.queries.items()}


JOIN = "SELECT a.x FROM a [NOW], b [NOW] WHERE a.k = b.k"


def shape(found: list[tuple[Layout, tuple[str, ...]]]) -> list[tuple[list[str], tuple[str, ...]]]:
    """Labels and sizes of axes, with the names of queries."""
    return [([f"{a.label}: {a.size}" for a in layout.axes], names) for layout, names in found]


def test_what_a_join_has_by_key_is_used_by_others() -> None:
    queries = planned(
        "SELECT x FROM a WHERE v > 1",
        "SELECT k, x, COUNT(*) AS n FROM b [NOW] GROUP BY k, x",
        JOIN,
    )
    assert shape(layouts(queries, 8)) == [(["a.k = b.k: 8"], ("q0", "q1", "q2"))]


def test_one_shard_is_one_cell_for_all() -> None:
    queries = planned("SELECT x FROM a WHERE v > 1", "SELECT COUNT(*) AS n FROM a [NOW]", JOIN)
    ((layout, names),) = layouts(queries, 1)
    assert (layout.cells, layout.reason, names) == (1, "", ("q0", "q1", "q2"))
    assert set(layout.inputs) == {"a", "b"}


def test_queries_of_one_cell_are_apart() -> None:
    queries = planned("SELECT COUNT(*) AS n FROM a [NOW]", JOIN, "SELECT SUM(v) AS s FROM b [NOW]")
    found = layouts(queries, 4)
    assert shape(found) == [([], ("q0", "q2")), (["a.k = b.k: 4"], ("q1",))]
    assert set(found[0][0].inputs) == {"a", "b"}
    assert found[0][0].reason.startswith("COUNT(*) without GROUP BY is over all rows")


def test_layouts_that_agree_on_common_streams_become_one() -> None:
    queries = planned(JOIN, "SELECT c.x FROM b [NOW], c [NOW] WHERE b.k = c.k")
    assert shape(layouts(queries, 4)) == [(["a.k = b.k = c.k: 4"], ("q0", "q1"))]


def test_the_order_of_the_queries_does_not_matter() -> None:
    queries = planned(
        JOIN,
        "SELECT a.x FROM a [NOW], b [NOW], c [NOW] WHERE a.k = b.k AND b.x = c.x",
        "SELECT x, COUNT(*) AS n FROM a [NOW] GROUP BY x",
        "SELECT k, COUNT(*) AS n FROM a [NOW] GROUP BY k",
        "SELECT COUNT(*) AS n FROM a [NOW]",
        "SELECT COUNT(*) AS n FROM c [NOW]",
        "SELECT v FROM c",
    )
    found = {(layout, frozenset(names)) for layout, names in layouts(queries, 8)}
    turned = dict(reversed(queries.items()))
    assert {(layout, frozenset(names)) for layout, names in layouts(turned, 8)} == found


def test_a_later_query_fits_or_not() -> None:
    ((layout, _),) = layouts(planned(JOIN), 4)
    later = planned(
        "SELECT v FROM b",
        "SELECT a.v FROM a [NOW], b [NOW] WHERE a.k = b.k AND a.v < b.v",
        "SELECT a.v FROM a [NOW], b [NOW] WHERE a.x = b.x",
        "SELECT COUNT(*) AS n FROM a [NOW]",
        "SELECT v FROM c",
    )
    assert [fits(layout, q) for q in later.values()] == [True, True, False, False, False]
    ((single, _),) = layouts(planned(JOIN), 1)
    assert [fits(single, q) for q in later.values()] == [True, True, True, True, False]


def test_rules_of_a_table_that_changes_are_in_all_cells() -> None:
    script = Script.of(
        [
            STREAMS,
            "CREATE TABLE r (k BIGINT, lo DOUBLE) WITH (updates = 'retroactive')",
            "CREATE QUERY q FOR EACH ROW OF r AS p AS SELECT x FROM a [NOW] WHERE v > p.lo",
        ]
    )
    query = PlannedQuery(script.queries["q"].plan, rules="r")
    ((layout, _),) = layouts({"q": query}, 4)
    assert [a.label for a in layout.axes] == ["rows of a"]
    assert (layout.copies("a"), layout.copies("r")) == (1, 4)


def test_lateness_by_row_needs_all_rows() -> None:
    query = planned("SELECT x FROM a WHERE v > 1")["q0"]
    by_row = PlannedQuery(query.plan, by_row=frozenset({"a"}))
    ((layout, _),) = layouts({"q": by_row}, 4)
    assert layout.cells == 1
    assert "lateness_by" in layout.reason
