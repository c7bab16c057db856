"""Aggregates over the frame of each row, which has rows of its partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.runtime.aggregates import Aggregate
from eddyline.runtime.frame_rows import FrameRows, Moves, Rows
from eddyline.runtime.state import State, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.later_rows import LaterRows

_NONE: Final = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Computed:
    """A column of values, bool[n] where there is none, and why."""

    values: pa.Array
    failed: Array | None
    reason: str


@dataclass(frozen=True, slots=True)
class Entering:
    """When rows enter frames.

    Attributes:
        frame: the rows in the frames. later: those that enter later than they come, if any do.
        early: whether they come before the current rows are known, by :meth:`expect`.
        exclude: which rows around the current ones are left out, as of the kernels; 0: none, or
            ``frame`` does so.
    """

    frame: FrameRows
    later: LaterRows | None = None
    early: bool = False
    exclude: int = 0


class AggregatesOfFrame:
    """Aggregates over the same frames. Where the rows that enter are not the current ones, these
    are rows of NULLs, at whose place values are computed.

    Args:
        aggregates: their states. rows: of the frames.

    Attributes:
        emptied: the partitions whose last row has left its frame in the last chunk.
    """

    def __init__(self, aggregates: Sequence[Aggregate], rows: Entering) -> None:
        self._aggregates = list(aggregates)
        self._rows = rows
        self.emptied = _NONE

    def __len__(self) -> int:
        """How many rows wait until they leave a frame."""
        later = self._rows.later
        return len(self._rows.frame) + (0 if later is None else len(later))

    def expect(self, ts: Array, partition: Array, arguments: Sequence[pa.Array | None]) -> None:
        """Keep rows until they enter; ``ts``: when they would if they entered as current rows."""
        assert self._rows.later is not None, "rows that enter later"
        self._rows.later.keep(ts, partition, [a for a in arguments if a is not None])

    def run(
        self,
        ts: Array,
        partition: Array,
        partitions: int,
        arguments: Sequence[pa.Array | None],
        clock: int,
    ) -> list[Computed]:
        """The aggregates of the frame of each row of a chunk.

        Args:
            ts, partition: int64[n], of the rows; partitions are below ``partitions``.
            arguments: a column per aggregate; None: whole rows.
        """
        for aggregate in self._aggregates:
            aggregate.grow(partitions)
        later, early = self._rows.later, self._rows.early
        if later is None:
            entering = Rows(ts, partition, self._lanes(partition, arguments))
        else:
            if not early:
                self.expect(ts, partition, arguments)
            at, of, columns = later.enter(clock)
            known = iter(columns)
            entered = [None if a is None else next(known) for a in arguments]
            entering = Rows(at, of, self._lanes(of, entered))
        moves = self._moves(entering, ts, partition, arguments, clock)
        self.emptied = moves.emptied if later is None else later.none_of(moves.emptied)
        return self._computed(moves)

    def _moves(
        self,
        entering: Rows,
        ts: Array,
        partition: Array,
        arguments: Sequence[pa.Array | None],
        clock: int,
    ) -> Moves:
        frame, exclude = self._rows.frame, self._rows.exclude
        if self._rows.later is None:
            moves = frame.moves(entering, None, clock)
            if moves.released is not None:
                self._refer(entering.lanes)
            return moves.without(entering, exclude) if exclude else moves
        current = Rows(ts, partition, self._no_values(partition, arguments))
        moves = frame.moves(entering, current, clock)
        if not exclude:
            return moves
        return moves.without(current._replace(lanes=self._lanes(partition, arguments)), exclude)

    def _lanes(self, partition: Array, arguments: Sequence[pa.Array | None]) -> list[Array]:
        both = zip(self._aggregates, arguments, strict=True)
        return [lane for aggregate, a in both for lane in aggregate.lanes(partition, a)]

    def _no_values(self, partition: Array, arguments: Sequence[pa.Array | None]) -> list[Array]:
        types = [None if a is None else a.type for a in arguments]
        return no_values(self._aggregates, partition, types)

    def _refer(self, lanes: Sequence[Array]) -> None:
        for aggregate, own in self._by_aggregate(lanes):
            aggregate.refer(own)

    def _by_aggregate(self, lanes: Sequence[Array]) -> list[tuple[Aggregate, Sequence[Array]]]:
        ends = np.cumsum([0, *(len(a.dtypes) for a in self._aggregates)])
        return [(a, lanes[s:e]) for a, s, e in zip(self._aggregates, ends, ends[1:], strict=False)]

    def _computed(self, moves: Moves) -> list[Computed]:
        out = []
        for aggregate, own in self._by_aggregate(moves.lanes):
            reported = aggregate.run(moves.rows, own)
            failed = None if reported.failed is None else reported.failed[0][moves.emission]
            values = reported.new.take(pa.array(moves.emission))
            out.append(Computed(values, failed, aggregate.failure))
        if moves.released is not None:
            for aggregate, own in self._by_aggregate(moves.released):
                aggregate.drop(own)
        for aggregate in self._aggregates:
            aggregate.settle()
        return out

    def state(self) -> State:
        """Saved as plain arrays."""
        own = {str(i): a.state() for i, a in enumerate(self._aggregates)}
        later = {} if self._rows.later is None else self._rows.later.state()
        return {"frame": self._rows.frame.state(), "aggregates": own, "later": later}

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        self._rows.frame.restore(nested(state, "frame"))
        if self._rows.later is not None:
            self._rows.later.restore(nested(state, "later"))
        for i, aggregate in enumerate(self._aggregates):
            aggregate.restore(nested(nested(state, "aggregates"), str(i)))


def no_values(
    aggregates: Sequence[Aggregate], slot: Array, types: Sequence[pa.DataType | None]
) -> list[Array]:
    """What aggregates remember of rows without values; types: of the values, None: whole rows."""
    lanes: list[Array] = []
    for aggregate, type_ in zip(aggregates, types, strict=True):
        if type_ is None:
            lanes += [np.zeros(slot.size, d) for d in aggregate.dtypes]
        else:
            lanes += aggregate.lanes(slot, pa.nulls(slot.size, type_))
    return lanes
