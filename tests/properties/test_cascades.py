"""Chains of joins: what is not admitted admits nothing, however far away the match is missing.

In a-b-c-d a row of b is joined with those of a only if it has a row of c that has one of d. The
rows that are joined are counted, and compared with those that have such a match in the end.
"""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any, Final

import pyarrow as pa
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from eddyline import Engine
from eddyline.runtime.eddy.flow import Flow
from eddyline.testing import engine_with
from eddyline.testing.feeding import process_all
from eddyline.types import TIMESTAMP

Rows = list[tuple[int, int]]

STREAMS: Final = "abcde"
OPTIONS: Final[st.SearchStrategy[dict[str, Any]]] = st.fixed_dictionaries(
    {
        "chunk_rows": st.sampled_from([1, 3, 16, 16_384]),
        "nested_loops": st.booleans(),
        "mns": st.sampled_from(["index", "index", "bloom"]),
        "combinations": st.sampled_from([False, False, True]),
    }
)


def chain(streams: int, **options: Any) -> Engine:
    """A chain of streams, joined by l of one and k of the next, in the order written."""
    engine = engine_with(**{"feedback": "jit", "optimize": False} | options)
    for name in STREAMS[:streams]:
        engine.sql(f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, l BIGINT) TIMESTAMP BY ts")
    read = ", ".join(f"{name} [RANGE 1 HOUR]" for name in STREAMS[:streams])
    links = pairwise(STREAMS[:streams])
    where = " AND ".join(f"{one}.l = {other}.k" for one, other in links)
    engine.query(f"SELECT a.k FROM {read} WHERE {where}", name="q")
    return engine


def fed(engine: Engine, random: Random, streams: int, values: int) -> dict[str, Rows]:
    """Random rows of every stream, in batches; of the last stream often none has a match."""
    rows: dict[str, Rows] = {name: [] for name in STREAMS[:streams]}
    apart = random.choice([0, 0, 1, 100])
    for second in range(random.choice([2, 5, 9])):
        batch = {}
        for name in rows:
            came = [
                (random.randrange(values), random.randrange(values))
                for _ in range(random.choice([0, 1, 4, 8]))
            ]
            if name == STREAMS[streams - 1]:
                came = [(key + apart, link) for key, link in came]
            rows[name] += came
            ts = pa.array([second * 1_000_000] * len(came), TIMESTAMP)
            keys, links = (pa.array([row[i] for row in came], pa.int64()) for i in (0, 1))
            batch[name] = pa.table({"ts": ts, "k": keys, "l": links})
        process_all(engine, batch)
    return rows


def admitted(rows: dict[str, Rows], first: str) -> Rows:
    """The rows of ``first`` that have a match in the next stream, which has one in the next."""
    names = [name for name in rows if name >= first]
    left = rows[names[-1]]
    for name in reversed(names[:-1]):
        keys = {k for k, _ in left}
        left = [row for row in rows[name] if row[1] in keys]
    return left


@given(st.integers(0, 1 << 32), st.sampled_from([3, 4, 5]), OPTIONS)
def test_only_rows_with_a_chain_of_matches_are_joined_in_a_tree(
    seed: int, streams: int, options: dict[str, Any]
) -> None:
    random = Random(seed)
    engine = chain(streams, executor="tree", **options)
    rows = fed(engine, random, streams, random.choice([2, 5, 10]))
    joined = admitted(rows, "b")
    pairs = sum(a[1] == b[0] for a in rows["a"] for b in joined)
    event("with pairs" if pairs else "without pairs")
    joins = [o for o in engine.stats()["operators"] if o["operator"] == "Join"]
    made = [join["rows_out"] for join in joins]
    if options["combinations"]:
        assert made[0] <= pairs
    elif options["mns"] == "bloom":
        assert made[0] >= pairs
    else:
        assert made[0] == pairs


@given(st.integers(0, 1 << 32), st.sampled_from([3, 4, 5]), st.sampled_from([1, 3, 16_384]))
def test_only_rows_with_a_chain_of_matches_are_found_in_a_flow(
    seed: int, streams: int, chunk_rows: int
) -> None:
    random = Random(seed)
    engine = chain(streams, executor="eddy", chunk_rows=chunk_rows)
    rows = fed(engine, random, streams, random.choice([2, 5, 10]))
    flow = flow_of(engine)
    suspended = {g["rows_of"]: g["waiting"] for g in flow.stats()["feedback"]}
    for number, name in enumerate(STREAMS[1 : streams - 1], 1):
        before = {k for _, k in rows[STREAMS[number - 1]]}
        visible = [row for row in admitted(rows, name) if row[0] in before]
        assert suspended[name] == len(rows[name]) - len(visible)


def flow_of(engine: Engine) -> Flow:
    return next(o for o in engine.parts.queries.operators() if isinstance(o, Flow))


@pytest.mark.parametrize("executor", ["tree", "eddy", "auto"])
@pytest.mark.parametrize("feedback", ["jit", "auto"])
def test_no_pair_of_a_and_b_is_made_without_one_of_c_and_d(executor: str, feedback: str) -> None:
    """With a thousand rows of each stream, all of which have matches but those of d."""
    engine = chain(4, executor=executor, feedback=feedback)
    for second in range(5):
        n = 200
        ts = pa.array([second * 1_000_000] * n, TIMESTAMP)
        keys = pa.array([i % 10 for i in range(n)], pa.int64())
        far = pa.array([1_000 + i for i in range(n)], pa.int64())
        batch = {name: pa.table({"ts": ts, "k": keys, "l": keys}) for name in "abc"}
        process_all(engine, batch | {"d": pa.table({"ts": ts, "k": far, "l": keys})})
    operators = engine.stats()["operators"]
    if executor != "eddy":  # alone, it is a tree
        made = [o["rows_out"] for o in operators if o["operator"] == "Join"]
        assert made == [0, 0, 0]
        return
    flow = flow_of(engine)
    suspended = {g["rows_of"]: g["waiting"] for g in flow.stats()["feedback"]}
    assert suspended == {"b": 1_000, "c": 1_000}
    ab = [went for (joined, _), (_, went) in flow.fan_outs.items() if joined <= {0, 1}]
    assert sum(ab) == 0
