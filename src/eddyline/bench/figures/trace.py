"""A trace of connections, split into links; its rows in the order in which they arrive."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa

from eddyline.runtime.stores.columns import Array
from eddyline.types import TIMESTAMP

#: Columns of every link, those of the paper's trace.
LINK_COLUMNS: Final = (
    "ts TIMESTAMP, duration DOUBLE, protocol STRING, bytes BIGINT, src BIGINT, dst BIGINT"
)
UNIT_US: Final = 1_000_000


@dataclass(frozen=True)
class Trace:
    """Connections over several outgoing links.

    Time is scaled so that on average one row arrives per link and time unit, which is one second
    of event time.

    Attributes:
        name: for machines. about: one sentence for people.
        links: one Arrow table per link with :data:`LINK_COLUMNS`, ordered by ``ts``.
        few, many: protocols that stand for the paper's ``ftp`` and ``telnet``: a join of two links
            on either gives a small and a large result.
    """

    name: str
    about: str
    links: tuple[Any, ...]
    few: str
    many: str

    def playback(self, links: int) -> Playback:
        """The rows of the first ``links`` links in order of arrival."""
        return Playback(self.links[:links])


class Playback:
    """Rows of some links, numbered in their common order of arrival, as inputs of an engine."""

    def __init__(self, links: tuple[Any, ...]) -> None:
        self._links = links
        ts = [link["ts"].cast(pa.int64()).to_numpy() for link in links]
        merged = np.concatenate(ts)
        order = np.argsort(merged, kind="stable")
        self.ts: Array = merged[order]
        link_of = np.repeat(np.arange(len(links)), [t.size for t in ts])[order]
        self._before = [
            np.concatenate(([0], np.cumsum(link_of == number))) for number in range(len(links))
        ]

    def __len__(self) -> int:
        return self.ts.size

    def rows_until(self, units: float) -> int:
        """How many rows arrive within the first ``units`` time units."""
        return int(np.searchsorted(self.ts, self.ts[0] + units * UNIT_US))

    def batches(self, begin: int, end: int, rows: int) -> Iterator[dict[str, Any]]:
        """Rows ``begin`` to ``end`` in pieces of ``rows``, each a mapping for Engine.process."""
        for at in range(begin, end, rows):
            yield self._part(at, min(at + rows, end))

    def _part(self, begin: int, end: int) -> dict[str, Any]:
        return {
            f"link{number}": link.slice(before[begin], before[end] - before[begin])
            for number, (link, before) in enumerate(zip(self._links, self._before, strict=True), 1)
        }


def link_table(
    ts_us: Array, duration: Any, protocol: Any, size: Any, src: Array, dst: Array
) -> Any:
    """A link as an Arrow table."""
    return pa.table(
        {
            "ts": pa.array(ts_us).cast(TIMESTAMP),
            "duration": duration,
            "protocol": protocol,
            "bytes": size,
            "src": src,
            "dst": dst,
        }
    )
