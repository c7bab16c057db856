"""MatchRecognize: the matches of a pattern of rows, when they are decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.kernels import pattern_state as kernels
from eddyline.kernels.pattern_state import Chunk, Program
from eddyline.kernels.run_conditions import OVERFLOW, ZERO_DIVISOR
from eddyline.runtime.batch import Batch, Evaluator, Predicate
from eddyline.runtime.failures import Failure, report
from eddyline.runtime.match_values import MatchValues, Shown, Value, items_as_rows
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.operators.row_conditions import RowCondition, RowConditions
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array, raw_values, validity_of
from eddyline.runtime.stores.earlier_rows import EarlierRows
from eddyline.runtime.stores.keytable import KeyTable
from eddyline.runtime.stores.match_lists import (
    Found,
    MatchLists,
    RunConditions,
    as_bits,
)
from eddyline.runtime.stores.payload import Payload, TextNumbers, gathered, reference
from eddyline.types import FOREVER

#: Partitions without rows are forgotten when there are so many.
_IDLE_PARTITIONS: Final = 4096
_REASONS: Final = {
    OVERFLOW: "a sum in DEFINE does not fit BIGINT",
    ZERO_DIVISOR: "division by zero in DEFINE",
    kernels.NO_TARGET: "AFTER MATCH SKIP TO a variable that no row of the match has",
    kernels.TARGET_IS_FIRST: "AFTER MATCH SKIP TO the first row of the match, which would be "
    "found again",
    kernels.TOO_MANY_STEPS: "the pattern can be matched in too many ways",
}


@dataclass(frozen=True, slots=True)
class RunValue:
    """What conditions on earlier rows of a match read of a row; ``kind``: int, float or text."""

    evaluate: Evaluator
    kind: str


@dataclass(frozen=True, slots=True)
class Matching:
    """A pattern, compiled.

    Attributes:
        partition: columns of the input. names: of the columns of the input.
        types: of extended rows: the input's columns, the variable, and those of earlier rows.
        shifted: the last ones: a column, and how many rows earlier.
        variables: their names. shared, predicates: conditions of each on a row alone, those that
            patterns share and others; None: any row.
        code, program: the pattern.
        conditions: on earlier rows of the match. run_values: what they read of a row. texts: places
            and texts of their constants.
        values: of each match. all_rows: for each row of it, with its columns.
        kept: columns of extended rows that the values read.
    """

    partition: tuple[int, ...]
    names: tuple[str, ...]
    types: tuple[pa.DataType, ...]
    shifted: tuple[tuple[int, int], ...]
    variables: tuple[str, ...]
    shared: tuple[RowCondition | None, ...]
    predicates: tuple[Predicate | None, ...]
    code: Array
    program: Program
    conditions: RunConditions
    run_values: tuple[RunValue, ...]
    texts: tuple[tuple[int, str], ...]
    values: tuple[Value, ...]
    all_rows: bool
    kept: tuple[int, ...]

    @property
    def classifier(self) -> int:
        """The column of extended rows with the variable."""
        return len(self.names)


class MatchRecognize(Operator):
    """Matches the rows of each partition in the order in which they come, and emits a row per
    match, or all rows of matches, when they are decided: by a row, or by time. The output has the
    partition, or all columns, and the values. The input has no '-'.

    A row for which a condition cannot be computed does not satisfy it, and is reported.
    """

    def __init__(self, source: RowConditions, matching: Matching) -> None:
        super().__init__((source,))
        self._conditions = source
        for condition in filter(None, matching.shared):
            source.add(condition)
        self._matching = matching
        types = [matching.types[c] for c in matching.partition]
        self._partitions = KeyTable(types)
        self._lists = MatchLists(matching.code, matching.program, matching.conditions)
        self._payload = Payload([matching.types[c] for c in matching.kept])
        self._place = {c: i for i, c in enumerate(matching.kept)}
        self._earlier = EarlierRows(matching.shifted, matching.types) if matching.shifted else None
        self._texts = TextNumbers()
        self._name_constants()
        self._values = MatchValues(matching.values, all_rows=matching.all_rows)
        self._variables = pa.array(matching.variables, pa.string())
        self._most_partitions = _IDLE_PARTITIONS
        self._emitted = 0

    def _name_constants(self) -> None:
        for place, text in self._matching.texts:
            (number,) = self._texts.take(pa.array([text], pa.string()))
            self._matching.conditions.constants[place] = number

    # -- rows in -------------------------------------------------------

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        (batch,) = batches
        assert batch.only_inserts(), "a '-' for a row that never leaves"
        keys = [batch.column(c) for c in self._matching.partition]
        partition = self._partitions.slots(keys, len(batch))
        rows = self._extended(batch, partition)
        chunk = self._chunk(batch, rows, partition)
        found = self._lists.go_on(chunk, self._partitions.end, tick.clock)
        out = self._output(found, rows)
        self._keep(found, rows, chunk)
        self._forget_partitions()
        return out

    def _extended(self, batch: Batch, partition: Array) -> Batch:
        """The rows with columns of earlier rows."""
        if self._earlier is None:
            return batch
        columns = [batch.column(c) for c in self._earlier.needs]
        shifted = self._earlier.columns(partition, columns, self._partitions.end)
        variable = pa.nulls(len(batch), pa.string())
        return replace(batch, cells=(*batch.cells, variable, *shifted))

    def _chunk(self, batch: Batch, rows: Batch, partition: Array) -> Chunk:
        """What the search gets: of a batch, its extended rows, and their partitions."""
        n, matching = len(rows), self._matching
        flags = [
            self._satisfying(c, p, batch, rows)
            for c, p in zip(matching.shared, matching.predicates, strict=True)
        ]
        values = np.empty((len(matching.run_values), n), np.int64)
        known: list[Array | None] = []
        for i, value in enumerate(matching.run_values):
            column = value.evaluate(rows)
            known.append(validity_of(column))
            values[i] = self._numbers(column, value.kind)
        nulls = ~as_bits(known, n) & ((1 << len(known)) - 1)
        return Chunk(partition, rows.ts, rows.seq, as_bits(flags, n), nulls, values)

    def _satisfying(
        self, shared: RowCondition | None, predicate: Predicate | None, batch: Batch, rows: Batch
    ) -> Array | None:
        own = None if predicate is None else predicate(rows)
        if shared is None:
            return own
        flags = self._conditions.satisfied(shared, batch)
        return flags if own is None else flags & own

    def _numbers(self, column: pa.Array, kind: str) -> Array:
        """int64[n] that conditions compute with."""
        if kind == "text":
            return self._texts.take(column)
        if kind == "float":
            wide = raw_values(column.cast(pa.float64()), np.dtype(np.float64))
            return wide.view(np.int64)
        if pa.types.is_boolean(column.type) or pa.types.is_null(column.type):
            column = column.cast(pa.int8())
        width = column.type.bit_width // 8
        return raw_values(column, np.dtype(f"i{width}")).astype(np.int64)

    # -- matches out ---------------------------------------------------

    def _output(self, found: Found, rows: Batch) -> Batch:
        heads, label = found.heads, found.items[:, 1]
        bad = heads[:, kernels.H_PROBLEM] != kernels.FINE
        if bad.any():
            self._report(found, heads[bad], rows)
            heads = heads[~bad]
        first, count = heads[:, kernels.H_FIRST], heads[:, kernels.H_ROWS]
        shown, failures = self._values.shown(
            first, count, label, lambda items: self._items(found, items, rows)
        )
        for failure in failures:
            report(failure)
        return self._emit(shown, heads, found, rows)

    def _emit(self, shown: Shown, heads: Array, found: Found, rows: Batch) -> Batch:
        matching, n = self._matching, shown.match.size
        references = self._lists.rows[found.items[shown.item, 0], kernels.SOURCE]
        own = range(matching.classifier) if matching.all_rows else matching.partition
        columns = [self._gathered(c, references, rows) for c in own]
        self._emitted += n
        return Batch(
            heads[shown.match, kernels.H_TS],
            heads[shown.match, kernels.H_SEQ],
            np.full(n, FOREVER, np.int64),
            np.ones(n, np.int8),
            (np.arange(self._emitted - n, self._emitted),),
            (None,),
            (*columns, *shown.columns),
        )

    def _gathered(self, column: int, references: Array, rows: Batch) -> pa.Array:
        if not references.size:
            return pa.nulls(0, self._matching.types[column])
        return gathered(references, rows.column(column), self._payload, self._place[column])

    def _items(self, found: Found, items: Array, rows: Batch) -> Batch:
        """Rows of matches, with the columns that values read; others are NULL."""
        matching = self._matching
        numbers = found.items[items, 0]
        held = self._lists.rows[numbers]
        references = held[:, kernels.SOURCE]
        columns: list[pa.Array] = []
        for column, type_ in enumerate(matching.types):
            if column == matching.classifier:
                label = found.items[items, 1]
                columns.append(self._variables.take(pa.array(label)))
            elif column in self._place:
                columns.append(self._gathered(column, references, rows))
            else:
                columns.append(pa.nulls(items.size, type_))
        return items_as_rows(columns, held[:, kernels.TS], held[:, kernels.NUMBER])

    def _report(self, found: Found, heads: Array, rows: Batch) -> None:
        first = self._items(found, heads[:, kernels.H_FIRST], rows)
        reasons = [_REASONS[int(p)] for p in heads[:, kernels.H_PROBLEM]]
        matching = self._matching
        names = tuple((matching.names[c], c) for c in matching.kept if c < len(matching.names))
        report(Failure(first, np.arange(len(first)), pa.array(reasons, pa.string()), names))

    # -- what is kept --------------------------------------------------

    def _keep(self, found: Found, rows: Batch, chunk: Chunk) -> None:
        """Keep the new rows that are in lists, and forget those that have left them."""
        lists, first_value = self._lists.rows, kernels.SEEN + self._matching.program.words
        source = lists[found.freed, kernels.SOURCE]
        old = found.freed[source < 0]
        for i, value in enumerate(self._matching.run_values):
            if value.kind == "text":
                gone = np.ones(len(rows), np.bool_)
                kept = found.taken[lists[found.taken, kernels.HELD] != 0]
                gone[lists[kept, kernels.SOURCE]] = False
                left = lists[old, first_value + i]
                self._texts.release(np.concatenate((chunk.values[i][gone], left)))
        self._payload.release(-2 - lists[old, kernels.SOURCE])
        kept = found.taken[lists[found.taken, kernels.HELD] != 0]
        index = pa.array(lists[kept, kernels.SOURCE])
        columns = [rows.column(c).take(index) for c in self._matching.kept]
        lists[kept, kernels.SOURCE] = reference(self._payload.add(columns, kept.size))
        self._lists.release(found.freed)

    def _forget_partitions(self) -> None:
        if self._earlier is not None or len(self._partitions) <= self._most_partitions:
            return
        self._partitions.release(self._lists.idle(self._partitions.used()))
        self._most_partitions = 2 * len(self._partitions) + _IDLE_PARTITIONS

    def live(self, clock: int) -> Batch:
        """None: rows are emitted and not kept."""
        nothing = np.zeros(0, np.int64)
        none = Found(np.zeros((0, 6), np.int64), np.zeros((0, 2), np.int64), nothing, nothing)
        columns = [pa.nulls(0, t) for t in self._matching.types]
        return self._output(none, items_as_rows(columns, nothing, nothing))

    def close(self) -> None:
        for condition in filter(None, self._matching.shared):
            self._conditions.remove(condition)

    def kept(self) -> int:
        earlier = 0 if self._earlier is None else len(self._earlier)
        return len(self._lists) + earlier

    def state(self) -> State:
        return {
            "partitions": self._partitions.state(),
            "lists": self._lists.state(),
            "payload": self._payload.state(),
            "earlier": {} if self._earlier is None else self._earlier.state(),
            "texts": self._texts.state(),
            "constants": self._matching.conditions.constants.copy(),
            "counters": np.array([self._emitted, self._most_partitions]),
        }

    def restore(self, state: State) -> None:
        self._partitions.restore(nested(state, "partitions"))
        self._lists.restore(nested(state, "lists"))
        self._payload.restore(nested(state, "payload"))
        if self._earlier is not None:
            self._earlier.restore(nested(state, "earlier"))
        self._texts.restore(nested(state, "texts"))
        self._matching.conditions.constants[:] = array(state, "constants")
        self._emitted, self._most_partitions = (int(n) for n in array(state, "counters"))
