"""PerQuery: operators above a flow that serve many queries at once.

Each result becomes one row per recipient, with the query's number as its first column and the time
at which it leaves that query's answer::

      flow ──▶ rows of (number, columns) ──▶ GROUP BY number, ... ──▶ results with recipients

For the operators the number is one more key. It differs from the query's bit in the flow: numbers
are written to checkpoints, as the operators' state contains them. Columns are computed once per
result. A large chunk is split between two events; results do not depend on that.

The state above the flow follows from what the flow holds, except for which of several equal rows
DISTINCT has emitted: those are copied whenever it is rebuilt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pyarrow as pa

from eddyline.kernels.lineage import by_bit
from eddyline.runtime.batch import Batch, Evaluator, empty_like, merge_apart, select_list
from eddyline.runtime.constants import Constants
from eddyline.runtime.eddy.flow import Flow
from eddyline.runtime.eddy.match_nodes import MatchNodes
from eddyline.runtime.eddy.numbered_matching import NumberedMatching
from eddyline.runtime.eddy.shared_matching import SharedMatching
from eddyline.runtime.eddy.takes_flow import TakesFlow
from eddyline.runtime.failures import collecting, failed_rows, report
from eddyline.runtime.graph import run
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.operators.distinct import Distinct
from eddyline.runtime.operators.supplied_input import SuppliedInput
from eddyline.runtime.recipients import Recipients
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array
from eddyline.types import FOREVER

#: Maximum number of rows that run through the operators at once.
_MOST_ROWS: Final = 1 << 20
#: Minimum number of dropped queries before their groups are removed.
_MOST_GONE: Final = 64


class PerQuery(Operator):
    """Runs operators over the results of a flow, for each query of its own.

    Args:
        inputs: the flow, what the lowest operator reads besides, and what others do: these have a
            SuppliedInput for it.
        outputs: the columns that they need: of the flow's results, or how to compute them.
        make: makes the operators, from the flow upwards. The lowest is the one that it is given, if
            any.
        constants: of queries, which these operators read.
        late: by place among the columns, others that are computed for each query, over the columns
            of the flow's results and its constants.
    """

    def __init__(
        self,
        inputs: tuple[Operator, ...],
        outputs: Sequence[int | Evaluator],
        make: Callable[[TakesFlow | None], Sequence[Operator]],
        constants: Constants,
        late: Mapping[int, Evaluator] | None = None,
    ) -> None:
        super().__init__(inputs)
        flow = inputs[0]
        assert isinstance(flow, Flow), "the first input"
        self.flow: Flow = flow
        self._outputs = tuple(outputs)
        self._make = make
        self._constants = constants
        self._late = dict(late or {})
        self._numbers: dict[int, int] = {}  # by bit of the flow
        self._by_bit: Array | None = None  # the same, -1 for others; None: not computed
        self._by_number: Array | None = None  # the inverse
        self._end = 0  # numbers below this one were given out
        self._free: list[int] = []
        self._matches: list[MatchNodes] = []  # what knows windows over other streams
        self._held: list[Sequence[int]] = []  # lengths of such windows
        self._set_above(make(None))

    def _set_above(self, operators: Sequence[Operator]) -> None:
        self._above = tuple(operators)
        read = [[i.place for i in o.inputs[1:] if isinstance(i, SuppliedInput)] for o in operators]
        joined = [i for i, places in enumerate(read) if places]
        cut = joined[0] if joined else len(operators)
        self._lower = self._above[:cut]  # which read nothing but rows of the flow
        self._upper = list(zip(self._above[cut:], read[cut:], strict=True))
        self._places = sorted({place for places in read for place in places})
        self._others: list[Batch] | None = None  # without rows; None: they know none of their rows
        before, kinds = self._matches, (SharedMatching, NumberedMatching)
        self._matches = [o.matches for o in operators if isinstance(o, kinds)]
        for i, matches in enumerate(self._matches):
            if matches not in before:
                for number in self._numbers.values():
                    self._admit_to(matches, number)
                for lengths in self._held:
                    matches.hold(lengths[i])

    def _admit_to(self, matches: MatchNodes, number: int) -> None:
        """Let it know the window of a query over its stream."""
        matches.admit(number, self._constants.value(matches.right.constant, number))

    # -- queries -------------------------------------------------------

    def admit(self, bit: int, number: int | None, constants: Sequence[Any] = ()) -> int:
        """Add the query with this bit in the flow; returns its number.

        Args:
            number: from a checkpoint; None: any.
            constants: its constants.
        """
        if number is None:
            number = self._free.pop() if self._free else self._end
        self._end = max(self._end, number + 1)
        self._numbers[bit] = number
        if self._by_bit is not None and bit < self._by_bit.size:
            self._by_bit[bit] = number
        if self._by_number is not None and number < self._by_number.size:
            self._by_number[number] = bit
        else:
            self._by_number = None
        self._constants.put(number, constants)
        if self._groups is not None:
            self._groups.admit(bit, number)
        for matches in self._matches:
            self._admit_to(matches, number)
        return number

    def dismiss(self, bit: int) -> None:
        """Remove a query. What operators keep for it leaves as rows expire, or with ``renew``."""
        if self._groups is not None:
            self._groups.dismiss(bit)
        number = self._numbers.pop(bit)
        for matches in self._matches:
            matches.dismiss(number)
        self._by_bit = self._by_number = None

    @property
    def _groups(self) -> TakesFlow | None:
        """The lowest operator, if it takes the rows of the flow as they are."""
        lowest = self._above[0]
        return lowest if isinstance(lowest, TakesFlow) else None

    def hold(self, lengths: Sequence[int]) -> None:
        """Keep rows of the other streams that operators match with, from the flow upwards, for
        windows of any queries.
        """
        self._held.append(lengths)
        for matches, us in zip(self._matches, lengths, strict=True):
            matches.hold(us)

    def let_go(self, lengths: Sequence[int]) -> None:
        """Undo ``hold``."""
        self._held.remove(lengths)
        for matches, us in zip(self._matches, lengths, strict=True):
            matches.let_go(us)

    def number(self, bit: int) -> int:
        """The number of the query with this bit."""
        return self._numbers[bit]

    @property
    def members(self) -> int:
        """Number of queries."""
        return len(self._numbers)

    @property
    def bits(self) -> list[int]:
        """Their bits in the flow."""
        return list(self._numbers)

    @property
    def is_worn(self) -> bool:
        """Whether more queries have been dropped than are left."""
        return self._end - len(self._free) - self.members > max(_MOST_GONE, self.members)

    def renew(self, clock: int) -> None:
        """Rebuild the operators without the groups of dropped queries, and free their numbers."""
        lowest, there = self._above[0], list(self._numbers.values())
        kept = self._groups
        self._set_above(self._make(kept))
        if kept is not None:
            self._pass_on(kept.live(clock), clock)
            self.settle(clock)
            self.clock = clock
        elif isinstance(lowest, Distinct):
            for rows in lowest.held(clock):
                mine = np.isin(rows.column(0).to_numpy(), there)
                self._through(rows.where(mine), clock)
        if kept is None:
            self.bring_up(self.bits, clock)
        self._free = sorted(set(range(self._end)) - set(there), reverse=True)

    def take_over(self, tree: Sequence[Operator], bit: int, clock: int) -> None:
        """Copy the rows that DISTINCT has emitted in a query's own operators; ``bring_up`` next."""
        highest = tree[-1] if tree else None
        while highest is not None and not isinstance(highest, Distinct):
            highest = next(iter(highest.inputs), None)
        if highest is None or not isinstance(self._above[0], Distinct):
            return
        for rows in highest.held(clock):
            number = pa.array(np.full(len(rows), self._numbers[bit]))
            self._through(replace(rows, cells=(number, *rows.columns())), clock)

    def bring_up(self, bits: Sequence[int], clock: int) -> None:
        """Process the results that the flow holds for some queries."""
        if self._groups is not None:
            with self._reporting():
                rows = self._groups.bring_up(bits, clock)
            self._pass_on(rows, clock)
        else:
            for rows, _ in self._pieces(self.flow.answer(clock, bits), clock):
                self._through(rows, clock)
        self.settle(clock)
        self.clock = clock

    # -- rows ----------------------------------------------------------

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        end = len(batches) - len(self._places)
        own, others = batches[:end], batches[end:]
        if self._groups is not None:
            rows = self._run(self._lower, own, tick)
        else:
            pieces = self._pieces(batches[0], tick.clock)
            rows = merge_apart(
                self._run(self._lower, [piece], tick._replace(clock=clock))
                for piece, clock in pieces
            )
        return self._with_recipients(self._joined(rows, others, tick))

    def answer(self, clock: int, bits: Sequence[int]) -> Batch:
        """The groups in the answers of some queries at ``clock``, with these queries."""
        numbers = np.array([self._numbers[bit] for bit in bits], np.int64)
        with nullcontext() if self._groups is None else self._groups.only_for(numbers):
            rows = self._above[-1].live(clock)
        rows = rows.where(np.isin(rows.column(0).to_numpy(), numbers))
        return self._with_recipients(rows.where(rows.exp > clock))

    def _through(self, rows: Batch, clock: int) -> None:
        """Let all operators process rows that came before."""
        self._above_those(self._run(self._lower, [rows], Tick(clock)), clock)

    def _pass_on(self, rows: Batch, clock: int) -> None:
        """Let the operators above the lowest process rows that came before."""
        self._above_those(self._run(self._lower[1:], [rows], Tick(clock)), clock)

    def _above_those(self, rows: Batch, clock: int) -> None:
        """Let the upper operators process rows that came before, with what the others hold."""
        others = self._others or [self.inputs[place].live(clock) for place in self._places]
        supplied = dict(zip(self._places, others, strict=True))
        for operator, places in self._upper:
            if isinstance(operator, NumberedMatching):
                operator.look_back(clock)
                supplied |= {place: empty_like(supplied[place]) for place in places}
        self._joined(rows, list(supplied.values()), Tick(clock))

    def _joined(self, rows: Batch, others: Sequence[Batch], tick: Tick) -> Batch:
        """What the upper operators make of rows of the lower ones, and of what others supply."""
        supplied = dict(zip(self._places, others, strict=True))
        with self._reporting():
            for operator, places in self._upper:
                rows = run(operator, [rows, *(supplied[place] for place in places)], tick)
        self._others = list(map(empty_like, others))
        return rows

    def _run(self, operators: Sequence[Operator], batches: Sequence[Batch], tick: Tick) -> Batch:
        with self._reporting():
            for operator in operators:
                batches = [run(operator, batches, tick)]
        return batches[0]

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Report what fails for queries that are known by their numbers to those."""
        with collecting() as failures:
            yield
        for failure in failures:
            if failure.bits is None:
                numbers = np.asarray(failure.columns.column(0))[failure.rows]
                failure = failure.of_queries(np.arange(numbers.size), self._bits()[numbers])
            report(failure)

    def _bits(self) -> Array:
        """int64[numbers], the bit of each query in the flow; -1: dropped."""
        if self._by_number is None:
            self._by_number = np.full(2 * self._end, -1, np.int64)  # with room for more
            self._by_number[list(self._numbers.values())] = list(self._numbers)
        return self._by_number

    def _with_recipients(self, batch: Batch) -> Batch:
        """Changes as those of the queries whose numbers are in their first column."""
        bits = self._bits()[batch.column(0).to_numpy()]
        mine = np.flatnonzero(bits >= 0)
        rows, starts = by_bit(mine, bits[mine], self.flow.width)
        return batch.sent_to(Recipients(rows, starts, batch.exp.take(rows)))

    def _pieces(self, batch: Batch, clock: int) -> Iterator[tuple[Batch, int]]:
        """The rows of all queries in order, and until when they reach."""
        assert batch.recipients is not None, "set by the flow"
        number_of = self._number_of(batch.recipients.width)
        batch, columns = select_list(batch, self._outputs, number_of >= 0)
        to = batch.recipients
        assert to is not None, "as before"
        numbers = number_of[to.query]
        mine = np.flatnonzero(numbers >= 0)
        order, starts = by_bit(mine, to.rows[mine], len(batch))
        start = 0
        for end, until in [*_cuts(batch, starts), (starts.size - 1, clock)]:
            pairs = order[starts[start] : starts[end]]
            of = to.rows[pairs], numbers[pairs], to.exp[pairs]
            yield self._with_late(batch, _rows(batch, columns, *of), of[0]), until
            start = end

    def _with_late(self, batch: Batch, rows: Batch, places: Array) -> Batch:
        """Rows of queries, made of those at these places of a batch, with the late columns."""
        if not self._late:
            return rows
        number, *early = rows.columns()
        numbers = number.to_numpy()
        results = batch.take(places)
        over = replace(results, cells=(*results.cells, *self._constants.of(numbers)))
        with collecting() as failures:
            late = {place: compute(over) for place, compute in self._late.items()}
        for failure in failures:
            bits = self._bits()[numbers[failure.rows]]
            report(failure.of_queries(np.arange(bits.size), bits))
        ready = iter(early)
        count = len(early) + len(late)
        cells = [late[i] if i in late else next(ready) for i in range(count)]
        rows = replace(rows, cells=(number, *cells))
        return rows.where(~failed_rows(failures, len(rows))) if failures else rows

    def _number_of(self, bits: int) -> Array:
        """int64[bits]."""
        if self._by_bit is None or self._by_bit.size != bits:
            self._by_bit = np.full(bits, -1, np.int64)
            self._by_bit[list(self._numbers)] = list(self._numbers.values())
        return self._by_bit

    # -- the rest of an operator ---------------------------------------

    def live(self, clock: int) -> Batch:
        return self.answer(clock, self.bits)

    def settle(self, clock: int) -> None:
        for operator in self._above:
            operator.settle(clock)

    def kept(self) -> int:
        return sum(o.kept() for o in self._above)

    def state(self) -> State:
        above = {str(i): o.state() for i, o in enumerate(self._above)}
        return {"end": np.array([self._end]), "above": above}

    def restore(self, state: State) -> None:
        """The queries have been added, with the numbers that they had."""
        self._end, self._by_number = int(array(state, "end")[0]), None
        self._others = [empty_like(self.inputs[place].live(FOREVER)) for place in self._places]
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
