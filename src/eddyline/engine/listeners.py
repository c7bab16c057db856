"""Listeners: callbacks and iterators that get the changes of a query as they are made."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from datetime import datetime
from queue import Empty, SimpleQueue
from threading import RLock
from typing import Any, Final, NamedTuple, TypeAlias

import pyarrow as pa

from eddyline.runtime.output import CHANGE_COLUMNS

_log: Final = logging.getLogger(__name__)

#: Gets a change, or a table of them.
Callback: TypeAlias = "Callable[[Change], object] | Callable[[pa.Table], object]"


class Change(NamedTuple):
    """A row that enters a query's answer (``op`` ``+``) or leaves it (``-``).

    Attributes:
        ts: since when. exp: when the row expires by itself; None: it does not, or this is not
            known. row: the select list by name.
    """

    op: str
    ts: datetime
    exp: datetime | None
    row: dict[str, Any]


def each_change(changes: pa.Table) -> Iterator[Change]:
    """The rows of a table of changes."""
    first = len(CHANGE_COLUMNS)
    op, ts, exp = (column.to_pylist() for column in changes.columns[:first])
    rows = changes.select(range(first, changes.num_columns)).to_pylist()
    yield from map(Change, op, ts, exp, rows)


class Listeners:
    """The listeners of an engine.

    Attributes:
        by_query: those of each query that has some.
    """

    def __init__(self) -> None:
        self.by_query: dict[str, list[Listener]] = {}
        self._waiting: deque[tuple[str, pa.Table]] = deque()
        self._delivering = RLock()

    def add(self, listener: Listener) -> None:
        """From now on it gets the changes of its query."""
        self.by_query.setdefault(listener.query, []).append(listener)

    def remove(self, listener: Listener) -> None:
        """It gets no more changes; nothing if it did not."""
        others = [each for each in self.by_query.get(listener.query, ()) if each is not listener]
        if others:
            self.by_query[listener.query] = others
        else:
            self.by_query.pop(listener.query, None)

    def close(self, query: str) -> None:
        """The query was dropped."""
        for listener in self.by_query.pop(query, ()):
            listener.close()

    def note(self, changes: Mapping[str, pa.Table], active: Iterable[str]) -> None:
        """Take changes, of these queries, while the engine is locked: so they are in order."""
        self._waiting += [(name, changes[name]) for name in active if name in self.by_query]

    def deliver(self) -> None:
        """Deliver what was noted. The engine is not locked, so that callbacks may call it."""
        with self._delivering:
            while self._waiting:
                name, changes = self._waiting.popleft()
                for listener in tuple(self.by_query.get(name, ())):
                    listener.take(changes)


class Listener:
    """Gets the changes of a query: calls a callback, or is iterated over, with ``for`` or ``async
    for``, until it is closed or the query dropped. As a context manager it is closed at the end.

    An error of the callback is logged, and the changes go on to the others.

    Args:
        callback: None: changes wait until they are read.
        tables: whether the callback gets a table per call of the engine, and not each change.
    """

    def __init__(
        self, query: str, listeners: Listeners, callback: Callback | None, *, tables: bool
    ) -> None:
        self.query = query
        self._listeners = listeners
        self._callback: Callable[[Any], object] | None = callback
        self._tables = tables
        self._waiting: SimpleQueue[Change | None] = SimpleQueue()
        self._wake: Callable[[], object] = _nothing
        self.closed = False

    def take(self, changes: pa.Table) -> None:
        """Take the changes of one call of the engine."""
        if self._callback is None:
            for change in each_change(changes):
                self._waiting.put(change)
            self._wake()
            return
        for item in (changes,) if self._tables else each_change(changes):
            try:
                self._callback(item)
            except Exception:  # of a user: the others get their changes
                _log.exception("a callback of query %r failed", self.query)

    def close(self) -> None:
        """Get no more changes; those that wait can still be read."""
        if not self.closed:
            self.closed = True
            self._listeners.remove(self)
            self._waiting.put(None)
            self._wake()

    def __enter__(self) -> Listener:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Change]:
        """Each change; waits for the next one while another thread calls the engine."""
        while (change := self._waiting.get()) is not None:
            yield change

    async def __aiter__(self) -> AsyncIterator[Change]:
        """The same on an event loop; the engine may be called from any thread."""
        import asyncio  # most programs have no event loop

        loop, ready = asyncio.get_running_loop(), asyncio.Event()
        self._wake = lambda: loop.call_soon_threadsafe(ready.set)
        try:
            while True:
                ready.clear()
                try:
                    while (change := self._waiting.get_nowait()) is not None:
                        yield change
                except Empty:
                    await ready.wait()
                else:
                    return
        finally:
            self._wake = _nothing


def _nothing() -> None:
    """No event loop waits."""
