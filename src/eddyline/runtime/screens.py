"""What the readers of an operator ask for: rows that none of them accepts need not be made.

Source: the feedback of Yang and Papadias 2008, section 3, whose consumers tell producers which
results they do not need; here a condition on columns says so for all rows, as long as the readers
and their queries are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from eddyline.runtime.batch import Batch
from eddyline.runtime.stores.columns import Array


class Bound(NamedTuple):
    """One side of a number.

    Attributes:
        above: whether values are accepted from the number on, else below it.
        key: the number, as of ``predicates/cells.py``. NaN may be accepted, NULL is not.
    """

    above: bool
    key: Any


@dataclass(frozen=True, eq=False, slots=True)
class Condition:
    """Which values of a column are accepted.

    Attributes:
        accepts: bool[n], of values. bound: what all of these meet, if there is one.
    """

    column: int
    accepts: Callable[[pa.Array], Array]
    bound: Bound | None


@dataclass(frozen=True, eq=False, slots=True)
class Screen:
    """The rows that readers may ask for: of each of some lists of conditions one holds."""

    clauses: tuple[tuple[Condition, ...], ...]
    _renamed: dict[tuple[int | None, ...], Screen | None] = field(default_factory=dict, repr=False)

    def accepts(self, column: Callable[[int], pa.Array], rows: int) -> Array:
        """bool[n], given columns by their numbers."""
        found: Array = np.logical_and.reduce([_accepts(c, column, rows) for c in self.clauses])
        return found

    def applied(self, batch: Batch) -> Batch:
        """The changes of rows that are accepted."""
        for clause in self.clauses:
            if len(batch):
                batch = batch.where(_accepts(clause, batch.column, len(batch)))
        return batch

    def renamed(self, numbers: Sequence[int | None]) -> Screen | None:
        """The same of rows with other columns; None: nothing is known of them.

        Args:
            numbers: by column, its number there; None: it is not there.
        """
        key = tuple(numbers)
        if key not in self._renamed:
            kept = [c for c in self.clauses if all(numbers[each.column] is not None for each in c)]
            self._renamed[key] = Screen(_moved(kept, dict(enumerate(numbers)))) if kept else None
        return self._renamed[key]


def _accepts(clause: Sequence[Condition], column: Callable[[int], pa.Array], rows: int) -> Array:
    found = np.zeros(rows, np.bool_)
    for condition in clause:
        found |= condition.accepts(column(condition.column))
    return found


def _moved(
    clauses: Sequence[Sequence[Condition]], numbers: Mapping[int, int | None]
) -> tuple[tuple[Condition, ...], ...]:
    def moved(condition: Condition) -> Condition:
        number = numbers[condition.column]
        assert number is not None, "others are left out"
        return replace(condition, column=number)

    return tuple(tuple(map(moved, clause)) for clause in clauses)


def united(screens: Sequence[Screen | None]) -> Screen | None:
    """What one of several readers asks for; None: everything."""
    known = [s for s in screens if s is not None]
    if len(known) < len(screens):
        return None
    if len(known) == 1:
        return known[0]
    return Screen((tuple(c for s in known for c in s.clauses[0]),))
