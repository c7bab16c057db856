"""Trees of joins run without feedback while probing for matches is of no use, and try it again.

A tree whose gates let all rows pass still keeps rows for them. So it is replaced by one without
gates, which is made from the rows of the windows. A trial costs about as much as processing these
rows and the probed ones; it is repeated after at least 64 times as many rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from eddyline.engine.placement.placement import TreePlacement
from eddyline.engine.query import Query
from eddyline.runtime.feedback.gate import Gate
from eddyline.runtime.feedback.trial import TRIAL_ROWS
from eddyline.runtime.graph import in_order
from eddyline.runtime.operators.join import Join
from eddyline.runtime.operators.stateless import Scan

#: After how many rows, as a multiple of the same, a trial that goes on is of use.
_OF_USE: Final = 4
#: Rows without feedback, as a multiple of the rows of the trial and of the windows; it doubles
#: after each trial that fails.
_REST: Final = 64
_LONGEST_REST: Final = 64 * _REST


@dataclass
class _Rest:
    """A query runs without feedback, or tries it again.

    Attributes:
        since: number of rows that its scans had read when that began. factor: of the rest, see
            ``_REST``.
    """

    since: int
    factor: int = _REST


class FeedbackTrials:
    """Decides which trees of joins run with feedback, with ``feedback='auto'``."""

    def __init__(self) -> None:
        self._rests: dict[str, _Rest] = {}

    def proposal(self, query: Query, placement: TreePlacement) -> TreePlacement | None:
        """The tree of a query with feedback or without, if that should change.

        Args:
            placement: the query's, of joins whose order may change.
        """
        rest = self._rests.get(query.name)
        if not placement.feedback:
            if rest is None:
                rest = self._rests[query.name] = _Rest(_rows(query))
            if _rows(query) - rest.since < rest.factor * _trial_rows(query):
                return None
            self._rests[query.name] = _Rest(_rows(query), min(2 * rest.factor, _LONGEST_REST))
            return placement.with_feedback(True, "feedback is tried again")
        gates = list(_gates(query))
        if gates and all(gate.is_unprobed for gate in gates):
            factor = _REST if rest is None else rest.factor
            self._rests[query.name] = _Rest(_rows(query), factor)
            return placement.with_feedback(False, "feedback would cost more than it saves")
        if rest is not None and _rows(query) - rest.since >= _OF_USE * _trial_rows(query):
            del self._rests[query.name]
        return None

    def forget(self, query: Query) -> None:
        """Forget a query."""
        self._rests.pop(query.name, None)

    def saved(self, queries: Iterable[Query]) -> dict[str, tuple[int, int]]:
        """For JSON: by name, the rows of a rest so far, and its factor."""
        known = ((q, self._rests[q.name]) for q in queries if q.name in self._rests)
        return {query.name: (_rows(query) - rest.since, rest.factor) for query, rest in known}

    def restore(self, saved: Mapping[str, tuple[int, int]]) -> None:
        """Take over what ``saved`` returned: scans count from zero."""
        self._rests = {name: _Rest(-rows, factor) for name, (rows, factor) in saved.items()}


def gives_feedback(query: Query) -> bool:
    """Whether a query runs as a tree whose joins tell those below what they need."""
    return query.subscription is not None and any(_gates(query))


def _gates(query: Query) -> Iterator[Gate]:
    for operator in in_order([query.operator]):
        if isinstance(operator, Join) and operator.feedback is not None:
            yield from operator.feedback.gates


def _scans(query: Query) -> Iterator[Scan]:
    return (o for o in in_order([query.operator]) if isinstance(o, Scan))


def _trial_rows(query: Query) -> int:
    """The rows that are probed in a trial, and those that are joined again before it."""
    scans = list(_scans(query))
    return TRIAL_ROWS * len(scans) + sum(len(scan.stem) for scan in scans)


def _rows(query: Query) -> int:
    return sum(scan.rows_out for scan in _scans(query))
