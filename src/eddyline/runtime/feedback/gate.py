"""Gates: which rows of an input its join may see yet.

A row waits before the gate while one of the consumers further up has no match for it. It waits for
the first match that it lacks, and is found by its key when one comes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eddyline.runtime.batch import Batch
from eddyline.runtime.columns import Array
from eddyline.runtime.feedback.kept import Kept
from eddyline.runtime.feedback.wanted import Wanted
from eddyline.runtime.state import State, nested


class Gate:
    """The rows that wait (the paper's blacklist), by what they wait for (its MNS buffers).

    Source: Yang and Papadias 2008, sections III-A and IV.

    Attributes:
        asked, refused, resumed: how many rows were asked about, had to wait, and were let through
            later.
    """

    def __init__(self, kept: Kept, wanted: Sequence[Wanted]) -> None:
        self._kept = kept
        self._wanted = tuple(wanted)
        self._waiting = [kept.rows.new_index() for _ in wanted]
        self.asked = 0
        self.refused = 0
        self.resumed = 0

    def admit(self, batch: Batch, positions: Array) -> Array:
        """bool[n]: which of the new rows, at these positions, may be seen; the others wait."""
        ok = self._judge(batch, positions, batch.ts)
        self.asked += ok.size
        self.refused += ok.size - int(np.count_nonzero(ok))
        return ok

    def wake(self, clock: int) -> Array:
        """Positions, ascending, of the rows that need not wait any more, and are alive."""
        found = [
            waiting.take_out(w.fresh())
            for w, waiting in zip(self._wanted, self._waiting, strict=True)
        ]
        positions = np.sort(np.concatenate(found))
        batch = self._kept.rows_at(positions)
        alive = batch.exp > clock
        batch, positions = batch.where(alive), positions[alive]
        if positions.size:
            positions = positions[self._judge(batch, positions, np.full(positions.size, clock))]
        self.resumed += positions.size
        return positions

    def _judge(self, batch: Batch, positions: Array, ts: Array) -> Array:
        """bool[n]: for which rows there is all that is wanted; the others wait for the first of it
        that is not there. ``ts``: who expires by then is no match.
        """
        left = np.arange(positions.size)
        for w, waiting in zip(self._wanted, self._waiting, strict=True):
            found = w.find(batch if left.size == len(batch) else batch.take(left), ts[left])
            missing = ~found.there if found.usable is None else ~found.there & found.usable
            waiting.link(positions[left[missing]], found.keys[missing])
            left = left[found.there]
        ok = np.zeros(positions.size, np.bool_)
        ok[left] = True
        return ok

    def waiting(self) -> int:
        """How many rows wait (some of them may have expired)."""
        return sum(w.size() for w in self._waiting)

    def close(self) -> None:
        """Give back what it holds in the store of the rows."""
        for waiting in self._waiting:
            waiting.close()

    def state(self) -> State:
        """Saved as plain arrays."""
        return {str(i): w.state() for i, w in enumerate(self._waiting)}

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        for i, waiting in enumerate(self._waiting):
            waiting.restore(nested(state, str(i)))
