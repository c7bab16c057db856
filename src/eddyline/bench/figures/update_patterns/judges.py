"""How a claim of the update-patterns paper is judged by the measured points.

A claim about large windows is judged at the largest measured window, one about small windows at
the smallest. Factors are medians of the stretches, over which contenders take turns, with the
least and the most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from eddyline.bench.figures.results import Results
from eddyline.bench.figures.update_patterns.cases import DIRECT, NT, UPA_10, UPA_50
from eddyline.bench.figures.verdicts import Holds, Judgment, Spread, factor

#: Judges a claim about one case.
Judge = Callable[[Results, str], Judgment]

#: What the paper calls about 40 % of the results.
PREMATURE: Final = (0.3, 0.5)
#: What it calls about ten times as many.
TENFOLD: Final = (5.0, 20.0)
#: Times that differ by less than this factor are no crossing.
_ALIKE: Final = 1.1


def faster(fast: str, slow: Sequence[str], wanted: float) -> Judge:
    """At the largest window, ``fast`` is ``wanted`` times as fast as each of the others."""

    def judge(results: Results, case: str) -> Judgment:
        window = results.windows(case)[-1]
        ratios = {s: results.speedup(case, window, fast, s) for s in slow}
        least = min(r.median for r in ratios.values())
        return Judgment(_against(fast, ratios, window), factor(least, wanted))

    return judge


def best_ratio(fast: str, slow: str, wanted: float) -> Judge:
    """``up to``: at some window, ``fast`` is ``wanted`` times as fast."""

    def judge(results: Results, case: str) -> Judgment:
        ratios = {w: results.speedup(case, w, fast, slow) for w in results.windows(case)}
        window = max(ratios, key=lambda w: ratios[w].median)
        text = _against(fast, {slow: ratios[window]}, window)
        return Judgment(f"at most {text}", factor(ratios[window].median, wanted))

    return judge


def smaller(small: str, large: Sequence[str], wanted: float, *, best: bool = False) -> Judge:
    """The others keep ``wanted`` times as many rows: at the largest window, or at its best."""

    def judge(results: Results, case: str) -> Judgment:
        windows = results.windows(case)
        by_window = {
            w: {s: results.saving(case, w, small, s) for s in large}
            for w in (windows if best else windows[-1:])
        }
        window = max(by_window, key=lambda w: min(by_window[w].values()))
        ratios = by_window[window]
        what = ", ".join(f"{s} keeps {r:,.1f}x the rows" for s, r in ratios.items())
        return Judgment(f"{what} of {small} at {window:,}", factor(min(ratios.values()), wanted))

    return judge


def direct_degrades(results: Results, case: str) -> Judgment:
    """DIRECT is faster than NT, and loses on it as the window grows."""
    windows = results.windows(case)
    small, large = (results.speedup(case, w, DIRECT, NT) for w in (windows[0], windows[-1]))
    wins = [w for w in windows if results.speedup(case, w, DIRECT, NT).median > 1.0]
    text = (
        f"DIRECT is faster at {len(wins)} of {len(windows)} windows: "
        f"{small.times()} at {windows[0]:,}, {large.times()} at {windows[-1]:,}"
    )
    outperforms, degrades = len(wins) == len(windows), large.median < small.median
    if outperforms and degrades:
        return Judgment(text, "yes")
    return Judgment(text, "in part" if outperforms or degrades else "no")


def slowest(which: str, wanted: float) -> Judge:
    """At the largest window, the one takes ``wanted`` times as long as the next slowest."""

    def judge(results: Results, case: str) -> Judgment:
        window = results.windows(case)[-1]
        others = [c for c in results.contenders(case) if c != which]
        next_slowest = max(others, key=lambda c: results.ms(case, window, c))
        ratio = results.speedup(case, window, next_slowest, which)
        text = f"{which} takes {ratio.times()} the time of {next_slowest} at {window:,}"
        return Judgment(text, factor(ratio.median, wanted))

    return judge


def few_partitions_tire(results: Results, case: str) -> Judgment:
    """UPA(10) beats NT at the smallest window and falls behind UPA(50) at the largest."""
    windows = results.windows(case)
    first = results.speedup(case, windows[0], UPA_10, NT)
    last = results.speedup(case, windows[-1], UPA_50, UPA_10)
    text = (
        f"UPA(10) is {first.times()} as fast as NT at {windows[0]:,}; "
        f"UPA(50) is {last.times()} as fast as UPA(10) at {windows[-1]:,}"
    )
    if first.median > 1.0:
        return Judgment(text, factor(last.median, 1.5) if last.median > 1.0 else "in part")
    return Judgment(text, "in part" if last.median > 1.5 else "no")


def crossing(small_winner: str, large_winner: str) -> Judge:
    """One wins at small windows, the other at large ones, by a tenth of the time each."""

    def judge(results: Results, case: str) -> Judgment:
        windows = results.windows(case)
        gains = {w: results.speedup(case, w, large_winner, small_winner) for w in windows}
        small_ok = gains[windows[0]].median <= 1 / _ALIKE
        large_ok = gains[windows[-1]].median >= _ALIKE
        wins = [w for w, gain in gains.items() if gain.median > 1.0]
        text = (
            f"{large_winner} is faster at {_some(wins) if wins else 'no window'}: "
            f"{gains[windows[0]].times(2)} as fast as {small_winner} at {windows[0]:,}, "
            f"{gains[windows[-1]].times(2)} at {windows[-1]:,}"
        )
        holds: Holds = (
            "yes" if small_ok and large_ok else "in part" if small_ok or large_ok else "no"
        )
        return Judgment(text, holds)

    return judge


def premature(results: Results, case: str) -> Judgment:
    """About 40 % of the results are taken back before they expire."""
    shares = {w: results.premature(case, w, UPA_50) for w in results.windows(case)}
    holds: Holds = "yes" if PREMATURE[0] <= list(shares.values())[-1] <= PREMATURE[1] else "no"
    each = ", ".join(f"{share:.0%} at {w:,}" for w, share in shares.items())
    return Judgment(f"{each} of the results", holds)


def tenfold(small: str) -> Judge:
    """The answer is about ten times as large as that of the case ``small``."""

    def judge(results: Results, case: str) -> Judgment:
        window = results.windows(case)[-1]
        large, few = (results.point(c, window, UPA_50).answer_rows for c in (case, small))
        ratio = large / max(few, 1)
        text = f"{large:,} and {few:,} rows at {window:,}: {ratio:.1f}x"
        return Judgment(text, "yes" if TENFOLD[0] <= ratio <= TENFOLD[1] else "no")

    return judge


def less_when_larger(results: Results, case: str) -> Judgment:
    """UPA's advantage over NT is greater for sources than for pairs."""
    other = "query2-pairs"
    window = results.windows(case)[-1]
    few, many = (results.speedup(c, window, UPA_10, NT) for c in (case, other))
    text = f"over NT {few.times()} for sources, {many.times()} for pairs at {window:,}"
    return Judgment(text, "yes" if few.median > many.median else "no")


