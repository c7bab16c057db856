"""Bad rows of queries: rows for which an expression or function of a query has no value.

They are emitted as ``bad:QUERY``, one table per query: the time of the row (``_ts``), its columns
as the text of a JSON object (``_row``), and the reason. A query with bad rows continues, but one
that has only bad rows is set aside: it no longer runs, and states the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.plan import OWN_ROW
from eddyline.engine.ingest.arrow_values import as_text
from eddyline.runtime.batch import Batch, Stored
from eddyline.runtime.failures import Failure
from eddyline.runtime.output import instants
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.stem import Stem
from eddyline.types import TIMESTAMP

#: What the bad rows of any query look like.
BAD_ROWS: Final = pa.schema([("_ts", TIMESTAMP), ("_row", pa.string()), ("_reason", pa.string())])

#: A query is set aside only if its bad rows are at least this share of the rows of its streams.
_LEAST_SHARE = 0.1
_PLAIN: Final = (pa.types.is_integer, pa.types.is_boolean)


def bad_rows(failures: Sequence[Failure]) -> pa.Table:
    """The rows of one chunk that failed for one query, each row once, as a table of ``BAD_ROWS``.

    A row that is taken back has been reported when it came. Failures outside a batch (of pairs that
    are not made, say) are computed again where a result depends on them.
    """
    parts = [_table(f) for f in _once(f for f in failures if isinstance(f.columns, Batch))]
    return pa.concat_tables(parts) if parts else BAD_ROWS.empty_table()


def _once(failures: Iterable[Failure]) -> Iterator[Failure]:
    """The rows that came, each with its first reason."""
    by_width: dict[int, list[Failure]] = {}
    for failure in failures:
        by_width.setdefault(len(failure.columns.ids), []).append(failure)
    for alike in by_width.values():
        identity = np.concatenate([_identity(f) for f in alike])
        came = np.concatenate([f.columns.sign[f.rows] > 0 for f in alike])
        _, first = np.unique(identity[came], axis=0, return_index=True)
        new = np.zeros(came.size, np.bool_)
        new[np.flatnonzero(came)[first]] = True
        ends = np.cumsum([f.rows.size for f in alike])
        for failure, mine in zip(alike, np.split(new, ends[:-1]), strict=True):
            if mine.any():
                yield failure.take(np.flatnonzero(mine))


def _identity(failure: Failure) -> Array:
    """int64[k, 1 + ids]: which rows they are."""
    batch = failure.columns
    out: Array = np.stack([batch.seq, *batch.ids], axis=1)[failure.rows]
    return out


def _table(failure: Failure) -> pa.Table:
    batch = failure.columns
    rows = batch.take(failure.rows)
    columns = [instants(rows.ts), _as_json(rows, failure.reads), failure.reasons]
    return pa.Table.from_arrays(columns, schema=BAD_ROWS)


def _as_json(batch: Batch, reads: Sequence[tuple[str, int]]) -> pa.Array:
    """Rows as texts of JSON objects: the columns of base rows, and those that are read."""
    names = _unique({number: name for name, number in reads} | dict(_names(batch)))
    columns = [(name, batch.column(number)) for number, name in sorted(names.items())]
    return json_rows(columns, len(batch))


def json_rows(columns: Iterable[tuple[str, pa.Array]], n: int) -> pa.Array:
    """The texts of n JSON objects.

    Args:
        columns: names and values of the members.
    """
    members: list[Any] = []
    for name, values in columns:
        before = ", " if members else "{"
        members += [f"{before}{_quoted(name)}: ", _values(values)]
    if not members:
        return pa.array(["{}"]).take(pa.array(np.zeros(n, np.int64)))
    return pc.binary_join_element_wise(*members, "}", "")


def _names(batch: Batch) -> Iterator[tuple[int, str]]:
    """The columns of base rows by number, with the name of the stream."""
    for number, cell in enumerate(batch.cells):
        store = batch.stores[cell.source] if isinstance(cell, Stored) else None
        if isinstance(cell, Stored) and store is not None:
            of_stream = f"{store.name}." if isinstance(store, Stem) else ""
            field = store.schema[cell.column]
            if field != OWN_ROW:
                yield number, of_stream + field.name


def _unique(names: Mapping[int, str]) -> dict[int, str]:
    """Names by number: qualified only where necessary, and numbered where two are still alike (of a
    join of a stream with itself).
    """
    short = {number: name.rpartition(".")[2] for number, name in names.items()}
    times = Counter(short.values())
    before: Counter[str] = Counter()
    unique: dict[int, str] = {}
    for number, name in sorted(names.items()):
        chosen = short[number] if times[short[number]] == 1 else name
        before[chosen] += 1
        unique[number] = chosen if before[chosen] == 1 else f"{chosen}_{before[chosen]}"
    return unique


def _values(values: pa.Array) -> pa.Array:
    """Values as JSON: numbers and truth values as they are, all else as text, NULL as null."""
    text = as_text(values)
    if pa.types.is_floating(values.type):
        quoted = pc.binary_join_element_wise('"', text, '"', "")
        text = pc.if_else(pc.is_finite(values), text, quoted)
    elif not any(is_plain(values.type) for is_plain in _PLAIN):
        text = pc.binary_join_element_wise('"', _escaped(text), '"', "")
    return pc.fill_null(text, "null")


def _escaped(text: pa.Array) -> pa.Array:
    text = pc.replace_substring(text, "\\", "\\\\")
    text = pc.replace_substring(text, '"', '\\"')
    if pc.any(pc.match_substring_regex(text, r"[\x00-\x1f]")).as_py():
        for code in range(0x20):
            text = pc.replace_substring(text, chr(code), f"\\u{code:04x}")
    return text


def _quoted(name: str) -> str:
    return str(_values(pa.array([name]))[0])


@dataclass
class FailureCounts:
    """The bad rows of a query.

    Attributes:
        total: since it was added. in_a_row: since its last result.
        results: number of results at that time. seen: rows of its streams at that time.
    """

    total: int = 0
    in_a_row: int = 0
    results: int = 0
    seen: int = 0

    def add(self, bad: int, results: int, seen: int) -> None:
        """Count the bad rows of a chunk.

        Args:
            results: of the query so far. seen: rows of its streams so far.
        """
        self.total += bad
        if results > self.results:
            self.in_a_row, self.results, self.seen = 0, results, seen
        else:
            self.in_a_row += bad

    def is_lasting(self, limit: int | None, seen: int) -> bool:
        """Whether the query has had no result but bad rows for too long.

        Args:
            limit: maximum number of bad rows without a result; None: no limit.
        """
        if limit is None or self.in_a_row < limit:
            return False
        return self.in_a_row >= _LEAST_SHARE * (seen - self.seen)

    def saved(self) -> list[int]:
        """For JSON: what ``FailureCounts(*...)`` takes."""
        return [self.total, self.in_a_row, self.results, self.seen]
