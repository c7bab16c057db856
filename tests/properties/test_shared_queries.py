"""Many queries on one engine, coming and going: each says what it would say alone.

The oracle answers every query by itself. The number of cases is set by the Hypothesis profile
(``tests/conftest.py``). To see a failing case again, by its seed::

    play_set(random_case(Random(seed)), random_options(Random(seed)))
"""

from __future__ import annotations

from typing import Any

from hypothesis import Phase, event, given, settings

from eddyline.testing.strategies.query_set_cases import (
    QuerySetCase,
    play_set,
    query_set_cases,
    sharing_options,
)
from eddyline.testing.strategies.shrinking import shrunk

HALF = settings.default.max_examples // 2  # each case has many queries


@settings(max_examples=HALF, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(query_set_cases(), sharing_options())
def test_each_query_says_what_it_would_say_alone(
    case: QuerySetCase, options: dict[str, Any]
) -> None:
    for name in ("executor", "policy", "sharing"):
        if name in options:
            event(f"{name}: {options[name]}")
    failure = problem(case, options)
    if failure is None:
        return
    smallest = shrunk(case, lambda part: isinstance(problem(part, options), type(failure)))
    raise AssertionError(f"with {options}:\n{smallest!r}") from problem(smallest, options)


def problem(case: QuerySetCase, options: dict[str, Any]) -> Exception | None:
    """What goes wrong."""
    try:
        play_set(case, options)
    except Exception as error:
        return error
    return None
