"""Joins of two streams on no key: a condition says which pairs of rows are results.

Rows are compared with all rows of the other stream in the window (nested loops). So pairs are many
and results may be few: a piece of pairs at a time (``access.pieces``) is tested by the condition,
and then by the grouped filters over both streams, before the next piece is made.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eddyline.kernels.lineage import any_wanted
from eddyline.runtime.batch import Batch, Predicate, Stored
from eddyline.runtime.failures import collecting, report
from eddyline.runtime.join_inputs.lineage_input import LineageInput
from eddyline.runtime.predicates.filter_bank import FilterBank
from eddyline.runtime.predicates.lineage_failures import for_queries
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.window_join.output_buffer import CandidatePairs
from eddyline.types import FOREVER


class Theta:
    """Selects the pairs that are results, and their lineage.

    Args:
        sides: the two of them.
        condition: over the columns of both, the same for all queries; None: all pairs meet it.
        residual: the queries' further predicates.
    """

    def __init__(
        self, sides: Sequence[LineageInput], condition: Predicate | None, residual: FilterBank
    ) -> None:
        self._sides = tuple(sides)
        self._condition = condition
        self._residual = residual

    def results(self, pairs: CandidatePairs, lineage: Array | None) -> tuple[Array, Array | None]:
        """Of pairs, those that are results of some query.

        Args:
            lineage: uint64[n, W]; None: all queries require all pairs that meet the condition.

        Returns:
            int64[m], numbers of pairs; uint64[m, W], or None as before.
        """
        rows = self._rows(pairs)
        if self._condition is None:
            kept = np.arange(len(pairs))
        else:
            with collecting() as failures:
                kept = np.flatnonzero(self._condition(rows))
            for failure in failures:
                report(for_queries(failure, lineage))
        if lineage is None:
            return kept, None
        lineage = lineage[kept]
        self._residual.narrow(rows.take(kept), lineage)
        some = np.flatnonzero(any_wanted(lineage))
        return kept[some], lineage[some]

    def _rows(self, pairs: CandidatePairs) -> Batch:
        cells = tuple(
            Stored(s, i) for s, side in enumerate(self._sides) for i in range(len(side.stem.schema))
        )
        stems = tuple(side.stem for side in self._sides)
        exp, ids = np.full(len(pairs), FOREVER), (pairs.left, pairs.right)
        return Batch(pairs.ts, pairs.seq, exp, pairs.sign, ids, stems, cells)
