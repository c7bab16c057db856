"""``bench decisions``: its cases run, have equal results where they should, and are divided."""

from __future__ import annotations

import pytest

from eddyline.bench import decisions
from eddyline.bench.decisions import Case, Comparison, compared, feedback_cases, shedding_cases


@pytest.fixture(autouse=True)
def few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions, "_ROWS", 40)
    monkeypatch.setattr(decisions, "_SHED_ROWS", 200)
    monkeypatch.setitem(decisions._SHED, "1,000 rules", ["SELECT k FROM s WHERE k = 1"])


@pytest.mark.parametrize("case", list(feedback_cases()), ids=lambda c: c.name)
def test_feedback(case: Case) -> None:
    found = compared(case, calls=3, warm=1)
    assert all(seconds > 0 for seconds in found.seconds.values())


@pytest.mark.parametrize("case", list(shedding_cases()), ids=lambda c: c.name)
def test_shedding(case: Case) -> None:
    assert compared(case, calls=3, warm=1).as_dict()["asked"] == 0.6


def test_different_results_are_an_error() -> None:
    first, *_ = feedback_cases()
    distinct = next(c for c in feedback_cases() if "DISTINCT" in c.name)
    others = {"auto": first.engines["auto"], "off": distinct.engines["DISTINCT"]}
    with pytest.raises(AssertionError, match="feedback of a uniform clique"):
        compared(Case(first.name, others, first.rows, 1.0), calls=4, warm=1)


def test_the_first_engine_is_divided_by_the_second() -> None:
    first, *_ = feedback_cases()
    found = Comparison(first, {"auto": 3.0, "off": 2.0})
    assert found.ratio == 1.5
    assert found.as_dict()["seconds"] == {"auto": 3.0, "off": 2.0}


def test_the_example_is_judged_by_what_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions, "_FUNCTION_ROWS", 100)
    found = decisions.functions_example(seconds=20)
    assert found.judged == pytest.approx(found.taken, rel=0.4)


def test_nothing_is_shed_for_a_need_that_feedback_removes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions, "_ROWS", 2_000)
    found = decisions.chain_example(seconds=10)
    assert found.kept == 1.0
    assert found.judged < 0.1  # the model: 1.17
