"""The paper's claims, judged by points; of nested loops, as in the paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from eddyline.bench.figures.jit.cliques import HASH, NESTED_LOOPS
from eddyline.bench.figures.jit.runs import (
    AUTO,
    DOE,
    JIT,
    OPTIMIZED,
    OPTIMIZED_AUTO,
    REF,
    JitPoint,
)
from eddyline.bench.figures.verdicts import Holds, Judgment

Judge = Callable[[Sequence[JitPoint]], Judgment]
#: Of a point.
Value = Callable[[JitPoint], float]

#: CPU times that differ by less than this factor are about the same.
_ALIKE: Final = 1.1
#: The same of memory, where plans differ by a source.
_ALIKE_ROWS: Final = 1.15
_STEP: Final = 1.25
#: Where a clear advantage begins, and where it is an order of magnitude.
_CLEAR: Final = 1.5
_MAGNITUDE: Final = 10.0
_LARGE: Final = 2.0


def cpu(point: JitPoint) -> float:
    """CPU seconds, a microsecond at least."""
    return max(point.cpu, 1e-6)


def state(point: JitPoint) -> float:
    """Rows held, those of streams included."""
    return float(point.state)


def megabytes(point: JitPoint) -> float:
    """MB held, those of streams included."""
    return point.nbytes / 1e6


def intermediate(point: JitPoint) -> float:
    """Rows held by joins, one at least, so that ratios stay finite."""
    return float(max(point.intermediate, 1))


def line(
    points: Sequence[JitPoint], contender: str, value: Value, case: str = NESTED_LOOPS
) -> dict[float, float]:
    """Values of a contender by x, ascending."""
    mine = sorted(
        (p for p in points if (p.case, p.contender) == (case, contender)), key=lambda p: p.x
    )
    return {p.x: value(p) for p in mine}


def ratios(
    points: Sequence[JitPoint],
    value: Value,
    case: str = NESTED_LOOPS,
    over: str = REF,
    under: str = JIT,
) -> dict[float, float]:
    """How many times as much one contender takes as the other, by x."""
    less = line(points, under, value, case)
    return {x: v / less[x] for x, v in line(points, over, value, case).items()}


def of(contender: str, judge: Judge) -> Judge:
    """The judge with another contender in the place of JIT, and how far rounds differ."""

    def judged(points: Sequence[JitPoint]) -> Judgment:
        named = [p for p in points if p.contender not in (JIT, contender)]
        named += [replace(p, contender=JIT) for p in points if p.contender == contender]
        found = judge(named)
        mine = [p for p in named if p.contender in (REF, JIT) and p.case == NESTED_LOOPS]
        differ = max((max(p.cpu_s) / max(min(p.cpu_s), 1e-6) - 1 for p in mine), default=0.0)
        text = found.measured.replace(JIT, contender)
        return Judgment(f"{text}; rounds differ by up to {differ:.0%}", found.holds)

    return judged


def gains_over_the_optimized(points: Sequence[JitPoint]) -> Judgment:
    """With the plan that the optimizer chooses, the default takes no more CPU than without."""
    found = {
        case: ratios(points, cpu, case, over=OPTIMIZED, under=OPTIMIZED_AUTO)
        for case in (NESTED_LOOPS, HASH)
    }
    text = "; ".join(f"{case}: {_each(ratio)}" for case, ratio in found.items())
    worst = min(r for ratio in found.values() for r in ratio.values())
    holds: Holds = "yes" if worst >= 1 / _ALIKE else "no"
    if holds == "no" and max(r for ratio in found.values() for r in ratio.values()) > _ALIKE:
        holds = "in part"
    return Judgment(f"CPU of the optimized plan over the same with auto: {text}", holds)


def fewer_bytes(points: Sequence[JitPoint]) -> Judgment:
    """The default holds no more bytes than REF, at every x and by both methods."""
    found = {case: ratios(points, megabytes, case, under=AUTO) for case in (NESTED_LOOPS, HASH)}
    text = "; ".join(f"{case}: {_each(ratio)}" for case, ratio in found.items())
    good = [r >= 1.0 for ratio in found.values() for r in ratio.values()]
    holds: Holds = "yes" if all(good) else "in part" if any(good) else "no"
    return Judgment(f"bytes of REF over auto: {text}", holds)


def less_cpu(wanted: float) -> Judge:
    """REF takes ``wanted`` times JIT's CPU at every x."""

    def judge(points: Sequence[JitPoint]) -> Judgment:
        found = ratios(points, cpu)
        return Judgment(f"CPU of REF over JIT: {_each(found)}", _all(found, wanted))

    return judge


