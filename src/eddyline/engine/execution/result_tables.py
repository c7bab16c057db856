"""Shapes: queries of a flow with the same select list. Their results are in one table per chunk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from eddyline.algebra.expressions import Expr
from eddyline.physical.flows import output_of
from eddyline.runtime.batch import Stored
from eddyline.runtime.eddy.fanout import Fanout
from eddyline.runtime.eddy.outputs import computed
from eddyline.runtime.output import concat_changes, instants, to_changes
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.rowstore import RowStore

#: Where ``_exp`` stands among the columns of changes.
_EXP = 2


@dataclass(frozen=True, slots=True)
class Piece:
    """What one chunk brought to the queries of a shape.

    Attributes:
        results: n rows of changes, each result once; their ``_exp`` is not that of any query.
        fanout: who gets which.
    """

    results: pa.Table
    fanout: Fanout

    def of(self, bit: int) -> pa.Table:
        """The changes of one query."""
        if bit >= self.fanout.bits:
            return self.results.slice(0, 0)
        return self._changes(*self.fanout.of(bit))

    def of_all(self) -> pa.Table:
        """The changes of all queries, in order."""
        return self.cut(np.argsort(self.fanout.rows, kind="stable"))

    def cut(self, which: Array) -> pa.Table:
        """The changes with these numbers, query by query."""
        return self._changes(self.fanout.rows[which], self.fanout.exp[which])

    def _changes(self, rows: Array, exp: Array) -> pa.Table:
        changes = self.results.take(pa.array(rows))
        return changes.set_column(_EXP, changes.field(_EXP), instants(exp))

    def counts(self) -> Array:
        """int64[bits]: how many changes each query has."""
        return self.fanout.counts()


@dataclass(frozen=True)
class SharedChanges:
    """The changes of all queries of a shape.

    Attributes:
        schema: of the changes. pieces: chunk by chunk. seats: name of a query -> its bit.
        crowd: the query that all bits belong to (FOR EACH ROW OF); None if each is one of its own.
    """

    schema: pa.Schema
    pieces: Sequence[Piece]
    seats: Mapping[str, int]
    crowd: str | None

    def __contains__(self, name: str) -> bool:
        return name == self.crowd or name in self.seats

    def of(self, name: str) -> pa.Table:
        """The changes of one query."""
        if name == self.crowd:
            parts = [p.of_all() for p in self.pieces]
        else:
            parts = [p.of(self.seats[name]) for p in self.pieces]
        return concat_changes(parts, self.schema)

    def active(self) -> Iterator[str]:
        """The names of the queries that have changes."""
        if self.crowd is not None:
            return iter((self.crowd,) if self.pieces else ())
        bits = max((p.fanout.bits for p in self.pieces), default=0)
        busy = np.zeros(bits, np.bool_)
        for piece in self.pieces:
            busy[: piece.fanout.bits] |= piece.counts() > 0
        return (name for name, bit in self.seats.items() if bit < bits and busy[bit])

    def together(self, column: str) -> pa.Table:
        """All changes in one table, query by query within a chunk; ``column`` names the query."""
        field = pa.field(column, pa.dictionary(pa.int32(), pa.string()))
        named = self._of_the_crowd if self.crowd is not None else self._of_queries
        parts = [changes.add_column(0, field, query) for changes, query in named()]
        return pa.concat_tables(parts) if parts else pa.schema([field, *self.schema]).empty_table()

    def sets(self, column: str) -> Iterator[tuple[pa.Table, Sequence[list[str]]]]:
        """The results of each piece, each once; ``column`` is the number of the set of queries that
        get it.
        """
        names = {bit: name for name, bit in self.seats.items()}
        for piece in self.pieces:
            number, members = piece.fanout.sets()
            sets = _Named(members, names if self.crowd is None else self.crowd)
            column_0 = pa.array(number, pa.int32())
            yield piece.results.drop_columns(["_exp"]).add_column(0, column, column_0), sets

    def _of_the_crowd(self) -> Iterator[tuple[pa.Table, pa.Array]]:
        """The changes of each piece, and whose they are."""
        for piece in self.pieces:
            changes = piece.of_all()
            yield changes, pa.repeat(self.crowd, changes.num_rows).dictionary_encode()

    def _of_queries(self) -> Iterator[tuple[pa.Table, pa.Array]]:
        names = pa.array(list(self.seats), pa.string())
        number = np.full(max(self.seats.values(), default=-1) + 1, -1, np.int32)
        number[list(self.seats.values())] = np.arange(len(self.seats))
        for piece in self.pieces:
            counts = piece.counts()[: number.size]
            owner = np.repeat(number[: counts.size], counts)
            known = np.flatnonzero(owner >= 0)  # the others were dropped meanwhile
            yield piece.cut(known), pa.DictionaryArray.from_arrays(pa.array(owner[known]), names)


class _Named(Sequence[list[str]]):
    """Sets of queries by name; those that were dropped meanwhile are left out."""

    def __init__(self, members: Sequence[Array], names: Mapping[int, str] | str) -> None:
        self._members = members
        self._names = names

    def __len__(self) -> int:
        return len(self._members)

    def __getitem__(self, number: Any) -> Any:
        bits = self._members[number].tolist()
        if isinstance(self._names, str):
            return [self._names] * len(bits)
        return [self._names[bit] for bit in bits if bit in self._names]


class RuleRows:
    """The row of the table of rules that each query of a crowd stands for.

    Attributes:
        store: where the rows are. ids: int64[bits], row ids by bit.
    """

    def __init__(self, store: RowStore) -> None:
        self.store = store
        self.ids = np.zeros(64, np.int64)

    def put(self, bit: int, row: int) -> None:
        """The query with this bit stands for this row."""
        if bit >= self.ids.size:
            self.ids = np.concatenate((self.ids, np.zeros(2 * bit - self.ids.size, np.int64)))
        self.ids[bit] = row


class Shape:
    """Queries of a flow with the same select list.

    Args:
        schema: of the changes.
        outputs: the select list, over the columns of the flow's sources and, behind them, those of
            ``rules``.
        replaces: whether a new row of a group replaces the older one.
        crowd: see ``SharedChanges``. rules: what its queries differ in.

    Attributes:
        seats: name of a query -> its bit.
    """

    def __init__(
        self,
        schema: pa.Schema,
        outputs: Sequence[Expr],
        *,
        replaces: bool,
        crowd: str | None = None,
        rules: RuleRows | None = None,
    ) -> None:
        self.schema = schema
        self.seats: dict[str, int] = {}
        self.rows_out = 0
        self.crowd = crowd
        self.rules = rules
        self._lent = False  # whether somebody has ``seats`` as they are
        self._outputs = [output_of(e) for e in outputs]
        self._replaces = replaces
        self._pieces: list[Piece] = []

    def seat(self, name: str, bit: int) -> None:
        """A query has come."""
        self._own_seats()[name] = bit

    def unseat(self, name: str) -> None:
        """A query has gone."""
        del self._own_seats()[name]

    def _own_seats(self) -> dict[str, int]:
        if self._lent:
            self.seats, self._lent = dict(self.seats), False
        return self.seats

    def collect(self, fanout: Fanout) -> Array:
        """Add results that queries of the shape get; returns int64[bits], how many each got."""
        if self._replaces and fanout.batch.pair is not None:
            fanout = fanout.only(~_replaced(fanout))
        if not fanout.counts().any():
            return fanout.counts()
        piece = self._piece(fanout)
        counts = piece.counts()
        if counts.any():
            self.rows_out += int(counts.sum())
            self._pieces.append(piece)
        return counts

    def table(self, fanout: Fanout) -> pa.Table:
        """Results of one query as its changes."""
        return self._piece(fanout).of_all()

    def rows(self, fanout: Fanout, schema: pa.Schema) -> pa.Table:
        """Results as rows of the select list, one query after the other."""
        piece = self._piece(fanout)
        columns = piece.results.take(pa.array(piece.fanout.rows)).columns[_EXP + 1 :]
        return pa.Table.from_arrays(columns, schema=schema)

    def _piece(self, fanout: Fanout) -> Piece:
        fanout = fanout.used() if self.rules is None else _with_rules(fanout, self.rules)
        fanout, columns = computed(fanout, self._outputs)
        results = to_changes(fanout.batch, self.schema, columns)
        return Piece(results, fanout)

    @property
    def pending(self) -> bool:
        """Whether there is something to take."""
        return bool(self._pieces)

    def changes(self) -> SharedChanges:
        """What has been collected, left in place."""
        self._lent = True
        return SharedChanges(self.schema, tuple(self._pieces), self.seats, self.crowd)

    def clear(self) -> None:
        """Forget what has been collected."""
        self._pieces = []


def _with_rules(fanout: Fanout, rules: RuleRows) -> Fanout:
    """Each result once per query, with the columns of the rule that the query stands for."""
    order = np.argsort(fanout.rows, kind="stable")  # results keep their order
    batch = fanout.batch.take(fanout.rows[order])
    ids = rules.ids[fanout.member[order]]
    own = tuple(Stored(len(batch.ids), i) for i in range(len(rules.store.schema)))
    whole = replace(
        batch,
        ids=(*batch.ids, ids),
        stores=(*batch.stores, rules.store),
        cells=(*batch.cells, *own),
        _gathered={},
    )
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size)
    return Fanout(whole, place, fanout.starts, fanout.exp)


def _replaced(fanout: Fanout) -> Array:
    """bool[m]: each '-' whose pair's '+' follows for the same query."""
    batch, rows, member = fanout.batch, fanout.rows, fanout.member
    assert batch.pair is not None, "nothing replaces anything here"
    replaced = np.zeros(rows.size, np.bool_)
    replaced[:-1] = (
        (batch.sign[rows[:-1]] < 0)
        & (batch.pair[rows[:-1]] == batch.pair[rows[1:]])
        & (member[:-1] == member[1:])
    )
    return replaced
