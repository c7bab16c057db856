"""Links whose sources come and go: data of Query 5 with the paper's share of early retractions.

NOT EXISTS takes a result back when its source comes to the second link. A source that is always
there has no results, and one that is never there none that are taken back. Here the sources that
the first and the third link have in common are on the second link by turns: for a quarter of a
window, then not for 1.75 windows. So a source is missing there (its last row has left the window)
for 3/4 of a window in every two. The pairs that are alive when that begins are shown, as many come
in half a window, and those alive in the end are taken back: 1 of 1 + 2 * 3/4, which is 40 %.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.bench.figures.synthetic import addresses, synthetic_trace
from eddyline.bench.figures.trace import UNIT_US, Trace
from eddyline.runtime.stores.columns import Array

_ON: Final = 0.25  # of a window, for which a source is on the second link
_CYCLE: Final = 2.0  # windows from one such time to the next
_SHARE: Final = 0.5  # of the rows of the second link; the others are of hosts of its own
_GOLDEN: Final = 0.6180339887498949  # spreads the beginnings evenly
_SEED: Final = 17


def on_off_trace(window: int, least_rows: int = 0) -> Trace:
    """The synthetic trace with another second link; the same for the same arguments.

    Args:
        window: in time units; the sources' times are proportional to it.
        least_rows: of each link; default: what an experiment over this window needs.
    """
    trace = synthetic_trace(max(least_rows, round(2.1 * window) + 40_000))
    first, second, third = trace.links
    ts = second["ts"].cast(pa.int64()).to_numpy() / UNIT_US
    return replace(
        trace,
        name="on-off",
        about="synthetic, fitted to the LBL trace; sources of the second link come and go",
        links=(first, second.set_column(4, "src", pa.array(_sources(ts, window))), third),
    )


def common_sources() -> Array:
    """The sources that the first and the third link have in common."""
    first, third = addresses(0), addresses(2)
    return np.intersect1d(first, third)


def _sources(ts: Array, window: int) -> Array:
    """Half of the rows are of sources that are on at that time, evenly; int64[n]."""
    rng = np.random.default_rng([_SEED, window])
    common, own = common_sources(), addresses(1)
    out: Array = own.max() + 1 + rng.integers(0, own.size, ts.size)
    taken = np.flatnonzero(rng.random(ts.size) < _SHARE)
    order = np.argsort(np.arange(common.size) * _GOLDEN % 1.0)
    begins = np.sort(np.arange(common.size) * _GOLDEN % 1.0)
    # those that are on began within the last _ON / _CYCLE: neighbours in a circle
    phase = -ts[taken] / (_CYCLE * window) % 1.0
    begin = (phase + rng.random(taken.size) * _ON / _CYCLE) % 1.0
    out[taken] = common[order[np.searchsorted(begins, begin) % common.size]]
    return out
