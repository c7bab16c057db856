"""The ages of results: how long before a batch the rows arrived that made its results.

A row arrives when its source says so (Kafka: the timestamp of the message), otherwise when Spark
plans the batch that reads it. A result has the arrival of the row with its timestamp; one that
follows from time alone, such as an expiry, that of the batch whose rows moved the watermark.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from eddyline.engine.ingest.ordered_rows import ARRIVALS_PER_CALL
from eddyline.runtime.stores.columns import Array
from eddyline.spark.exchange.query_rows import QueryRows

#: The column of a source with the arrival of each row; ingest removes it.
ARRIVED: Final = "_eddyline_arrived"
#: Rows of a batch by age: an age in ms with the number, or the share, of the rows.
Ages = Sequence[tuple[float, float]]

_AT_ONCE: Final[Ages] = ((0.0, 1.0),)
#: Ages are counted in buckets that grow by a quarter of a power of two, from 1 ms on.
_PER_OCTAVE: Final = 4
#: Rows of a table that are examined, at most about; of larger ones every second, third, ...
_EXAMINED: Final = 200_000


def age_buckets(arrived: pa.ChunkedArray, now_us: int) -> dict[str, int]:
    """Number of rows by bucket of their age in a batch. ``arrived``: timestamps; NULL: now."""
    us = arrived.cast(pa.timestamp("us", "UTC")).cast(pa.int64()).fill_null(now_us).to_numpy()
    ms = np.maximum((now_us - us) / 1e3, 1.0)
    counts = np.bincount((np.log2(ms) * _PER_OCTAVE).astype(np.int64))
    return {str(bucket): int(counts[bucket]) for bucket in np.flatnonzero(counts)}


def ages_of(buckets: Mapping[str, int]) -> Ages:
    """The ages in buckets, each with its share of the rows; without rows, none has waited."""
    total = sum(buckets.values())
    if not total:
        return _AT_ONCE
    return [(2 ** ((int(b) + 0.5) / _PER_OCTAVE), n / total) for b, n in buckets.items()]


class ResultAges:
    """When the rows arrived that wait for the watermark, by call of the engine.

    Args:
        calls: as of :attr:`calls`.

    Attributes:
        calls: number, wall clock (us) and ages of each call whose rows wait, the oldest first.
    """

    def __init__(self, calls: Iterable[tuple[int, int, Ages]] = ()) -> None:
        self.calls = [(number, us, ages) for number, us, ages in calls]

    def of(
        self,
        results: Iterable[QueryRows],
        waited: Sequence[tuple[Array, Array]],
        now_us: int,
        ages: Ages,
    ) -> dict[str, Any]:
        """For JSON: the ages of the rows of this batch as ``now``; by query as ``of`` the numbers
        of results from earlier calls, whose ages ``before`` has. The other results are from now.

        Args:
            waited: of the rows that waited before this batch, in several parts: int64 timestamps in
                order, and arrival numbers.
            ages: of the rows of this batch.
        """
        by_query: dict[str, dict[int, int]] = {}
        if waited and self.calls:
            for table in results:
                self._count(table, waited, by_query)
        used = sorted({number for counts in by_query.values() for number in counts})
        place = {number: i for i, number in enumerate(used)}
        before = [
            [(age + (now_us - us) / 1e3, share) for age, share in of_call]
            for number, us, of_call in self.calls
            if number in place
        ]
        of = {q: {place[c]: n for c, n in counts.items()} for q, counts in by_query.items()}
        return {"now": ages, "before": before, "of": of}

    def note(self, number: int, now_us: int, ages: Ages, waiting: Iterable[Array]) -> None:
        """Note a call, and forget those without rows that wait.

        Args:
            waiting: arrival numbers of rows that wait, in several parts.
        """
        self.calls.append((number, now_us, ages))
        first = min((int(arrival.min()) for arrival in waiting), default=None)
        if first is None:
            self.calls = []
        else:
            oldest = first // ARRIVALS_PER_CALL
            self.calls = [call for call in self.calls if call[0] >= oldest]

    def _count(
        self,
        table: QueryRows,
        waited: Sequence[tuple[Array, Array]],
        by_query: dict[str, dict[int, int]],
    ) -> None:
        """Add the results of a table from earlier calls."""
        step = 1 + table.rows.num_rows // _EXAMINED
        ts = table.rows["_ts"].cast(pa.int64()).to_numpy()[::step]
        owner = table.owner[::step]
        known = np.array([number for number, _, _ in self.calls], np.int64)
        call = np.full(ts.size, known.size, np.int64)  # its place in ``known``; behind it: now
        for times, arrival in waited:
            at = np.minimum(np.searchsorted(times, ts), times.size - 1)
            found = np.flatnonzero(times[at] == ts)
            numbers = arrival[at[found]] // ARRIVALS_PER_CALL
            place = np.searchsorted(known, numbers)
            is_known = known[np.minimum(place, known.size - 1)] == numbers
            call[found[is_known]] = np.minimum(call[found[is_known]], place[is_known])
        old = np.flatnonzero(call < known.size)
        codes, counts = np.unique(owner[old] * known.size + call[old], return_counts=True)
        for code, n in zip(codes.tolist(), counts.tolist(), strict=True):
            query, which = divmod(code, known.size)
            of_query = by_query.setdefault(table.names[query], {})
            of_query[int(known[which])] = of_query.get(int(known[which]), 0) + n * step
