"""The interface of routing policies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Protocol


class Routable(Protocol):
    """An operator that rows are routed to: a grouped filter, a probe of a SteM.

    Operators are compared by identity.
    """

    @property
    def name(self) -> str:
        """For reports: ``price``, ``probe b``."""

    @property
    def predicates(self) -> int:
        """How many queries' predicates it applies, at least one."""


#: Consecutive rows of a batch, and the operators that they visit, in this order.
Piece = tuple[int, tuple[Routable, ...]]


class Policy(ABC):
    """Routes the batches of *one* place in a flow: one source or one virtual source.

    For each batch with a choice ``routes`` is called, then ``observe`` for each piece in turn: for
    all of its operators in their order, those without rows included. Where rows are routed again
    after a step, for the first operator of each piece.

    Whatever the routes, the answers are the same; only the work differs.
    """

    @abstractmethod
    def routes(self, ready: Sequence[Routable], rows: int) -> list[Piece]:
        """The routes of a batch through the operators.

        Args:
            ready: all operators that the rows have to visit. Observations of others are
                forgotten.
            rows: of the batch.

        Returns:
            Consecutive pieces; their rows sum to ``rows``, each order has all of ``ready``.
        """

    def observe(self, operator: Routable, visited: int, returned: int, seconds: float) -> None:
        """Record one piece of the last batch at one operator.

        Args:
            visited: rows evaluated: those that some query with a predicate in it required.
            returned: of these, the rows that such a query still requires; of a probe its matches,
                which may be more than it received.
            seconds: of this work; 0 where it is not measured.
        """

    def tickets(self) -> Mapping[str, float]:
        """Share of the tickets by name of operator, of sum 1; empty for policies without tickets.

        As of the batch before the last.
        """
        return {}
