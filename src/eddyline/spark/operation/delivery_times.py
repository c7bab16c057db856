"""How long the results of a batch take, from when Spark plans it until they are in the sinks."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import Final

#: Upper bounds of the buckets, in seconds; above the last one there is one more bucket.
BOUNDS_S: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)


@dataclass(frozen=True)
class DeliveryTimes:
    """Delivered batches by the time from when they were planned until they were delivered. That of
    a batch which is repeated includes what failed, and the time until the next start.

    Attributes:
        buckets: number of batches by ``BOUNDS_S``, not cumulative.
        total_seconds: of all batches. last_seconds: of the last one; None before the first.
    """

    buckets: tuple[int, ...] = (0,) * (len(BOUNDS_S) + 1)
    total_seconds: float = 0.0
    last_seconds: float | None = None

    @property
    def batches(self) -> int:
        """Number of delivered batches."""
        return sum(self.buckets)

    def with_batch(self, seconds: float) -> DeliveryTimes:
        """The times with those of one more batch.

        >>> DeliveryTimes().with_batch(0.1).with_batch(2.0).buckets
        (0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0)
        """
        buckets = list(self.buckets)
        buckets[bisect_left(BOUNDS_S, seconds)] += 1
        return replace(
            self,
            buckets=tuple(buckets),
            total_seconds=self.total_seconds + seconds,
            last_seconds=seconds,
        )
