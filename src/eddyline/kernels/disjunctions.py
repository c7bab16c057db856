"""Planes of disjuncts; see ``runtime.eddy.disjunctions``.

Source: Madden et al. 2002, section 2.2.2.
"""

from __future__ import annotations

import numpy as np

from eddyline.kernels.options import kernel


@kernel
def spread(
    lineage: np.ndarray, rows: np.ndarray, words: np.ndarray, members: np.ndarray
) -> np.ndarray:
    """Copy some words of rows to all planes, as far as queries have a disjunct there.

    Args:
        lineage: uint64[., W]; ``rows`` int64[n].
        words: int64[k], which words.
        members: uint64[p, stride], stride >= k.

    Returns:
        uint64[n, p * stride]; 0 where a plane has no word.
    """
    planes, stride = members.shape
    out = np.zeros((rows.size, planes * stride), np.uint64)
    for i in range(rows.size):
        row = np.uint64(rows[i])
        for p in range(planes):
            start = np.uint64(p * stride)
            for c in range(words.size):
                word = lineage[row, np.uint64(words[c])]
                out[i, start + np.uint64(c)] = word & members[p, c]
    return out


@kernel
def resolve(
    private: np.ndarray,
    stride: int,
    clause: np.ndarray,
    lineage: np.ndarray,
    rows: np.ndarray,
    words: np.ndarray,
) -> None:
    """Clear the bits of the queries of which some clause has no disjunct left, in place.

    Args:
        private: uint64[n, p * stride], what the filters have left of ``spread``.
        clause: int64[p], the clause that a plane belongs to.
        lineage, rows, words: as for ``spread``.
    """
    clauses = clause.max() + 1
    holds = np.empty(words.size, np.uint64)
    for i in range(rows.size):
        row = np.uint64(rows[i])
        for number in range(clauses):
            holds[:] = 0
            for p in range(clause.size):
                if clause[p] == number:
                    start = np.uint64(p * stride)
                    for c in range(words.size):
                        holds[c] |= private[i, start + np.uint64(c)]
            for c in range(words.size):
                lineage[row, np.uint64(words[c])] &= holds[c]
