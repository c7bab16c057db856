"""Matching: left rows chosen by what the right input holds; EXCEPT ALL, EXISTS, NOT EXISTS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from eddyline.kernels import matching as kernels
from eddyline.kernels.matching import Events
from eddyline.kernels.merge import merged_order
from eddyline.runtime.batch import EXPIRY, Batch, Evaluator, empty_like, usable_rows
from eddyline.runtime.failures import collecting
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.screens import Screen
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array, unique
from eddyline.runtime.stores.expiry import ExpiryStore, text_of, uncancelled
from eddyline.runtime.stores.keys import all_known
from eddyline.runtime.stores.keytable import KeyTable
from eddyline.runtime.stores.lanes import Lanes
from eddyline.runtime.stores.slots import FreeNumbers
from eddyline.types import FOREVER

_NO_ROW = kernels.NO_ROW
_ROW_FILLS = dict.fromkeys(("key_of", "older", "younger", "last"), _NO_ROW)
_SLOT_FILLS = dict.fromkeys(("oldest", "youngest", "edge"), _NO_ROW)


@dataclass(frozen=True, slots=True)
class MatchKeys:
    """What left and right rows must agree on.

    ``nulls_match``: whether NULL equals NULL; if not, a right row with a NULL matches nothing.
    """

    types: tuple[pa.DataType, ...]
    left: tuple[Evaluator, ...]
    right: tuple[Evaluator, ...]
    nulls_match: bool


@dataclass(frozen=True, slots=True)
class MatchInput:
    """How the rows of one input leave.

    Attributes:
        expiries: when rows expire; None where each leaves by a '-' (negative tuples). Dtypes
            (int64 exp, int64 order, int64 number) on the left, (int64 exp, int64 order, int64 slot,
            int8 sign, int64 per id) on the right.
        id_width: how many ids identify a row that a '-' takes back; 0 where none ever does.
    """

    expiries: ExpiryStore | None
    id_width: int


class Matching(Operator):
    """Shows left rows by a rule; a '-' takes a row back that is no longer chosen, before its time.

    A row of either input whose key cannot be computed is left out. Left rows must be stored. They
    have numbers here, and are linked by age for each key; of right rows only the count per key is
    kept.

    Source: Golab and Ozsu 2005, sections 2.1 and 5.3.

    Args:
        rule: NEGATION, SEMI or ANTI of ``eddyline.kernels.matching``.
        width: how many ids a left row has.
    """

    def __init__(
        self,
        left: Operator,
        right: Operator,
        rule: int,
        keys: MatchKeys,
        inputs: tuple[MatchInput, MatchInput],
        width: int,
    ) -> None:
        super().__init__((left, right))
        self._rule = rule
        self._keys = keys
        self._left, self._right = inputs
        self._table = KeyTable(keys.types)
        self._by_ids = KeyTable([pa.int64()] * width) if self._left.id_width else None
        self._numbers = FreeNumbers()
        self._id_lanes = tuple(f"id{i}" for i in range(width))
        self._rows = Lanes(kernels.LEFT_ROW, _ROW_FILLS)
        shown = [(name, np.int64) for name in ("ts", "seq", *self._id_lanes)]
        self._shown = Lanes(np.dtype(shown), {})  # ts and seq: since when a row is shown
        self._slots = Lanes(kernels.KEY_LISTS, _SLOT_FILLS)
        self._order = 0
        self._layout: Batch | None = None
        self._screen: Screen | None = None  # of the left rows
        self._holds_all = True  # no left row that is alive has been left out

    def asks_for(self, source: Operator) -> Screen | None:
        is_judged = self._rule != kernels.NEGATION and self.inputs[0] is not self.inputs[1]
        return self.asked() if is_judged and source is self.inputs[0] else None

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        self._fit(self.clock, batches[0])
        left = batches[0] if self._screen is None else self._screen.applied(batches[0])
        left, left_keys = usable_rows(left, self._keys.left)
        right, right_keys = usable_rows(batches[1], self._keys.right)
        self._layout = empty_like(left)
        if not self._keys.nulls_match:
            known = all_known(right_keys, len(right))
            right, right_keys = right.where(known), [k.filter(pa.array(known)) for k in right_keys]
        coming = [self._left_events(left, left_keys), self._right_events(right, right_keys)]
        events = _merged([self._left_due(tick.clock), self._right_due(tick.clock), *coming])
        self._slots.grow(self._table.end)
        row, sign, event, gone = kernels.match(
            self._rule, events, self._rows.records, self._slots.records
        )
        ts, seq = events.instants[:, event]
        entering = sign > 0
        self._shown["ts"][row[entering]] = ts[entering]
        self._shown["seq"][row[entering]] = seq[entering]
        out = self._changes(row, ts, seq, sign)
        self._release(gone, events.slot)
        return out

    def _fit(self, clock: int, coming: Batch | None = None) -> None:
        """Take in left rows that readers did not ask for before, and forget those that they do not
        ask for any more: the '-' of these will not come. What this brings about is for readers that
        ask for the rows that are shown now.

        Args:
            clock: of all rows before those that are ``coming``.
        """
        screen = self.asks_for(self.inputs[0])
        if screen is self._screen and (screen is not None or self._holds_all):
            return
        self._screen = screen
        end = self._numbers.end if self._by_ids is None else self._by_ids.end
        held = np.flatnonzero(self._rows["key_of"][:end] != _NO_ROW)
        if screen is not None and held.size:
            rows = self._of(held)
            is_wanted = screen.accepts(rows.column, len(rows))
            self._forget(held[~is_wanted], clock)
            held = held[is_wanted]
        if not self._holds_all:
            rows = self.inputs[0].live(clock)
            rows = rows if screen is None else screen.applied(rows)
            known = [self._shown[lane][held] for lane in self._id_lanes]
            if coming is not None:
                known = [np.concatenate(pair) for pair in zip(known, coming.ids, strict=True)]
            self._take_in(rows.where(~_among(rows.ids, known)))
        self._holds_all = screen is None

    def _of(self, row: Array) -> Batch:
        """The left rows with these numbers."""
        ts, seq = self._shown["ts"][row], self._shown["seq"][row]
        return self._changes(row, ts, seq, np.ones(row.size, np.int8))

    def _forget(self, row: Array, clock: int) -> None:
        """Forget left rows that no reader asks for, by their numbers."""
        instants = np.full((2, row.size), clock)
        events = Events(
            np.full(row.size, kernels.LEFT_OUT, np.int8), np.full(row.size, _NO_ROW), row, instants
        )
        *_, gone = kernels.match(self._rule, events, self._rows.records, self._slots.records)
        self._release(gone, events.slot)

    def _take_in(self, batch: Batch) -> None:
        with collecting():  # what fails has been reported
            batch, keys = usable_rows(batch, self._keys.left)
        events = self._left_events(batch, keys, late=True)
        self._slots.grow(self._table.end)
        row, sign, event, _ = kernels.match(
            self._rule, events, self._rows.records, self._slots.records
        )
        ts, seq = events.instants[:, event]
        self._shown["ts"][row], self._shown["seq"][row] = ts, seq
        assert (sign > 0).all(), "left rows hide no others"

    def _left_events(self, batch: Batch, keys: list[pa.Array], *, late: bool = False) -> Events:
        """Rows that come get a number, with which they wait for their expiry.

        Args:
            late: they may expire before some that are waiting.
        """
        slot = self._table.slots(keys, len(batch))
        if self._by_ids is None:
            row = self._numbers.take(len(batch))
            end = self._numbers.end
        else:
            row = self._by_ids.slots([pa.array(i) for i in batch.ids], len(batch))
            end = self._by_ids.end
        self._rows.grow(end)
        self._shown.grow(end)
        self._rows["exp"][row] = batch.exp
        for lane, ids in zip(self._id_lanes, batch.ids, strict=True):
            self._shown[lane][row] = ids
        entering = batch.sign > 0
        self._wait(self._left.expiries, batch.exp, [row], entering, late=late)
        kind = np.where(entering, kernels.LEFT_IN, kernels.LEFT_OUT).astype(np.int8)
        return Events(kind, slot, row, np.stack((batch.ts, batch.seq)))

    def _right_events(self, batch: Batch, keys: list[pa.Array]) -> Events:
        slot = self._table.slots(keys, len(batch))
        ids = batch.ids[: self._right.id_width]
        all_rows = np.ones(len(batch), np.bool_)
        self._wait(self._right.expiries, batch.exp, [slot, batch.sign, *ids], all_rows)
        kind = np.where(batch.sign > 0, kernels.RIGHT_IN, kernels.RIGHT_OUT).astype(np.int8)
        return Events(kind, slot, np.full(len(batch), _NO_ROW), np.stack((batch.ts, batch.seq)))

    def _wait(
        self,
        expiries: ExpiryStore | None,
        exp: Array,
        lanes: list[Array],
        which: Array,
        *,
        late: bool = False,
    ) -> None:
        if expiries is None:
            return
        order = np.arange(self._order, self._order + exp.size)
        self._order += exp.size
        mortal = np.flatnonzero(which & (exp < FOREVER))
        push = expiries.push_late if late else expiries.push
        push([lane[mortal] for lane in (exp, order, *lanes)])

    def _left_due(self, clock: int) -> Events:
        if self._left.expiries is None:
            return _due(kernels.LEFT_EXPIRED, np.zeros(0, np.int64))
        exp, _, row = self._left.expiries.pop(clock)
        return _due(kernels.LEFT_EXPIRED, exp, row=row)

    def _right_due(self, clock: int) -> Events:
        if self._right.expiries is None:
            return _due(kernels.RIGHT_OUT, np.zeros(0, np.int64))
        exp, _, slot, sign, *ids = self._right.expiries.pop(clock)
        left = uncancelled(exp, sign, ids)
        return _due(kernels.RIGHT_OUT, exp[left], slot=slot[left])

    def _changes(self, row: Array, ts: Array, seq: Array, sign: Array) -> Batch:
        like = self._like()
        ids = tuple(self._shown[lane][row] for lane in self._id_lanes)
        return Batch(ts, seq, self._rows["exp"][row], sign, ids, like.stores, like.cells)

    def _like(self) -> Batch:
        """An empty batch with the stores and columns of a left row."""
        if self._layout is None:
            self._layout = empty_like(self.inputs[0].live(FOREVER))
        return self._layout

    def _release(self, gone: Array, slots: Array) -> None:
        gone = unique(gone)
        gone = gone[self._rows["key_of"][gone] == _NO_ROW]
        if self._by_ids is None:
            self._numbers.release(gone)
        else:
            self._by_ids.release(gone)
        slots = unique(slots[slots != _NO_ROW])
        empty = (self._slots["lefts"][slots] == 0) & (self._slots["rights"][slots] == 0)
        self._table.release(slots[empty])

    def live(self, clock: int) -> Batch:
        self._fit(clock)
        row = np.flatnonzero(self._rows["shown"] & (self._rows["exp"] > clock))
        ts, seq = self._shown["ts"][row], self._shown["seq"][row]
        return self._of(row[np.lexsort((seq, ts))])

    @property
    def kept_in(self) -> str:
        left, right = (text_of(i.expiries) for i in (self._left, self._right))
        return left if left == right else f"{left}; right input: {right}"

    def kept(self) -> int:
        rows = len(self._numbers) if self._by_ids is None else len(self._by_ids)
        counts = 0 if self._right.expiries is None else len(self._right.expiries)
        return rows + len(self._table) + counts

    def state(self) -> State:
        out: dict[str, State | Array] = {
            "table": self._table.state(),
            "numbers": (self._numbers if self._by_ids is None else self._by_ids).state(),
            "rows": self._rows.state(),
            "shown": self._shown.state(),
            "slots": self._slots.state(),
            "order": np.array([self._order]),
            "holds_all": np.array([self._holds_all]),
            "clock": np.array([self.clock]),
        }
        for name, side in (("left", self._left), ("right", self._right)):
            if side.expiries is not None:
                out[name] = side.expiries.state()
        return out

    def restore(self, state: State) -> None:
        self._holds_all = bool(array(state, "holds_all")[0])
        self.clock = int(array(state, "clock")[0])
        self._table.restore(nested(state, "table"))
        (self._numbers if self._by_ids is None else self._by_ids).restore(nested(state, "numbers"))
        self._rows.restore(nested(state, "rows"))
        self._shown.restore(nested(state, "shown"))
        self._slots.restore(nested(state, "slots"))
        self._order = int(array(state, "order")[0])
        for name, side in (("left", self._left), ("right", self._right)):
            if side.expiries is not None:
                side.expiries.restore(nested(state, name))


def _among(rows: Sequence[Array], others: Sequence[Array]) -> Array:
    """bool[n]: which rows are among others, by their ids."""
    mine, theirs = (np.ascontiguousarray(np.stack(ids, axis=1)) for ids in (rows, others))
    whole = np.dtype((np.void, mine.itemsize * mine.shape[1]))
    found: Array = np.isin(mine.view(whole).ravel(), theirs.view(whole).ravel())
    return found


def _due(kind: int, exp: Array, *, slot: Array | None = None, row: Array | None = None) -> Events:
    """Expiries as events; a missing slot or row is ``_NO_ROW``."""
    missing = np.full(exp.size, _NO_ROW)
    return Events(
        np.full(exp.size, kind, np.int8),
        missing if slot is None else slot,
        missing if row is None else row,
        np.stack((exp, np.full(exp.size, EXPIRY, np.int64))),
    )


def _merged(parts: Sequence[Events]) -> Events:
    """One sequence by (ts, seq); on ties earlier parts come first."""
    kind, slot, row, instants = (np.concatenate(lane, axis=-1) for lane in zip(*parts, strict=True))
    ends = np.cumsum([p.kind.size for p in parts])
    order = merged_order(instants[0], instants[1], ends)
    return Events(kind[order], slot[order], row[order], instants.take(order, axis=1))
