"""Result tables: the ends of all queries, where results are kept until they are fetched.

Queries of a flow with the same select list share a table, which has each result once, with its
recipients. A query that runs as a tree or is parameterized owns its table.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from eddyline.algebra.expressions import Expr
from eddyline.engine.query_metrics import QueryMetrics
from eddyline.physical.flows import output_of
from eddyline.runtime.batch import Batch
from eddyline.runtime.output import (
    concat_changes,
    instants,
    select_list,
    to_changes,
    without_replaced,
)
from eddyline.runtime.recipients import Recipients
from eddyline.runtime.stores.columns import Array
from eddyline.types import BEGINNING

#: The number of ``_exp`` among the columns of changes.
_EXP = 2


@dataclass(frozen=True, slots=True)
class Piece:
    """The results of one chunk.

    Attributes:
        results: n rows of changes, each result once.
        recipients: the queries that get each, with their own ``_exp``; None: the table's owner gets
            all results as they are.
    """

    results: pa.Table
    recipients: Recipients | None

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
        return self.cut(self.recipients, np.argsort(self.recipients.rows, kind="stable"))

    def cut(self, recipients: Recipients, which: Array) -> pa.Table:
        """The changes with these numbers among those of all queries, listed query by query."""
        return self._changes(recipients.rows[which], recipients.exp[which])

    def _changes(self, rows: Array, exp: Array) -> pa.Table:
        changes = self.results.take(pa.array(rows))
        return changes.set_column(_EXP, changes.field(_EXP), instants(exp))

    def counts(self) -> Array:
        """int64[width]: number of changes per query."""
        if self.recipients is None:
            return np.array([self.results.num_rows])
        return self.recipients.counts()


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


class Pending:
    """The result tables with changes that have not been fetched.

    A query may have several: it owns a table, then shares one after its placement has changed.
    """

    def __init__(self) -> None:
        self._owned: dict[str, list[ResultTable]] = {}
        self._shared: dict[ResultTable, None] = {}

    def add(self, table: ResultTable) -> None:
        """A table has its first changes since the last ``clear``."""
        if table.owner is None:
            self._shared[table] = None
        else:
            self._owned.setdefault(table.owner, []).append(table)

    def put(self, name: str, changes: pa.Table, *, first: bool = False) -> None:
        """Add changes of one query behind those that it has, or before them."""
        if changes.num_rows:
            table = ResultTable(changes.schema, self, QueryMetrics(), owner=name)
            table.put(Piece(changes, None))
            if first:
                self._owned[name].insert(0, self._owned[name].pop())

    def discard(self, name: str) -> None:
        """Drop what is in tables that a query owns."""
        for table in self._owned.pop(name, ()):
            table.clear()

    def close(self, table: ResultTable) -> None:
        """A shared table has no queries any more."""
        self._shared.pop(table, None)

    def changes(self) -> list[TableChanges]:
        """All changes, left in place: first those in tables with an owner."""
        owned = [table.changes() for tables in self._owned.values() for table in tables]
        return owned + [table.changes() for table in self._shared]

    def clear(self) -> None:
        """All changes have been fetched."""
        for tables in (*self._owned.values(), self._shared):
            for table in tables:
                table.clear()
        self._owned, self._shared = {}, {}


class ResultTable:
    """Results of queries with the same select list, over one operator.

    Args:
        schema: of the changes.
        pending: where the table is listed while it has changes.
        metrics: where the changes of its queries are counted, by their number.
        outputs: the select list, over the columns of the operator; None: these columns.
        replaces: whether a new row of a group replaces the older one.
        owner: see ``TableChanges``.

    Attributes:
        numbers: query name -> its number among the recipients.
    """

    def __init__(
        self,
        schema: pa.Schema,
        pending: Pending,
        metrics: QueryMetrics,
        outputs: Sequence[Expr] | None = None,
        *,
        replaces: bool = False,
        owner: str | None = None,
    ) -> None:
        self.schema = schema
        self.numbers: dict[str, int] = {}
        self.metrics = metrics
        self.owner = owner
        self._pending = pending
        self._lent = False  # whether a ``TableChanges`` has ``numbers``
        self._outputs = None if outputs is None else [output_of(e) for e in outputs]
        self._replaces = replaces
        self._pieces: list[Piece] = []

    # -- its queries -------------------------------------------------------------------------------

    def subscribe(self, name: str, number: int) -> None:
        """Add a query with this number among the recipients."""
        self._own_numbers()[name] = number

    def unsubscribe(self, name: str) -> None:
        """Remove a query."""
        del self._own_numbers()[name]
        if not self.numbers:
            self._pending.close(self)

    def _own_numbers(self) -> dict[str, int]:
        if self._lent:
            self.numbers, self._lent = dict(self.numbers), False
        return self.numbers

    @property
    def names(self) -> set[str]:
        """The queries that the table ends."""
        return set(self.numbers) if self.owner is None else {self.owner}

    # -- results -----------------------------------------------------------------------------------

    def begin(self, since: int) -> None:
        """Set the first instant of the group of streams."""

    def resume(self) -> None:
        """Continue from a checkpoint: the group of streams has begun."""

    def collect(self, batch: Batch, arrived: float | Array | None) -> None:
        """Keep results for the queries that get them.

        Args:
            arrived: when their rows could be processed (``time.perf_counter``), for all or each;
                None: before the query was added.
        """
        if not len(batch):
            return
        if self._replaces:
            batch = without_replaced(batch)
        piece = self._piece(batch)
        counts = piece.counts()
        if not counts.any():
            return
        self.put(piece)
        self.metrics.add_results(counts)
        if arrived is None:
            return
        seconds = time.perf_counter() - arrived
        if isinstance(seconds, float):
            self.metrics.add_latency(counts, seconds)
        else:
            assert batch.recipients is not None, "rows are queued in flows only"
            self.metrics.add_latencies(batch.recipients, seconds)

    def put(self, piece: Piece) -> None:
        """Keep changes that are counted elsewhere."""
        if not self._pieces:
            self._pending.add(self)
        self._pieces.append(piece)

    def table(self, batch: Batch) -> pa.Table:
        """Results of one query as its changes."""
        return self._piece(batch).of_all()

    def rows(self, batch: Batch, schema: pa.Schema) -> pa.Table:
        """Results of one query as rows of the select list."""
        columns = self.table(batch).columns[_EXP + 1 :]
        return pa.Table.from_arrays(columns, schema=schema)

    def _piece(self, batch: Batch) -> Piece:
        if self._outputs is None:
            return Piece(to_changes(batch, self.schema), batch.recipients)
        batch, columns = select_list(self._with_parameters(batch.received()), self._outputs)
        return Piece(to_changes(batch, self.schema, columns), batch.recipients)

    def _with_parameters(self, batch: Batch) -> Batch:
        """The results with the columns that the select list of a parameterized query reads."""
        return batch

    @property
    def has_changes(self) -> bool:
        """Whether there are changes that have not been fetched."""
        return bool(self._pieces)

    def of(self, name: str) -> pa.Table:
        """The changes of one query, left in place."""
        number = self.numbers[name]
        return concat_changes([piece.of(number) for piece in self._pieces], self.schema)

    def changes(self) -> TableChanges:
        """The changes, left in place."""
        self._lent = True
        return TableChanges(self.schema, tuple(self._pieces), self.numbers, self.owner)

    def clear(self) -> None:
        """Forget the changes."""
        self._pieces = []


class TreeTable(ResultTable):
    """The result table of a query that runs as a tree of operators, and gets all results.

    What is there before the first instant (rows of tables) is reported as of that instant.
    """

    def __init__(self, name: str, schema: pa.Schema, pending: Pending, *, replaces: bool) -> None:
        super().__init__(schema, pending, QueryMetrics(), replaces=replaces, owner=name)
        self._since: int | None = None
        self._early: list[Batch] = []

    def begin(self, since: int) -> None:
        """Set the first instant: nothing is reported as of an earlier one."""
        if self._since is None:
            self._since = since
            early, self._early = self._early, []
            for batch in early:
                self.collect(batch, None)

    def resume(self) -> None:
        """Continue from a checkpoint: what is there has been reported."""
        self._since, self._early = BEGINNING, []

    def collect(self, batch: Batch, arrived: float | Array | None) -> None:
        if self._since is None:
            self._early.append(batch)
            return
        if len(batch) and batch.ts[0] < self._since:
            batch = replace(batch, ts=np.maximum(batch.ts, self._since))
        super().collect(batch, arrived)
