"""Feedback of a join: it makes only the results that its consumers can use.

Each input has a *gate*. Rows that a consumer further up has no match for are suspended before it:
they are not visible, so no results are made of them. When a match comes they are released *late*,
and the results that they would have had in the meantime, as far as they are alive, are made then::

      left rows ─▶ gate ─▶ left index      right index ◀─ gate ◀─ right rows
                    ▲            ▲              ▲           ▲
           rows that consumers   └──── probe ───┘    rows that consumers
           join the left with                        join the right with
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from eddyline.runtime.batch import EXPIRY, Batch, paired
from eddyline.runtime.feedback.combinations import Combinations
from eddyline.runtime.feedback.gate import Gate
from eddyline.runtime.join_inputs.gated_input import GatedInput, Progress, Released
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array, order_by
from eddyline.types import BEGINNING

_NO_ROWS = np.zeros(0, np.int64)

#: Positions of left rows and of right ones, pair by pair.
Pairs: TypeAlias = tuple[Array, Array]
#: Rows and their join keys.
Keyed: TypeAlias = tuple[Batch, Array]


class JoinFeedback:
    """Which rows and pairs of its two inputs a join makes results of.

    Source: Yang and Papadias 2008, sections III and IV.

    Attributes:
        combinations: which pairs the only consumer requires; None: all.
        takes_back: whether the join makes a '-' of results of which a base row is evicted.
    """

    def __init__(self, left: GatedInput, right: GatedInput) -> None:
        self.inputs = (left, right)
        self.combinations: Combinations | None = None
        self.takes_back = False
        self._seen = (BEGINNING, EXPIRY)  # the last instant of a row
        self._released: tuple[Released, Released] | None = None  # of the chunk
        self._clock = BEGINNING  # the end of the chunk before

    @property
    def gates(self) -> tuple[Gate, ...]:
        """The gates of its inputs, if they have any."""
        return tuple(i.gate for i in self.inputs if i.gate is not None)

    # -- a chunk -------------------------------------------------------

    def let_in(
        self, batches: Sequence[Batch], operators: Sequence[Operator], clock: int
    ) -> Batch | None:
        """Make rows of a chunk visible; returns the pairs of late rows, by time.

        Args:
            operators: the inputs of the join that sent the batches.
            clock: the end of the chunk before.
        """
        before, self._clock = Progress(clock, *self._seen), clock
        l_input, r_input = self.inputs
        left, right = l_input.released(batches[0], before), r_input.released(batches[1], before)
        self._released = left, right
        resumed = self._resumed(batches, operators, before)
        if any(i.left is not None for i in self.inputs):
            resumed = self._missed(left, right, before)
        else:
            for i in self.inputs:
                i.forget_notes()
        late = self._late_results(left, right, before, resumed)
        l_input.insert(left.new, left.keys)
        r_input.insert(right.new, right.keys)
        self._see(batches)
        return late

    @property
    def new_rows(self) -> tuple[Keyed, Keyed]:
        """The rows of the chunk that have become visible, and their keys; with those that leave."""
        left, right = self._chunk()
        keyed = (left.batch, left.keys), (right.batch, right.keys)
        if not self.takes_back:
            return keyed
        return self.inputs[0].with_leaving(*keyed[0]), self.inputs[1].with_leaving(*keyed[1])

    def required_pairs(self, side: int, by: Array, found: Array) -> tuple[Array, Array]:
        """The pairs to make: of new rows of an input (their numbers) and rows of the other."""
        if self.combinations is None:
            return by, found
        new = self._chunk()[side].new[by]
        required = self._required(new, found) if side == 0 else self._required(found, new)
        return (by, found) if required.all() else (by[required], found[required])

    def judge_results(self, clock: int) -> None:
        """The results of the chunk have been made."""

    def begin(
        self, batches: Sequence[Batch], operators: Sequence[Operator], clock: int
    ) -> tuple[Keyed, Keyed] | None:
        """The visible ones of the rows that were alive before the join was made, and their keys;
        None: they are to be joined like a chunk's rows.
        """
        keyed = self.inputs[0].begin(batches[0]), self.inputs[1].begin(batches[1])
        if self.combinations is not None:
            matches = batches[operators.index(self.combinations.matches)]
            self.combinations.begin(matches, clock)
        self._see(batches)
        return keyed

    def _chunk(self) -> tuple[Released, Released]:
        assert self._released is not None, "let_in has been called"
        return self._released

    def _see(self, batches: Sequence[Batch]) -> None:
        for batch in batches[:2]:
            if len(batch):
                self._seen = max(self._seen, (int(batch.ts[-1]), int(batch.seq[-1])))

    # -- late results --------------------------------------------------

    def _resumed(
        self, batches: Sequence[Batch], operators: Sequence[Operator], before: Progress
    ) -> Pairs:
        """Earlier combinations that are required now."""
        combinations = self.combinations
        if combinations is None:
            return _NO_ROWS, _NO_ROWS
        for i in self.inputs:
            i.link(_NO_ROWS, _NO_ROWS)  # no row is of this chunk yet
        if combinations.ending:
            missed = combinations.all_missed(before.clock, before.probes)
            self._end_combinations()
            return missed
        matches = batches[operators.index(combinations.matches)]
        resumed = combinations.resume(matches, before.clock, before.probes)
        for side, released in enumerate(self._chunk()):
            for positions in (released.late, released.new):
                combinations.see(side, positions, before.clock)
        return resumed

    def _missed(self, left: Released, right: Released, before: Progress) -> Pairs:
        """The pairs that rows have missed that were visible, left, and have returned.

        A pair of rows is made when the later of them becomes visible, or missing as long as the
        earlier one has left; the later one may have left as well when that returns.
        """
        l_input, r_input = self.inputs
        l_input.note(left)
        r_input.note(right)
        l_back, r_found = r_input.missed(left, before)
        r_back, l_found = l_input.missed(right, before)
        return np.concatenate((l_back, l_found)), np.concatenate((r_found, r_back))

    def _end_combinations(self) -> None:
        if self.combinations is not None:
            self.combinations.close()
            self.combinations = None

    def _late_results(
        self, left: Released, right: Released, before: Progress, resumed: Pairs
    ) -> Batch | None:
        """The pairs of late rows with each other, and with the rows from before the chunk."""
        if left.late.size == right.late.size == resumed[0].size == 0:
            return None
        l_input, r_input = self.inputs
        r_input.link(_NO_ROWS, _NO_ROWS)  # no row is of this chunk yet
        l_late, r_found = l_input.meet(left.late, left.late_keys, r_input, before)
        r_late, l_found = r_input.meet(right.late, right.late_keys, l_input, before)
        l_at, r_at = np.concatenate((l_late, l_found)), np.concatenate((r_found, r_late))
        required = self._required(l_at, r_at)
        return self._by_time(
            np.concatenate((l_at[required], resumed[0])),
            np.concatenate((r_at[required], resumed[1])),
        )

    def _required(self, l_at: Array, r_at: Array) -> Array:
        """bool[n]: which combinations, visible since this chunk, the consumer requires."""
        if self.combinations is None:
            return np.ones(l_at.size, np.bool_)
        return self.combinations.judge(l_at, r_at, self._clock)

    def _by_time(self, l_at: Array, r_at: Array) -> Batch:
        """The pairs of rows at these positions."""
        left, right = self.inputs
        batch = paired(left.buffer.rows_at(l_at), right.buffer.rows_at(r_at))
        return batch.take(order_by(batch.ts, batch.seq))

    # -- the rest of an operator ---------------------------------------

    @property
    def joined(self) -> int:
        """Number of rows that have become visible."""
        return sum(i.joined for i in self.inputs)

    @property
    def spared(self) -> int:
        """Number of results that have not been made."""
        combinations = self.combinations
        return 0 if combinations is None else combinations.refused - combinations.resumed

    @property
    def suspensions(self) -> tuple[int, int]:
        """See ``Operator``; pairs of rows count like rows."""
        parts: list[Gate | Combinations] = [*self.gates]
        if self.combinations is not None:
            parts.append(self.combinations)
        return sum(p.refused for p in parts), sum(p.resumed for p in parts)

    def stats(self) -> dict[str, Any]:
        """The counters of the gates and of the combinations."""
        feedback = [gate.stats() for gate in self.gates]
        if self.combinations is not None:
            feedback.append(self.combinations.stats())
        return {"feedback": feedback}

    def settle(self, clock: int) -> None:
        """The chunk is over."""
        self._released = None
        if self.combinations is not None:
            self.combinations.settle(clock)

    def close(self) -> None:
        """The join is closed; its inputs close themselves."""
        self._end_combinations()

    def state(self) -> State:
        """Saved as plain arrays."""
        seen: State = {"seen": np.array(self._seen)}
        if self.combinations is None:
            return seen
        return {**seen, "combinations": self.combinations.state()}

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        ts, seq = (int(v) for v in array(state, "seen"))
        self._seen = ts, seq
        if "combinations" not in state:
            self._end_combinations()
        elif self.combinations is not None:
            self.combinations.restore(nested(state, "combinations"))
