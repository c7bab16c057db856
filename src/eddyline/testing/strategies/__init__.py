"""Hypothesis strategies: random streams, random queries, and cases that combine them."""

from eddyline.testing.strategies.cases import (
    CHUNK_ROWS,
    OPTIONS,
    Case,
    Step,
    cases,
    in_one_batch,
    play,
    resplit,
)
from eddyline.testing.strategies.grid_queries import grid_queries
from eddyline.testing.strategies.keyed_queries import keyed_queries
from eddyline.testing.strategies.queries import queries, selects
from eddyline.testing.strategies.streams import Arrival, arrivals

__all__ = [
    "CHUNK_ROWS",
    "OPTIONS",
    "Arrival",
    "Case",
    "Step",
    "arrivals",
    "cases",
    "grid_queries",
    "in_one_batch",
    "keyed_queries",
    "play",
    "queries",
    "resplit",
    "selects",
]
