"""The paper's claims about schedules, judged by runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from eddyline.bench.figures.shared_windows.driver import RunOutcome
from eddyline.bench.figures.shared_windows.runs import RunPoint
from eddyline.bench.figures.shared_windows.server import GREEDY, LWO, STATE_SLICE, SWF, TABLE_1
from eddyline.bench.figures.verdicts import Holds, Judgment, Regime, Spread, factor, ratios

Judge = Callable[[Sequence[RunPoint]], Judgment]

#: Windows from LARGE_S on are large, some the largest, and those up to _SMALL_S small; seconds.
LARGE_S: Final = 300
LARGEST_S: Final = 510
_SMALL_S: Final = 15
#: Response times that differ by less than this factor are about the same.
_ALIKE: Final = 1.25
_PAPERS: Final = (LWO, SWF, GREEDY)


def point_of(
    points: Sequence[RunPoint], strategy: str, distribution: str, burst: float | None = None
) -> RunPoint:
    """The only point of this kind."""
    (found,) = (
        p
        for p in points
        if (p.strategy, p.distribution) == (strategy, distribution) and burst in (None, p.burst)
    )
    return found


def outcome(
    points: Sequence[RunPoint], strategy: str, distribution: str, burst: float | None = None
) -> RunOutcome:
    """Of the median run of this kind."""
    return point_of(points, strategy, distribution, burst).outcome


def averages(points: Sequence[RunPoint], over: str, under: str, distribution: str) -> Spread:
    """How many times as long one strategy takes as the other over all windows, by run."""
    both = (point_of(points, s, distribution).average.values for s in (over, under))
    return ratios(*both)


def utilisation(wanted: float) -> Regime[Sequence[RunPoint]]:
    """LWO is as busy as the paper's server, give or take 0.06."""

    def judge(points: Sequence[RunPoint]) -> Judgment:
        found = [p.busy.median for p in points if p.strategy == LWO]
        text = f"LWO is busy {min(found):.0%} to {max(found):.0%} of the time"
        good = all(abs(share - wanted) <= 0.06 for share in found)
        return Judgment(text, "yes" if good else "no")

    return Regime(f"LWO {wanted:.0%} busy, give or take 6 %", judge)


def _distributions(points: Sequence[RunPoint]) -> list[str]:
    return list(dict.fromkeys(p.distribution for p in points))


def _share(good: int, of: int) -> Holds:
    return "yes" if good == of else "in part" if good else "no"


def greedy_is_best(points: Sequence[RunPoint]) -> Judgment:
    """Lowest average over all windows of the paper's three, in every distribution."""
    found = {}
    for d in _distributions(points):
        others = [averages(points, s, GREEDY, d) for s in (LWO, SWF)]
        found[d] = min(others, key=lambda r: r.median)
    text = ", ".join(f"{r.times(2)} ({d})" for d, r in found.items())
    good = sum(r.median > 1.0 for r in found.values())
    return Judgment(f"the better of the others takes {text}", _share(good, len(found)))


def lwo_is_second(points: Sequence[RunPoint]) -> Judgment:
    """But for Mostly-Small, where SWF is."""
    by_name = {}
    for d in _distributions(points):
        by_name[d] = outcome(points, SWF, d).average / outcome(points, LWO, d).average
    good = sum((r < 1.0) == (d == "Mostly-Small") for d, r in by_name.items())
    return Judgment(f"SWF takes {_each(by_name)} of LWO's time", _share(good, len(by_name)))


def swf_is_worst(points: Sequence[RunPoint]) -> Judgment:
    """On Mostly-Large."""
    swf, lwo, greedy = (outcome(points, s, "Mostly-Large").average for s in (SWF, LWO, GREEDY))
    text = f"SWF takes {swf / lwo:.2f}x LWO's time and {swf / greedy:.2f}x Greedy's"
    return Judgment(text, _share((swf > lwo) + (swf > greedy), 2))


def lwo_is_flat(points: Sequence[RunPoint]) -> Judgment:
    """Averages and maxima of the windows of a distribution lie near each other."""
    averages, maxima = {}, {}
    for d in _distributions(points):
        windows = [w for w in outcome(points, LWO, d).windows if w.results]
        averages[d] = _over(max(w.average for w in windows), min(w.average for w in windows))
        maxima[d] = _over(max(w.longest for w in windows), min(w.longest for w in windows))
    text = f"largest over smallest: average {_each(averages)}; maximum {_each(maxima)}"
    spread = [*averages.values(), *maxima.values()]
    return Judgment(text, _share(sum(s <= 1.5 for s in spread), len(spread)))


