"""A join of two inputs whose rows leave by '-' alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eddyline.runtime.batch import Batch
from eddyline.runtime.operators.base import Tick
from eddyline.runtime.operators.join import Join


class ExplicitJoin(Join):
    """Emits no result that begins at the instant at which one of its rows expires.

    At that instant the '+' of the left input still meets the row of the right input, whose '-'
    follows: for instance the new value of a group from which the same row expires.
    """

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        return _lasting(super().process(batches, tick))


def _lasting(results: Batch) -> Batch:
    """Without each '+' that expires at its own instant, and without the '-' that follows it."""
    ending = np.flatnonzero(results.exp <= results.ts)
    if not (results.sign[ending] > 0).any():
        return results
    ids = [lane[ending] for lane in results.ids]
    by_row = ending[np.lexsort((ending, *ids))]
    gone = results.sign[by_row] > 0
    gone[1:] |= gone[:-1].copy()
    keep = np.ones(len(results), np.bool_)
    keep[by_row[gone]] = False
    return results.where(keep)
