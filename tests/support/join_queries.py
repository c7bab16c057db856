"""Random join queries for tests."""

from __future__ import annotations

import random
from typing import Literal

from eddyline.optimizer.joins.query import JoinQuery, Source, Term

Windows = Literal["rows", "time", "mixed"]

NAMES = "ABCDEFGHIJ"


def random_query(
    seed: int, sources: int, windows: Windows = "rows", density: float = 0.4
) -> JoinQuery:
    """A connected query; ``density`` is the share of further pairs of sources with an edge."""
    rng = random.Random(seed)
    terms = [
        Term.edge(a, b, 10 ** -rng.uniform(0.3, 2.5))
        for b in range(1, sources)
        for a in range(b)
        if a == rng.randrange(b) or a == b - 1 or rng.random() < density
    ]
    return JoinQuery(tuple(_source(rng, i, windows) for i in range(sources)), tuple(terms))


def _source(rng: random.Random, number: int, windows: Windows) -> Source:
    rate, name = rng.uniform(10, 1_000), NAMES[number]
    if windows == "rows" or (windows == "mixed" and number % 2):
        return Source.last(name, rate, rng.randint(10, 500))
    return Source.range(name, rate, seconds=rng.uniform(0.1, 2))
