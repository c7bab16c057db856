"""Results that were found slice by slice, put in the order of the rows that found them."""

from __future__ import annotations

import numpy as np

from eddyline.kernels.options import kernel


@kernel
def tally(row: np.ndarray, first: int, starts: np.ndarray) -> None:
    """Count the results of each row (their numbers begin at ``first``) in ``starts[1:]``."""
    for i in range(row.size):
        starts[row[i] - first + 1] += 1


@kernel
def put(
    row: np.ndarray,
    partner: np.ndarray,
    partner_ts: np.ndarray,
    first: int,
    at: np.ndarray,
    side: np.ndarray,
    own: np.ndarray,
    ts: np.ndarray,
    seq: np.ndarray,
    out_row: np.ndarray,
    out_ts: np.ndarray,
    out_seq: np.ndarray,
    out_ids: np.ndarray,
    out_instants: np.ndarray,
) -> np.ndarray:
    """Write what one slice brought behind what slices before it brought to the same rows.

    Args:
        row: int64[n], numbers of the rows, ascending, from ``first`` on. partner, partner_ts:
            int64[n], id and timestamp of the row found.
        at: int64 by row: where its next result goes; moves on.
        side, own, ts, seq: int64 by row: its side, id, timestamp and sequence number.
        out_ids, out_instants: int64[2, m], by side.

    Returns:
        int64[n]: where the results went.
    """
    to = np.empty(row.size, np.int64)
    for i in range(row.size):
        r = row[i] - first
        place = at[r]
        at[r] += 1
        to[i] = place
        mine = side[r]
        out_row[place] = row[i]
        out_ts[place] = ts[r]
        out_seq[place] = seq[r]
        out_ids[mine, place] = own[r]
        out_ids[1 - mine, place] = partner[i]
        out_instants[mine, place] = ts[r]
        out_instants[1 - mine, place] = partner_ts[i]
    return to
