"""Feedback in a flow: which rows its SteMs show to probes.

A row that is joined with several sources is of no use before each of them has a row for it:
whatever finds it by one of its keys ends at the other. So it waits behind the *gate* of its SteM,
where no probe finds it, until the first row that it lacks comes. From then on it is found as if it
had always been. It need not probe again, since the row that it lacked does, and there are no
intermediate results to be made up for. docs/decisions/0014 argues why nothing is lost.

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
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.index import HashIndex

#: Of a source: new rows that some query wants, and who wants each.
New = tuple[Batch, Array]


class VisibleKeys(KeySet):
    """The rows of an input without a gate, by one of its keys: its own index has them all."""

    def __init__(self, rows: LineageInput, name: Hashable) -> None:
        super().__init__(rows, rows.key(name))
        self._rows = rows
        self._name = name

    def _begin(self, positions: Array) -> None:
        """The input has its index."""

    def _add(self, batch: Batch, positions: Array) -> None:
        keys, usable = self._keyed(batch)
        self.fresh = keys if usable is None else keys[usable]

    def exist(self, keys: Array, ts: Array) -> Array:
        index = self._rows.by_key(self._name).index
        assert isinstance(index, HashIndex), "a key has columns"
        return index.any_alive(keys, ts, self._rows.liveness)

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
        by_key: rows wait for rows that match; else for any, which is what DOE does.
        trying: ask only as long as that is of use.
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
        self._asked: dict[tuple[int, Hashable], KeySet] = {}
        ties = {n: ties_of(n, edges) for n in range(len(sides))}
        self._ties = {n: tied for n, tied in ties.items() if len(tied) > 1}
        self._gates: dict[int, Gate] = {}
        for number, tied in self._ties.items():
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
        self._in_doubt = False

    def _partners(self, number: int, names: tuple[Hashable, ...]) -> KeySet:
        """The rows of a source by key. All are shown where there is no gate: the side knows."""
        at = number, names
        if at not in self._asked:
            rows = self._sides[number]
            if names and number not in self._ties:
                self._asked[at] = VisibleKeys(rows, names)
            else:
                self._asked[at] = KeyIndex(rows, rows.key(names) if names else ())
        self._asked[at].readers += 1
        return self._asked[at]

    def doubt(self) -> None:
        """Queries have come, or sides show all of their rows: judge anew who has to wait."""
        self._in_doubt = True

    def settle_doubts(self, clock: int) -> None:
        """Judge anew who has to wait, if need be; what expires by ``clock`` is no match."""
        if not self._in_doubt:
            return
        self._in_doubt = False
        for asked in self._asked.values():
            asked.renew()
        there = {number: self._sides[number].all() for number in self._gates}
        for number, gate in self._gates.items():
            positions = there[number]
            positions = positions[gate.judge_again(positions, clock)]
            self._sides[number].show_only(self._sides[number].rows_at(positions), positions)

    def let_in(self, new: Sequence[New], clock: int) -> list[New]:
        """Show the chunk's new rows, and older ones that need not wait any more.

        Args:
            new: by source; they have been built. clock: time had passed up to here before them.

        Returns:
            The new rows that are shown: no others have anything to probe for.
        """
        self.settle_doubts(clock)
        for side, (batch, _) in zip(self._sides, new, strict=True):
            side.arriving = side.stem.positions(batch.ids[0])
        for number, side in enumerate(self._sides):
            if number not in self._gates:
                side.show(new[number][0])
        for (number, _), asked in self._asked.items():
            asked.take_in(new[number][0], self._sides[number].arriving)
        shown = [self._shown(number, *some, clock) for number, some in enumerate(new)]
        for side in self._sides:
            side.arriving = side.arriving[:0]
        return shown

    def _shown(self, number: int, batch: Batch, wanted: Array, clock: int) -> New:
        gate, side = self._gates.get(number), self._sides[number]
        if gate is None:
            return batch, wanted
        if not gate.is_open(len(batch)):
            woken = gate.resume(clock, gate.suspended)
            if woken.size:
                side.show_late(side.rows_at(woken), woken)
            ok = gate.admit(batch, side.arriving)
            if not ok.all():
                batch, wanted = batch.where(ok), wanted[ok]
        side.show(batch)
        return batch, wanted

    def missed(self) -> Iterable[tuple[int, int, int]]:
        """By source, and source asked: how often a row found nothing there."""
        for number, gate in self._gates.items():
            for other, rows in zip(self._ties[number], gate.missed, strict=True):
                yield number, other, rows

    def stats(self) -> list[dict[str, Any]]:
        """Of each gate."""
        return [gate.stats() for gate in self._gates.values()]

    def close(self) -> None:
        """Give the lanes back to the SteMs."""
        for gate in self._gates.values():
            gate.close()
