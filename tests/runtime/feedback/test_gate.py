"""Gates: rows are suspended until their matches come; trials tell whether that saves rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline.runtime.feedback.gate import Gate
from eddyline.runtime.feedback.match_probe import Matches
from eddyline.runtime.feedback.trial import Trial
from eddyline.runtime.join_inputs.buffer import InputBuffer
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.stores.intermediates import ResultRows
from eddyline.runtime.stores.keys import join_keys
from operator_cases import Run


class Known:
    """A match probe: a row has a match if its value is known."""

    def __init__(self) -> None:
        self.values: set[int] = set()
        self.new: list[int] = []
        self.users = 1

    def learn(self, *values: int) -> None:
        self.values |= set(values)
        self.new = list(values)

    def fresh(self) -> Any:
        return np.unique(join_keys([pa.array(self.new, pa.int64())], len(self.new))[0])

    def keys_of(self, rows: Any) -> Any:
        return join_keys([rows.column(0)], len(rows))

    def find(self, rows: Any, ts: Any) -> Matches:
        keys, usable = self.keys_of(rows)
        there = np.array([v in self.values for v in rows.column(0).to_pylist()], np.bool_)
        return Matches(there, keys, usable)

    def unmatched(self, rows_at: Any, positions: Any, clock: int) -> None:
        return None

    def acquire(self) -> None:
        self.users += 1

    def release(self) -> None:
        self.users -= 1

    def close(self) -> None:
        self.users = 0


def buffered(source: Operator) -> InputBuffer:
    return InputBuffer(source, ResultRows(1))


class Gated:
    """An input behind a gate."""

    def __init__(self, *probes: Known, trying: bool = False) -> None:
        self.run = Run(buffered, 1)
        assert isinstance(self.run.operator, InputBuffer)
        self.buffer = self.run.operator
        self.gate = Gate(("a", "b"), self.buffer, trying=trying)
        if probes:
            self.gate.add("tree", probes, unjudged=False)

    def admitted(self, clock: str, text: str) -> list[int]:
        self.run.chunk(clock, text)
        positions = self.buffer.placed
        batch = self.buffer.rows_at(positions)
        return self.values(positions[self.gate.admit(batch, positions)])

    def resumed(self, clock_s: int) -> list[int]:
        return self.values(self.gate.resume(clock_s * 1_000_000, self.gate.suspended))

    def values(self, positions: Any) -> list[int]:
        return list(self.buffer.rows_at(positions).column(0).to_pylist())


def test_a_row_is_suspended_until_its_match_comes() -> None:
    probe = Known()
    gated = Gated(probe)
    probe.learn(1)
    assert gated.admitted("1s", "_op|_ts|_exp|v\n+|1s|9s|1\n+|1s|9s|2\n+|1s|2s|3") == [1]
    assert gated.gate.suspended().tolist() == [1, 2]
    probe.learn(2, 3)
    assert gated.resumed(5) == [2], "the row with 3 has expired"
    assert gated.resumed(5) == []
    stats = gated.gate.stats()
    assert (stats["asked"], stats["refused"], stats["resumed"], stats["waiting"]) == (3, 2, 1, 0)


def test_a_row_needs_all_its_matches() -> None:
    one, other = Known(), Known()
    gated = Gated(one, other)
    one.learn(1)
    assert gated.admitted("1s", "_op|_ts|_exp|v\n+|1s|9s|1\n+|1s|9s|2") == []
    assert gated.gate.missed == [1, 1]
    one.learn(2)
    assert gated.resumed(2) == []
    other.learn(1, 2)
    one.learn()
    assert gated.resumed(3) == [1, 2]


def test_a_row_passes_if_any_tree_requires_it() -> None:
    one, other = Known(), Known()
    gated = Gated()
    gated.gate.add("first", [one], unjudged=False)
    gated.gate.add("second", [other], unjudged=False)
    one.learn(1)
    other.learn(2)
    assert gated.admitted("1s", "_op|_ts|_exp|v\n+|1s|9s|1\n+|1s|9s|2\n+|1s|9s|3") == [1, 2]
    one.learn(2, 3)
    other.learn(3)
    assert gated.resumed(2) == [3], "rows that have passed are not released again"
    gated.gate.remove("first")
    assert one.users == 0


def test_all_rows_are_judged_again() -> None:
    probe = Known()
    gated = Gated(probe)
    gated.admitted("1s", "_op|_ts|_exp|v\n+|1s|9s|1\n+|1s|9s|2")
    probe.learn(2)
    ok = gated.gate.judge_again(np.array([0, 1]), 1_000_000)
    assert ok.tolist() == [False, True]
    assert gated.gate.suspended().tolist() == [0]


def test_a_gate_without_required_matches_is_open() -> None:
    gated = Gated()
    assert gated.gate.is_open(3)
    gated.gate.add("tree", [Known()], unjudged=False)
    assert not gated.gate.is_open(3)


@pytest.mark.parametrize(("refused", "resumed", "useless"), [(4_096, 4_000, True), (500, 0, False)])
def test_trials(refused: int, resumed: int, useless: bool) -> None:
    trial = Trial()
    trial.asked, trial.refused, trial.resumed = 4_095, refused, resumed
    assert not trial.spares_nothing(), "too few rows"
    trial.asked = 4_096
    assert trial.spares_nothing() is useless
    trial.fall_asleep()
    assert trial.asleep
    rests = []
    for _ in range(2):
        passed = 0
        while not trial.let_pass(4_096):
            passed += 4_096
        rests.append(passed + 4_096)
        trial.fall_asleep()
    assert rests[1] == 2 * rests[0]


def test_rows_without_a_match_any_more_are_suspended_again() -> None:
    probe = Known()
    gated = Gated(probe)
    probe.learn(1, 2)
    assert gated.admitted("1s", "_op|_ts|_exp|v\n+|1s|9s|1\n+|1s|9s|2") == [1, 2]
    probe.values.remove(1)
    assert gated.gate.suspend(gated.buffer.placed, 2_000_000).tolist() == [False, True]
    assert gated.gate.stats()["returned"] == 1
    assert gated.gate.missed == [0], "it had a match when it came"
    probe.learn(1)
    assert gated.resumed(3) == [1]


def test_there_is_no_sweep_before_restored_rows_are_judged() -> None:
    """Rows that a sweep suspends would be suspended twice."""
    probe = Known()
    gated = Gated(probe)
    assert gated.gate.is_sweep_due(1 << 20)
    gated.gate.restored()
    assert not gated.gate.is_sweep_due(1 << 20)
    gated.resumed(1)
    assert gated.gate.is_sweep_due(1 << 20)
