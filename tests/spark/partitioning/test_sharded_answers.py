"""Random queries over random streams, divided over shards: all is as in one engine.

The number of cases is set by the Hypothesis profile (``tests/conftest.py``).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import Phase, event, given, settings
from hypothesis import strategies as st

from eddyline.spark.partitioning.frequent_keys import SplitLimits
from eddyline.testing.strategies import OPTIONS, Case, cases
from eddyline.testing.strategies.query_set_cases import (
    AFTERMATH_US,
    QuerySetCase,
    Turn,
    query_set_cases,
    random_options,
    table_contents,
    turn_tables,
)
from eddyline.testing.strategies.streams import STEP_US, tables_of
from sharded import EAGER, Sharded

SHARDS = st.sampled_from([1, 2, 3, 5])
LIMITS = st.sampled_from([SplitLimits(), EAGER])
HALF = settings().max_examples // 2
QUARTER = settings().max_examples // 4


@contextmanager
def directory() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as path:
        yield Path(path) / "control"


@settings(max_examples=HALF, phases=[Phase.generate])
@given(cases(), OPTIONS, SHARDS, LIMITS)
def test_a_query_over_shards_is_a_query_in_one_engine(
    case: Case, options: dict[str, Any], shards: int, limits: SplitLimits
) -> None:
    options = options | {"keep": {}}
    with directory() as control:
        job = Sharded(
            case.ddl,
            {"q": case.sql},
            case.tables,
            shards=shards,
            directory=control,
            options=options,
            limits=limits,
        )
        event(f"{max(of.layout.cells for of in job.layouts)} cells")
        for step in case.steps:
            if step.advance_us is not None:
                job.advance(max(job.engine.clock, 0) + step.advance_us)
            elif step.restart:
                job.restart()
            else:
                names = {r.stream for r in step.rows} if step.lacking else case.inputs
                job.process(tables_of(step.rows, sorted(names)))
        job.advance(max(job.engine.clock, 0) + 40 * STEP_US)
        job.check()


@settings(max_examples=HALF, phases=[Phase.generate])
@given(query_set_cases(), st.integers(0, 2**48), SHARDS, LIMITS)
def test_sets_of_queries_over_shards_that_are_added_and_dropped(
    case: QuerySetCase, seed: int, shards: int, limits: SplitLimits
) -> None:
    play_set(case, random_options(Random(seed)) | {"keep": {}}, shards, limits)


#: Their layout fits few other queries.
ANCHORS = (
    ("anchor", "SELECT a.s FROM a [NOW], b [NOW], c [NOW] WHERE a.at = b.at AND b.at = c.at"),
    ("named", "SELECT a.s FROM a [NOW], names AS n WHERE a.at = n.at"),
)


@settings(max_examples=QUARTER, phases=[Phase.generate])
@given(query_set_cases(), st.integers(0, 2**48), st.sampled_from([2, 3]), LIMITS)
def test_queries_that_are_added_with_layouts_of_their_own(
    case: QuerySetCase, seed: int, shards: int, limits: SplitLimits
) -> None:
    turns = (Turn(add=ANCHORS), *case.turns[1:3], case.turns[0], *case.turns[3:])
    play_set(
        replace(case, turns=turns), random_options(Random(seed)) | {"keep": {}}, shards, limits
    )


def play_set(
    case: QuerySetCase,
    options: dict[str, Any],
    shards: int,
    limits: SplitLimits,
) -> None:
    current: set[str] = set()
    with directory() as control:
        job = Sharded(
            case.ddl,
            dict(case.turns[0].add),
            table_contents(),
            shards=shards,
            directory=control,
            options=options,
            limits=limits,
        )
        current.update(name for name, _ in case.turns[0].add)
        used = set(current)
        event(f"{len(job.layouts)} layouts")
        for turn in case.turns[1:]:
            for name in turn.drop:
                if name in current:
                    job.drop(name)
                    current.discard(name)
            for name, sql in turn.add:
                if name in used:
                    continue  # a job does not use a name twice
                window = None if "ROWS" in sql or "UNBOUNDED" in sql else AFTERMATH_US
                if job.add(name, sql, window):
                    current.add(name)
                    used.add(name)
            job.process(turn_tables(turn.rows))
            if turn.advance_us is not None:
                job.advance(max(job.engine.clock, 0) + turn.advance_us)
            if turn.restart:
                job.restart()
        times = [row.values[0] for turn in case.turns for row in turn.rows]
        end = max([job.engine.clock, 0, *(t for t in times if t is not None)])
        job.advance(end + 2 * AFTERMATH_US)
        event(f"{len(job.added)} layouts added")
        job.check()
