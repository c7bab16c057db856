"""Random queries over random streams: the engine's changes tell the oracle's answer, always.

The number of cases is set by the Hypothesis profile (``tests/conftest.py``);
``EDDYLINE_HYPOTHESIS_PROFILE=long`` tries thousands.
"""

from __future__ import annotations

from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st

from eddyline.testing import pretty, rows_of
from eddyline.testing.script import Script
from eddyline.testing.strategies import (
    CHUNK_ROWS,
    OPTIONS,
    Case,
    cases,
    in_one_batch,
    play,
    resplit,
)


@given(cases(), OPTIONS)
def test_the_answer_is_right_at_every_instant(case: Case, options: dict[str, Any]) -> None:
    event(f"state: {options['state']}")
    script = play(case, options=options).finish()
    event("with changes" if script.changes().num_rows else "without changes")


@given(cases(), OPTIONS)
def test_no_result_depends_on_the_size_of_chunks(case: Case, options: dict[str, Any]) -> None:
    whole = play(case, options=options | {"chunk_rows": CHUNK_ROWS[-1]}, check=False)
    assert_same_changes(whole, play(case, options=options, check=False), options)


@given(cases(), OPTIONS, st.data())
def test_no_result_depends_on_the_size_of_batches(
    case: Case, options: dict[str, Any], data: st.DataObject
) -> None:
    whole = play(in_one_batch(case), options=options, check=False)
    split = data.draw(resplit(case))
    event(f"{min(len(split.steps), 4)} batches or more")
    assert_same_changes(whole, play(split, options=options, check=False), options)


def assert_same_changes(one: Script, other: Script, options: dict[str, Any]) -> None:
    """Also in the same order: the order of the changes of one instant is the order of causes. With
    feedback what one row brings comes in no particular order; instants keep theirs.
    """
    a, b = one.changes(), other.changes()
    if options["feedback"] == "off":
        assert pretty(a) == pretty(b)
        assert rows_of(a) == rows_of(b)  # where NaN is NaN
        return
    assert a["_ts"].equals(b["_ts"])
    assert sorted(map(repr, a.to_pylist())) == sorted(map(repr, b.to_pylist()))
