"""RowConditions: the conditions on single rows that the patterns over one input have."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from eddyline.runtime.batch import Batch
from eddyline.runtime.eddy.policies.fixed import FixedPolicy
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.predicates.filter_bank import Clause, FilterBank
from eddyline.runtime.stores.columns import Array


@dataclass(frozen=True, slots=True)
class RowCondition:
    """A condition that cannot fail; ``key``: equal ones are equal conditions."""

    key: Hashable
    clauses: tuple[Clause, ...]


class RowConditions(Operator):
    """Passes rows on, and tells which of them satisfy conditions: each is computed once per chunk,
    and those that compare one column with constants together, by a filter bank.
    """

    def __init__(self, source: Operator) -> None:
        super().__init__((source,))
        self._bank = FilterBank(FixedPolicy())
        self._bits: dict[Hashable, int] = {}
        self._uses: dict[Hashable, int] = {}
        self._free: list[int] = []
        self._batch: Batch | None = None
        self._lineage: Array | None = None

    def __len__(self) -> int:
        """The number of different conditions."""
        return len(self._bits)

    def add(self, condition: RowCondition) -> None:
        """Add a use of a condition."""
        key = condition.key
        self._uses[key] = self._uses.get(key, 0) + 1
        if key not in self._bits:
            bit = self._free.pop() if self._free else len(self._bits)
            self._bits[key] = bit
            self._bank.add(bit, condition.clauses)

    def remove(self, condition: RowCondition) -> None:
        """End a use of a condition."""
        key = condition.key
        self._uses[key] -= 1
        if self._uses[key] == 0:
            del self._uses[key]
            bit = self._bits.pop(key)
            self._bank.remove(bit)
            self._free.append(bit)

    def satisfied(self, condition: RowCondition, batch: Batch) -> Array:
        """bool[n]: which rows of the output satisfy a condition."""
        bit = self._bits[condition.key]
        if self._lineage is None or batch is not self._batch:
            self._batch = batch
            words = (len(self._bits) + len(self._free)) // 64 + 1
            self._lineage = np.full((len(batch), words), -1, np.int64).view(np.uint64)
            self._bank.narrow(batch, self._lineage)
        flags: Array = (self._lineage[:, bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1) != 0
        return flags

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        return batches[0]

    def live(self, clock: int) -> Batch:
        return self.inputs[0].live(clock)

    def settle(self, clock: int) -> None:
        self._batch = self._lineage = None
