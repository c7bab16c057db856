"""Results that were found slice by slice, put in the order of the rows that found them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eddyline.kernels.options import kernel


@kernel
def tally(row: np.ndarray, first: int, starts: np.ndarray) -> None:
    """Count the results of each row (their numbers begin at ``first``) in ``starts[1:]``."""
    for i in range(row.size):
        starts[row[i] - first + 1] += 1


class SliceResults(NamedTuple):
    """Results of a slice, int64[n]: number of the row, ascending; id and timestamp of the match."""

    row: np.ndarray
    partner: np.ndarray
    partner_ts: np.ndarray


class ProbingRows(NamedTuple):
    """By row: its side, id, timestamp and sequence number."""

    side: np.ndarray
    id: np.ndarray
    ts: np.ndarray
    seq: np.ndarray


class OrderedResults(NamedTuple):
    """The results in order: int64[m] row, ts, seq; int64[2, m] ids and instants, by side."""

    row: np.ndarray
    ts: np.ndarray
    seq: np.ndarray
    ids: np.ndarray
    instants: np.ndarray


@kernel
def put(
    found: SliceResults, first: int, at: np.ndarray, rows: ProbingRows, out: OrderedResults
) -> np.ndarray:
    """Write the results of one slice behind those that earlier slices had for the same rows.

    Args:
        first: number of the first row.
        at: int64 by row: the place of its next result; advanced.

    Returns:
        int64[n]: the places of the results.
    """
    row, partner, partner_ts = found.row, found.partner, found.partner_ts
    side, own, ts, seq = rows.side, rows.id, rows.ts, rows.seq
    out_row, out_ts, out_seq, out_ids, out_instants = out
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
