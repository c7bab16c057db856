"""The cases of a run, and the small ones of ``--quick``."""

from __future__ import annotations

from typing import Final

from eddyline.bench.peers.cases import Case

FULL: Final = (
    Case("join, windows of 10,000", "join", 500_000),
    Case("join, windows of 10,000, string keys", "join", 500_000, string_keys=True),
    Case("join, windows of 100,000", "join", 400_000, keys=100_000, window_rows=100_000),
    Case("join, windows of 2,000,000", "join", 2_500_000, keys=2_000_000, window_rows=2_000_000),
    Case("join, 1,000 rows a call", "join", 250_000, call_rows=1_000),
    Case("join, 100 rows a call", "join", 60_000, call_rows=100),
    Case("join, 1 row a call", "join", 15_000, call_rows=1),
    Case("chain of 3", "chain", 200_000, keys=20_000, count=3),
    Case("chain of 4", "chain", 100_000, keys=20_000, count=4),
    Case("chain of 6", "chain", 60_000, keys=20_000, count=6),
    Case("star of 3", "star", 200_000, keys=20_000, count=3),
    Case("star of 4", "star", 100_000, keys=20_000, count=4),
    Case("cycle of 3", "cycle", 100_000, keys=1_000, count=3),
    Case("groups, 1", "groups", 500_000, keys=1, window_rows=100_000),
    Case("groups, 10,000", "groups", 500_000, keys=10_000, window_rows=100_000),
    Case("groups, 1,000,000", "groups", 500_000, keys=1_000_000, window_rows=100_000),
    Case("groups, 10,000, 100 rows a call", "groups", 50_000, window_rows=10_000, call_rows=100),
    Case("OVER", "over", 500_000, window_rows=100_000),
    Case("DISTINCT", "distinct", 500_000, keys=100_000, window_rows=100_000),
    Case("NOT EXISTS", "absent", 300_000, keys=20_000),
    Case("rules, 1", "rules", 1_000_000),
    Case("rules, 100", "rules", 1_000_000, count=100),
    Case("rules, 10,000", "rules", 300_000, count=10_000),
    Case("rules, 100,000", "rules", 100_000, count=100_000),
    Case("join queries, 10", "queries", 200_000, count=10),
    Case("join queries, 100", "queries", 100_000, count=100),
    Case("join queries, 1,000", "queries", 50_000, count=1_000),
)
QUICK: Final = (
    Case("join, windows of 10,000", "join", 100_000),
    Case("join, windows of 10,000, string keys", "join", 100_000, string_keys=True),
    Case("join, 100 rows a call", "join", 20_000, call_rows=100),
    Case("chain of 3", "chain", 50_000, keys=20_000, count=3),
    Case("groups, 10,000", "groups", 100_000),
    Case("OVER", "over", 100_000),
    Case("DISTINCT", "distinct", 100_000, keys=20_000),
    Case("NOT EXISTS", "absent", 50_000, keys=20_000),
    Case("rules, 100", "rules", 100_000, count=100),
    Case("join queries, 10", "queries", 50_000, count=10),
)
