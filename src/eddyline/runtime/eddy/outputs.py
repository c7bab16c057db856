"""Select lists of queries of a flow, computed once per result."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from eddyline.runtime.batch import Evaluator
from eddyline.runtime.eddy.fanout import Fanout
from eddyline.runtime.failures import collecting, failed_rows, report
from eddyline.runtime.stores.columns import Array


def computed(
    fanout: Fanout, outputs: Sequence[int | Evaluator], of: Array | None = None
) -> tuple[Fanout, list[pa.Array]]:
    """The columns of results, as long as the fan-out's batch is.

    Args:
        of: bool[bits], the queries with this select list; None: all.

    Results for which a column cannot be computed are reported, for each query that gets them.

    Returns:
        The fan-out without these results, and the columns.
    """
    batch = fanout.batch
    with collecting() as failures:
        columns = [batch.column(o) if isinstance(o, int) else o(batch) for o in outputs]
    if not failures:
        return fanout, columns
    member = fanout.member
    mine = np.ones(fanout.bits, np.bool_) if of is None else of
    for failure in failures:
        place = np.full(len(batch), -1, np.int64)
        place[failure.rows] = np.arange(failure.rows.size)
        pairs = np.flatnonzero((place[fanout.rows] >= 0) & mine[member])
        report(failure.of_queries(place[fanout.rows[pairs]], member[pairs].astype(np.int64)))
    failed = failed_rows(failures, len(batch))
    return fanout.only(~failed[fanout.rows]), columns
