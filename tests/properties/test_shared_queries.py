"""Many queries on one engine, coming and going: each says what it would say alone.

The oracle answers every query by itself. The number of cases is set by the Hypothesis profile
(``tests/conftest.py``).
"""

from __future__ import annotations

from typing import Any

from hypothesis import event, given

from eddyline.testing.strategies.query_set_cases import (
    QuerySetCase,
    play_set,
    query_set_cases,
    sharing_options,
)


@given(query_set_cases(), sharing_options())
def test_each_query_says_what_it_would_say_alone(
    case: QuerySetCase, options: dict[str, Any]
) -> None:
    for name in ("executor", "policy", "sharing"):
        if name in options:
            event(f"{name}: {options[name]}")
    script = play_set(case, options)
    told = [name for name in script.queries if script.changes(name).num_rows]
    event(f"{min(len(told), 4)} queries or more with changes")
