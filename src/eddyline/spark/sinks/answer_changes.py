"""What the changes of a batch do to a table with the answer of a query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

#: Columns of the changes of an answer, before those of the table: 1 for a row that is there
#: afterwards, -1 for one that is not; and whether the key was there before.
SIGN: Final = "sign"
KNOWN: Final = "known"
_N: Final = "n"


def last_changes(rows: pa.Table, values: Sequence[str], key: Sequence[str]) -> pa.Table:
    """The last change of each key, where a '+' replaces the row with its key.

    Args:
        rows: changes. values: columns of the table. key: some of these; () if it has one row.

    Returns:
        ``sign``, ``known``, and the values as c0, c1, ...
    """
    changes = _signed(rows, values)
    n = changes.num_rows
    if not key:
        return changes.slice(max(n - 1, 0))
    numbered = changes.append_column(_N, pa.array(np.arange(n)))
    last = numbered.group_by(_numbers(values, key)).aggregate([(_N, "max")])[f"{_N}_max"]
    return changes.take(last)


def net_changes(rows: pa.Table, values: Sequence[str], key: Sequence[str]) -> pa.Table:
    """What remains of changes that undo each other, in any order: a row for each key.

    Args:
        rows: changes. values: columns of the table. key: some of these, which identify a row.

    Returns:
        ``sign``, ``known``, and the values as c0, c1, ...

    Raises:
        KeyError: two rows have the same key; its values.
    """
    changes, columns = _signed(rows, values), [f"c{i}" for i in range(len(values))]
    net = changes.group_by(columns).aggregate([(SIGN, "sum")])
    total = net[f"{SIGN}_sum"]
    added = net.filter(pc.greater(total, 0))
    removed = net.filter(pc.less(total, 0)).select(columns)
    own = _numbers(values, key)
    twice = repeated_key([added.select(own)])
    if twice is None and pc.any(pc.greater(added[f"{SIGN}_sum"], 1)).as_py():
        twice = added.filter(pc.greater(added[f"{SIGN}_sum"], 1)).select(own).slice(0, 1)
    if twice is not None:
        raise KeyError(*[column[0].as_py() for column in twice.columns])
    both = pa.concat_tables([_constant(removed, -1), _constant(added.select(columns), 1)])
    found = both.append_column(_N, pa.array(np.arange(both.num_rows))).group_by(own)
    keys = found.aggregate([(_N, "max"), (SIGN, "min")])
    chosen = both.take(keys[f"{_N}_max"])
    return chosen.set_column(1, KNOWN, pc.less(keys[f"{SIGN}_min"], 0))


def repeated_key(keys: Iterable[pa.Table]) -> pa.Table | None:
    """A row that is there twice; None: all rows of the tables are different."""
    table = pa.concat_tables(keys)
    columns = table.column_names
    counted = table.append_column(_N, pa.array(np.ones(table.num_rows, np.int64)))
    counts = counted.group_by(columns).aggregate([(_N, "sum")])
    several = counts.filter(pc.greater(counts[f"{_N}_sum"], 1)).select(columns)
    return several.slice(0, 1) if several.num_rows else None


def places_of(keys: pa.Table, wanted: pa.Table) -> pa.ChunkedArray:
    """The numbers of the rows whose key is one of some keys; NULLs are equal.

    Args:
        keys: of rows, in one column or more. wanted: keys, in the same columns.
    """
    first = keys.column_names[0]
    numbered = keys.append_column(_N, pa.array(np.arange(keys.num_rows)))
    near = numbered.filter(pc.is_in(keys[first], value_set=wanted[first].combine_chunks()))
    asked = wanted.append_column(_N, pa.array(np.full(wanted.num_rows, -1)))
    groups = pa.concat_tables([asked, near]).group_by(keys.column_names)
    found = groups.aggregate([(_N, "min"), (_N, "list")])
    places = pc.list_flatten(found.filter(pc.less(found[f"{_N}_min"], 0))[f"{_N}_list"])
    return places.filter(pc.greater_equal(places, 0))


def _signed(rows: pa.Table, values: Sequence[str]) -> pa.Table:
    signs = pc.if_else(pc.equal(rows["_op"], "+"), 1, -1).cast(pa.int64())
    columns = {f"c{i}": rows[name] for i, name in enumerate(values)}
    known = pa.repeat(True, rows.num_rows)
    return pa.table({SIGN: signs, KNOWN: known, **columns})


def _constant(values: pa.Table, sign: int) -> pa.Table:
    n = values.num_rows
    with_known = values.add_column(0, KNOWN, pa.repeat(True, n))
    return with_known.add_column(0, SIGN, pa.repeat(pa.scalar(sign, pa.int64()), n))


def _numbers(values: Sequence[str], key: Sequence[str]) -> list[str]:
    """The names of the key's columns among the changes."""
    return [f"c{i}" for i, name in enumerate(values) if name in key]
