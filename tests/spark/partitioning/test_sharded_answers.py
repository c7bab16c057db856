"""Random queries over random streams, divided over shards: all is as in one engine.

The number of cases is set by the Hypothesis profile (``tests/conftest.py``).
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import Phase, assume, event, given, settings
from hypothesis import strategies as st

from eddyline.spark.partitioning.frequent_keys import SplitLimits
from eddyline.testing.strategies import OPTIONS, Case, cases, grid_queries, keyed_queries
from eddyline.testing.strategies.query_set_cases import (
    AFTERMATH_US,
    QuerySetCase,
    Turn,
    query_set_cases,
    random_options,
    table_contents,
    turn_tables,
)
from eddyline.testing.strategies.streams import STEP_US, STREAMS, tables_of
from sharded import EAGER, Sharded
from sharded_moves import Moves, divided_tables, first_partitions, with_sizes, with_times


def of_layouts(job: Sharded) -> set[str]:
    """What layouts a job has, in words."""
    found = {f"a divided {updates} table" for updates in divided_tables(job)}
    for of in job.layouts:
        axes = ["rows" if a.label.startswith("rows of") else "a key" for a in of.layout.axes]
        found.add(f"divided by {' and '.join(sorted(axes)) or 'nothing'}")
        found.add("several cells" if of.layout.cells > 1 else "one cell")
        if len(axes) > 1:
            found.add("a grid")
        if of.in_parts:
            found.add("groups are merged")
        if of.layout.counted:
            found.add("windows of rows in several cells")
    return found


def note(seen: Iterable[str]) -> None:
    for what in seen:
        event(what)


SHARDS = st.sampled_from([2, 3, 2, 3, 5])
#: Grids with several axes have at least four cells.
SHARDS_OF_ONE = st.sampled_from([5, 3, 2, 5, 6])
SEEDS = st.integers(0, 2**48)
LIMITS = st.sampled_from([SplitLimits(), EAGER])
#: Of a hundred cases at least: sets of queries take longer than one.
SINGLE = max(90, settings().max_examples * 9 // 5)
SETS = max(7, settings().max_examples // 7)
GROWING_SETS = max(3, settings().max_examples // 16)


@contextmanager
def directory() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as path:
        yield Path(path) / "control"


def play_case(
    case: Case, options: dict[str, Any], shards: int, limits: SplitLimits, seed: int
) -> set[str]:
    """A job with one query; what layout it had, and what happened to it."""
    options, random = options | {"keep": {}}, Random(seed)
    start = first_partitions(random, shards)
    with directory() as control:
        job = Sharded(
            with_sizes(with_times(case.ddl, random), random),
            {"q": case.sql},
            case.tables,
            shards=shards,
            directory=control,
            options=options,
            limits=limits,
            **start,
        )
        moves = Moves(job, shards, random, is_durable=start["is_durable"])
        for step in case.steps:
            if step.advance_us is not None:
                moves.advance(step.advance_us)
            elif step.restart:
                job.restart()
            else:
                names = {r.stream for r in step.rows} if step.lacking else case.inputs
                for rows in moves.cut(step.rows):
                    moves.process(tables_of(rows, sorted(names)))
                    moves.move()
        job.advance(max(job.engine.clock, 0) + 40 * STEP_US)
        job.check()
        return of_layouts(job) | moves.seen


def test_a_query_over_shards_is_a_query_in_one_engine() -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=SINGLE, phases=[Phase.generate])
    @given(
        cases() | cases(keyed_queries()) | cases(grid_queries()),
        OPTIONS,
        SHARDS_OF_ONE,
        LIMITS,
        SEEDS,
    )
    def compare(
        case: Case, options: dict[str, Any], shards: int, limits: SplitLimits, seed: int
    ) -> None:
        assume(any(re.search(rf"\b{name} \[", case.sql) for name in STREAMS))
        found = play_case(case, options, shards, limits, seed)
        seen.update(found)
        note(found)

    compare()
    assert seen["several cells"] >= SINGLE / 2, seen
    for what in (
        *("a grid", "groups are merged", "windows of rows in several cells"),
        *("rescaled with several cells", "time goes on without rows"),
    ):
        assert seen[what], (what, seen)


@settings(max_examples=SETS, phases=[Phase.generate])
@given(query_set_cases(), SEEDS, SHARDS, LIMITS)
def test_sets_of_queries_over_shards_that_are_added_and_dropped(
    case: QuerySetCase, seed: int, shards: int, limits: SplitLimits
) -> None:
    play_set(case, seed, shards, limits)


#: Their layout fits few other queries.
ANCHORS = (
    ("anchor", "SELECT a.s FROM a [NOW], b [NOW], c [NOW] WHERE a.at = b.at AND b.at = c.at"),
    ("named", "SELECT a.s FROM a [NOW], names AS n WHERE a.at = n.at"),
    ("rated", "SELECT a.s FROM a [NOW], rates AS n WHERE a.at = n.at"),
)


@settings(max_examples=GROWING_SETS, phases=[Phase.generate])
@given(query_set_cases(), SEEDS, st.sampled_from([2, 3]), LIMITS)
def test_queries_that_are_added_with_layouts_of_their_own(
    case: QuerySetCase, seed: int, shards: int, limits: SplitLimits
) -> None:
    turns = (Turn(add=ANCHORS), *case.turns[1:3], case.turns[0], *case.turns[3:])
    play_set(replace(case, turns=turns), seed, shards, limits)


def play_set(
    case: QuerySetCase,
    seed: int,
    shards: int,
    limits: SplitLimits,
) -> None:
    current: set[str] = set()
    random = Random(seed)
    start = first_partitions(random, shards)
    with directory() as control:
        job = Sharded(
            with_sizes(with_times(case.ddl, random), random),
            dict(case.turns[0].add),
            table_contents(),
            shards=shards,
            directory=control,
            options=random_options(random) | {"keep": {}},
            limits=limits,
            **start,
        )
        moves = Moves(job, shards, random, is_durable=start["is_durable"])
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
            moves.process(turn_tables(turn.rows))
            if turn.advance_us is not None:
                moves.advance(turn.advance_us)
            if turn.restart:
                job.restart()
            moves.move()
        times = [row.values[0] for turn in case.turns for row in turn.rows]
        end = max([job.engine.clock, 0, *(t for t in times if t is not None)])
        job.advance(end + 2 * AFTERMATH_US)
        event(f"{len(job.added)} layouts added")
        note(moves.seen | of_layouts(job))
        job.check()
