"""Combinations of rows that a consumer has no match for, though it has one for each of the rows.

Their results are not made (Type II MNSs). When the match comes each is made exactly once, although
refused combinations are not stored. The consumer joins a result by a pair of keys, one of either
row. For pairs of keys the end of their last match so far is stored: until then they are required.
For rows the time is stored since when they are visible. Between chunks this holds:

    a result has been made iff its pair of keys is required until after both rows became visible

New combinations are judged by that. When a match comes that ends after all earlier ones, the
combinations that became visible between the end of those and its own end are looked up by their
keys, and made. The paper marks the rows of either input instead, and the results of marked rows all
the way down to their joins.

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
#: Since when rows are visible that were there before the join.
_BEFORE_ALL: Final = -FOREVER
#: Probes for keys as of an instant.
AsOf: TypeAlias = Callable[[Array], Probes]
#: Number of rows whose partners are found at once.
_AT_ONCE: Final = 4_096


class Combinations:
    """The results of a join that its consumer requires, of those whose rows it requires.

    Args:
        names: of the join's results, and of the input that the consumer joins them with.
        parts: rows of either input by the keys of the consumer.
        matches: the rows that the consumer joins them with. others: the same two keys over these.
        rows: the inputs of this join.
        trying: refuse combinations only as long as that is useful.

    Attributes:
        ending: the join has another consumer: all missing results are to be made.
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
        self._seen = tuple(Lane(r.rows.store, FOREVER) for r in rows)  # since when rows are visible
        self._turns = _NO_ROWS  # when trials ended and began, alternating
        self._judged = _BEFORE_ALL  # when combinations were judged last
        self._turning = False
        self.ending = False
        self.asked = self.refused = self.resumed = 0
        for part in parts:
            part.acquire()

    def begin(self, matches: Batch, clock: int) -> None:
        """The results of all rows from before the join have just been made."""
        self._judged = clock
        self._extend(matches)
        for seen, rows in zip(self._seen, self._rows, strict=True):
            positions = rows.hashed.positions()
            seen.put(positions, np.full(positions.size, _BEFORE_ALL))

    def resume(self, matches: Batch, clock: int, probes: AsOf) -> tuple[Array, Array]:
        """Take in new matches; call once per chunk.

        Args:
            clock: rows that expire by then are not alive.
            probes: for rows visible before this chunk.

        Returns:
            Positions of the rows of the results that are required now and have not been made.
        """
        self._turn(clock)
        left, right, since, until = self._extend(matches)
        new = np.flatnonzero(since <= clock)
        by, l_at = self._parts[0].find(left[new], np.full(new.size, clock))
        of_match = new[by]
        made = []
        for number, l_met, r_met, seen in self._met(l_at, probes):
            match = of_match[number]
            keys, known = self._parts[1].keys_at(r_met)
            missed = known & (keys == right[match]) & self._was_judged(seen)
            missed &= (since[match] <= seen) & (seen < until[match])
            made.append((l_met[missed], r_met[missed]))
        l_made, r_made = _joined(made)
        self.resumed += l_made.size
        if self._trial is not None:
            self._trial.resumed += l_made.size
        return l_made, r_made

    def _extend(self, matches: Batch) -> tuple[Array, Array, Array, Array]:
        """Pairs of keys of matches; until when they were required before, and are now."""
        keys = [join_keys([k(matches) for k in ks], len(matches)) for ks in self._others]
        usable = np.ones(len(matches), np.bool_)
        for _, known in keys:
            usable &= True if known is None else known
        left, right, until = keys[0][0][usable], keys[1][0][usable], matches.exp[usable]
        return left, right, self._until.extend(left, right, until), until

    def all_missed(self, clock: int, probes: AsOf) -> tuple[Array, Array]:
        """Positions of the rows of all results that have not been made."""
        positions = self._rows[0].hashed.positions()
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
        """The results of left rows: their numbers, positions of both rows, and since when both are
        visible; some rows at a time.
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
        """Rows of an input become visible with this chunk."""
        self._judged = clock
        self._seen[side].put(positions, np.full(positions.size, clock))

    def judge(self, left: Array, right: Array, clock: int) -> Array:
        """bool[n]: which combinations of rows, that become visible now, are required."""
        if self._turns.size % 2:
            assert self._trial is not None, "a trial has ended"
            self._turning |= self._trial.let_pass(left.size)
            return np.ones(left.size, np.bool_)
        l_nodes, r_nodes = (
            part.index.nodes_at(at) for part, at in zip(self._parts, (left, right), strict=True)
        )
        required = self._until.exceeds(l_nodes, r_nodes, clock)
        refused = required.size - int(np.count_nonzero(required))
        self.asked += required.size
        self.refused += refused
        if self._trial is not None and not self._turning:
            self._trial.asked += required.size
            self._trial.refused += refused
            if self._trial.spares_nothing():
                self._trial.fall_asleep()
                self._turning = True
        return required

    def _turn(self, clock: int) -> None:
        """End or begin a trial, if it is time: between instants, not within one."""
        if self._turning and clock > self._judged:
            self._turns = np.append(self._turns, clock)
            self._turning = False

    def _was_judged(self, seen: Array) -> Array:
        """bool[n]: whether combinations were judged when they became visible."""
        awake = np.searchsorted(self._turns, seen, "right") % 2 == 0
        judged: Array = awake & (seen > _BEFORE_ALL) & (seen < FOREVER)
        return judged

    def settle(self, clock: int) -> None:
        """The chunk is over: drop pairs of keys that ended before all live rows became visible."""
        if not self._until.is_full:
            return
        first = [
            self._first_seen(side, rows, clock)
            for side, rows in zip(self._seen, self._rows, strict=True)
        ]
        self._until.forget(min(clock, max(first)))

    def _first_seen(self, seen: Lane, rows: GatedInput, clock: int) -> int:
        """Since when the first of the live rows is visible."""
        positions, since = seen.held()
        alive = rows.rows.expiry(positions) > clock
        return int(since[alive].min(initial=FOREVER))

    def stats(self) -> dict[str, Any]:
        """Counters, as of a gate; no row is suspended, but keys are stored."""
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
        """Remove its lanes from the stores of the rows."""
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
