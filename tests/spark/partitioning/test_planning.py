"""Layouts of groups of queries: which queries share one, and which layout fits a later query."""

from __future__ import annotations

from eddyline.engine.options import EngineOptions
from eddyline.engine.settings import DEFAULT_SETTINGS, Settings
from eddyline.optimizer.statistics import Statistics
from eddyline.spark.layouts.layout_shards import planned as planned_of
from eddyline.spark.operation.script_delta import ScriptDelta
from eddyline.spark.partitioning.layouts import Layout
from eddyline.spark.partitioning.planned_query import PlannedQuery
from eddyline.spark.partitioning.planning import as_run, fits, layouts
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


def groupable(*selects: str) -> dict[str, PlannedQuery]:
    """The queries q0, q1, ..., with their partial groups."""
    script = Script.of([STREAMS, *(f"CREATE QUERY q{i} AS {s}" for i, s in enumerate(selects))])
    return {name: planned_of(script, query) for name, query in script.queries.items()}


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


LAST = "SELECT a.x FROM a [ROWS 9], b [NOW] WHERE a.k = b.k"


def test_all_cells_count_the_rows_of_windows_of_rows() -> None:
    queries = planned(LAST, JOIN, "SELECT c.x FROM c [ROWS 2], b [NOW] WHERE b.k = c.k")
    ((layout, names),) = layouts(queries, 4)
    assert (layout.cells, names) == (4, ("q0", "q1", "q2"))
    assert layout.counted == {"a", "c"}
    ((single, _),) = layouts(queries, 1)
    assert single.counted == frozenset()


def test_a_later_query_fits_where_its_windows_of_rows_are_counted() -> None:
    ((counting, _),) = layouts(planned(LAST), 4)
    ((other, _),) = layouts(planned(JOIN), 4)
    ((single, _),) = layouts(planned(JOIN), 1)
    later = planned(
        "SELECT x FROM a [ROWS 5]",
        "SELECT x FROM b [ROWS 5]",
        "SELECT a.x FROM a [ROWS 5], b [ROWS 5] WHERE a.k = b.k",
        JOIN,
    )
    fitting = {
        of: [fits(layout, q) for q in later.values()]
        for of, layout in (("counting", counting), ("other", other), ("single", single))
    }
    assert fitting == {
        "counting": [True, False, False, True],
        "other": [False, False, False, True],
        "single": [True] * 4,
    }


def test_timestamps_in_all_cells_do_not_count_for_the_sizes_of_axes() -> None:
    chain = "SELECT a.v FROM a [{}], b [NOW], c [NOW] WHERE a.k = b.k AND b.v = c.v"
    rates = Statistics({"a": 2.6, "b": 100.0, "c": 1.0})
    sizes = {}
    for window in ("NOW", "ROWS 5"):
        ((layout, _),) = layouts(planned(chain.format(window)), 64, rates)
        sizes[window] = {a.label: a.size for a in layout.axes}
    assert sizes == {
        "NOW": {"a.k = b.k": 16, "b.v = c.v": 4},
        "ROWS 5": {"a.k = b.k": 8, "b.v = c.v": 8},
    }


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


def test_groups_across_the_cells_are_computed_in_parts_in_the_layout_of_a_join() -> None:
    queries = groupable(
        JOIN,
        "SELECT COUNT(*) AS n FROM a [NOW], b [NOW] WHERE a.k = b.k",
        "SELECT DISTINCT a.x FROM a [NOW], b [NOW] WHERE a.k = b.k",
        "SELECT a.k, COUNT(*) AS n FROM a [NOW], b [NOW] WHERE a.k = b.k GROUP BY a.k",
        "SELECT COUNT(DISTINCT a.x) AS n FROM a [NOW], b [NOW] WHERE a.k = b.k",
    )
    found = layouts(queries, 4)
    assert shape(found) == [(["a.k = b.k: 4"], tuple(queries))]
    ((divided, _),) = found
    runs = {name: as_run(divided, query) for name, query in queries.items()}
    assert runs == {
        "q0": queries["q0"],
        "q1": queries["q1"].in_parts,
        "q2": queries["q2"].in_parts,
        "q3": queries["q3"],
        "q4": queries["q4"].in_parts,
    }


