"""Over: each row with values of its place among the rows of its partition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from eddyline.kernels import ordered_rows as kernels
from eddyline.kernels.first_places import First
from eddyline.kernels.merge import merged_order
from eddyline.runtime.batch import EXPIRY, Batch, Evaluator, empty_like, usable_rows
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.operators.row_orders import ListOrders, RowOrders, TreapOrders
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array, unique
from eddyline.runtime.stores.counted_values import CountedValues
from eddyline.runtime.stores.expiry import ExpiryStore, text_of
from eddyline.runtime.stores.keytable import KeyTable
from eddyline.runtime.stores.lanes import Lanes
from eddyline.runtime.stores.slots import FreeNumbers
from eddyline.types import FOREVER

_NO_PEERS = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Partitions:
    """How rows are divided and ordered.

    Attributes:
        by, types: what rows of a partition agree on.
        key: their sort key. ties: the part of it on which rows of one rank agree; None: all of it.
    """

    by: tuple[Evaluator, ...]
    types: tuple[pa.DataType, ...]
    key: Evaluator
    ties: Evaluator | None


@dataclass(frozen=True, slots=True)
class Computed:
    """What is computed of the rows of a partition.

    Attributes:
        functions: see the kernels. types: of their values.
        arguments, argument_types: of which functions take values.
        first: of ROW_NUMBER with a limit alone: which rows are shown, if those that cannot be among
            the first ones may be forgotten.
        arrival: whether the first id of a row follows, which is the number of a stream's row.
    """

    functions: kernels.Functions
    types: tuple[pa.DataType, ...]
    arguments: tuple[Evaluator, ...]
    argument_types: tuple[pa.DataType, ...]
    first: First | None
    arrival: bool


class Over(Operator):
    """Shows the rows of the input with the values of functions; a '-' and a '+' where the values of
    a row change. A row for which an expression fails is left out.

    Input rows must be stored. They have numbers here; sort keys and arguments of functions are kept
    once per distinct value.

    Args:
        expiries: when rows expire, dtypes (int64 exp, int64 order, int64 number); None where each
            leaves by a '-' (negative tuples).
        width: how many ids an input row has. taken_back: whether rows may leave by a '-'.
    """

    def __init__(
        self,
        source: Operator,
        partitions: Partitions,
        computed: Computed,
        expiries: ExpiryStore | None,
        *,
        width: int,
        taken_back: bool,
    ) -> None:
        super().__init__((source,))
        self._partitions = partitions
        self._computed = computed
        self._expiries = expiries
        self._table = KeyTable(partitions.types)
        self._keys = CountedValues(pa.binary(), ordered=True)
        self._ties = None if partitions.ties is None else CountedValues(pa.binary(), ordered=True)
        self._arguments = self._numbered_arguments()
        self._by_ids = KeyTable([pa.int64()] * width) if taken_back else None
        self._numbers = FreeNumbers()
        self._id_lanes = tuple(f"id{i}" for i in range(width))
        self._orders: RowOrders = self._made_orders()
        shown = [(name, np.int64) for name in ("ts", "seq", *self._id_lanes)]
        self._shown = Lanes(np.dtype(shown), {})  # ts and seq: since when a row is shown as it is
        self._order = 0
        self._changes = 0
        self._layout: Batch | None = None

    @property
    def _read(self) -> tuple[Evaluator, ...]:
        """What is computed of each row, beside its partition and its place."""
        return self._computed.arguments

    def _numbered_arguments(self) -> tuple[CountedValues, ...]:
        return tuple(CountedValues(t) for t in self._computed.argument_types)

    def _made_orders(self) -> RowOrders:
        computed = self._computed
        if computed.first is not None:
            return ListOrders(computed.first, self._keys)
        return TreapOrders(computed.functions, len(self._arguments), self._keys)

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        by, rest = self._partitions, self._read
        keys = [by.key] if by.ties is None else [by.key, by.ties]
        batch, values = usable_rows(batches[0], [*keys, *by.by, *rest])
        self._layout = empty_like(batch)
        coming, slot = self._coming(batch, values)
        events = self._with_due(coming, tick.clock)
        change, found, left = self._orders.run(events, self._changes)
        self._changes += change.size
        ts, seq = events.instants[:, change["event"]]
        entering = change["sign"] > 0
        row = change["row"][entering]
        self._shown["ts"][row], self._shown["seq"][row] = ts[entering], seq[entering]
        out = self._batch(
            change["row"], ts, seq, change["sign"].astype(np.int8), change["version"], found
        )
        self._report(events)
        self._release(left, slot)
        return out

    def _report(self, events: kernels.Events) -> None:
        """Report the rows of events of which values cannot be computed: of places there are."""

    # -- events --------------------------------------------------------

    def _coming(self, batch: Batch, values: Sequence[pa.Array]) -> tuple[kernels.Events, Array]:
        """The rows of a batch as events, and the partitions of these rows."""
        key = ties = self._keys.number(values[0])
        values = values[1:]
        if self._ties is not None:
            ties, values = self._ties.number(values[0]), values[1:]
        count = len(self._partitions.by)
        slot = self._table.slots(list(values[:count]), len(batch))
        arguments = np.empty((len(self._arguments), len(batch)), np.int64)
        for number, (held, column) in enumerate(zip(self._arguments, values[count:], strict=True)):
            arguments[number] = held.number(column)
        entering = batch.sign > 0
        for held, numbers in self._counted(key, ties, arguments):
            held.refer(numbers[entering])
        row = self._numbered(batch)
        self._wait(batch.exp, row, entering)
        kind = np.where(entering, kernels.IN, kernels.OUT)
        instants = np.stack((batch.ts, batch.seq))
        return kernels.Events(kind, row, instants, slot, key, ties, arguments), slot

    def _counted(
        self, key: Array, ties: Array, arguments: Iterable[Array]
    ) -> list[tuple[CountedValues, Array]]:
        of_ties = [] if self._ties is None else [(self._ties, ties)]
        return [(self._keys, key), *of_ties, *zip(self._arguments, arguments, strict=True)]

    def _numbered(self, batch: Batch) -> Array:
        """The numbers of rows."""
        if self._by_ids is None:
            row, end = self._numbers.take(len(batch)), self._numbers.end
        else:
            row = self._by_ids.slots([pa.array(i) for i in batch.ids], len(batch))
            end = self._by_ids.end
        self._orders.grow(end, self._table.end)
        self._shown.grow(end)
        self._orders.rows["exp"][row] = batch.exp
        for lane, ids in zip(self._id_lanes, batch.ids, strict=True):
            self._shown[lane][row] = ids
        return row

    def _wait(self, exp: Array, row: Array, entering: Array) -> None:
        if self._expiries is None:
            return
        order = np.arange(self._order, self._order + exp.size)
        self._order += exp.size
        mortal = np.flatnonzero(entering & (exp < FOREVER))
        self._expiries.push([lane[mortal] for lane in (exp, order, row)])

    def _with_due(self, coming: kernels.Events, clock: int) -> kernels.Events:
        """Events and the expiries up to an instant, in order."""
        if self._expiries is None:
            return coming
        exp, _, row = self._expiries.pop(clock)
        if exp.size == 0:
            return coming
        nothing = np.full(exp.size, kernels.NOTHING)
        due = kernels.Events(
            np.full(exp.size, kernels.EXPIRED),
            row,
            np.stack((exp, np.full(exp.size, EXPIRY, np.int64))),
            nothing,
            nothing,
            nothing,
            np.full((len(self._arguments), exp.size), kernels.NOTHING),
        )
        lanes = [np.concatenate(pair, axis=-1) for pair in zip(due, coming, strict=True)]
        instants = lanes[2]
        ends = np.cumsum([exp.size, coming.kind.size])
        order = merged_order(instants[0], instants[1], ends)
        return kernels.Events(*(np.ascontiguousarray(lane[..., order]) for lane in lanes))

    def _release(self, left: Array, slots: Array) -> None:
        """Release what the rows that left have referred to, and partitions without rows."""
        key, ties, *arguments = self._orders.referred(left)
        for held, numbers in self._counted(key, ties, arguments):
            held.drop(numbers)
        self._table.release(unique(self._orders.emptied(slots, left)))
        if self._by_ids is None:  # each came once
            self._numbers.release(left)
        else:
            self._by_ids.release(unique(left[~self._orders.there(left)]))

    # -- rows ----------------------------------------------------------

    def _batch(
        self, row: Array, ts: Array, seq: Array, sign: Array, version: Array, values: Array
    ) -> Batch:
        like = self._like()
        ids = (*(self._shown[lane][row] for lane in self._id_lanes), version)
        cells = (*like.cells, *self._columns(values))
        if self._computed.arrival:
            cells = (*cells, pa.array(ids[0]))
        exp = self._orders.rows["exp"][row]
        return Batch(ts, seq, exp, sign, ids, (*like.stores, None), cells)

    def _columns(self, values: Array) -> list[pa.Array]:
        """The values of functions as columns."""
        functions, out = self._computed.functions, []
        for f, type_ in enumerate(self._computed.types):
            column = np.ascontiguousarray(values[:, f])
            if functions.kind[f] < kernels.FIRST_OF_ARGUMENTS:
                out.append(pa.array(column).cast(type_))
            else:
                out.append(self._arguments[functions.argument[f]].values(column))
        return out

    def _like(self) -> Batch:
        """An empty batch with the stores and columns of an input row."""
        if self._layout is None:
            self._layout = empty_like(self.inputs[0].live(FOREVER))
        return self._layout

    def live(self, clock: int) -> Batch:
        row = self._orders.shown()
        row = row[self._orders.rows["exp"][row] > clock]
        ts, seq = self._shown["ts"][row], self._shown["seq"][row]
        order = np.lexsort((seq, ts))
        row = row[order]
        values = self._orders.values(row)
        sign, version = np.ones(row.size, np.int8), self._orders.rows["version"][row]
        return self._batch(row, ts[order], seq[order], sign, version, values)

    @property
    def kept_in(self) -> str:
        return text_of(self._expiries)

    def kept(self) -> int:
        return len(self._numbers) if self._by_ids is None else len(self._by_ids)

    # -- snapshots -----------------------------------------------------

    def _own_arguments(self) -> list[CountedValues]:
        """The values of arguments that are not among those of keys."""
        return [a for a in self._arguments if a not in (self._keys, self._ties)]

    def state(self) -> State:
        out: dict[str, State | Array] = {
            "table": self._table.state(),
            "keys": self._keys.state(),
            "arguments": {str(i): a.state() for i, a in enumerate(self._own_arguments())},
            "numbers": (self._numbers if self._by_ids is None else self._by_ids).state(),
            "orders": self._orders.state(),
            "shown": self._shown.state(),
            "counters": np.array([self._order, self._changes]),
        }
        if self._ties is not None:
            out["ties"] = self._ties.state()
        if self._expiries is not None:
            out["expiries"] = self._expiries.state()
        return out

    def restore(self, state: State) -> None:
        self._table.restore(nested(state, "table"))
        self._keys.restore(nested(state, "keys"))
        if self._ties is not None:
            self._ties.restore(nested(state, "ties"))
        for i, held in enumerate(self._own_arguments()):
            held.restore(nested(nested(state, "arguments"), str(i)))
        (self._numbers if self._by_ids is None else self._by_ids).restore(nested(state, "numbers"))
        self._orders.restore(nested(state, "orders"))
        self._shown.restore(nested(state, "shown"))
        self._order, self._changes = (int(n) for n in array(state, "counters"))
        if self._expiries is not None:
            self._expiries.restore(nested(state, "expiries"))
