"""MNS detection at a consumer: the parts of a result without a match."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from eddyline.bench.comparison.reactive.lattice import kill, minimal_alive
from eddyline.runtime.batch import Batch, Evaluator, Predicate, paired
from eddyline.runtime.feedback.key_index import KeyIndex
from eddyline.runtime.join_inputs.buffer import InputBuffer
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.keys import join_keys

#: Pairs of a part and an opposite row, and nodes of lattices, that are at hand at once.
_MOST_PAIRS: Final = 1 << 18
_MOST_NODES: Final = 1 << 20


@dataclass(frozen=True)
class Component:
    """What a consumer joins one component of a row by (a Level 1 node of the lattice).

    Attributes:
        keys: over the row's columns, and over those of the opposite row: what must be equal.
        condition: over both; None: there is none besides.
    """

    keys: tuple[Sequence[Evaluator], Sequence[Evaluator]]
    condition: Predicate | None

    def meets(self, rows: Batch, opposite: Batch) -> Array:
        """bool[n, m]: which of n rows meets which of m opposite ones."""
        met = np.ones((len(rows), len(opposite)), np.bool_)
        if self.keys[0]:
            own, others = (
                join_keys([k(b) for k in keys], len(b))
                for keys, b in zip(self.keys, (rows, opposite), strict=True)
            )
            met &= own[0][:, np.newaxis] == others[0]
            met &= True if own[1] is None else own[1][:, np.newaxis]
            met &= True if others[1] is None else others[1]
        if self.condition is not None:
            by, at = np.nonzero(met)
            met[by, at] = self.condition(paired(rows.take(by), opposite.take(at)))
        return met


#: The components of one input's rows.
Part: TypeAlias = tuple[Component, ...]


class Detector:
    """Finds the MNSs of a join's results at one consumer.

    Source: Yang and Papadias 2008, section IV-A, Figure 8, combined with a nested-loops join.

    Args:
        parts: the components that are of the left input, and of the right one.
        inputs: where the rows of these are.
        partners: all rows of the consumer's other input, ``opposite``.
        probes: number of this consumer's probe in each input's gate; None: it has none.

    Attributes:
        found: int64[k + 1], how many MNSs there were by their level.
    """

    def __init__(
        self,
        parts: tuple[Part, Part],
        inputs: tuple[InputBuffer, InputBuffer],
        partners: KeyIndex,
        opposite: InputBuffer,
        probes: tuple[int | None, int | None],
    ) -> None:
        self._parts = parts
        self._inputs = inputs
        self._partners = partners
        self._opposite = opposite
        self.probes = probes
        self._components = len(parts[0]) + len(parts[1])
        self.found = np.zeros(self._components + 1, np.int64)
        partners.acquire()

    def judge(self, left: Array, right: Array, clock: int) -> tuple[Array, Array]:
        """Positions, ascending, of the rows of either input that contain an MNS.

        Args:
            left, right: int64[n], positions of the rows of which the results are made.
        """
        waiting: tuple[list[Array], list[Array]] = ([], [])
        at_once = max(_MOST_NODES >> self._components, 1)
        of_left = (1 << len(self._parts[0])) - 1
        for first in range(0, left.size, at_once):
            rows = (left[first : first + at_once], right[first : first + at_once])
            by, mns = minimal_alive(self._dead(rows, clock))
            levels = sum((mns >> c) & 1 for c in range(self._components))
            self.found += np.bincount(levels, minlength=self.found.size)
            waiting[0].append(rows[0][by[mns & ~of_left == 0]])
            waiting[1].append(rows[1][by[mns & of_left == 0]])
        l_at, r_at = (np.unique(np.concatenate([left[:0], *w])) for w in waiting)
        return l_at, r_at

    def _dead(self, rows: tuple[Array, Array], clock: int) -> Array:
        """bool[n, 2**k], for each result the nodes that an opposite row meets."""
        dead = np.zeros((rows[0].size, 1 << self._components), np.bool_)
        (left, left_of), (right, right_of) = (np.unique(r, return_inverse=True) for r in rows)
        batches = self._inputs[0].rows_at(left), self._inputs[1].rows_at(right)
        for opposite in self._opposite_rows(clock, left.size + right.size):
            left_masks = self._masks(batches[0], 0, opposite)
            right_masks = self._masks(batches[1], 1, opposite)
            kill(dead, left_of, left_masks, right_of, right_masks)
        return dead

    def _opposite_rows(self, clock: int, parts: int) -> Iterator[Batch]:
        """The alive opposite rows, in batches that can be compared with the parts."""
        _, positions = self._partners.find(np.zeros(1, np.int64), np.full(1, clock))
        at_once = max(_MOST_PAIRS // parts, 1)
        for first in range(0, positions.size, at_once):
            yield self._opposite.rows_at(positions[first : first + at_once])

    def _masks(self, rows: Batch, side: int, opposite: Batch) -> Array:
        """int64[n, m]: in which components rows of one input meet opposite ones."""
        masks = np.zeros((len(rows), len(opposite)), np.int64)
        shift = len(self._parts[0]) if side else 0
        for number, component in enumerate(self._parts[side], shift):
            masks |= component.meets(rows, opposite).astype(np.int64) << number
        return masks

    def close(self) -> None:
        """Release the opposite rows."""
        self._partners.release()
        self._partners.drop_reader()
