"""Whether what a soak measured is flat. The method is fixed here, before any run:

A quantity grows by the median of the last quarter of the time over that of the third quarter, and
is flat if this is at most 5 %. By the third quarter windows, caches and the heap are full; medians
leave out peaks, such as those of a collection of garbage. Workers are killed in the first half
only, so that new ones do not hide a growth. A linear fit over the second half is reported as well.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from eddyline.bench.soak.samples import Sample

MOST: Final = 0.05
#: What has to be flat; the others are reported.
FLAT: Final[Mapping[str, str]] = {
    "jvm": "driver: Java, resident",
    "jvm_live": "driver: Java, heap in use",
    "driver": "driver: Python",
    "workers": "Python workers",
    "disk": "checkpoint, bytes",
    "disk_blocks": "checkpoint, blocks",
}
REPORTED: Final[Mapping[str, str]] = {
    "files": "checkpoint, files",
    "jvm_files": "driver: Java, open files",
    "driver_files": "driver: Python, open files",
    "worker_files": "Python workers, open files",
    "batch_s": "seconds of a batch",
    "latency_s": "seconds from the source to the sink",
}


class Growth(NamedTuple):
    """How a quantity has changed.

    Attributes:
        third, last: medians of these quarters. ratio: of their difference to the former.
        fit: what a line through the second half rises by in a quarter, over its middle.
    """

    third: float
    last: float
    ratio: float
    fit: float

    @property
    def flat(self) -> bool:
        return self.ratio <= MOST


def growth(samples: Sequence[Sample], name: str) -> Growth:
    """The growth of an attribute of samples.

    Raises:
        ValueError: a quarter has no values.
    """
    points = [(s.t_s, float(v)) for s in samples if (v := getattr(s, name)) is not None]
    end = max(s.t_s for s in samples)
    third = [v for t, v in points if end / 2 <= t < 3 * end / 4]
    last = [v for t, v in points if t >= 3 * end / 4]
    if not third or not last:
        raise ValueError(f"too few samples of {name!r}")
    t, v = np.array([point for point in points if point[0] >= end / 2]).T
    slope, start = np.polyfit(t, v, 1) if len(t) > 1 else (0.0, v[0])
    middle = start + slope * 3 * end / 4
    before, after = statistics.median(third), statistics.median(last)
    return Growth(
        before,
        after,
        after / before - 1 if before else 0.0,
        slope * end / 4 / middle if middle else 0.0,
    )


def growths(samples: Sequence[Sample]) -> dict[str, Growth]:
    """The growth of all quantities."""
    return {name: growth(samples, name) for name in (*FLAT, *REPORTED)}


def is_flat(found: Mapping[str, Growth]) -> bool:
    """Whether all that has to be flat is."""
    return all(found[name].flat for name in FLAT)