def alike_but_for_the_largest(points: Sequence[RunPoint]) -> Judgment:
    """Uniform: SWF and Greedy have one order."""
    swf, greedy = (outcome(points, s, "Uniform").windows for s in (SWF, GREEDY))
    by_name = [_over(s.average, g.average) for s, g in zip(swf, greedy, strict=True)]
    text = f"SWF over Greedy: {min(by_name[:-1]):.2f} to {max(by_name[:-1]):.2f}, "
    text += f"largest window {by_name[-1]:.2f}"
    good = [1 / _ALIKE <= r <= _ALIKE for r in by_name[:-1]]
    return Judgment(text, _share(sum(good) + (by_name[-1] > 1.0), len(good) + 1))


def half_for_the_largest(points: Sequence[RunPoint]) -> Judgment:
    """SWF, largest window: Mostly-Small against Uniform."""
    small, uniform = (
        outcome(points, SWF, d).windows[-1].average for d in ("Mostly-Small", "Uniform")
    )
    ratio = small / uniform
    return Judgment(
        f"{ratio:.2f}x", "yes" if 0.35 <= ratio <= 0.65 else "in part" if ratio < 1.0 else "no"
    )


def lwo_wins_large(points: Sequence[RunPoint]) -> Judgment:
    """Mostly-Large: all windows but the two smallest."""
    lwo, greedy = (outcome(points, s, "Mostly-Large").windows for s in (LWO, GREEDY))
    by_name = [_over(g.average, w.average) for w, g in zip(lwo, greedy, strict=True)]
    text = "Greedy over LWO, by window: " + ", ".join(f"{r:.2f}" for r in by_name)
    good = [r < 1.0 for r in by_name[:2]] + [r > 1.0 for r in by_name[2:]]
    return Judgment(text, _share(sum(good), len(good)))


def best_of_both(points: Sequence[RunPoint]) -> Judgment:
    """Small-Large: Greedy is like SWF up to 15 s and like LWO from 300 s on."""
    lwo, swf, greedy = (outcome(points, s, "Small-Large").windows for s in (LWO, SWF, GREEDY))
    small, large = [], []
    for i, w in enumerate(TABLE_1["Small-Large"]):
        if w <= _SMALL_S:
            small.append(_over(greedy[i].average, swf[i].average))
        elif w >= LARGE_S:
            large.append(_over(greedy[i].average, lwo[i].average))
    text = f"small windows {min(small):.2f} to {max(small):.2f}x SWF's time, "
    text += f"large ones {min(large):.2f} to {max(large):.2f}x LWO's"
    near = [1 / _ALIKE <= r <= _ALIKE for r in small + large]
    return Judgment(text, _share(sum(near), len(near)))


def maxima_of_large_windows(points: Sequence[RunPoint]) -> Judgment:
    """Greedy's are lower than SWF's for the largest windows, by distribution."""
    by_name, good, count = {}, 0, 0
    for d in _distributions(points):
        swf, greedy = (outcome(points, s, d).windows for s in (SWF, GREEDY))
        each = [
            _over(s.longest, g.longest)
            for w, s, g in zip(TABLE_1[d], swf, greedy, strict=True)
            if w >= LARGEST_S
        ]
        good += sum(r > 1.0 for r in each)
        count += len(each)
        by_name[d] = each[-1]
    text = f"in {good} of {count}; SWF's for the largest window is {_each(by_name)} Greedy's"
    return Judgment(text, _share(good, count))


def input_buffer(most: float, strategies: Sequence[str] = (SWF, GREEDY)) -> Judge:
    """Largest input buffers as shares of the join buffers."""
    return lambda points: _buffers(points, most, strategies, lambda o: o.input_share)


def output_buffer(most: float, strategies: Sequence[str] = (SWF, GREEDY)) -> Judge:
    """Largest output buffers as shares of the join buffers."""
    return lambda points: _buffers(points, most, strategies, lambda o: o.output_share)


def _buffers(
    points: Sequence[RunPoint],
    most: float,
    strategies: Sequence[str],
    share: Callable[[RunOutcome], float],
) -> Judgment:
    largest = {s: max(share(p.outcome) for p in points if p.strategy == s) for s in strategies}
    lwo = max(share(p.outcome) for p in points if p.strategy == LWO)
    text = ", ".join(f"{s} {v:.1%}" for s, v in largest.items()) + f" (LWO {lwo:.1%})"
    return Judgment(text, _share(sum(v < most for v in largest.values()), len(largest)))


def not_slower_than_slices(points: Sequence[RunPoint]) -> Judgment:
    """Greedy against state-slice sharing, averaged over all windows."""
    by_name = {}
    for d in _distributions(points):
        by_name[d] = outcome(points, STATE_SLICE, d).average / outcome(points, GREEDY, d).average
    good = sum(r >= 1.0 for r in by_name.values())
    return Judgment(f"state-slice takes {_each(by_name)} Greedy's time", _share(good, len(by_name)))


