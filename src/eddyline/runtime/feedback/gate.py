"""Gates: which rows of an input its join may see yet.

A row waits before the gate while one of the consumers further up has no match for it. It waits for
the first match that it lacks, and is found by its key when one comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from eddyline.runtime.batch import Batch
from eddyline.runtime.columns import Array
from eddyline.runtime.feedback.kept import Kept
from eddyline.runtime.feedback.wanted import Wanted
from eddyline.runtime.index import HashIndex
from eddyline.runtime.state import State, nested

#: Rows that are asked about until it is clear whether that is of use.
_TRIAL_ROWS: Final = 4_096
#: Share of the rows that must be spared for good.
_OF_USE: Final = 0.05
#: Rows that pass unasked before the next trial: so many at first, twice as many each time after.
_REST_ROWS: Final = 32 * _TRIAL_ROWS
_LONGEST_REST_ROWS: Final = 64 * _REST_ROWS


@dataclass
class Question:
    """One thing that is wanted, and who waits for it.

    Attributes:
        waiting: the rows that do, by key.
        asleep: nobody is asked for the time being.
        of_results: it is the results of rows that are judged, by a ``Detector``.
        asked, refused, resumed: rows in this trial.
    """

    wanted: Wanted
    waiting: HashIndex
    asleep: bool = False
    of_results: bool = False
    asked: int = 0
    refused: int = 0
    resumed: int = 0
    _passed: int = 0
    _rest: int = field(default=_REST_ROWS)

    def spares_nothing(self) -> bool:
        """Whether the trial is over, and most rows that had to wait were wanted in the end."""
        if self.asked < _TRIAL_ROWS:
            return False
        is_of_use = self.refused - self.resumed >= _OF_USE * self.asked
        self.asked = self.refused = self.resumed = 0
        if is_of_use:
            self._rest = _REST_ROWS
        return not is_of_use

    def fall_asleep(self) -> None:
        """Ask nobody for a while. Nothing may wait any more."""
        self.asleep, self._passed = True, 0
        self.wanted.release()

    def let_pass(self, rows: int) -> None:
        """So many rows were not asked about; wake up if it is time for another trial."""
        self._passed += rows
        if self._passed >= self._rest:
            self.asleep = False
            self._rest = min(2 * self._rest, _LONGEST_REST_ROWS)
            self.wanted.acquire()


class Gate:
    """The rows that wait (the paper's blacklist), by what they wait for (its MNS buffers).

    Source: Yang and Papadias 2008, sections III-A and IV.

    Args:
        name: whose rows they are, and with whose they are joined.
        trying: ask only as long as that is of use.

    Attributes:
        asked, refused, resumed: how many rows were asked about, had to wait, and were let through
            later.
    """

    def __init__(
        self, name: tuple[str, str], kept: Kept, wanted: Sequence[Wanted], *, trying: bool
    ) -> None:
        self._name = name
        self._kept = kept
        self._questions = [Question(w, kept.rows.new_index()) for w in wanted]
        self._trying = trying
        self.asked = 0
        self.refused = 0
        self.resumed = 0

    def is_open(self, rows: int) -> bool:
        """Whether all of the chunk's rows pass, and nobody waits: there is nothing to ask now."""
        asleep = self._trying and all(q.asleep for q in self._questions)
        if asleep:
            for question in self._questions:
                question.let_pass(rows)
        return asleep

    def admit(self, batch: Batch, positions: Array) -> Array:
        """bool[n]: which of the new rows, at these positions, may be seen; the others wait."""
        for question in self._questions:
            if question.asleep:
                question.let_pass(len(batch))
            else:
                question.asked += len(batch)
        ok = self._judge(batch, positions, batch.ts)
        self.asked += ok.size
        self.refused += ok.size - int(np.count_nonzero(ok))
        return ok

    def suspend(self, positions: Array, clock: int) -> Array:
        """bool[n]: which of the rows at these positions may go on; the others wait from now on."""
        if positions.size == 0 or all(q.asleep for q in self._questions):
            return np.ones(positions.size, np.bool_)
        now = np.full(positions.size, clock)
        ok = self._judge(self._kept.rows_at(positions), positions, now, with_results=True)
        self.asked += ok.size
        self.refused += ok.size - int(np.count_nonzero(ok))
        return ok

    def judge_by_results(self, number: int) -> None:
        """Leave it to a ``Detector`` which rows that have results must wait for a question."""
        self._questions[number].of_results = True

    def hold(self, number: int, positions: Array) -> None:
        """Let rows wait for what a question is about."""
        keys, usable = self._questions[number].wanted.keys_of(self._kept.rows_at(positions))
        self.refused += positions.size
        if usable is not None:
            positions, keys = positions[usable], keys[usable]
        self._questions[number].waiting.link(positions, keys)

    def wake(self, clock: int) -> Array:
        """Positions, ascending, of the rows that need not wait any more, and are alive."""
        found = [self._found(q, clock) for q in self._questions if not q.asleep]
        positions = np.concatenate(found) if found else np.zeros(0, np.int64)
        if positions.size == 0:
            return positions
        positions.sort()
        batch = self._kept.rows_at(positions)
        alive = batch.exp > clock
        batch, positions = batch.where(alive), positions[alive]
        positions = positions[self._judge(batch, positions, np.full(positions.size, clock))]
        self.resumed += positions.size
        return positions

    def _found(self, question: Question, clock: int) -> Array:
        """Who waits for what has come; everybody, if it is of no use to wait."""
        if self._trying and question.spares_nothing():
            question.fall_asleep()
            return question.waiting.take_all()
        found = question.waiting.take_out(question.wanted.fresh())
        waiting = question.wanted.still_waiting(self._kept.rows_at, found, clock)
        if waiting is not None:
            question.waiting.link(found[waiting.rows], waiting.keys)
            found = np.delete(found, waiting.rows)
        question.resumed += found.size
        return found

    def _judge(
        self, batch: Batch, positions: Array, ts: Array, *, with_results: bool = False
    ) -> Array:
        """bool[n]: for which rows there is all that is wanted; the others wait for the first of it
        that is not there. ``ts``: who expires by then is no match. ``with_results``: leave out what
        those are judged by.
        """
        left = np.arange(positions.size)
        for question in self._questions:
            if question.asleep or (with_results and question.of_results):
                continue
            rows = batch if left.size == len(batch) else batch.take(left)
            found = question.wanted.find(rows, ts[left])
            missing = ~found.there if found.usable is None else ~found.there & found.usable
            question.waiting.link(positions[left[missing]], found.keys[missing])
            left = left[found.there]
            question.refused += rows.ts.size - left.size
        ok = np.zeros(positions.size, np.bool_)
        ok[left] = True
        return ok

    def stats(self) -> dict[str, Any]:
        """Counters, and how many rows wait for how many keys; some of them may have expired."""
        sizes = [q.waiting.sizes() for q in self._questions]
        return {
            "rows_of": self._name[0],
            "joined_with": self._name[1],
            "asked": self.asked,
            "refused": self.refused,
            "resumed": self.resumed,
            "waiting": sum(rows for rows, _ in sizes),
            "waited_for": sum(keys for _, keys in sizes),
        }

    def close(self) -> None:
        """Give back what it holds in the store of the rows."""
        for question in self._questions:
            question.waiting.close()

    def state(self) -> State:
        """Saved as plain arrays."""
        return {str(i): q.waiting.state() for i, q in enumerate(self._questions)}

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned. Nothing is asleep any more."""
        for i, question in enumerate(self._questions):
            question.waiting.restore(nested(state, str(i)))
