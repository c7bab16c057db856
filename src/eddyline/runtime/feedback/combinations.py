"""Combinations of rows that a consumer has no match for, though it has one for each of them.

Their results are not made (Type II MNSs). When the match comes they are, and each exactly once; yet
nothing is remembered of a combination that was refused. What the consumer joins a result by is a
pair of keys, one of either row. Of pairs of keys it is known until when they are wanted: as long as
the last match lives that has come so far. Of rows it is known since when the join sees them.
Between chunks it holds:

    a result has been made iff its pair of keys is wanted for longer than both rows have been seen

A new combination is judged by that. When a match comes that lives longer than those before it, the
combinations that the join has seen since those went, and before it will go itself, are looked for
by their keys, and made. The paper marks the rows of either input instead, and the results of marked
rows all the way down to their joins.

Source: Yang and Papadias 2008, section IV-B, on Type II; the rule is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from eddyline.runtime.batch import Batch, Evaluator
from eddyline.runtime.feedback.key_index import KeyIndex
from eddyline.runtime.feedback.trial import Trial
from eddyline.runtime.feedback.until import Until
from eddyline.runtime.join_inputs.buffer import InputBuffer
from eddyline.runtime.join_inputs.gated_input import GatedInput
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.index import Probes
from eddyline.runtime.stores.keys import join_keys
from eddyline.runtime.stores.rowstore import Lane
from eddyline.types import FOREVER

_NO_ROWS: Final = np.zeros(0, np.int64)
#: Since when the join has seen rows that were there before it.
_BEFORE_ALL: Final = -FOREVER
#: Looks for keys as of an instant.
AsOf: TypeAlias = Callable[[Array], Probes]
#: Rows whose partners are looked for at once.
_AT_ONCE: Final = 4_096


class Combinations:
    """Which results of a join its consumer wants, of those whose rows it wants one by one.

    Args:
        names: of the join's results, and of what the consumer joins them with.
        parts: rows of either input by what the consumer joins them by.
        matches: the rows that it joins them with. others: these same two keys over them.
        rows: rows of either input by what this join joins them by.
        trying: refuse combinations only as long as that is of use.

    Attributes:
        ending: somebody else reads the join: all that is missing is to be made.
    """

    def __init__(
        self,
        names: tuple[str, str],
        parts: tuple[KeyIndex, KeyIndex],
        matches: InputBuffer,
        others: tuple[Sequence[Evaluator], Sequence[Evaluator]],
        rows: tuple[GatedInput, GatedInput],
        *,
        trying: bool,
    ) -> None:
        self._names = names
        self._parts = parts
        self.matches = matches
        self._others = others
        self._rows = rows
        self._trial = Trial() if trying else None
        self._until = Until()
        self._seen = tuple(Lane(r.rows.store, FOREVER) for r in rows)  # since when; not yet
        self._turns = _NO_ROWS  # when it fell asleep, and woke up, in turn
        self._judged = _BEFORE_ALL  # when combinations were judged last
        self._turning = False
        self.ending = False
        self.asked = self.refused = self.resumed = 0
        for part in parts:
            part.acquire()

    def begin(self, matches: Batch, clock: int) -> None:
        """Rows have been there already; all that they make with each other has just been made."""
        self._judged = clock
        self._extend(matches)
        for seen, rows in zip(self._seen, self._rows, strict=True):
            positions = rows.index.positions()
            seen.put(positions, np.full(positions.size, _BEFORE_ALL))

    def resume(self, matches: Batch, clock: int, probes: AsOf) -> tuple[Array, Array]:
        """Take in new rows that the join's results may be joined with; call once per chunk.

        Args:
            clock: rows that expire by then are not alive.
            probes: to look for what the join has seen before this chunk.

        Returns:
            Positions of the rows of those results that are wanted now, and had not been made.
        """
        self._turn(clock)
        left, right, since, until = self._extend(matches)
        new = np.flatnonzero(since <= clock)
        by, l_at = self._parts[0].find(left[new], np.full(new.size, clock))
        asking = new[by]
        made = []
        for number, l_met, r_met, seen in self._met(l_at, probes):
            wants = asking[number]
            keys, known = self._parts[1].keys_at(r_met)
            missed = known & (keys == right[wants]) & self._was_judged(seen)
            missed &= (since[wants] <= seen) & (seen < until[wants])
            made.append((l_met[missed], r_met[missed]))
        l_made, r_made = _joined(made)
        self.resumed += l_made.size
        if self._trial is not None:
            self._trial.resumed += l_made.size
        return l_made, r_made

    def _extend(self, matches: Batch) -> tuple[Array, Array, Array, Array]:
        """Pairs of keys of rows; until when these were wanted before them, and are by them."""
        keys = [join_keys([k(matches) for k in ks], len(matches)) for ks in self._others]
        usable = np.ones(len(matches), np.bool_)
        for _, known in keys:
            usable &= True if known is None else known
        left, right, until = keys[0][0][usable], keys[1][0][usable], matches.exp[usable]
        return left, right, self._until.extend(left, right, until), until

    def all_missed(self, clock: int, probes: AsOf) -> tuple[Array, Array]:
        """Positions of the rows of all results that have not been made."""
        positions = self._rows[0].index.positions()
        alive = self._rows[0].rows.expiry(positions) > clock
        made = []
        for _, l_met, r_met, seen in self._met(positions[alive], probes):
            left, l_known = self._parts[0].keys_at(l_met)
            right, r_known = self._parts[1].keys_at(r_met)
            refused = ~(l_known & r_known & (self._until.at(left, right) > seen))
            missed = refused & self._was_judged(seen)
            made.append((l_met[missed], r_met[missed]))
        return _joined(made)

    def _met(self, positions: Array, probes: AsOf) -> Iterator[tuple[Array, Array, Array, Array]]:
        """What left rows meet: their numbers, positions of both rows, and since when both have been
        seen; some rows at a time.
        """
        numbers = np.flatnonzero(self._seen[0].at(positions) < FOREVER)
        for first in range(0, numbers.size, _AT_ONCE):
            some = numbers[first : first + _AT_ONCE]
            keys, _ = self._rows[0].keys(self._rows[0].buffer.rows_at(positions[some]))
            by, right = self._rows[1].find(probes(keys), inclusive=True)
            number = some[by]
            left = positions[number]
            yield number, left, right, np.maximum(self._seen[0].at(left), self._seen[1].at(right))

    def see(self, side: int, positions: Array, clock: int) -> None:
        """The join sees rows of an input from this chunk on."""
        self._judged = clock
        self._seen[side].put(positions, np.full(positions.size, clock))

    def judge(self, left: Array, right: Array, clock: int) -> Array:
        """bool[n]: which combinations of rows at these positions, first seen now, are wanted."""
        if self._turns.size % 2:
            assert self._trial is not None, "it fell asleep"
            self._turning |= self._trial.let_pass(left.size)
            return np.ones(left.size, np.bool_)
        l_nodes, r_nodes = (
            part.index.nodes_at(at) for part, at in zip(self._parts, (left, right), strict=True)
        )
        wanted = self._until.exceeds(l_nodes, r_nodes, clock)
        refused = wanted.size - int(np.count_nonzero(wanted))
        self.asked += wanted.size
        self.refused += refused
        if self._trial is not None and not self._turning:
            self._trial.asked += wanted.size
            self._trial.refused += refused
            if self._trial.spares_nothing():
                self._trial.fall_asleep()
                self._turning = True
        return wanted

    def _turn(self, clock: int) -> None:
        """Fall asleep or wake up, if it is time for it: between instants, not amid one."""
        if self._turning and clock > self._judged:
            self._turns = np.append(self._turns, clock)
            self._turning = False

    def _was_judged(self, seen: Array) -> Array:
        """bool[n]: whether it was awake when combinations were first seen, and had begun."""
        awake = np.searchsorted(self._turns, seen, "right") % 2 == 0
        judged: Array = awake & (seen > _BEFORE_ALL) & (seen < FOREVER)
        return judged

    def settle(self, clock: int) -> None:
        """The chunk is over: forget pairs of keys that no row which is alive has been seen by."""
        if not self._until.is_full:
            return
        first = [
            self._first_seen(side, rows, clock)
            for side, rows in zip(self._seen, self._rows, strict=True)
        ]
        self._until.forget(min(clock, max(first)))

    def _first_seen(self, seen: Lane, rows: GatedInput, clock: int) -> int:
        """Since when the join has seen the first of the rows that are alive."""
        positions, since = seen.held()
        alive = rows.rows.expiry(positions) > clock
        return int(since[alive].min(initial=FOREVER))

    def stats(self) -> dict[str, Any]:
        """Counters, as of a gate; nothing waits, but so many keys are known."""
        return {
            "rows_of": self._names[0],
            "joined_with": self._names[1],
            "asked": self.asked,
            "refused": self.refused,
            "resumed": self.resumed,
            "waiting": 0,
            "waited_for": len(self._until),
        }

    def close(self) -> None:
        """Give back what it holds in the stores of the rows."""
        for lane in self._seen:
            lane.close()
        for part in self._parts:
            part.release()
            part.drop_reader()

    def state(self) -> State:
        """Saved as plain arrays."""
        counters = np.array([self._judged, self._turning, self._is_asleep()])
        return {
            "until": self._until.state(),
            "left": self._seen[0].state(),
            "right": self._seen[1].state(),
            "turns": self._turns,
            "counters": counters,
        }

    def _is_asleep(self) -> bool:
        return self._trial is not None and self._trial.asleep

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        self._until.restore(nested(state, "until"))
        for lane, side in zip(self._seen, ("left", "right"), strict=True):
            lane.restore(array(state, side))
        self._turns = array(state, "turns")
        judged, turning, asleep = (int(c) for c in array(state, "counters"))
        self._judged, self._turning = judged, bool(turning)
        if asleep and self._trial is not None:
            self._trial.fall_asleep()


def _joined(pairs: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    left, right = (np.concatenate([_NO_ROWS, *(p[side] for p in pairs)]) for side in (0, 1))
    return left, right
