"""The order of the changes of a query over its whole life, as a column ``_seq``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.engine.query import Query
from eddyline.spark.formats.format_options import SEQ, OptionError

#: Grows with the changes of a query.
SEQ_COLUMN: Final = pa.field("_seq", pa.int64())
#: Behind ``_op``, ``_ts`` and ``_exp``.
_PLACE: Final = 3
#: Of a number: those below are the place in the batch, the others its id.
PLACE_BITS: Final = 32


def has_seq(options: Mapping[str, str]) -> bool:
    """Whether the options of a sink, which are valid, ask for the column."""
    return any(name.lower() == SEQ and v.lower() == "true" for name, v in options.items())


def with_seq(schema: pa.Schema) -> pa.Schema:
    """The columns of changes with the column."""
    return schema.insert(_PLACE, SEQ_COLUMN)


def first_number(batch_id: int) -> int:
    """The number of the first change of a batch."""
    return batch_id << PLACE_BITS


def numbers(batch_id: int, n: int, start: int = 0) -> pa.Array:
    """The numbers of n changes of a batch.

    Args:
        start: place of the first of them in the batch.
    """
    first = first_number(batch_id) + start
    return pa.array(np.arange(first, first + n, dtype=np.int64))


def numbered(rows: pa.Table, batch_id: int, start: int = 0, *, named: bool = False) -> pa.Table:
    """Changes with the column.

    Args:
        rows: in their order. start: place of the first in the batch.
        named: whether the query is a column before those of the change.
    """
    column = numbers(batch_id, rows.num_rows, start)
    return rows.add_column(_PLACE + named, SEQ_COLUMN, column)


def check_seq(query: Query) -> None:
    """Check that the rows of a query can have the column.

    Raises:
        OptionError: a column of the query has its name.
    """
    option = next((name for name in query.options if name.lower() == SEQ), None)
    if option is None or not has_seq(query.options):
        return
    taken = next((name for name in query.schema.names if name.lower() == SEQ_COLUMN.name), None)
    if taken is not None:
        raise OptionError(
            f"'{query.name}': with seq = 'true' rows have a column '{SEQ_COLUMN.name}' of their "
            f"own: rename the column '{taken}' of the query by AS",
            option,
        )
