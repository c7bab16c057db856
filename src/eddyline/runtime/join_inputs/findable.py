"""The rows of an input that a join may see, by join key."""

from __future__ import annotations

from collections.abc import Sequence

from eddyline.runtime.batch import Batch, Evaluator
from eddyline.runtime.feedback.partners import Partners
from eddyline.runtime.join_inputs.buffer import Kept
from eddyline.runtime.state import State
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.index import Probes
from eddyline.runtime.stores.keys import join_keys


class Findable:
    """The rows of an input that a join may see, by join key."""

    def __init__(self, kept: Kept, keys: Sequence[Evaluator], *, scanned: bool = False) -> None:
        self.kept = kept
        self._keys = tuple(keys)
        self._index = kept.rows.new_index(scanned=scanned)

    def keys(self, batch: Batch) -> tuple[Array, Array | None]:
        """int64[n] keys, and which of them can match at all (None: all)."""
        return join_keys([k(batch) for k in self._keys], len(batch))

    def insert(self, positions: Array, keys: Array) -> None:
        """The chunk's new rows come to be seen, as of their instants."""
        self._index.insert(positions, keys)

    def link(self, positions: Array, keys: Array) -> None:
        """Earlier rows come to be seen."""
        self._index.link(positions, keys)

    def find(self, probes: Probes, *, inclusive: bool) -> tuple[Array, Array]:
        """Numbers of the probes and positions of the rows that match them."""
        return self._index.probe(probes, self.kept.rows.liveness, inclusive=inclusive)

    def positions(self) -> Array:
        """Positions of the rows that the join may see, ascending."""
        return self._index.positions()

    def close(self) -> None:
        """The join is gone."""
        self._index.close()

    def state(self) -> State:
        """Saved as plain arrays."""
        return self._index.state()

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        self._index.restore(state)


class FindableToAll(Findable):
    """The same where all rows may be seen, and are never late: those who ask use the index too."""

    def __init__(self, kept: Kept, keys: Sequence[Evaluator], partners: Partners) -> None:
        self.kept = kept
        self._keys = tuple(keys)
        self._partners = partners
        self._index = partners.index
        partners.acquire()

    def insert(self, positions: Array, keys: Array) -> None:
        """They have been put in already."""

    def link(self, positions: Array, keys: Array) -> None:
        """They have been put in already."""

    def close(self) -> None:
        """The index is not the join's alone."""
        self._partners.release()
        self._partners.let_go()

    def state(self) -> State:
        return {}

    def restore(self, state: State) -> None:
        """There is nothing to restore."""
