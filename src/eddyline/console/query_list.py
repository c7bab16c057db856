"""The list of queries: searched, ordered, page by page."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from eddyline.console.source import QueryLine, Source
from eddyline.rate_limiter import RateLimiter

PAGE: Final = 50
#: By what queries are ordered.
ORDERS: Final = ("name", "rows out", "CPU time")
_AT_A_TIME: Final = 100
#: The share of the time that reading all queries may take.
_SHARE: Final = 0.01


@dataclass(frozen=True)
class Page:
    """Some queries.

    Attributes:
        page: its number, from 1. pages: how many there are. total: number of queries found.
    """

    lines: Sequence[QueryLine]
    page: int
    pages: int
    total: int


class QueryList:
    """The queries of a source.

    All of thousands are only read for a search in their SQL or an order by figures, in pieces, and
    so that it takes a small share of the time: then the order is that of some time ago.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._limiter = RateLimiter(_SHARE, of_cpu=True)
        self._known: dict[str, QueryLine] = {}
        self._lock = threading.Lock()

    def page(self, search: str, order: str, page: int) -> Page:
        """A page of the queries with a text in name or SQL.

        Args:
            search: upper or lower case does not matter. order: one of ``ORDERS``.
            page: the number of the page; behind the last one: the last.
        """
        names = self._found(search.strip().lower(), order)
        pages = max(1, -(-len(names) // PAGE))
        page = min(max(page, 1), pages)
        shown = names[(page - 1) * PAGE : page * PAGE]
        return Page(self._source.lines(shown), page, pages, len(names))

    def forget(self) -> None:
        """Queries have been added or dropped."""
        with self._lock:
            self._limiter.next_s = 0.0

    def _found(self, search: str, order: str) -> list[str]:
        names = list(self._source.names())
        if search or order != ORDERS[0]:
            known = self._all(names)
            if search:
                names = [n for n in names if search in n.lower() or _is_in(search, known.get(n))]
            if order != ORDERS[0]:
                figures = {n: _figure(known.get(n), order) for n in names}
                return sorted(names, key=lambda n: (-figures[n], n.lower()))
        return sorted(names, key=str.lower)

    def _all(self, names: Sequence[str]) -> dict[str, QueryLine]:
        with self._lock:
            if self._limiter.due:
                with self._limiter.measured():
                    self._known = {line.name: line for line in self._read(names)}
            return self._known

    def _read(self, names: Sequence[str]) -> Iterator[QueryLine]:
        waiting = iter(names)
        while some := list(islice(waiting, _AT_A_TIME)):
            yield from self._source.lines(some)


def _is_in(search: str, line: QueryLine | None) -> bool:
    return line is not None and search in line.sql.lower()


def _figure(line: QueryLine | None, order: str) -> float:
    """What a query is ordered by; 0: it is not known."""
    if line is None:
        return 0.0
    return line.rows_out if order == "rows out" else line.seconds or 0.0
