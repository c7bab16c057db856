"""Operators that take the rows of a flow with their recipients, for ``PerQuery``."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from eddyline.runtime.batch import Batch
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.stores.columns import Array


class TakesFlow(Operator):
    """Keeps rows of a flow for the queries that get them; in its rows the number of the query comes
    first.
    """

    def __init__(self) -> None:
        super().__init__(())  # it gets the rows of the flow
        self._asked: Array | None = None  # queries whose rows ``live`` returns; None: of all

    @abstractmethod
    def admit(self, bit: int, number: int) -> None:
        """Add the query with this bit and number."""

    @abstractmethod
    def dismiss(self, bit: int) -> None:
        """Remove a query with its rows."""

    @abstractmethod
    def bring_up(self, bits: Sequence[int], clock: int) -> Batch:
        """Take in the rows that the flow holds for queries that have just been added; returns the
        changes.
        """

    @contextmanager
    def only_for(self, numbers: Array) -> Iterator[None]:
        """Inside, ``live`` returns the rows of the queries with these numbers only."""
        self._asked = numbers
        try:
            yield
        finally:
            self._asked = None
