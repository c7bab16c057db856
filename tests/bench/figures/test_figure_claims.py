"""Claims are judged rightly: canned points, one number changed at a time."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from eddyline.bench.figures.points import Point
from eddyline.bench.figures.results import Results
from eddyline.bench.figures.update_patterns.cases import (
    CASES,
    DIRECT,
    NT,
    UPA_10,
    UPA_50,
    UPA_50_KEYED,
)
from eddyline.bench.figures.update_patterns.claims import CLAIMS, TraceClaim, judged
from eddyline.bench.figures.update_patterns.judges import (
    crossing,
    direct_degrades,
    faster,
    faster_than_slower,
    few_partitions_tire,
    never_slower,
    premature,
    slowest,
    smaller,
)
from eddyline.bench.figures.verdicts import Spread, factor, ratios


def point(case: str, window: int, contender: str, ms: float, **other: float) -> Point:
    return Point(
        trace="t",
        case=case,
        window=window,
        contender=contender,
        rows=1_000,
        chunk_rows=100,
        ms_per_1000=(ms, 9 * ms, ms),
        state_rows=other.get("state", 1.0),
        answer_rows=1,
        inserted=100,
        taken_back=int(other.get("taken_back", 0)),
    )


def results(times: Mapping[str, tuple[float, ...]], **other: float) -> Results:
    """A case ``c`` whose contenders took these times at windows 1, 2, ..."""
    return Results(
        [
            point("c", window, contender, ms, **other)
            for contender, by_window in times.items()
            for window, ms in enumerate(by_window, 1)
        ]
    )


def test_factor() -> None:
    assert [factor(r, 2.0) for r in (2.0, 1.9, 1.0, 0.5)] == ["yes", "in part", "no", "no"]


def test_faster_looks_at_the_largest_window_and_the_nearest_rival() -> None:
    judge = faster(UPA_10, (NT, DIRECT), 2.0)
    verdict = judge(results({UPA_10: (9, 1), NT: (1, 2), DIRECT: (1, 4)}), "c")
    assert verdict.holds == "yes"
    assert verdict.measured == (
        "UPA(10) is 2.0x (2.0 to 2.0) as fast as NT, 4.0x (4.0 to 4.0) as fast as DIRECT at 2"
    )
    assert judge(results({UPA_10: (9, 1), NT: (1, 1.5), DIRECT: (1, 4)}), "c").holds == "in part"
    assert judge(results({UPA_10: (1, 3), NT: (9, 2), DIRECT: (9, 4)}), "c").holds == "no"


@pytest.mark.parametrize(
    ("small", "large", "holds"),
    [
        ((1, 2), (2, 1), "yes"),
        ((1, 1), (2, 2), "in part"),
        ((2, 1), (1, 2), "no"),
        ((1, 1.05), (1.05, 1), "no"),  # about the same
    ],
)
def test_crossing(small: tuple[float, ...], large: tuple[float, ...], holds: str) -> None:
    assert crossing(NT, UPA_50)(results({NT: small, UPA_50: large}), "c").holds == holds


def test_slowest() -> None:
    judge = slowest(DIRECT, 2.0)
    assert judge(results({DIRECT: (4,), NT: (2,), UPA_10: (1,)}), "c").holds == "yes"
    assert judge(results({DIRECT: (3,), NT: (2,), UPA_10: (1,)}), "c").holds == "in part"
    assert judge(results({DIRECT: (1,), NT: (2,), UPA_10: (1,)}), "c").holds == "no"


def test_smaller_at_its_best_window() -> None:
    points = [
        point("c", w, c, 1.0, state=state)
        for w, states in ((1, (1, 100)), (2, (1, 10)))
        for c, state in zip((UPA_10, NT), states, strict=True)
    ]
    assert smaller(UPA_10, (NT,), 100.0, best=True)(Results(points), "c").holds == "yes"
    assert smaller(UPA_10, (NT,), 100.0)(Results(points), "c").holds == "in part"


def test_direct_degrades() -> None:
    assert direct_degrades(results({DIRECT: (1, 3), NT: (2, 4)}), "c").holds == "yes"
    assert direct_degrades(results({DIRECT: (1, 5), NT: (2, 4)}), "c").holds == "in part"
    assert direct_degrades(results({DIRECT: (5, 5), NT: (2, 4)}), "c").holds == "no"


def test_few_partitions_tire() -> None:
    times = {NT: (2.0, 9.0), UPA_10: (1.0, 4.0), UPA_50: (1.0, 2.0)}
    assert few_partitions_tire(results(times), "c").holds == "yes"
    assert few_partitions_tire(results(times | {UPA_10: (1.0, 1.0)}), "c").holds == "in part"
    assert few_partitions_tire(results(times | {UPA_10: (3.0, 1.0)}), "c").holds == "no"


def test_never_slower() -> None:
    times = {NT: (2.0, 4.0), DIRECT: (3.0, 3.0), UPA_50: (2.0, 1.0)}
    assert never_slower(results(times), "c").holds == "yes"
    assert never_slower(results(times | {UPA_50: (2.0, 3.5)}), "c").holds == "no"
    small = never_slower(results(times | {UPA_50: (4.0, 1.0)}), "c")
    assert small.holds == "yes"
    assert small.measured == (
        "3.0x (3.0 to 3.0) as fast as the faster at 2; least: 0.5x (0.5 to 0.5) at 1"
    )


def test_faster_than_the_slower() -> None:
    assert faster_than_slower(5.0)(results({NT: (1,), DIRECT: (5,), UPA_50: (1,)}), "c") == (
        faster(UPA_50, (DIRECT,), 5.0)(results({DIRECT: (5,), UPA_50: (1,)}), "c")
    )


@pytest.mark.parametrize(("taken_back", "holds"), [(40, "yes"), (29, "no"), (60, "no")])
def test_premature(taken_back: int, holds: str) -> None:
    assert premature(results({UPA_50: (1,)}, taken_back=taken_back), "c").holds == holds


@pytest.mark.parametrize(("taken_back", "holds"), [(40, "yes"), (0, "no")])
def test_a_claim_fails_outside_the_regime_of_the_paper(taken_back: int, holds: str) -> None:
    """A crossing says nothing about negation where no result is taken back."""
    times = {NT: (1.0, 2.0), UPA_50: (2.0, 1.0)}
    measured = results(times, taken_back=taken_back)
    crosses = TraceClaim(
        "s", "t", "c", "crosses", crossing(NT, UPA_50), ("30 to 50 % early", premature)
    )
    verdict = crosses.judged(measured)
    assert verdict["holds"] == holds
    assert ("not the paper's regime (30 to 50 % early)" in verdict["measured"]) == (holds == "no")


def test_spreads_are_of_rounds() -> None:
    assert ratios([2.0, 6.0, 4.0], [1.0, 2.0, 1.0]) == Spread((2.0, 3.0, 4.0))
    assert ratios([2.0, 6.0], [1.0]).times() == "4.0x"


def test_every_claim_can_be_judged() -> None:
    points = [
        point(case.name, window, contender.label, 1.0)
        for case in CASES.values()
        for contender in case.contenders
        for window in (10, 20)
    ]
    rows = judged(Results(points))
    assert len(rows) == len(CLAIMS)
    assert {row["holds"] for row in rows} <= {"yes", "in part", "no"}
    assert {claim.case for claim in CLAIMS} == set(CASES)


def test_claims_about_what_was_not_measured_are_left_out() -> None:
    only = [point("query3", 1, c, 1.0) for c in (NT, UPA_10, UPA_50, UPA_50_KEYED)]
    sources = {row["source"] for row in judged(Results(only))}
    assert sources == {"Figure 15", "section 6.4", "section 5.4.3"}