def large_margins(points: Sequence[JitPoint]) -> Judgment:
    """REF takes twice JIT's CPU and rows, or more, at every x."""
    times, rows = ratios(points, cpu), ratios(points, state)
    both = {x: min(ratio, rows[x]) for x, ratio in times.items()}
    text = f"REF over JIT: CPU {_each(times)}; rows {_each(rows)}"
    return Judgment(text, _all(both, _LARGE))


def saves_up_to(share: float) -> Judge:
    """JIT holds less than REF by this factor somewhere."""

    def judge(points: Sequence[JitPoint]) -> Judgment:
        saved = {x: 1 - 1 / r for x, r in ratios(points, state).items()}
        text = "rows saved: " + ", ".join(f"{s:.0%} at {x:g}" for x, s in saved.items())
        best = max(saved.values())
        return Judgment(text, "yes" if best >= share else "in part" if best > 0 else "no")

    return judge


def gains_grow(points: Sequence[JitPoint]) -> Judgment:
    """Both ratios are larger in the end than in the beginning, and never fall much between."""
    times, rows = ratios(points, cpu), ratios(points, state)
    text = f"REF over JIT: CPU {_each(times)}; rows {_each(rows)}"
    ends = [_last(r) > _first(r) for r in (times, rows)]
    rising = [_rises(r) for r in (times, rows)]
    return Judgment(text, "yes" if all(ends + rising) else "in part" if any(ends) else "no")


def grows_slower(points: Sequence[JitPoint]) -> Judgment:
    """From the least to the largest x, of CPU and of rows."""
    grown = {
        c: [_last(found) / _first(found) for found in (line(points, c, v) for v in (cpu, state))]
        for c in (REF, JIT)
    }
    text = "; ".join(f"{c} grows {t:.1f}x in CPU, {s:.1f}x in rows" for c, (t, s) in grown.items())
    good = [jit < ref for jit, ref in zip(grown[JIT], grown[REF], strict=True)]
    return Judgment(text, "yes" if all(good) else "in part" if any(good) else "no")


def steps(points: Sequence[JitPoint]) -> Judgment:
    """REF: from 4 to 5 sources and from 6 to 7 hardly more rows, from 5 to 6 and 7 to 8 many."""
    found = _growth(line(points, REF, state))
    good = _step_wise(found)
    return Judgment(_grown(found), "yes" if all(good) else "in part" if any(good) else "no")


def no_steps(points: Sequence[JitPoint]) -> Judgment:
    """JIT: not so."""
    found = _growth(line(points, JIT, state))
    good = _step_wise(found)
    return Judgment(_grown(found), "no" if all(good) else "yes")


def falls(points: Sequence[JitPoint]) -> Judgment:
    """CPU and rows of both are less in the end than in the beginning."""
    fell = {
        c: [_first(found) / _last(found) for found in (line(points, c, v) for v in (cpu, state))]
        for c in (REF, JIT)
    }
    text = "; ".join(f"{c} falls {t:.1f}x in CPU, {s:.1f}x in rows" for c, (t, s) in fell.items())
    good = [ratio > 1.0 for both in fell.values() for ratio in both]
    return Judgment(text, "yes" if all(good) else "in part" if any(good) else "no")


