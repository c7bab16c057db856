"""Why a claim does not hold here, in one sentence: for the page about all papers.

By paper and the text of the claim, or by paper, source and text. A sentence is shown only where
the claim does not hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_CHUNK: Final = (
    "A chunk of 1,000 rows has a fixed cost that all strategies share and that hides part of the "
    "difference."
)
_SCANS: Final = (
    "DIRECT's scans are compiled loops over arrays, about a nanosecond per row, once per chunk "
    "instead of once per tuple."
)
_COUNTS: Final = (
    "NT counts rows per value, while the paper's form searches its input for a replacement."
)
_BY_ID: Final = (
    "Here a '-' finds its row by id whichever strategy stores it, so partitions pay no scan for it."
)
_NT_BY_ID: Final = (
    "Here the join of NT finds the row that a '-' takes back by its id, without the scan of a "
    "bucket that the hybrid spares in the paper."
)
_ROWS_KEPT: Final = "The rows of the stream itself count too, which all strategies keep."
_BATCHES: Final = (
    "A call takes in minutes of rows at once: suspension begins with the next call, when most "
    "results of the rows have been made."
)
_PRICE_OF_GATES: Final = (
    "At these rates the engine is idle, and what is measured is the fixed cost of a call, which "
    "gates add to."
)
_GATE_BYTES: Final = (
    "Gates index the suspended rows and the requirements, which takes more bytes than the few "
    "intermediate rows that they save."
)
_BLOCKS: Final = "Rows are served in blocks, for which Greedy has no early release (section 3.3)."
_SLICES: Final = (
    "SWF and Greedy deliver the results of small slices again for each larger window, which LWO "
    "does not."
)

#: By (paper, claim) or (paper, source, claim).
REASONS: Final[Mapping[tuple[str, ...], str]] = {
    ("update-patterns", "the hybrid is faster than NT with the same plan"): _NT_BY_ID,
    (
        "update-patterns",
        "Query 1, telnet, largest window: UPA is 5x as fast as the slower of the other two",
    ): f"{_SCANS} {_CHUNK}",
    **{
        (
            "update-patterns",
            f"Query 2, sources, largest window: UPA is 5x as fast as {others} of the other two",
        ): f"{_COUNTS} {_SCANS}"
        for others in ("the slower", "both")
    },
    (
        "update-patterns",
        "as the window grows, UPA is nearly twice as fast as NT and DIRECT",
    ): f"{_SCANS} {_CHUNK}",
    ("update-patterns", "DIRECT is by far the slowest"): _SCANS,
    (
        "update-patterns",
        "UPA(10) initially performs well, but becomes very slow as the window grows",
    ): "Partitions are never sorted or scanned but for the one that expires, so their number "
    "hardly matters.",
    ("update-patterns", "UPA(50) is up to one order of magnitude faster than NT"): _CHUNK,
    (
        "update-patterns",
        "UPA is one order of magnitude faster than NT and DIRECT",
    ): f"{_COUNTS} {_SCANS}",
    ("update-patterns", "UPA is roughly twice as fast as NT"): _COUNTS,
    ("update-patterns", "DIRECT performs poorly when the result is large"): _SCANS,
    (
        "update-patterns",
        "UPA's advantage is greater when the result is small",
    ): f"{_COUNTS} {_CHUNK}",
    (
        "update-patterns",
        "UPA needs up to two orders of magnitude less space than NT and DIRECT",
    ): _ROWS_KEPT,
    (
        "update-patterns",
        "UPA's partitions outperform NT for small windows, NT wins for large ones",
    ): _BY_ID,
    (
        "update-patterns",
        "UPA yields a significant improvement over NT and DIRECT",
    ): f"{_COUNTS} {_SCANS}",
    ("update-patterns", "DIRECT is the slowest"): _SCANS,
    (
        "update-patterns",
        "NT (join up) is best for small windows, UPA with the join below (the hybrid) for large "
        "ones",
    ): _BY_ID,
    (
        "update-patterns",
        "with many premature expirations, '-' above the negation beat partitions there",
    ): _BY_ID,
    (
        "update-patterns",
        "NT with the join above the negation outperforms NT with the join below",
    ): "The join on ftp is more selective here than the negation.",
    ("jit", "JIT takes less CPU than REF by more than an order of magnitude"): _BATCHES,
    ("jit", "JIT saves up to 62 % of memory"): _BATCHES,
    ("jit", "the gains grow with w"): _BATCHES,
    ("jit", "the larger the rate, the larger the savings"): _BATCHES,
    ("jit", "JIT outperforms REF by large margins on both metrics"): _BATCHES,
    ("jit", "less pronounced than on bushy plans, but a clear advantage"): _BATCHES,
    (
        "jit",
        "with hash joins JIT keeps fewer intermediate rows, and takes at most 1.1x the CPU",
    ): _PRICE_OF_GATES,
    (
        "jit",
        "feedback (auto) takes no more CPU than the optimized plan without it",
    ): "The optimizer's order makes few intermediate rows, so that gates cost more than they "
    "save, and auto counts rows, not time.",
    ("jit", "the default (auto) holds no more bytes than REF"): _GATE_BYTES,
    (
        "jit",
        "with results, the default takes at most 5 % more CPU than no feedback, in the paper's "
        "plans and in the optimized one",
    ): _PRICE_OF_GATES,
    (
        "shared-windows",
        "Greedy has the lowest average over all windows, in every distribution",
    ): _BLOCKS,
    (
        "shared-windows",
        "LWO comes second, but for Mostly-Small, where SWF does",
    ): "A hash join finds the matches of a small slice without a scan, so SWF wastes less than "
    "the paper's.",
    ("shared-windows", "SWF does extremely poorly on Mostly-Large"): "By a hash join, SWF has less "
    "work for a small slice than by the paper's scan.",
    (
        "shared-windows",
        "Mostly-Large: LWO beats Greedy for all windows but the two smallest",
    ): "The four middle windows differ by less than a tenth.",
    (
        "shared-windows",
        "Uniform: SWF and Greedy are alike (1.25x) but for the largest window, where Greedy is "
        "faster",
    ): _BLOCKS,
    (
        "shared-windows",
        "maxima: Greedy is always better than SWF for large windows (from 510 s)",
    ): "On Uniform and Mostly-Small both have one order of service and differ by chance.",
    (
        "shared-windows",
        "SWF, hash: within 15 % for windows from 100 s on",
    ): "A slice costs more, the more results of smaller slices are delivered again with its own.",
    (
        "shared-windows",
        "isolated, hash: within 15 % for windows from 100 s on",
    ): "The fixed cost of a step, which the equation leaves out.",
    (
        "shared-windows",
        "input buffers of SWF and Greedy: less than 20 % of the join buffers",
    ): "The largest burst is a tenth of our window, which has fewer units than the paper's.",
    (
        "shared-windows",
        "output buffers of SWF and Greedy: less than 3 % of the join buffers",
    ): "By the rules of section 3.2 results are kept until the tuple is through with the largest "
    "window, which comes to more than 3 %, also simulated at the paper's scale.",
    ("shared-windows", "the same: less than 10 % for SWF"): "The largest burst is a tenth of our "
    "window, which has fewer units than the paper's.",
    (
        "shared-windows",
        "SWF, Greedy and state-slice sharing take at most 1.1x the time of LWO for a lone unit",
    ): _SLICES,
    (
        "shared-windows",
        "end to end: Greedy, the default, has no more work than LWO",
    ): f"{_SLICES} Each release makes a table for each query.",
    (
        "static-optimization",
        "at about 60 % of resources most need reoptimization",
    ): "For a fifth of the queries another plan only ties with the cheapest.",
    (
        "static-optimization",
        "but for 28 % at 1 % of resources",
    ): "With so little one source is kept in part and no other at all, and the first level that "
    "is not feasible finds which one.",
    (
        "cacq",
        "few queries (to 16): CACQ is faster than PullUp",
    ): "The paper's PullUp makes larger tuples; here a joined row is a pair of row ids.",
    (
        "cacq",
        "expensive functions, a single article: PullUp still pays for larger tuples",
    ): "A joined row is a pair of row ids, not a larger tuple.",
    (
        "cacq",
        "PushDown is slower in all cases",
    ): "With one query PushDown is the tree that runs by default, without lineage.",
    (
        "cacq",
        "filter banks: additional sources decrease the throughput somewhat",
    ): "Sources are filter banks of their own, which share no state that would be looked through.",
}
