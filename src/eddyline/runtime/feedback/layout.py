"""Batches of pairs of rows."""

from __future__ import annotations

import numpy as np

from eddyline.runtime.batch import Batch, Stored, before
from eddyline.runtime.columns import Array


def paired(left: Batch, right: Batch) -> Batch:
    """Row i of the left with row i of the right, whichever came first; in no order."""
    first = before(left.ts, left.seq, right.ts, right.seq)
    return side_by_side(
        left,
        right,
        np.where(first, right.ts, left.ts),
        np.where(first, right.seq, left.seq),
        np.minimum(left.exp, right.exp),
        np.ones(len(left), np.int8),
        left.ids + right.ids,
    )


def side_by_side(
    left: Batch,
    right: Batch,
    ts: Array,
    seq: Array,
    exp: Array,
    sign: Array,
    ids: tuple[Array, ...],
) -> Batch:
    """A batch with the columns of both."""
    shift = len(left.ids)
    cells = left.cells + tuple(
        Stored(c.source + shift, c.column) for c in right.cells if isinstance(c, Stored)
    )
    assert len(cells) == len(left.cells) + len(right.cells), "join inputs must be stored"
    return Batch(ts, seq, exp, sign, ids, left.stores + right.stores, cells)