def stable_from(place: float) -> Judge:
    """JIT: CPU and rows from that x on differ by no more than half."""

    def judge(points: Sequence[JitPoint]) -> Judgment:
        spread = []
        for value in (cpu, state):
            tail = [v for x, v in line(points, JIT, value).items() if x >= place]
            spread.append(max(tail) / min(tail))
        text = f"largest over smallest: CPU {spread[0]:.2f}x, rows {spread[1]:.2f}x"
        good = [s <= _CLEAR for s in spread]
        return Judgment(text, "yes" if all(good) else "in part" if any(good) else "no")

    return judge


def clear(points: Sequence[JitPoint]) -> Judgment:
    """REF takes 1.5 times JIT's CPU or more at every x, and not ten times everywhere."""
    found = ratios(points, cpu)
    holds = _all(found, _CLEAR)
    if holds == "yes" and min(found.values()) > _MAGNITUDE:
        holds = "in part"
    return Judgment(f"CPU of REF over JIT: {_each(found)}", holds)


def handles_below(place: float) -> Judge:
    """From that x down to the least, REF's CPU grows more than JIT's."""

    def judge(points: Sequence[JitPoint]) -> Judgment:
        grown = {}
        for contender in (REF, JIT):
            found = line(points, contender, cpu)
            grown[contender] = _first(found) / found[place]
        text = f"CPU at the least d_max, of that at {place:g}: "
        text += ", ".join(f"{c} {g:.2f}x" for c, g in grown.items())
        text += f"; REF over JIT: {_each(ratios(points, cpu))}"
        good = [grown[JIT] < grown[REF], _first(ratios(points, cpu)) > _CLEAR]
        return Judgment(text, "yes" if all(good) else "in part" if any(good) else "no")

    return judge


def doe_is_subsumed(points: Sequence[JitPoint]) -> Judgment:
    """JIT holds no more than DOE, and takes no more CPU, at every x."""
    times = ratios(points, cpu, over=DOE)
    rows = ratios(points, intermediate, over=DOE)
    text = f"DOE over JIT: CPU {_each(times)}; intermediate rows {_each(rows)}"
    good = [r >= 1 / _ALIKE for r in (*times.values(), *rows.values())]
    return Judgment(text, "yes" if all(good) else "in part" if any(good) else "no")


def hash_joins_gain(points: Sequence[JitPoint]) -> Judgment:
    """Hash joins: fewer intermediate rows at every x, CPU at most that of REF, about."""
    times, rows = (ratios(points, v, HASH) for v in (cpu, intermediate))
    text = f"REF over JIT: CPU {_each(times)}; intermediate rows {_each(rows)}"
    good = [all(r >= 1 / _ALIKE for r in times.values()), all(r > 1.0 for r in rows.values())]
    return Judgment(text, "yes" if all(good) else "in part" if any(good) else "no")


def _growth(found: dict[float, float]) -> dict[float, float]:
    """From the x before to each x."""
    return {x: found[x] / found[before] for before, x in pairwise(found)}


def _step_wise(grown: dict[float, float]) -> list[bool]:
    return [r <= _ALIKE_ROWS if x in (5, 7) else r >= _STEP for x, r in grown.items()]


def _grown(found: dict[float, float]) -> str:
    return "rows grow " + ", ".join(f"{r:.2f}x to N = {x:g}" for x, r in found.items())


def _rises(found: dict[float, float]) -> bool:
    return all(b >= a / _ALIKE for a, b in pairwise(found.values()))


def _first(found: dict[float, float]) -> float:
    return next(iter(found.values()))


def _last(found: dict[float, float]) -> float:
    return list(found.values())[-1]


def _each(found: dict[float, float]) -> str:
    return ", ".join(f"{r:,.1f}x at {x:g}" for x, r in found.items())


def _all(found: dict[float, float], wanted: float) -> Holds:
    if all(r >= wanted for r in found.values()):
        return "yes"
    return "in part" if any(r >= wanted for r in found.values()) else "no"
