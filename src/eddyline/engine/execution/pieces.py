"""Changes in result tables, as they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from eddyline.runtime.output import ChangeColumns, concat_changes, instants
from eddyline.runtime.recipients import Recipients
from eddyline.runtime.stores.columns import Array, all_of

#: The number of ``_exp`` among the columns of changes.
EXP = 2


@dataclass(slots=True)
class Piece:
    """The results of one chunk; a table is made of them when they are read.

    Attributes:
        made: n rows of changes, each result once; or the columns that they are made of.
        recipients: the queries that get each, with their own ``_exp``; None: the table's owner gets
            all results as they are.
    """

    made: pa.Table | ChangeColumns
    recipients: Recipients | None

    @property
    def results(self) -> pa.Table:
        """N rows of changes, each result once."""
        if isinstance(self.made, ChangeColumns):
            self.made = self.made.table()
        return self.made

    def of(self, number: int) -> pa.Table:
        """The changes of one query."""
        if self.recipients is None:
            return self.results
        if number >= self.recipients.width:
            return self.results.slice(0, 0)
        return self._changes(*self.recipients.of(number))

    def of_all(self) -> pa.Table:
        """The changes of all queries, in order."""
        if self.recipients is None:
            return self.results
        made = self.made
        count = made.ts.size if isinstance(made, ChangeColumns) else made.num_rows
        return self.cut(self.recipients, self.recipients.by_row(count))

    def cut(self, recipients: Recipients, which: Array) -> pa.Table:
        """The changes with these numbers among those of all queries, listed query by query."""
        return self._changes(recipients.rows[which], recipients.exp[which])

    def _changes(self, rows: Array, exp: Array) -> pa.Table:
        made = self.made
        if isinstance(made, ChangeColumns):
            return made.table(exp) if _are_all(rows, made.ts.size) else made.at(rows, exp)
        changes = made.take(pa.array(rows))
        return changes.set_column(EXP, changes.field(EXP), instants(exp))

    def counts(self) -> Array:
        """int64[width]: number of changes per query."""
        if self.recipients is None:
            return np.array([self.results.num_rows])
        return self.recipients.counts()


def _are_all(rows: Array, count: int) -> bool:
    """Whether rows, of which none is there twice, are 0, 1, 2, ... up to their number."""
    return rows.size == count and (count <= 1 or all_of(rows == np.arange(count)))


@dataclass(frozen=True)
class TableChanges:
    """The changes in a result table.

    Attributes:
        schema: of the changes. pieces: one per chunk. numbers: query name -> its number.
        owner: the query that gets all changes; None: each recipient is a query in ``numbers``.
    """

    schema: pa.Schema
    pieces: Sequence[Piece]
    numbers: Mapping[str, int]
    owner: str | None

    def __contains__(self, name: str) -> bool:
        return name == self.owner or name in self.numbers

    def of(self, name: str) -> pa.Table:
        """The changes of one query."""
        if name == self.owner:
            parts = [p.of_all() for p in self.pieces]
        else:
            parts = [p.of(self.numbers[name]) for p in self.pieces]
        return concat_changes(parts, self.schema)

    def active(self) -> Iterator[str]:
        """The names of the queries that have changes."""
        if self.owner is not None:
            return iter((self.owner,) if self.pieces else ())
        counts = [piece.counts() for piece in self.pieces]
        busy = np.zeros(max((c.size for c in counts), default=0), np.bool_)
        for of_piece in counts:
            busy[: of_piece.size] |= of_piece > 0
        return (n for n, number in self.numbers.items() if number < busy.size and busy[number])

    def together(self, column: str) -> pa.Table:
        """All changes in one table, query by query within a chunk; ``column`` names the query."""
        field = pa.field(column, pa.dictionary(pa.int32(), pa.string()))
        parts = [changes.add_column(0, field, query) for changes, query in self._named()]
        return pa.concat_tables(parts) if parts else pa.schema([field, *self.schema]).empty_table()

    def sets(self, column: str) -> Iterator[tuple[pa.Table, Sequence[list[str]]]]:
        """The results of each piece, each once; ``column`` is the number of the set of queries that
        get it.
        """
        names = {number: name for name, number in self.numbers.items()}
        for piece in self.pieces:
            results = piece.results.drop_columns(["_exp"])
            sets: Sequence[list[str]]
            if piece.recipients is None:
                assert self.owner is not None, "a table with recipients otherwise"
                number, sets = np.zeros(results.num_rows, np.int32), [[self.owner]]
            else:
                number, members = piece.recipients.sets(results.num_rows)
                sets = _Named(members, names if self.owner is None else self.owner)
            yield results.add_column(0, column, pa.array(number, pa.int32())), sets

    def _named(self) -> Iterator[tuple[pa.Table, pa.Array]]:
        """The changes of each piece, and the query of each change."""
        if self.owner is not None:
            for piece in self.pieces:
                changes = piece.of_all()
                yield changes, pa.repeat(self.owner, changes.num_rows).dictionary_encode()
            return
        names = pa.array(list(self.numbers), pa.string())
        index = np.full(max(self.numbers.values(), default=-1) + 1, -1, np.int32)
        index[list(self.numbers.values())] = np.arange(len(self.numbers))
        for piece in self.pieces:
            assert piece.recipients is not None, "set by the flow"
            counts = piece.counts()[: index.size]
            query = np.repeat(index[: counts.size], counts)
            known = np.flatnonzero(query >= 0)  # the others have been dropped
            changes = piece.cut(piece.recipients, known)
            yield changes, pa.DictionaryArray.from_arrays(pa.array(query[known]), names)


class _Named(Sequence[list[str]]):
    """Sets of queries by name, without those that have been dropped."""

    def __init__(self, members: Sequence[Array], names: Mapping[int, str] | str) -> None:
        self._members = members
        self._names = names

    def __len__(self) -> int:
        return len(self._members)

    def __getitem__(self, number: Any) -> Any:
        numbers = self._members[number].tolist()
        if isinstance(self._names, str):
            return [self._names] * len(numbers)
        return [self._names[n] for n in numbers if n in self._names]
