"""Plans in two stages: what each place computes, and what merges it."""

from __future__ import annotations

import pytest

from eddyline import Engine
from eddyline.algebra.explain import explain
from eddyline.algebra.parts import NotDivisible, in_parts
from eddyline.algebra.plan import PartialGroupBy
from eddyline.algebra.reads import nodes
from eddyline.optimizer.optimizer import optimize

DDL = "CREATE STREAM s (ts TIMESTAMP, g BIGINT, x DOUBLE, n BIGINT) TIMESTAMP BY ts"


def stages(select: str) -> list[str]:
    """The plans without update patterns."""
    engine = Engine()
    engine.sql(DDL)
    plan = in_parts(engine.query(select).bound)
    lines = [*explain(plan.merged).splitlines(), "in each place  ."]
    lines += explain(plan.partial).splitlines()
    return [line.rsplit("  ", 1)[0].rstrip() for line in lines]


def test_aggregates_have_one_part_per_group() -> None:
    assert stages(
        "SELECT g, SUM(n) AS s, STDDEV(x) FILTER (WHERE n > 0) AS d FROM s [NOW] GROUP BY g"
    ) == [
        "Project  g, SUM(n) AS s, STDDEV(x) FILTER (WHERE (n > 0)) AS d",
        "  MergedGroupBy  g: MERGED_SUM(a0), MERGED_STDDEV(a1)",
        "    TableScan  parts (retroactive)",
        "in each place",
        "PartialGroupBy  c0: PARTIAL_SUM(c1), PARTIAL_STDDEV(c2)",
        "  Project  g AS c0, n AS c1, case((n > 0), x, NULL) AS c2",
        "    StreamScan  s [NOW]",
    ]


def test_values_of_distinct_are_parts_of_their_own() -> None:
    rows = ["      Project  g AS c0, x AS c1, n AS c2", "        StreamScan  s [NOW]"]
    assert stages(
        "SELECT g, COUNT(DISTINCT x) AS a, COUNT(*) AS b, COUNT(DISTINCT n) AS c "
        "FROM s [NOW] GROUP BY g"
    ) == [
        "Project  g, COUNT(DISTINCT x) AS a, COUNT(*) AS b, COUNT(DISTINCT n) AS c",
        "  MergedGroupBy  g: COUNT(DISTINCT v0), MERGED_COUNT(a0), COUNT(DISTINCT v1)",
        "    TableScan  parts (retroactive)",
        "in each place",
        "Union",
        "  Project  k0, a0, NULL AS v0, NULL AS v1",
        "    PartialGroupBy  c0: COUNT(*)",
        *rows,
        "  Project  k0, NULL AS a0, v0, NULL AS v1",
        "    PartialGroupBy  c0, c1",
        f"{rows[0]} (as in line 4)",
        "  Project  k0, NULL AS a0, NULL AS v0, v1",
        "    PartialGroupBy  c0, c2",
        f"{rows[0]} (as in line 4)",
    ]


def test_values_alone_are_the_keys_of_more_groups() -> None:
    assert stages("SELECT g, COUNT(DISTINCT x) AS a FROM s [NOW] GROUP BY g")[-3:] == [
        "PartialGroupBy  c0, c1",
        "  Project  g AS c0, x AS c1",
        "    StreamScan  s [NOW]",
    ]


def test_the_group_without_keys_is_there_without_values() -> None:
    rows = ["      Project  x AS c0", "        StreamScan  s [NOW]"]
    assert stages("SELECT COUNT(DISTINCT x) AS a FROM s [NOW]")[-8:] == [
        "Union",
        "  Project  NULL AS v0",
        "    PartialGroupBy  ()",
        *rows,
        "  Project  v0",
        "    PartialGroupBy  c0",
        f"{rows[0]} (as in line 4)",
    ]


def test_what_is_grouped_is_computed_once_for_all_parts() -> None:
    """Or a row for which an expression fails would be in some of them."""
    engine = Engine()
    engine.sql(DDL)
    query = engine.query(
        "SELECT COUNT(DISTINCT n + 1) AS a, SUM(v) AS b "
        "FROM (SELECT n, n * 2 AS v, n * 3 AS w FROM s [NOW]) AS t"
    )
    partial = optimize(in_parts(query.bound).partial)
    groups = [n for n in nodes(partial) if isinstance(n, PartialGroupBy)]
    assert len(groups) == 2
    assert {explain(g.input) for g in groups} == {
        "Project  (n + 1) AS c0, (n * 2) AS c1  WKS\n  StreamScan  s [NOW]                  WKS"
    }


def test_rows_that_are_not_grouped_have_no_parts() -> None:
    with pytest.raises(NotDivisible, match="not grouped"):
        stages("SELECT x FROM s [NOW]")
