"""PerQuery: operators above a flow that serve many queries at once.

Of each result there is one row per query that gets it, with the query's number in front and leaving
when it leaves that query's answer::

      flow ──▶ rows of (number, columns) ──▶ GROUP BY number, ... ──▶ cut by number

The operators know nothing of queries: the number is one more key. Columns are computed once per
result. A chunk is cut where it gets large, between two events; results do not depend on that.

What is held above the flow follows from what the flow holds, except for which of several equal rows
DISTINCT has shown: those are taken along whenever it is made anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.kernels.lineage import by_bit
from eddyline.runtime.batch import Batch, Evaluator
from eddyline.runtime.eddy.fanout import Fanout
from eddyline.runtime.eddy.flow import Flow
from eddyline.runtime.eddy.outputs import computed
from eddyline.runtime.failures import collecting, report
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.operators.distinct import Distinct
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array

#: Rows of queries that run through the operators at once.
_MOST_ROWS: Final = 1 << 20
#: So many queries may have gone before their groups are looked for.
_MOST_GONE: Final = 64


class PerQuery(Operator):
    """Runs operators over the results of a flow, for each query of its own.

    Args:
        outputs: the columns that they need: of the flow's results, or how to compute them.
        make: makes the operators, from the flow upwards; each has one input.

    Attributes:
        flow: as given.
        fanouts: what the chunk brought, piece by piece: rows by number of the query.
    """

    def __init__(
        self,
        flow: Flow,
        outputs: Sequence[int | Evaluator],
        make: Callable[[], Sequence[Operator]],
    ) -> None:
        super().__init__((flow,))
        self.flow = flow
        self._outputs = tuple(outputs)
        self._make = make
        self._above = tuple(make())
        self._numbers: dict[int, int] = {}  # by bit of the flow
        self._by_bit: Array | None = None  # the same, -1 for others; None: to be made anew
        self._end = 0  # numbers below this one were given out
        self._free: list[int] = []
        self.fanouts: list[Fanout] = []

    # -- queries come and go -----------------------------------------------------------------------

    def admit(self, bit: int, number: int | None, *, reuse: bool) -> int:
        """A query comes; returns its number.

        Args:
            number: that it had when it was saved; None: any.
            reuse: whether it may be that of another query before.
        """
        if number is None:
            number = self._free.pop() if reuse and self._free else self._end
        self._end = max(self._end, number + 1)
        self._numbers[bit] = number
        self._by_bit = None
        return number

    def dismiss(self, bit: int) -> None:
        """A query goes. Its groups leave as rows expire, or with ``renew``."""
        del self._numbers[bit]
        self._by_bit = None

    @property
    def members(self) -> int:
        """How many queries there are."""
        return len(self._numbers)

    @property
    def bits(self) -> list[int]:
        """Their bits in the flow."""
        return list(self._numbers)

    @property
    def is_worn(self) -> bool:
        """Whether more queries have gone than are there."""
        return self._end - len(self._free) - self.members > max(_MOST_GONE, self.members)

    def renew(self, answer: Fanout, clock: int) -> None:
        """Forget all that belongs to queries which have gone, so that their numbers are free.

        Args:
            answer: what the flow has in the answers of all others.
        """
        lowest, there = self._above[0], list(self._numbers.values())
        self._above = tuple(self._make())
        if isinstance(lowest, Distinct):
            for rows in lowest.held(clock):
                mine = np.isin(rows.column(0).to_numpy(), there)
                self._through(rows.where(mine), Tick(clock))
        self.bring_up(answer, clock)
        self._free = sorted(set(range(self._end)) - set(there), reverse=True)

    def take_over(self, tree: Sequence[Operator], bit: int, clock: int) -> None:
        """Go on from where a query's own operators are, before it is brought up."""
        highest = next((o for o in reversed(tree) if isinstance(o, Distinct)), None)
        if highest is None or not isinstance(self._above[0], Distinct):
            return
        for rows in highest.held(clock):
            number = pa.array(np.full(len(rows), self._numbers[bit]))
            self._through(replace(rows, cells=(number, *rows.columns())), Tick(clock))

    def bring_up(self, answer: Fanout, clock: int) -> None:
        """Take in what the flow holds for some queries."""
        for rows, _ in self._pieces(answer, clock):
            self._through(rows, Tick(clock))
        self.settle(clock)
        self.clock = clock

    # -- rows --------------------------------------------------------------------------------------

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        fanout = self.flow.fanout
        assert fanout is not None, "the flow has just run"
        self.fanouts = []
        for rows, clock in self._pieces(fanout, tick.clock):
            out = self._through(rows, Tick(clock))
            if len(out):
                self.fanouts.append(_by_number(out, self._end))
                self.rows_out += len(out)
        return batches[0].where(np.zeros(len(batches[0]), np.bool_))

    def answer(self, clock: int, number: int) -> Fanout:
        """What is in the answer of one query at ``clock``."""
        rows = self._above[-1].live(clock)
        mine = rows.where(rows.column(0).to_numpy() == number)
        return _by_number(mine, self._end).alive_at(clock)

    def _through(self, rows: Batch, tick: Tick) -> Batch:
        with collecting() as failures:
            for operator in self._above:
                rows = operator.run([rows], tick)
        if failures:
            bits = np.full(self._end, -1, np.int64)
            bits[list(self._numbers.values())] = list(self._numbers)
            for failure in failures:
                numbers = np.asarray(failure.columns.column(0))[failure.rows]
                report(failure.of_queries(np.arange(numbers.size), bits[numbers]))
        return rows

    def _pieces(self, fanout: Fanout, clock: int) -> Iterator[tuple[Batch, int]]:
        """The rows of all queries in order, and until when they reach."""
        batch = fanout.batch
        number_of = self._number_of(fanout.bits)
        fanout, columns = computed(fanout, self._outputs, number_of >= 0)
        numbers = number_of[fanout.member]
        mine = np.flatnonzero(numbers >= 0)
        order, starts = by_bit(mine, fanout.rows[mine], len(batch))
        start = 0
        for end, until in [*_cuts(batch, starts), (starts.size - 1, clock)]:
            pairs = order[starts[start] : starts[end]]
            yield (
                _rows(batch, columns, fanout.rows[pairs], numbers[pairs], fanout.exp[pairs]),
                until,
            )
            start = end

    def _number_of(self, bits: int) -> Array:
        """int64[bits]."""
        if self._by_bit is None or self._by_bit.size != bits:
            self._by_bit = np.full(bits, -1, np.int64)
            self._by_bit[list(self._numbers)] = list(self._numbers.values())
        return self._by_bit

    # -- the rest of an operator -------------------------------------------------------------------

    def live(self, clock: int) -> Batch:
        raise AssertionError("whose answer?")

    def settle(self, clock: int) -> None:
        for operator in self._above:
            operator.settle(clock)

    def kept(self) -> int:
        return sum(o.kept() for o in self._above)

    def state(self) -> State:
        above = {str(i): o.state() for i, o in enumerate(self._above)}
        return {"end": np.array([self._end]), "above": above}

    def restore(self, state: State) -> None:
        """The queries are there, with the numbers that they had."""
        self._end = int(array(state, "end")[0])
        for i, operator in enumerate(self._above):
            operator.restore(nested(nested(state, "above"), str(i)))


