"""Which rows of a store are in an index, as long as these are successive rows."""

from __future__ import annotations

from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.rowstore import RowStore


class IndexedRun:
    """The positions of all rows in an index, while they are those of successive rows.

    An index of all rows of a window is one; so its rows are known without looking at each.
    """

    def __init__(self, store: RowStore) -> None:
        self._store = store
        self.clear()

    def clear(self) -> None:
        """The index is empty now."""
        self._generation = self._store.generation
        self._known: range | None = range(0)

    def lose(self) -> None:
        """The index has changed in another way than by ``add``: its rows are unknown."""
        self._known = None

    def add(self, positions: Array) -> None:
        """These rows, at least one, have been indexed; they are ascending."""
        run = self.positions()
        if run is None:
            return
        first, last = int(positions[0]), int(positions[-1])
        if (run and first != run.stop) or last - first != positions.size - 1:
            self.lose()
        else:
            self._known = range(run.start if run else first, last + 1)

    def positions(self) -> range | None:
        """The positions of the rows that the store still has; None: they are unknown."""
        if self._known is None or self._generation != self._store.generation:
            return None
        first = self._store.first
        return range(max(self._known.start, first), max(self._known.stop, first))
