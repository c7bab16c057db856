"""The claims of the update-patterns paper beside the measurements.

``UPA`` is what the paper plots: 10 partitions where it does not say otherwise. What the project
asks of itself is judged with 50.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from eddyline.bench.figures.results import Results
from eddyline.bench.figures.update_patterns.cases import DIRECT, NT, NT_JOIN_UP, UPA_10, UPA_50
from eddyline.bench.figures.update_patterns.judges import (
    Judge,
    best_ratio,
    crossing,
    direct_degrades,
    faster,
    faster_than_slower,
    few_partitions_tire,
    less_when_larger,
    never_slower,
    premature,
    slowest,
    smaller,
)


@dataclass(frozen=True)
class TraceClaim:
    """A claim, its place in the paper, and its judge.

    Attributes:
        case: the query that it is about.
    """

    source: str
    text: str
    case: str
    judge: Judge


def judged(results: Results, claims: Iterable[TraceClaim] | None = None) -> list[dict[str, Any]]:
    """Every claim with its verdict, for machines; claims about unmeasured queries are left out."""
    rows = []
    for claim in CLAIMS if claims is None else claims:
        if not results.windows(claim.case):
            continue
        verdict = claim.judge(results, claim.case)
        rows.append(
            {
                "source": claim.source,
                "claim": claim.text,
                "measured": verdict.measured,
                "holds": verdict.holds,
            }
        )
    return rows


_BOTH: Final = (NT, DIRECT)

#: What section 6 of the paper says, then what the project asks of itself.
CLAIMS: Final = (
    TraceClaim(
        "Figure 9",
        "as the window grows, UPA is nearly twice as fast as NT and DIRECT",
        "query1-ftp",
        faster(UPA_10, _BOTH, 1.7),
    ),
    TraceClaim(
        "Figure 9",
        "DIRECT outperforms NT, but degrades as the window grows",
        "query1-ftp",
        direct_degrades,
    ),
    TraceClaim("Figure 10", "DIRECT is by far the slowest", "query1-telnet", slowest(DIRECT, 2.0)),
    TraceClaim(
        "Figure 10",
        "UPA(10) initially performs well, but becomes very slow as the window grows",
        "query1-telnet",
        few_partitions_tire,
    ),
    TraceClaim(
        "Figure 10",
        "UPA(50) is up to one order of magnitude faster than NT",
        "query1-telnet",
        best_ratio(UPA_50, NT, 10.0),
    ),
    TraceClaim(
        "Figure 11",
        "UPA is one order of magnitude faster than NT and DIRECT",
        "query2-src",
        faster(UPA_10, _BOTH, 10.0),
    ),
    TraceClaim(
        "Figure 12",
        "UPA is roughly twice as fast as NT",
        "query2-pairs",
        faster(UPA_10, (NT,), 1.7),
    ),
    TraceClaim(
        "Figure 12",
        "DIRECT performs poorly when the result is large",
        "query2-pairs",
        slowest(DIRECT, 1.5),
    ),
    TraceClaim(
        "Figures 11, 12",
        "UPA's advantage is greater when the result is small",
        "query2-src",
        less_when_larger,
    ),
    TraceClaim(
        "Figure 13",
        "UPA needs up to two orders of magnitude less space than NT and DIRECT",
        "query2-src",
        smaller(UPA_10, _BOTH, 100.0, best=True),
    ),
    TraceClaim(
        "Figure 14",
        "with a larger result, UPA is still significantly more space-efficient",
        "query2-pairs",
        smaller(UPA_10, _BOTH, 2.0),
    ),
    TraceClaim(
        "Figure 15",
        "UPA's partitions outperform NT for small windows, NT wins for large ones",
        "query3",
        crossing(UPA_10, NT),
    ),
    TraceClaim(
        "section 6.4", "premature expirations are about 40 % of the results", "query3", premature
    ),
    TraceClaim(
        "Figure 16",
        "UPA yields a significant improvement over NT and DIRECT",
        "query4",
        faster(UPA_10, _BOTH, 2.0),
    ),
    TraceClaim("Figure 16", "DIRECT is the slowest", "query4", slowest(DIRECT, 1.0)),
    TraceClaim(
        "section 6.5",
        "UPA needs up to two orders of magnitude less space than NT and DIRECT",
        "query4",
        smaller(UPA_10, _BOTH, 100.0, best=True),
    ),
    TraceClaim(
        "Figure 17",
        "NT with the join above the negation outperforms NT with the join below",
        "query5",
        faster(NT_JOIN_UP, (NT,), 1.0),
    ),
    TraceClaim(
        "Figure 17",
        "NT (join up) is best for small windows, UPA with the join below for large ones",
        "query5",
        crossing(NT_JOIN_UP, UPA_50),
    ),
    TraceClaim(
        "this project",
        "Query 1, telnet, largest window: UPA is 5x as fast as the slower of the other two",
        "query1-telnet",
        faster_than_slower(5.0),
    ),
    TraceClaim(
        "this project",
        "Query 1, telnet, largest window: UPA is not slower than the faster of the other two",
        "query1-telnet",
        never_slower,
    ),
    TraceClaim(
        "this project",
        "Query 2, sources, largest window: UPA is 5x as fast as the slower of the other two",
        "query2-src",
        faster_than_slower(5.0),
    ),
    TraceClaim(
        "this project",
        "Query 2, sources, largest window: UPA is 5x as fast as both of the other two",
        "query2-src",
        faster(UPA_50, _BOTH, 5.0),
    ),
    TraceClaim(
        "this project",
        "Query 2, sources, largest window: UPA keeps 50x fewer rows than NT and DIRECT",
        "query2-src",
        smaller(UPA_50, _BOTH, 50.0),
    ),
)