def _cuts(batch: Batch, starts: Array) -> Iterator[tuple[int, int]]:
    """Results before which a large chunk is cut, and the instants up to which the pieces reach.

    Between two of them lies at least one whole event.
    """
    if starts[-1] <= _MOST_ROWS:
        return
    events = np.flatnonzero(np.diff(batch.seq >> 1) | np.diff(batch.ts)) + 1
    piece = starts[events] // _MOST_ROWS
    for end in events[1:][np.diff(piece) > 0].tolist():
        yield end, int(batch.ts[end - 1])


def _rows(
    batch: Batch, columns: Sequence[pa.Array], rows: Array, numbers: Array, exp: Array
) -> Batch:
    """Results with these numbers, each for one query."""
    places = pa.array(rows)
    return Batch(
        batch.ts.take(rows),
        batch.seq.take(rows),
        exp,
        batch.sign.take(rows),
        (numbers, *(i.take(rows) for i in batch.ids)),
        (None, *batch.stores),
        (pa.array(numbers), *(c.take(places) for c in columns)),
    )


def _by_number(batch: Batch, end: int) -> Fanout:
    """Changes as those of the queries whose numbers are in their first column."""
    numbers = batch.column(0).to_numpy()
    rows, starts = by_bit(np.arange(len(batch)), numbers, end)
    return Fanout(batch, rows, starts, batch.exp.take(rows))
