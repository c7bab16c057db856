"""Parts of a row without a match: the lattice of candidate non-demanded sub-tuples (CNS).

A row of a join's input has components. It meets a row of the opposite input in some of them: a
mask, a bit per component. A node of the lattice is a set of components, also a mask. It is *dead*
once a row of the opposite input meets all of its components; the *minimal non-demanded sub-tuples*
(MNS) are the nodes that are alive while all below them are dead. With no opposite row at all even
the empty one is alive.

The paper visits the whole lattice for each opposite row. Here such a row kills one node, that of
its mask; in the end all nodes below dead ones die, in one pass per component.

Source: Yang and Papadias 2008, Figures 7 and 8 (Identify_MNS).
"""

from __future__ import annotations

import numpy as np

from eddyline.kernels.options import kernel


@kernel
def kill(
    dead: np.ndarray,
    left: np.ndarray,
    left_masks: np.ndarray,
    right: np.ndarray,
    right_masks: np.ndarray,
) -> None:
    """Compare rows, each put together of a left and a right part, with opposite rows.

    Args:
        dead: bool[n, 2**k], for each row the nodes that have died; in place.
        left, right: int64[n], the parts of each row.
        left_masks, right_masks: int64[l, m] and int64[r, m], in which components each part meets
            each of m opposite rows.
    """
    for row in range(left.size):
        of_left = left_masks[left[row]]
        of_right = right_masks[right[row]]
        for opposite in range(of_left.size):
            dead[row, of_left[opposite] | of_right[opposite]] = True


@kernel
def minimal_alive(dead: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The MNSs of each row, when all opposite rows have been compared with.

    Args:
        dead: as ``kill`` left it; in place: all that is below dead nodes dies.

    Returns:
        Numbers of rows, ascending, and a mask for each of their MNSs, ascending.
    """
    rows, nodes = dead.shape
    found_by = np.empty(rows * nodes, np.int64)
    found = np.empty(rows * nodes, np.int64)
    count = 0
    for row in range(rows):
        bit = 1
        while bit < nodes:
            for node in range(nodes):
                if node & bit and dead[row, node]:
                    dead[row, node ^ bit] = True
            bit <<= 1
        for node in range(nodes):
            minimal = not dead[row, node]
            bit = 1
            while minimal and bit < nodes:
                minimal = not node & bit or dead[row, node ^ bit]
                bit <<= 1
            found_by[count] = row
            found[count] = node
            count += minimal
    return found_by[:count].copy(), found[:count].copy()
