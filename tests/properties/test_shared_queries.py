"""Many queries on one engine, coming and going: each says what it would say alone.

The oracle answers every query by itself. The number of cases is set by the Hypothesis profile
(``tests/conftest.py``). To see a failing case again, by its seed::

    play_set(random_case(Random(seed), tables=True), random_options(Random(seed)))
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any
from unittest.mock import patch

from hypothesis import Phase, event, given, settings
from hypothesis import strategies as st

from eddyline.engine.placement import reoptimizer
from eddyline.engine.placement.fan_outs import Steadiness
from eddyline.testing.strategies.query_set_cases import (
    QuerySetCase,
    play_set,
    query_set_cases,
    sharing_options,
)
from eddyline.testing.strategies.shrinking import shrunk

HALF = settings().max_examples // 2  # each case has many queries


PHASES = [Phase.explicit, Phase.reuse, Phase.generate]  # a seed does not shrink

#: Finds what goes wrong in a case.
Finder = Callable[[QuerySetCase], Exception | None]


@settings(max_examples=HALF, phases=PHASES)
@given(query_set_cases(), sharing_options())
def test_each_query_has_the_results_that_it_has_alone(
    case: QuerySetCase, options: dict[str, Any]
) -> None:
    for name in ("executor", "policy", "sharing"):
        if name in options:
            event(f"{name}: {options[name]}")
    check(case, options, lambda part: problem(part, options))


@settings(max_examples=HALF // 2, phases=PHASES)
@given(query_set_cases(sources=3), sharing_options(executor="auto"), st.integers(0, 2**48))
def test_queries_may_change_from_eddy_to_tree_and_back_at_any_time(
    case: QuerySetCase, options: dict[str, Any], seed: int
) -> None:
    looks = (None, None, True, False)  # the fan-outs of joins: not known, steady, changed

    def find(part: QuerySetCase) -> Exception | None:
        luck = Random(seed)
        with (
            patch.object(Steadiness, "look", lambda *_: luck.choice(looks)),
            patch.object(reoptimizer, "_PERIOD_ROWS", 0),
        ):
            return problem(part, options)

    check(case, options, find)


@settings(max_examples=HALF // 2, phases=PHASES)
@given(query_set_cases(sources=2, listening=True), sharing_options(executor="eddy"))
def test_streamed_results_are_equal_under_every_schedule(
    case: QuerySetCase, options: dict[str, Any]
) -> None:
    check(case, options, lambda part: problem(part, options))


def check(case: QuerySetCase, options: dict[str, Any], find: Finder) -> None:
    """Fail with the smallest part of the case that has the same kind of problem, if it has one."""
    failure = find(case)
    if failure is None:
        return
    smallest = shrunk(case, lambda part: isinstance(find(part), type(failure)))
    raise AssertionError(f"with {options}:\n{smallest!r}") from find(smallest)


def problem(case: QuerySetCase, options: dict[str, Any]) -> Exception | None:
    """What goes wrong."""
    try:
        play_set(case, options)
    except Exception as error:
        return error
    return None
