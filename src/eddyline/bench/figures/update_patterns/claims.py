"""The claims of the update-patterns paper beside the measurements.

``UPA`` is what the paper plots: 10 partitions where it does not say otherwise. What the project
asks of itself is judged with 50.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Final

from eddyline.bench.figures.results import Results
from eddyline.bench.figures.update_patterns.cases import (
    DIRECT,
    HYBRID,
    NT,
    NT_JOIN_UP,
    UPA_10,
    UPA_50,
    UPA_50_KEYED,
)
from eddyline.bench.figures.update_patterns.judges import (
    PREMATURE,
    TENFOLD,
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
    tenfold,
)
from eddyline.bench.figures.verdicts import Regime


@dataclass(frozen=True)
class TraceClaim:
    """A claim, its place in the paper, and its judge.

    Attributes:
        case: the query that it is about.
        asked: when it holds, with the tolerance.
        regime: asked of the case, and its judge; outside of it the claim does not hold.
    """

    source: str
    text: str
    case: str
    asked: str
    judge: Judge
    regime: tuple[str, Judge] | None = None

    def judged(self, results: Results) -> dict[str, Any]:
        """The claim with its verdict, for machines."""
        judge = partial(_of_case, judge=self.judge, case=self.case)
        verdict = judge(results)
        if self.regime is not None:
            asked, regime = self.regime
            of_case = partial(_of_case, judge=regime, case=self.case)
            verdict = Regime(asked, of_case).checked(results, judge)
        return {"source": self.source, "claim": self.text, "asked": self.asked} | asdict(verdict)


def _of_case(results: Results, judge: Judge, case: str) -> Any:
    return judge(results, case)


def judged(results: Results, claims: Iterable[TraceClaim] | None = None) -> list[dict[str, Any]]:
    """Every claim with its verdict, for machines; claims about unmeasured queries are left out."""
    every = CLAIMS if claims is None else claims
    return [claim.judged(results) for claim in every if results.windows(claim.case)]


_BOTH: Final = (NT, DIRECT)
_LARGEST: Final = "largest window: at least {0:g}x"
_FEW: Final = (
    f"{PREMATURE[0]:.0%} to {PREMATURE[1]:.0%} of the results taken back early, largest window"
)
_TEN: Final = f"{TENFOLD[0]:g} to {TENFOLD[1]:g} times the answer"
_NEGATION: Final = (_FEW, premature)
_MANY: Final = (f"{_TEN} of Query 1 on ftp", tenfold("query1-ftp"))
_PAIRS: Final = (f"{_TEN} for sources", tenfold("query2-src"))
_CROSSES: Final = "at the smallest and at the largest window, each by 10 %"

#: What section 6 of the paper says, then what the project asks of itself.
CLAIMS: Final = (
    TraceClaim(
        "Figure 9",
        "as the window grows, UPA is nearly twice as fast as NT and DIRECT",
        "query1-ftp",
        _LARGEST.format(1.7),
        faster(UPA_10, _BOTH, 1.7),
    ),
    TraceClaim(
        "Figure 9",
        "DIRECT outperforms NT, but degrades as the window grows",
        "query1-ftp",
        "faster at every window, least at the largest",
        direct_degrades,
    ),
    TraceClaim(
        "Figure 10",
        "DIRECT is by far the slowest",
        "query1-telnet",
        _LARGEST.format(2),
        slowest(DIRECT, 2.0),
        _MANY,
    ),
    TraceClaim(
        "Figure 10",
        "UPA(10) initially performs well, but becomes very slow as the window grows",
        "query1-telnet",
        "faster than NT at the smallest window, 1.5x UPA(50)'s time at the largest",
        few_partitions_tire,
        _MANY,
    ),
    TraceClaim(
        "Figure 10",
        "UPA(50) is up to one order of magnitude faster than NT",
        "query1-telnet",
        "at some window at least 10x",
        best_ratio(UPA_50, NT, 10.0),
        _MANY,
    ),
    TraceClaim(
        "Figure 11",
        "UPA is one order of magnitude faster than NT and DIRECT",
        "query2-src",
        _LARGEST.format(10),
        faster(UPA_10, _BOTH, 10.0),
    ),
    TraceClaim(
        "Figure 12",
        "UPA is roughly twice as fast as NT",
        "query2-pairs",
        _LARGEST.format(1.7),
        faster(UPA_10, (NT,), 1.7),
        _PAIRS,
    ),
    TraceClaim(
        "Figure 12",
        "DIRECT performs poorly when the result is large",
        "query2-pairs",
        "largest window: 1.5x the time of the next slowest",
        slowest(DIRECT, 1.5),
        _PAIRS,
    ),
    TraceClaim(
        "Figures 11, 12",
        "UPA's advantage is greater when the result is small",
        "query2-src",
        "largest window: greater for sources than for pairs",
        less_when_larger,
    ),
    TraceClaim(
        "Figure 13",
        "UPA needs up to two orders of magnitude less space than NT and DIRECT",
        "query2-src",
        "at some window at least 100x",
        smaller(UPA_10, _BOTH, 100.0, best=True),
    ),
    TraceClaim(
        "Figure 14",
        "with a larger result, UPA is still significantly more space-efficient",
        "query2-pairs",
        _LARGEST.format(2),
        smaller(UPA_10, _BOTH, 2.0),
        _PAIRS,
    ),
    TraceClaim(
        "Figure 15",
        "UPA's partitions outperform NT for small windows, NT wins for large ones",
        "query3",
        _CROSSES,
        crossing(UPA_10, NT),
        _NEGATION,
    ),
    TraceClaim(
        "section 6.4",
        "premature expirations are about 40 % of the results",
        "query3",
        _FEW,
        premature,
    ),
    TraceClaim(
        "Figure 16",
        "UPA yields a significant improvement over NT and DIRECT",
        "query4",
        _LARGEST.format(2),
        faster(UPA_10, _BOTH, 2.0),
    ),
    TraceClaim(
        "Figure 16", "DIRECT is the slowest", "query4", _LARGEST.format(1), slowest(DIRECT, 1.0)
    ),
    TraceClaim(
        "section 6.5",
        "UPA needs up to two orders of magnitude less space than NT and DIRECT",
        "query4",
        "at some window at least 100x",
        smaller(UPA_10, _BOTH, 100.0, best=True),
    ),
    TraceClaim(
        "section 6.6",
        "negation produces as many premature expirations in Query 5",
        "query5",
        _FEW,
        premature,
    ),
    TraceClaim(
        "Figure 17",
        "NT with the join above the negation outperforms NT with the join below",
        "query5",
        _LARGEST.format(1),
        faster(NT_JOIN_UP, (NT,), 1.0),
        _NEGATION,
    ),
    TraceClaim(
        "Figure 17",
        "NT (join up) is best for small windows, UPA with the join below (the hybrid) for large "
        "ones",
        "query5",
        _CROSSES,
        crossing(NT_JOIN_UP, HYBRID),
        _NEGATION,
    ),
    TraceClaim(
        "Figure 17",
        "the hybrid is faster than NT with the same plan",
        "query5",
        _LARGEST.format(1.1),
        faster(HYBRID, (NT,), 1.1),
        _NEGATION,
    ),
    TraceClaim(
        "section 5.4.3",
        "with many premature expirations, '-' above the negation beat partitions there",
        "query3",
        _LARGEST.format(1),
        faster(UPA_50_KEYED, (UPA_50,), 1.0),
        _NEGATION,
    ),
    TraceClaim(
        "this project",
        "Query 1, telnet, largest window: UPA is 5x as fast as the slower of the other two",
        "query1-telnet",
        "at least 5x",
        faster_than_slower(5.0),
    ),
    TraceClaim(
        "this project",
        "Query 1, telnet, largest window: UPA is not slower than the faster of the other two",
        "query1-telnet",
        "at least 1x",
        never_slower,
    ),
    TraceClaim(
        "this project",
        "Query 2, sources, largest window: UPA is 5x as fast as the slower of the other two",
        "query2-src",
        "at least 5x",
        faster_than_slower(5.0),
    ),
    TraceClaim(
        "this project",
        "Query 2, sources, largest window: UPA is 5x as fast as both of the other two",
        "query2-src",
        "at least 5x",
        faster(UPA_50, _BOTH, 5.0),
    ),
    TraceClaim(
        "this project",
        "Query 2, sources, largest window: UPA is not slower than the faster of the other two",
        "query2-src",
        "at least 1x",
        never_slower,
    ),
    TraceClaim(
        "this project",
        "Query 2, sources, largest window: UPA keeps 50x fewer rows than NT and DIRECT",
        "query2-src",
        "at least 50x",
        smaller(UPA_50, _BOTH, 50.0),
    ),
)
