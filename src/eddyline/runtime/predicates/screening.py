"""Rows that no query of a filter bank requires, found by one grouped filter for all queries."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Final

from eddyline.runtime.predicates.grouped_filter import AttributeValues, GroupedFilter
from eddyline.runtime.stores.columns import Array

#: Queries from which on rows are screened; the largest share of rows that a filter may leave then;
#: after how many screenings those that leave more are tried again.
_QUERIES: Final = 16
_SELECTIVE: Final = 0.8
_SCREEN_ALL: Final = 32

_share: Final = attrgetter("share")


def screening_filters(
    filters: Iterable[GroupedFilter], mask: Array, queries: int
) -> list[GroupedFilter]:
    """Those that cost little and in which all of some queries (uint64[W]) have a predicate: a row
    that one of them rejects is required by none, however many there are. None for few ``queries``.
    """
    if queries < _QUERIES:
        return []
    return [f for f in filters if f.attribute.plain and f.covers(mask)]


class Screening:
    """Screens rows by the filters that leave few of them."""

    def __init__(self) -> None:
        self._times = 0

    def screened(
        self, values: AttributeValues, filters: Iterable[GroupedFilter], rows: Array
    ) -> tuple[Array, int]:
        """Those of rows (int64[k]) that filters (``screening_filters``) accept, the most selective
        filter first; and the number of rows that filters have evaluated.
        """
        self._times += 1
        visits = 0
        most = 1.0 if self._times % _SCREEN_ALL == 0 else _SELECTIVE
        for grouped in sorted(filters, key=_share):
            if grouped.share <= most:
                visits += rows.size
                rows = grouped.screened(values, rows)
        return rows, visits
