"""What flows out of a sub-plan and what of it is alive: Equations 1 to 6."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from eddyline.optimizer.joins.posynomial import Number, Posynomial
from eddyline.optimizer.joins.query import JoinQuery, Source


@dataclass(frozen=True, slots=True)
class Flow(Generic[Number]):
    """The output of a source or of a join.

    By Observation 1 that of a join depends on which sources it joins and not on their order.

    Attributes:
        rate: rows per second (lambda).
        load: rows per second, and those that are taken back by a '-'.
        rows: the active window (W).
    """

    rate: Number
    load: Number
    rows: Number


def joined(left: Flow[Number], right: Flow[Number], share: float) -> Flow[Number]:
    """The output of a join (Eqs. 3 and 4).

    A row of either side meets the active rows of the other one. Active results are pairs of active
    rows.
    """
    return Flow(
        (left.rate * right.rows + right.rate * left.rows) * share,
        (left.load * right.rows + right.load * left.rows) * share,
        left.rows * right.rows * share,
    )


def source_flows(query: JoinQuery) -> list[Flow[float]]:
    """What the sources emit."""
    return [Flow(s.rate, s.rate + s.taken_back, s.rows) for s in query.sources]


def source_functions(query: JoinQuery) -> list[Flow[Posynomial]]:
    """What the sources emit, as functions of the keep rates."""
    return [_as_function(source, number) for number, source in enumerate(query.sources)]


def _as_function(source: Source, number: int) -> Flow[Posynomial]:
    mine = 0 if source.is_table else 1 << number
    return Flow(
        Posynomial({mine: source.rate}),
        Posynomial({mine: source.rate + source.taken_back}),
        Posynomial({mine if source.by_time else 0: source.rows}),
    )
