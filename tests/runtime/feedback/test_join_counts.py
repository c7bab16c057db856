"""Rows that feedback withholds from joins, and what joins would make without it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eddyline import Engine
from eddyline.engine.placement.join_costs import FanOuts
from eddyline.optimizer.joins.trees import Tree
from eddyline.runtime.feedback.join_counts import NO_ROWS, InputCounts, JoinCounts, counts_from
from eddyline.testing import engine_with
from eddyline.testing.feeding import process_all

SECOND = 1_000_000
#: Of one stream in a second.
ROWS = 2_000
#: Pairs of columns that join four streams, in the order in which these are joined.
SHAPES = {
    "chain": ["a.x = b.x", "b.y = c.y", "c.z = d.z"],
    "star": ["a.x = b.x", "a.y = c.y", "a.z = d.z"],
}


def test_rows_are_withheld_for_the_first_match_that_they_lack() -> None:
    counts = InputCounts(came=1_000, visible=200, withheld=(500, 300))
    assert counts.admitted(1) == pytest.approx(0.4)  # of 500 rows
    assert counts.admitted(0) == pytest.approx(0.2)
    assert counts.admitted(2) == 1


def test_what_has_become_visible_decides() -> None:
    """Rows that were visible may be withheld again."""
    counts = InputCounts(came=1_000, visible=400, withheld=(500, 300))
    assert counts.admitted(0) == pytest.approx(0.4)
    assert 0.4 < counts.admitted(1) < 1
    assert InputCounts(1_000, 1_000, (500, 300)).admitted(0) == 1


def test_rows_withheld_for_several_trees_are_withheld_for_the_next_join() -> None:
    counts = InputCounts(came=1_000, visible=400)
    assert (counts.admitted(0), counts.admitted(1)) == (0.4, 1)


@given(st.lists(st.integers(-10, 100), min_size=4, max_size=4), st.integers(0, 100))
def test_shares_are_shares(numbers: list[int], between: int) -> None:
    came, visible, *withheld = numbers
    assert 0 < InputCounts(came, visible, tuple(withheld)).admitted(between % 4) <= 1


def test_counts_since_others_are_differences() -> None:
    before = JoinCounts(InputCounts(10, 5, (3,)), InputCounts(4, 4), 7)
    now = JoinCounts(InputCounts(30, 15, (5, 1)), InputCounts(5, 5), 9)
    assert now.since(before) == JoinCounts(InputCounts(20, 10, (2, 1)), InputCounts(1, 1), 2)
    assert now.since(NO_ROWS) == now
    assert counts_from([[30, 15, [5, 1]], [5, 5, []], 9]) == now


def engine(shape: str, feedback: str) -> Engine:
    found = engine_with(executor="tree", optimize=False, replan=float("inf"), feedback=feedback)
    for name in "abcd":
        columns = "ts TIMESTAMP, x BIGINT, y BIGINT, z BIGINT"
        found.sql(f"CREATE STREAM {name} ({columns}) TIMESTAMP BY ts")
    read = ", ".join(f"{name} [RANGE 4 SECONDS] AS {name}" for name in "abcd")
    found.query(f"SELECT a.x FROM {read} WHERE {' AND '.join(SHAPES[shape])}", name="q")
    return found


def second(number: int) -> dict[str, pa.Table]:
    """Rows of which all have partners by x, a third by y, and a fifth by z."""
    random = np.random.default_rng(number)
    given = {}
    for place, name in enumerate("abcd"):
        ts = np.sort(random.integers(0, SECOND, ROWS)) + number * SECOND
        columns = {"ts": pa.array(ts, pa.timestamp("us"))}
        for column, values, among in (("x", 8_000, 1), ("y", 2_000, 3), ("z", 1_000, 5)):
            own = random.integers(0, among, ROWS) * (place + 1) * 10_000
            columns[column] = pa.array(random.integers(0, values, ROWS) + own)
        given[name] = pa.table(columns)
    return given


def fan_outs(of: Engine) -> dict[Tree, float]:
    """Of the seconds after the first five."""
    reoptimizer = of.parts.queries.reoptimizer
    (known,) = reoptimizer.by_cost.values()
    found = FanOuts()
    for number in range(25):
        process_all(of, second(number))
        if number == 4:
            found.measure(*reoptimizer.counts(known))
    found.measure(*reoptimizer.counts(known))
    return found.of


@pytest.mark.parametrize("shape", SHAPES)
def test_fan_outs_are_measured_as_if_nothing_were_withheld(shape: str) -> None:
    with_feedback, without = engine(shape, "jit"), engine(shape, "off")
    found, expected = fan_outs(with_feedback), fan_outs(without)
    suspended = with_feedback.stats()["queries"]["q"]["rows_suspended"]
    assert suspended > 10_000, "there is feedback"
    assert len(expected) == 3
    for tree, fan_out in expected.items():
        assert found[tree] == pytest.approx(fan_out, rel=0.25), tree
