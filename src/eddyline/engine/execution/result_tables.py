"""Result tables: the ends of all queries, where results are kept until they are fetched.

Queries of a flow with the same select list share a table, which has each result once, with its
recipients. A query that runs as a tree or is parameterized owns its table.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.algebra.expressions import Expr
from eddyline.engine.execution.pieces import EXP, Piece, TableChanges
from eddyline.engine.query_metrics import QueryMetrics
from eddyline.physical.flows import output_of
from eddyline.runtime.batch import Batch, select_list
from eddyline.runtime.eddy.shared_view import SharedView
from eddyline.runtime.output import ChangeColumns, concat_changes, without_replaced
from eddyline.runtime.stores.columns import Array, any_of
from eddyline.types import BEGINNING

#: Notes of results after which they are counted.
_MOST_NOTES: Final = 64


class Pending:
    """The result tables with changes that have not been fetched.

    A query may have several: it owns a table, then shares one after its placement has changed.
    """

    def __init__(self) -> None:
        self._owned: dict[str, list[ResultTable]] = {}
        self._shared: dict[ResultTable, None] = {}

    def add(self, table: ResultTable) -> None:
        """A table has its first changes since the last ``take``."""
        if table.owner is None:
            self._shared[table] = None
        else:
            self._owned.setdefault(table.owner, []).append(table)

    def put(self, name: str, changes: pa.Table, *, first: bool = False) -> None:
        """Add changes of one query behind those that it has, or before them."""
        if changes.num_rows:
            table = ResultTable(changes.schema, self, Tally(), owner=name)
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
        return [table.changes() for table in self._tables()]

    def take(self) -> list[TableChanges]:
        """All changes; they have been fetched then."""
        if not self._owned and not self._shared:
            return []
        changes = []
        for table in self._tables():
            changes.append(table.changes())
            table.clear()
        self._owned, self._shared = {}, {}
        return changes

    def _tables(self) -> Iterator[ResultTable]:
        return chain(chain.from_iterable(self._owned.values()), self._shared)


class Tally:
    """Counts results of queries later: when the metrics are read, or after some chunks."""

    def __init__(self) -> None:
        self._metrics = QueryMetrics()
        self._notes: list[tuple[Array, float | None]] = []
        self._of_one: list[tuple[int, float | None]] = []

    def note(self, counts: Array, seconds: float | None) -> None:
        """Query q got ``counts[q]`` changes (int64[q]), after ``seconds`` if that is known."""
        self._notes.append((counts, seconds))
        if len(self._notes) >= _MOST_NOTES:
            self._count()

    def note_one(self, count: int, seconds: float | None) -> None:
        """The same of query 0, the only one."""
        self._of_one.append((count, seconds))
        if len(self._of_one) >= _MOST_NOTES:
            self._count()

    @property
    def metrics(self) -> QueryMetrics:
        """The metrics, by the queries' numbers."""
        self._count()
        return self._metrics

    def _count(self) -> None:
        notes, self._notes = self._notes, []
        for counts, seconds in notes:
            self._metrics.add_results(counts)
            if seconds is not None:
                self._metrics.add_latency(counts, seconds)
        if self._of_one:
            self._metrics.add_of_one(*zip(*self._of_one, strict=True))
            self._of_one = []


class ResultTable:
    """Results of queries with the same select list, over one operator.

    Args:
        schema: of the changes.
        pending: where the table is listed while it has changes.
        tally: where the changes of its queries are counted, by their number.
        outputs: the select list, over the columns of the operator; None: these columns.
        replaces: whether a new row of a group replaces the older one.
        owner: see ``TableChanges``.

    Attributes:
        numbers: query name -> its number among the recipients.
    """

    #: Keeps the answers; None: they are assembled from the state of operators.
    view: SharedView | None = None

    def __init__(
        self,
        schema: pa.Schema,
        pending: Pending,
        tally: Tally,
        outputs: Sequence[Expr] | None = None,
        *,
        replaces: bool = False,
        owner: str | None = None,
    ) -> None:
        self.schema = schema
        self.numbers: dict[str, int] = {}
        self._tally = tally
        self.owner = owner
        self._pending = pending
        self._lent = False  # whether a ``TableChanges`` has ``numbers``
        self._outputs = None if outputs is None else [output_of(e) for e in outputs]
        self._replaces = replaces
        self._pieces: list[Piece] = []

    # -- its queries ---------------------------------------------------

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
    def metrics(self) -> QueryMetrics:
        """What was counted so far."""
        return self._tally.metrics

    @property
    def names(self) -> set[str]:
        """The queries that the table ends."""
        return set(self.numbers) if self.owner is None else {self.owner}

    # -- results -------------------------------------------------------

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
        if not batch.ts.size:
            return
        if self._replaces:
            batch = without_replaced(batch)
        piece = self._piece(batch)
        to = piece.recipients
        counts = None if to is None else to.counts()
        if counts is not None and not any_of(counts):
            return
        self.put(piece)
        seconds = None if arrived is None else time.perf_counter() - arrived
        if counts is None:
            assert not isinstance(seconds, np.ndarray), "rows are queued in flows only"
            self._tally.note_one(batch.ts.size, seconds)
        elif seconds is None or isinstance(seconds, float):
            self._tally.note(counts, seconds)
        else:
            assert batch.recipients is not None, "rows are queued in flows only"
            self._tally.metrics.add_results(counts)  # one time per row of the batch, not the piece
            self._tally.metrics.add_latencies(batch.recipients, seconds)

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
        columns = self.table(batch).columns[EXP + 1 :]
        return pa.Table.from_arrays(columns, schema=schema)

    def _piece(self, batch: Batch) -> Piece:
        if self._outputs is None:
            columns = batch.columns()
        else:
            batch, columns = select_list(self._with_parameters(batch.received()), self._outputs)
        made = ChangeColumns(batch.sign, batch.ts, batch.exp, columns, self.schema)
        return Piece(made, batch.recipients)

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


class MaterialisedTable(ResultTable):
    """The result table of queries of a flow whose answers are kept.

    Args:
        view: keeps them.
    """

    def __init__(
        self,
        schema: pa.Schema,
        pending: Pending,
        tally: Tally,
        outputs: Sequence[Expr],
        view: SharedView,
        *,
        replaces: bool,
    ) -> None:
        super().__init__(schema, pending, tally, outputs, replaces=replaces)
        self.view: SharedView = view

    def collect(self, batch: Batch, arrived: float | Array | None) -> None:
        if batch.ts.size:
            self.view.keep(batch)
        super().collect(batch, arrived)


class TreeTable(ResultTable):
    """The result table of a query that runs as a tree of operators, and gets all results.

    What is there before the first instant (rows of tables) is reported as of that instant.
    """

    def __init__(self, name: str, schema: pa.Schema, pending: Pending, *, replaces: bool) -> None:
        super().__init__(schema, pending, Tally(), replaces=replaces, owner=name)
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
        if batch.ts.size and batch.ts[0] < self._since:
            batch = replace(batch, ts=np.maximum(batch.ts, self._since))
        super().collect(batch, arrived)
