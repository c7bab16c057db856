"""Many queries of several kinds over shards, while queries come and go, the job restarts and is
rescaled: all is as in one engine.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random

from hypothesis import Phase, event, given, settings
from hypothesis import strategies as st

from alike_queries import DDL, mixed
from sharded import Sharded
from sharded_moves import Moves, first_partitions
from window_rows import rows

CASES = max(6, settings().max_examples // 5)
#: For how long an added query is not compared, in which rows of before may be in its windows.
AFTERMATH_US = 30_000_000


def play(seed: int, shards: int) -> set[str]:
    """A job with queries of one to three kinds; returns what happened to it."""
    random = Random(seed)
    waiting = [sql for queries in mixed(random, random.randint(1, 3), 4) for sql in queries]
    random.shuffle(waiting)
    first = random.randint(1, len(waiting))
    names = {f"q{i}": sql for i, sql in enumerate(waiting[:first])}
    waiting, start = waiting[first:], first_partitions(random, shards)
    with tempfile.TemporaryDirectory() as path:
        control = Path(path) / "control"
        job = Sharded(DDL, names, {}, shards=shards, directory=control, **start)
        moves = Moves(job, shards, random, is_durable=start["is_durable"])
        clock = 1_000_000
        for _ in range(random.randint(2, 5)):
            if waiting and random.random() < 0.4:
                name, sql = f"late{len(waiting)}", waiting.pop()
                job.add(name, sql, None if "ROWS" in sql else AFTERMATH_US)
            if len(names) > 1 and random.random() < 0.3:
                job.drop(names.popitem()[0])
            ends = [[clock], [clock]]
            tables = {
                name: rows(random, end, random.choice([0, 1, 4, 9]), "abc")
                for name, end in zip("sr", ends, strict=True)
            }
            clock = max(*ends[0], *ends[1])
            moves.process(tables)
            if random.random() < 0.3:
                by = random.choice([1, 700_000, 4_000_000])
                moves.advance(by)
                clock += by
            if random.random() < 0.2:
                job.restart()
            moves.move()
        job.advance(max(job.engine.clock, clock) + 2 * AFTERMATH_US)
        job.check()
        return moves.seen


@settings(max_examples=CASES, phases=[Phase.generate])
@given(st.integers(0, 2**48), st.sampled_from([2, 3, 5]))
def test_queries_of_many_kinds_over_shards(seed: int, shards: int) -> None:
    for what in play(seed, shards):
        event(what)


def test_the_answer_of_an_added_query_whose_groups_are_merged() -> None:
    """It is in a table of its own, beside that of the flow in which the query runs."""
    play(3_064_653, 2)
