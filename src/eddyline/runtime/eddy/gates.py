"""Feedback in a flow: which rows of its inputs are visible to probes.

A row that is joined with several sources has no results before each of them has a match for it: a
probe that finds it by one of its keys fails at the other. So it is suspended before the *gate* of
its input until the first match that it lacks comes. From then on it is visible to probes of any
instant. It need not probe again, since the match does, and there are no intermediate results that
would be missing. docs/decisions/0014 shows that no result is lost.

Gates are judged from the last source to the first. Rows of a source that is judged before are
matches if they are visible themselves: in a chain a-b-c-d a row of c without one of d is no match
for rows of b. Of a source that is judged after all rows are matches, or rows of two sources could
wait for each other.

Source: Yang and Papadias 2008, section V (M-Join and eddy).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from eddyline.runtime.batch import Batch
from eddyline.runtime.eddy.edges import Equality, ties_of
from eddyline.runtime.feedback.gate import Gate
from eddyline.runtime.feedback.key_index import KeyIndex, KeySet
from eddyline.runtime.feedback.match_probe import KeyProbe
from eddyline.runtime.join_inputs.lineage_input import LineageInput
from eddyline.runtime.state import State
from eddyline.runtime.stores.columns import Array, all_of

#: Of a source: new rows that some query requires, and the lineage or level of each.
New = tuple[Batch, Array]


class VisibleKeys(KeySet):
    """The visible rows of an input by one of its keys: its own index has them."""

    def __init__(self, rows: LineageInput, name: Hashable) -> None:
        super().__init__(rows, rows.key(name))
        self._visible, self._window = rows.by_key(name).hashed, rows.window

    def _begin(self, positions: Array) -> None:
        """The input has its index."""

    def _add(self, batch: Batch, positions: Array) -> None:
        self.fresh = self._link(batch, positions)

    def _link(self, batch: Batch, positions: Array) -> Array:
        keys, usable = self._keyed(batch)
        return keys if usable is None else keys[usable]

    def exist(self, keys: Array, ts: Array) -> Array:
        return self._visible.any_alive(keys, ts, self._window.liveness)

    def close(self) -> None:
        """The index belongs to the input."""

    def _saved(self) -> State:
        return {}

    def _restore(self, state: State) -> None:
        """A flow saves nothing."""


class Gates:
    """The gates of a flow: one for each source that is joined with several others.

    Args:
        sides: one per source. edges: the join graph.
        by_key: rows are suspended until there is a match; else until there is any row, as in DOE.
        trying: probe only as long as that is useful.
    """

    def __init__(
        self,
        sides: Sequence[LineageInput],
        edges: Sequence[Equality],
        *,
        by_key: bool,
        trying: bool,
    ) -> None:
        self._sides = tuple(sides)
        self._key_sets: dict[tuple[int, Hashable, bool], KeySet] = {}
        ties = {n: ties_of(n, edges) for n in range(len(sides))}
        self._ties = {n: tied for n, tied in ties.items() if len(tied) > 1}
        self._gates: dict[int, Gate] = {}
        for number, tied in reversed(self._ties.items()):
            wanted = []
            for other, keys in tied.items():
                own = [mine.evaluate for _, mine in keys] if by_key else []
                names = tuple(theirs.name for theirs, _ in keys) if by_key else ()
                wanted.append(KeyProbe(own, self._partners(other, names)))
            others = ", ".join(sides[other].stem.name for other in tied)
            name = (sides[number].stem.name, others)
            rows = sides[number]
            rows.gate = self._gates[number] = Gate(name, rows, trying=trying)
            rows.gate.add(number, wanted, unjudged=False)
        self._is_stale = False

    def _partners(self, number: int, names: tuple[Hashable, ...]) -> KeySet:
        """The keys of a source's rows that are matches: of all rows, if its gate is made later."""
        is_visible = bool(names) and (number not in self._ties or number in self._gates)
        at = number, names, is_visible
        if at not in self._key_sets:
            rows = self._sides[number]
            if is_visible:
                self._key_sets[at] = VisibleKeys(rows, names)
            else:
                self._key_sets[at] = KeyIndex(rows, rows.key(names) if names else ())
        self._key_sets[at].readers += 1
        return self._key_sets[at]

    def invalidate(self) -> None:
        """Queries were added, or all rows were made visible: judge all rows again."""
        self._is_stale = True

    def revalidate(self, clock: int) -> None:
        """Judge all rows again, if need be; rows that expire by ``clock`` are no matches."""
        if not self._is_stale:
            return
        self._is_stale = False
        for keys in self._key_sets.values():
            keys.renew()
        there = {number: self._sides[number].all() for number in self._gates}
        for number, gate in self._gates.items():
            positions = there[number]
            positions = positions[gate.judge_again(positions, clock)]
            self._sides[number].show_only(self._sides[number].rows_at(positions), positions)

    def let_in(self, new: Sequence[New], clock: int) -> list[New]:
        """Make the chunk's new rows and released ones visible, as far as the gates let them pass.

        Args:
            new: by source; they have been built. clock: the end of the chunk before.

        Returns:
            The new rows that are visible: no others need to probe.
        """
        self.revalidate(clock)
        for side, (batch, _) in zip(self._sides, new, strict=True):
            side.arriving = side.stem.positions(batch.ids[0])
        for number, side in enumerate(self._sides):
            if number not in self._gates:
                side.show(new[number][0])
        for (number, _, is_visible), keys in self._key_sets.items():
            if not (is_visible and number in self._gates):
                keys.take_in(new[number][0], self._sides[number].arriving)
        shown = list(new)
        for number, gate in self._gates.items():
            shown[number] = self._shown(number, gate, *new[number], clock)
        for side in self._sides:
            side.arriving = side.arriving[:0]
        return shown

    def _shown(self, number: int, gate: Gate, batch: Batch, wanted: Array, clock: int) -> New:
        """Make rows of a source with a gate visible; returns its new rows that are."""
        side = self._sides[number]
        if gate.is_sweep_due(len(batch)):  # the last match of visible rows may have expired
            visible = side.visible()
            visible = visible[gate.suspend(visible, clock)]
            side.show_only(side.rows_at(visible), visible)
        positions, resumed = side.arriving, side.arriving[:0]
        if not gate.is_open(len(batch)):
            resumed = gate.resume(clock, gate.suspended)
            if resumed.size:
                side.show_late(side.rows_at(resumed), resumed)
            ok = gate.admit(batch, positions)
            if not all_of(ok):
                batch, wanted, positions = batch.where(ok), wanted[ok], positions[ok]
        side.show(batch)
        for (other, _, is_visible), keys in self._key_sets.items():
            if is_visible and other == number:
                keys.take_in(batch, positions, resumed)
        return batch, wanted

    def missed(self) -> Iterable[tuple[int, int, int]]:
        """By source and source probed: number of rows without a match there."""
        for number, gate in self._gates.items():
            for other, rows in zip(self._ties[number], gate.missed, strict=True):
                yield number, other, rows

    @property
    def suspensions(self) -> tuple[int, int]:
        """See ``Operator``."""
        gates = self._gates.values()
        return sum(g.refused for g in gates), sum(g.resumed for g in gates)

    def stats(self) -> list[dict[str, Any]]:
        """Of each gate."""
        return [gate.stats() for gate in self._gates.values()]

    def close(self) -> None:
        """Remove its lanes from the SteMs."""
        for gate in self._gates.values():
            gate.close()
