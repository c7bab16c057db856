"""The last changes of the queries that pages show."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa

from eddyline.console.source import Source

#: Changes that are kept of a query.
MOST_ROWS: Final = 200
#: A query that no page has shown for this time is not followed any more.
_IDLE_S: Final = 20.0
#: Queries that are followed at a time.
_MOST_QUERIES: Final = 20


@dataclass
class _Followed:
    tables: deque[pa.Table] = field(default_factory=deque)
    count: int = 0
    looked_at: float = field(default_factory=time.monotonic)
    end: Callable[[], None] | None = None


class FollowedQueries:
    """Follows queries from the first look on, while there are looks."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._known: dict[str, _Followed] = {}
        self._lock = threading.Lock()

    def changes(self, name: str) -> tuple[pa.Table | None, int]:
        """The last changes of a query since it is followed, and the number of all of them.

        Raises:
            CatalogError: there is no such query.
        """
        self._end_idle()
        with self._lock:
            of = self._known.get(name)
            if of is not None:
                of.looked_at = time.monotonic()
                tables = list(of.tables)
                return (pa.concat_tables(tables) if tables else None), of.count
            of = self._known[name] = _Followed()
        try:
            of.end = self._source.follow(name, lambda rows, n: self._take(name, of, rows, n))
        except BaseException:
            with self._lock:
                self._known.pop(name, None)
            raise
        return None, 0

    def _take(self, name: str, of: _Followed, rows: pa.Table, n: int) -> None:
        """Called with changes, in the thread that has made them."""
        if time.monotonic() - of.looked_at > _IDLE_S:
            self._end(name, of)
            return
        with self._lock:
            if of.tables and of.tables[-1].schema != rows.schema:
                of.tables.clear()
            of.tables.append(rows.slice(max(0, rows.num_rows - MOST_ROWS)))
            of.count += n
            while sum(t.num_rows for t in of.tables) - of.tables[0].num_rows >= MOST_ROWS:
                of.tables.popleft()

    def _end_idle(self) -> None:
        with self._lock:
            now = time.monotonic()
            by_age = sorted(self._known.items(), key=lambda item: item[1].looked_at)
            excess = len(by_age) - _MOST_QUERIES
            old = [
                (name, of)
                for n, (name, of) in enumerate(by_age)
                if n < excess or now - of.looked_at > _IDLE_S
            ]
        for name, of in old:
            self._end(name, of)

    def _end(self, name: str, of: _Followed) -> None:
        with self._lock:
            if self._known.get(name) is of:
                del self._known[name]
            end, of.end = of.end, None
        if end is not None:
            end()

    def close(self) -> None:
        """Follow none any more."""
        for name, of in list(self._known.items()):
            self._end(name, of)
