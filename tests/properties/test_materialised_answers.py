"""Queries that share flows, with materialised answers: each answer is that of the oracle, and that
without them, at each step, while queries come and go and the engine restarts.
"""

from __future__ import annotations

import io
from random import Random
from typing import Any, Final

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from alike_queries import DDL, KINDS, alike, mixed
from eddyline import Engine, StrategyOptions
from eddyline.testing import rows_of
from eddyline.testing.script import Script
from eddyline.testing.strategies.query_set_cases import (
    QuerySetCase,
    play_set,
    query_set_cases,
    sharing_options,
)
from thinned import thinned
from window_rows import rows

HALF: Final = max(settings().max_examples // 2, 1)
PHASES: Final = [Phase.explicit, Phase.reuse, Phase.generate]  # a seed does not shrink


class Engines:
    """Engines in which answers are assembled and materialised, beside a script with the oracle.

    Attributes:
        names: of the queries.
    """

    def __init__(self, **options: Any) -> None:
        self.script = Script(DDL, {}, options={**options, "views": True})
        self.names: list[str] = []
        self._plain = Engine(strategy=StrategyOptions(**options))
        self._plain.sql(DDL)

    def add(self, sql: str) -> None:
        name = f"q{len(self.names)}_{len(sql)}"
        while name in self.names:
            name += "x"
        self.script.add(name, sql)
        self._plain.query(sql, name=name)
        self.names.append(name)

    def drop(self, name: str) -> None:
        self.script.drop(name)
        self._plain.drop(name)
        self.names.remove(name)

    def restart(self) -> None:
        self.script.restart()
        saved = io.BytesIO()
        self._plain.save(saved)
        saved.seek(0)
        self._plain = Engine.load(saved)

    def process(self, random: Random, clock: int) -> int:
        """Some rows of both streams; returns the time of the last one."""
        start = [clock]
        for stream in random.choice([("s", "r"), ("r", "s")]):
            arriving = {stream: rows(random, start, random.choice([1, 4, 9]), "ab")}
            self.script.process(**arriving)
            self._plain.process(arriving)
        return start[0]

    def advance(self, clock: int) -> None:
        self.script.advance(clock)
        self._plain.advance(clock)

    def check(self) -> None:
        """Compare all answers."""
        self.script.check()
        assert self.script.engine.strategy.views
        for name in self.names:
            answers = [e.queries[name].snapshot() for e in (self.script.engine, self._plain)]
            found, expected = (sorted(map(repr, rows_of(answer))) for answer in answers)
            assert found == expected, name
            own, other = (e.stats()["queries"][name] for e in (self.script.engine, self._plain))
            assert (own["executor"], own["why"]) == (other["executor"], other["why"])


def played(random: Random, sets: list[list[str]], **options: Any) -> None:
    """Rows, queries that come and go, and restarts."""
    engines, clock = Engines(**options), 1_000_000
    waiting = [sql for queries in sets for sql in queries]
    random.shuffle(waiting)
    for _ in range(random.randint(1, len(waiting))):
        engines.add(waiting.pop())
    for _ in range(random.randint(3, 5)):
        clock = engines.process(random, clock)
        engines.check()
        while waiting and random.random() < 0.5:
            engines.add(waiting.pop())
        if len(engines.names) > 1 and random.random() < 0.4:
            engines.drop(random.choice(engines.names))
        engines.check()
        if random.random() < 0.4:
            engines.restart()
            engines.check()
        if random.random() < 0.5:
            clock += random.choice([1, 700_000, 4_000_000])
            engines.advance(clock)
            engines.check()
    engines.script.advance(clock + 6_000_000).finish()


@pytest.mark.parametrize("kind", thinned(4, KINDS))
def test_each_kind(kind: str) -> None:
    for seed, executor in enumerate(("eddy", "auto")):
        random = Random(f"{kind} {seed}")
        played(random, [alike(random, kind, 5)], executor=executor)


@settings(max_examples=HALF // 4 + 1, phases=PHASES)
@given(st.integers(0, 2**48))
def test_sets_of_queries(seed: int) -> None:
    random = Random(seed)
    played(random, mixed(random, 3, 3), executor=random.choice(["eddy", "auto"]))


@settings(max_examples=HALF, phases=PHASES)
@given(query_set_cases(listening=True), sharing_options(executor="eddy", sharing=True, views=True))
def test_random_sets_with_rows_that_wait(case: QuerySetCase, options: dict[str, Any]) -> None:
    options.pop("state", None)
    play_set(case, options)