def test_a_query_that_is_divided_as_it_is_runs_in_parts_nowhere() -> None:
    by_x = "SELECT x, COUNT(*) AS n FROM a [NOW] GROUP BY x"
    found = layouts(groupable(JOIN, by_x), 4)
    assert shape(found) == [(["a.k = b.k: 4"], ("q0",)), (["a.x: 4"], ("q1",))]


TABLES = """
    CREATE TABLE p (k BIGINT, x BIGINT, lo DOUBLE) WITH (rows = 1000000);
    CREATE TABLE o (k BIGINT, x BIGINT, lo DOUBLE) WITH (rows = 1000000, updates = 'retroactive');
    CREATE TABLE small (k BIGINT, x BIGINT, lo DOUBLE) WITH (rows = 99999);
"""
BY_P = "SELECT a.x FROM a [NOW], p WHERE a.k = p.k"


def with_tables(*selects: str) -> dict[str, PlannedQuery]:
    """The queries q0, q1, ... over streams and tables; one FOR EACH ROW OF begins so."""
    created = [
        f"CREATE QUERY q{i} {'' if s.startswith('FOR EACH') else 'AS'} {s}"
        for i, s in enumerate(selects)
    ]
    script = Script.of([STREAMS, TABLES, *created])
    return {name: planned_of(script, query) for name, query in script.queries.items()}


def test_large_tables_are_inputs() -> None:
    queries = with_tables(
        BY_P,
        "SELECT a.x FROM a [NOW], o WHERE a.k = o.k",
        "SELECT a.x FROM a [NOW], small WHERE a.k = small.k",
        "FOR EACH ROW OF p AS r AS SELECT x FROM a [NOW] WHERE v > r.lo",
        "FOR EACH ROW OF small AS r AS SELECT x FROM a [NOW] WHERE v > r.lo",
    )
    inputs = [query.inputs for query in queries.values()]
    assert inputs == [("a", "p"), ("a", "o"), ("a",), ("a", "p"), ("a",)]
    assert [query.rules for query in queries.values()] == [None, None, None, "p", None]


def test_a_later_query_fits_a_divided_table_or_not() -> None:
    ((layout, _),) = layouts(with_tables(BY_P), 4)
    assert layout.copies("p") == 1
    ((whole, _),) = layouts(with_tables("SELECT a.x FROM a [NOW], p WHERE a.v > p.lo"), 4)
    assert whole.copies("p") == 4
    ((without, _),) = layouts(with_tables("SELECT x FROM a WHERE v > 1"), 4)
    later = with_tables(
        "SELECT a.v, p.x FROM a [NOW], p WHERE p.k = a.k AND p.lo > 3",
        "SELECT a.v FROM a [NOW], p WHERE a.x = p.x",
        "SELECT a.v FROM a [NOW], p WHERE a.v > p.lo",
        "SELECT a.v FROM a [NOW], small WHERE a.v > small.lo",
        "FOR EACH ROW OF p AS r AS SELECT x FROM a [NOW] WHERE v > r.lo",
        "FOR EACH ROW OF small AS r AS SELECT x FROM a [NOW] WHERE v > r.lo",
        "SELECT p.k, a.x FROM p LEFT JOIN a [NOW] ON a.k = p.k",
        "SELECT a.v FROM a [NOW] WHERE NOT EXISTS (SELECT 1 FROM p WHERE p.k = a.k)",
    )
    assert [fits(layout, q) for q in later.values()] == [
        *(True, False, False, True),
        *(False, True, False, True),
    ]
    assert [fits(whole, q) for q in later.values()] == [True] * 6 + [False, True]
    of_small = [n for n, q in later.items() if fits(without, q)]
    assert of_small == ["q3", "q5"]


def test_sizes_of_tables_are_those_of_the_job_also_for_added_queries() -> None:
    statistics = Statistics(table_rows={"small": 1_000_000})
    script = Script(Settings(EngineOptions(statistics=statistics), DEFAULT_SETTINGS.strategy))
    list(script.run(STREAMS + TABLES))
    select = "SELECT a.x FROM a [NOW], small WHERE a.k = small.k"
    first = planned_of(script, script.query("q", select, {"sink": "memory"}))
    delta = ScriptDelta(script)
    added = delta.planned(delta.query("r", select, {"sink": "memory"}))
    assert first.large == added.large == {"small"}