def never_slower(results: Results, case: str) -> Judgment:
    """At the largest window UPA is not slower than NT and DIRECT; other windows are reported."""
    ratios = {
        w: results.speedup(case, w, UPA_50, results.fastest(case, w, (NT, DIRECT)))
        for w in results.windows(case)
    }
    least, largest = min(ratios, key=lambda w: ratios[w].median), max(ratios)
    text = (
        f"{ratios[largest].times()} as fast as the faster at {largest:,}; "
        f"least: {ratios[least].times()} at {least:,}"
    )
    return Judgment(text, "yes" if ratios[largest].median >= 1.0 else "no")


def faster_than_slower(wanted: float) -> Judge:
    """At the largest window, UPA is ``wanted`` times as fast as the slower of NT and DIRECT."""

    def judge(results: Results, case: str) -> Judgment:
        window = results.windows(case)[-1]
        slower = max((NT, DIRECT), key=lambda c: results.ms(case, window, c))
        ratio = results.speedup(case, window, UPA_50, slower)
        return Judgment(_against(UPA_50, {slower: ratio}, window), factor(ratio.median, wanted))

    return judge


def _against(fast: str, ratios: dict[str, Spread], window: int) -> str:
    each = ", ".join(f"{r.times()} as fast as {s}" for s, r in ratios.items())
    return f"{fast} is {each} at {window:,}"


def _some(windows: Iterable[int]) -> str:
    return ", ".join(f"{w:,}" for w in windows)
