"""Batches of pairs of rows: what joins put out."""

from __future__ import annotations

import numpy as np

from eddyline.kernels.chains import match_pairs
from eddyline.runtime.batch import Batch, Predicate, Stored, before
from eddyline.runtime.stores.columns import Array


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


def stacked(ids: tuple[Array, ...]) -> Array:
    """int64[k, n]; no copy where k is 1."""
    return ids[0][np.newaxis] if len(ids) == 1 else np.stack(ids)


def matched(
    left: Batch, l_keys: Array, right: Batch, r_keys: Array, residual: Predicate | None
) -> Batch:
    """The pairs of rows that agree on their keys, int64 each, and meet the residual; by time."""
    l_number, r_number = match_pairs(l_keys, r_keys)
    batch = meeting(paired(left.take(l_number), right.take(r_number)), residual)
    return batch.take(np.lexsort((batch.seq, batch.ts)))


def meeting(batch: Batch, residual: Predicate | None) -> Batch:
    """The pairs that meet the residual."""
    return batch if residual is None or len(batch) == 0 else batch.where(residual(batch))
