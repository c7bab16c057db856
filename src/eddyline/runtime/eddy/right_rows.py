"""The rows of a stream that those of a flow are matched with."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from eddyline.runtime.batch import Evaluator, Predicate
from eddyline.runtime.operators.stateless import Scan


@dataclass(frozen=True, slots=True)
class RightRows:
    """What is matched.

    Attributes:
        scan: of the stream, with a window for the longest one of a query. columns: their types.
        condition: which of its rows; None: all.
        left, right: the keys of rows of the flow, and of the stream. types: of these.
        nulls_match: whether NULL equals NULL.
        constant: which of the constants is a query's window, in microseconds; 0: it has no rows.
    """

    scan: Scan
    columns: tuple[pa.DataType, ...]
    condition: Predicate | None
    left: tuple[Evaluator, ...]
    right: tuple[Evaluator, ...]
    types: tuple[pa.DataType, ...]
    nulls_match: bool
    constant: int
