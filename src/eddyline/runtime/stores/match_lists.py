"""Rows that may be part of a match, by partition, with the attempts to match them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eddyline.kernels import pattern_state as kernels
from eddyline.kernels.pattern_state import Chunk, Memory, Program
from eddyline.kernels.row_patterns import go_on
from eddyline.kernels.run_conditions import DEPTH, Conditions
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array, unique
from eddyline.runtime.stores.expiry import PartitionedStore
from eddyline.runtime.stores.slots import FreeNumbers, SlotArray

#: Partitions of the calendar in the time of a pattern.
_PARTITIONS = 16
#: A partition without rows.
_EMPTY = {kernels.START: kernels.NONE, kernels.TAIL: kernels.NONE}
_EMPTY |= {kernels.CURRENT: kernels.NONE, kernels.TOP: kernels.NONE}


def _passing(partitions: Array, clock: int) -> Chunk:
    """No rows, but time for partitions."""
    ts, nothing = np.full(partitions.size, clock, np.int64), np.zeros(0, np.int64)
    return Chunk(partitions, ts, nothing, nothing, nothing, np.zeros((0, 0), np.int64))


@dataclass(frozen=True)
class RunConditions:
    """What conditions read of earlier rows of a match; arrays as of ``Conditions``.

    Attributes:
        values: number of values per row. registers: number of registers.
    """

    trackers: Array
    steps: Array
    starts: Array
    constants: Array
    values: int
    registers: int

    def arrays(self) -> Conditions:
        """With room to compute in."""
        room = np.zeros(DEPTH, np.int64), np.zeros(DEPTH, np.bool_)
        scratch = np.zeros(self.registers, np.int64)
        return Conditions(self.trackers, self.steps, self.starts, self.constants, *room, scratch)


@dataclass(frozen=True)
class Found:
    """What a chunk has brought.

    Attributes:
        heads: int64[m, 6], matches by instant. items: int64[k, 2], their rows.
        taken, freed: numbers of rows that have been put into lists, and that have left them.
    """

    heads: Array
    items: Array
    taken: Array
    freed: Array


class _Events:
    """Room for what a chunk brings.

    Args:
        held: most rows that leave lists. taken: most rows that are put into them.
    """

    def __init__(self, held: int, taken: int) -> None:
        self.heads = np.empty((64, 6), np.int64)
        self.items = np.empty((256, 2), np.int64)
        self.freed = np.empty(held, np.int64)
        self.taken = np.empty(taken, np.int64)

    def grow(self) -> None:
        """Let there be room for more matches."""
        self.heads, self.items = _longer(self.heads), _longer(self.items)


def _longer(rows: Array) -> Array:
    longer = np.empty((2 * len(rows), rows.shape[1]), np.int64)
    longer[: len(rows)] = rows
    return longer


class MatchLists:
    """The lists of all partitions.

    Args:
        code: int64[n, 4], the instructions of the pattern. program: the rest of it.
        conditions: on earlier rows of a match.
    """

    def __init__(self, code: Array, program: Program, conditions: RunConditions) -> None:
        self._code = code
        self._program = program
        self._conditions = conditions.arrays()
        self._rows = SlotArray(np.int64, (kernels.SEEN + program.words + conditions.values,))
        empty = [_EMPTY.get(i, 0) for i in range(kernels.REGISTERS + conditions.registers)]
        self._partitions = SlotArray(np.int64, (len(empty),), empty)
        self._choices = np.zeros((64, kernels.C_REGISTERS + conditions.registers), np.int64)
        self._numbers = FreeNumbers()
        self._counters = np.zeros(kernels.COUNTERS, np.int64)
        self._counters[kernels.FREE] = kernels.NONE
        self._is_limited = program.within < kernels.NO_LIMIT
        width = max(program.within // _PARTITIONS, 1)
        self._calendar = PartitionedStore([np.int64] * 2, width)
        self._fed = 0

    def __len__(self) -> int:
        """How many rows are in lists."""
        return len(self._numbers)

    @property
    def rows(self) -> Array:
        """int64 by row, see ``kernels``."""
        return self._rows.array

    def idle(self, partitions: Array) -> Array:
        """Of partitions those without rows."""
        idle: Array = partitions[self._partitions.array[partitions, kernels.START] < 0]
        return idle

    def go_on(self, chunk: Chunk, partitions: int, clock: int) -> Found:
        """Match the rows of a chunk, and let time pass.

        Args:
            partitions: their numbers are below this.
        """
        count = chunk.ts.size
        self._partitions.grow(partitions)
        numbers = self._numbers
        self._rows.grow(numbers.end + max(count - numbers.count, 0))
        events = _Events(len(numbers) + count, count)
        self._run(chunk, self._fed, events)
        self._fed += count
        if self._is_limited:
            self._let_pass(clock, chunk.partition, events)
        return self._found(events)

    def _run(self, chunk: Chunk, number: int, events: _Events) -> None:
        """Run the kernel, with more room as it needs it."""
        c, numbers = self._counters, self._numbers
        c[kernels.FREE_ROWS], c[kernels.END_ROWS] = numbers.count, numbers.end
        at = 0
        while True:
            lists = self._rows.array, self._partitions.array, self._choices
            room = events.heads, events.items, events.freed, events.taken
            memory = Memory(*lists, *room, numbers.stack, c)
            at = go_on(at, chunk, number, self._code, self._program, self._conditions, memory)
            if at == chunk.ts.size:
                break
            if c[kernels.FREE] == kernels.NONE and c[kernels.CHOICES] == len(self._choices):
                self._choices = _longer(self._choices)
            else:
                events.grow()
        numbers.count, numbers.end = int(c[kernels.FREE_ROWS]), int(c[kernels.END_ROWS])

    def _let_pass(self, clock: int, partition: Array, events: _Events) -> None:
        """Decide what is due, and put new attempts into the calendar."""
        _, due = self._calendar.pop(clock)
        partitions = self._partitions.array
        partitions[due, kernels.WAITS] = 0
        waiting = np.concatenate((due, self._begun(partition)))
        self._run(_passing(waiting, clock), 0, events)
        new = self._begun(waiting)
        partitions[new, kernels.WAITS] = 1
        self._calendar.push([partitions[new, kernels.DUE], new])

    def _begun(self, partitions: Array) -> Array:
        """Those with an attempt that is not in the calendar."""
        state = self._partitions.array
        begun = (state[partitions, kernels.LIVE] != 0) & (state[partitions, kernels.WAITS] == 0)
        return unique(partitions[begun])

    def _found(self, events: _Events) -> Found:
        c = self._counters
        heads = events.heads[: c[kernels.HEADS]]
        by = (heads[:, kernels.H_NUMBER], heads[:, kernels.H_SEQ], heads[:, kernels.H_TS])
        found = Found(
            heads[np.lexsort(by)],
            events.items[: c[kernels.ITEMS]],
            events.taken[: c[kernels.TAKEN]],
            events.freed[: c[kernels.FREED]],
        )
        c[[kernels.HEADS, kernels.ITEMS, kernels.FREED, kernels.TAKEN]] = 0
        return found

    def release(self, freed: Array) -> None:
        """Let the numbers of rows that have left the lists be used again."""
        self._numbers.release(freed)

    def state(self) -> State:
        """Saved as plain arrays, between two chunks."""
        counters = np.concatenate(([self._fed], self._counters))
        return {
            "rows": self._rows.array[: self._numbers.end],
            "partitions": self._partitions.held(),
            "choices": self._choices[: self._counters[kernels.CHOICES]],
            "numbers": self._numbers.state(),
            "counters": counters,
            "calendar": self._calendar.state(),
        }

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        self._rows.restore(array(state, "rows"))
        self._partitions.restore(array(state, "partitions"))
        choices = array(state, "choices")
        self._choices = np.concatenate((choices, np.zeros_like(self._choices[:64])))
        self._numbers.restore(nested(state, "numbers"))
        self._fed, *counters = (int(n) for n in array(state, "counters"))
        self._counters = np.array(counters, np.int64)
        self._calendar.restore(nested(state, "calendar"))


def as_bits(flags: Sequence[Array | None], count: int) -> Array:
    """int64[n] with a bit per flag, bool[n]; None: set for all."""
    bits = np.zeros(count, np.int64)
    for i, flag in enumerate(flags):
        bits |= np.int64(1) << i if flag is None else flag.astype(np.int64) << i
    return bits
