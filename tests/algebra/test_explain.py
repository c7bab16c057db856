"""EXPLAIN text: one node a line, indented, patterns in one column."""

from __future__ import annotations

from eddyline.algebra.explain import explain
from eddyline.optimizer.optimizer import optimize
from golden import bound_plan


def test_a_join() -> None:
    plan = optimize(
        bound_plan(
            "SELECT t.symbol, q.bid FROM trades [RANGE 5 MINUTES] t, quotes [RANGE 1 MINUTE] q "
            "WHERE t.symbol = q.symbol"
        )
    )
    assert explain(plan).splitlines() == [
        "Project  t.symbol, q.bid                  WK",
        "  Join  t.symbol = q.symbol               WK",
        "    StreamScan  trades [RANGE 5 MINUTES]  WKS",
        "    StreamScan  quotes [RANGE 1 MINUTE]   WKS",
    ]


def test_nodes_without_label_and_all_windows() -> None:
    plan = bound_plan(
        "SELECT symbol FROM trades [PARTITION BY symbol ROWS 3] UNION "
        "SELECT symbol FROM quotes [NOW] UNION SELECT symbol FROM orders [UNBOUNDED]"
    )
    assert explain(plan).splitlines() == [
        "Distinct                                               STR",
        "  Union                                                STR",
        "    Project  symbol                                    STR",
        "      StreamScan  trades [PARTITION BY symbol ROWS 3]  STR",
        "    Project  symbol                                    WKS",
        "      StreamScan  quotes [NOW]                         WKS",
        "    Project  symbol                                    MONOTONIC",
        "      StreamScan  orders [UNBOUNDED]                   MONOTONIC",
    ]


def test_a_long_line_does_not_push_the_patterns_away() -> None:
    plan = bound_plan(f"SELECT '{'x' * 200}' AS x FROM trades")
    first, second = explain(plan).splitlines()
    assert first.endswith("  MONOTONIC")
    assert second == "  StreamScan  trades [UNBOUNDED]  MONOTONIC"