def slices_against_lwo(points: Sequence[RunPoint]) -> Judgment:
    """State-slice sharing against LWO, and what it keeps."""
    by_name = {}
    for d in _distributions(points):
        by_name[d] = outcome(points, STATE_SLICE, d).average / outcome(points, LWO, d).average
    work = max(
        outcome(points, STATE_SLICE, d).busy_s / outcome(points, LWO, d).busy_s for d in by_name
    )
    held = max(p.outcome.input_share for p in points if p.strategy == STATE_SLICE)
    found = max(p.outcome.output_share for p in points if p.strategy == STATE_SLICE)
    text = f"{_each(by_name)} of LWO's time, up to {work:.2f}x its work; "
    text += f"input buffer up to {held:.1%}, output buffer up to {found:.1%} of the join buffers"
    return Judgment(text, _share(sum(r <= 1.0 for r in by_name.values()), len(by_name)))


def costs(points: Sequence[RunPoint]) -> Judgment:
    """What a lone unit takes, against LWO."""
    others = [s for s in dict.fromkeys(p.strategy for p in points) if s != LWO]
    lwo = {p.distribution: p.unit_s for p in points if p.strategy == LWO}
    most = {
        s: max(p.unit_s / lwo[p.distribution] for p in points if p.strategy == s) for s in others
    }
    text = f"at most {_each(most)}; LWO's is {1e3 * max(lwo.values()):.2f} ms"
    return Judgment(text, _share(sum(r <= 1.1 for r in most.values()), len(most)))


# -- bursts (Small-Large) ----------------------------------------------


def _bursts(points: Sequence[RunPoint]) -> list[float]:
    return sorted({p.burst for p in points})


def _averages(points: Sequence[RunPoint], strategy: str) -> dict[float, float]:
    return {b: outcome(points, strategy, "Small-Large", b).average for b in _bursts(points)}


def greedy_beats_bursts(points: Sequence[RunPoint]) -> Judgment:
    """Lowest average at every burst size."""
    lwo, swf, greedy = (_averages(points, s) for s in _PAPERS)
    by_name = {f"{b:g}": min(lwo[b], swf[b]) / greedy[b] for b in greedy}
    text = "the better of the others takes " + _each(by_name)
    return Judgment(text, _share(sum(r > 1.0 for r in by_name.values()), len(by_name)))


def lwo_over_greedy(points: Sequence[RunPoint]) -> Judgment:
    """The paper's 80 %, as LWO takes 1.8 times as long: four of seven windows are large."""
    lwo, greedy = (_averages(points, s) for s in (LWO, GREEDY))
    by_name = {b: lwo[b] / greedy[b] for b in greedy}
    best = max(by_name, key=by_name.__getitem__)
    text = f"at most {by_name[best]:.2f}x Greedy's time, at bursts of {best:g}"
    if 4.0 in by_name:
        text += f"; {by_name[4.0]:.2f}x at 4"
    return Judgment(
        text, "yes" if by_name[best] >= 1.75 else "in part" if by_name[best] > 1 else "no"
    )


def longer_with_bursts(points: Sequence[RunPoint]) -> Judgment:
    """All three wait longer the larger bursts are."""
    bursts = _bursts(points)
    by_name, longer = {}, []
    for s in _PAPERS:
        line = [*_averages(points, s).values()]
        by_name[s] = line[-1] / line[0]
        longer += [b > a for a, b in pairwise(line)]
    text = f"from {bursts[0]:g} to {bursts[-1]:g}: {_each(by_name)}; "
    text += f"in {sum(longer)} of {len(longer)} steps"
    return Judgment(text, _share(sum(longer), len(longer)))


def longest_of_the_largest(points: Sequence[RunPoint]) -> Judgment:
    """At the largest bursts, SWF's maximum for the largest window is five times Greedy's."""
    burst = _bursts(points)[-1]
    lwo, swf, greedy = (
        outcome(points, s, "Small-Large", burst).windows[-1].longest for s in _PAPERS
    )
    text = f"{swf / greedy:.1f}x Greedy's, {swf / lwo:.1f}x LWO's, at bursts of {burst:g}"
    return Judgment(text, factor(swf / greedy, 4.0))


def _each(by_name: dict[str, float]) -> str:
    return ", ".join(f"{r:.2f}x ({name})" for name, r in by_name.items())


def _over(a: float, b: float) -> float:
    """Windows without results have no response times: they are alike."""
    return a / b if b else 1.0
