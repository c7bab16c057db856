"""Trees of joins that run without feedback for a while: when they do, and that results stay."""

from __future__ import annotations

import io
from itertools import pairwise
from random import Random
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from eddyline import Engine
from eddyline.engine.placement import feedback_trials, reoptimizer
from eddyline.engine.placement.feedback_trials import FeedbackTrials
from eddyline.engine.placement.placement import TreePlacement
from eddyline.engine.query import Query
from eddyline.testing import engine_with, pretty
from eddyline.testing.strategies.join_trees import join_tree_case
from eddyline.types import TIMESTAMP


def chain(feedback: str, streams: str = "abc") -> Engine:
    engine = engine_with(executor="tree", feedback=feedback, optimize=False)
    for name in streams:
        engine.sql(f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, l BIGINT) TIMESTAMP BY ts")
    read = ", ".join(f"{name} [RANGE 1 SECOND]" for name in streams)
    where = " AND ".join(f"{one}.l = {other}.k" for one, other in pairwise(streams))
    engine.query(f"SELECT a.k, c.l FROM {read} WHERE {where}", name="q")
    return engine


def batch(second: int, values: int, apart: int = 0) -> dict[str, pa.Table]:
    """2,000 rows of each stream; keys of c are ``apart`` from the others."""
    found = {}
    ts = pa.array(np.arange(2_000) * 500 + second * 1_000_000).cast(TIMESTAMP)
    for number, name in enumerate("abc"):
        keys = np.random.default_rng([second, number]).integers(0, values, (2, 2_000))
        keys = keys + (apart if name == "c" else 0)
        found[name] = pa.table({"ts": ts, "k": keys[0], "l": keys[1]})
    return found


def runs_with_feedback(engine: Engine) -> bool:
    placement = engine.queries["q"].placement
    assert isinstance(placement, TreePlacement)
    operators = {o["operator"] for o in engine.stats()["operators"]}
    assert placement.feedback == ("GatedRows" in operators)
    return placement.feedback


def test_a_tree_without_use_for_feedback_runs_without_it() -> None:
    engine, other = chain("auto"), chain("off")
    for second in range(16):
        given_rows = batch(second, values=5_000)
        found, expected = (e.process(given_rows)["q"] for e in (engine, other))
        assert pretty(in_order(found)) == pretty(in_order(expected))
        if second == 12:
            saved = io.BytesIO()
            engine.save(saved)
            saved.seek(0)
            engine = Engine.load(saved)
    assert not runs_with_feedback(engine)
    account = engine.stats()["queries"]["q"]
    assert account["why"].endswith("; feedback would cost more than it saves")
    assert account["reordered"] == 0


def test_a_tree_that_feedback_saves_work_keeps_it() -> None:
    engine = chain("auto")
    for second in range(12):
        engine.process(batch(second, values=50, apart=1_000))
    assert runs_with_feedback(engine)
    assert engine.stats()["operators"][-2]["rows_out"] == 0


def test_feedback_is_tried_again_and_each_rest_is_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feedback_trials, "_REST", 1)
    monkeypatch.setattr(reoptimizer, "_PERIOD_ROWS", 6_000)
    engine = chain("auto")
    ran = []
    for second in range(40):
        engine.process(batch(second, values=5_000))
        ran.append(runs_with_feedback(engine))
    rests = "".join("+" if on else "-" for on in ran).split("+")
    lengths = [len(rest) for rest in rests if rest]
    assert len(lengths) >= 2 and lengths[1] > lengths[0]
    for second in range(40, 90):
        engine.process(batch(second, values=50, apart=10_000))
    assert runs_with_feedback(engine)


def test_suspended_pairs_are_not_taken_for_few() -> None:
    """c has no partners among the pairs of a and b since these wait for it, and it for d."""
    engine = chain("auto", streams="abcd")
    for second in range(12):
        given_rows = batch(second, values=50)
        engine.process(given_rows | {"d": batch(second, values=50, apart=1_000)["c"]})
    assert runs_with_feedback(engine)
    joins = [o["rows_out"] for o in engine.stats()["operators"] if o["operator"] == "Join"]
    assert joins == [0, 0, 0]


@given(st.integers(0, 1 << 32), st.sampled_from([1, 3, 16, 16_384]), st.booleans())
def test_results_stay_whenever_feedback_ends_and_begins(
    seed: int, chunk_rows: int, combinations: bool
) -> None:
    luck = Random(seed)

    def proposal(_: FeedbackTrials, query: Query, placement: TreePlacement) -> TreePlacement | None:
        if luck.random() < 0.6:
            return None
        event("switched")
        return placement.with_feedback(not placement.feedback, "by chance")

    case = join_tree_case(seed, most_streams=5)
    expected = case.play(feedback="off").changes()
    with (
        patch.object(FeedbackTrials, "proposal", proposal),
        patch.object(reoptimizer, "_PERIOD_ROWS", 1),
    ):
        script = case.play(feedback="auto", chunk_rows=chunk_rows, combinations=combinations)
    assert pretty(in_order(script.changes())) == pretty(in_order(expected))
    script.finish()


def in_order(changes: pa.Table) -> pa.Table:
    """Changes of one instant in the order of their values."""
    return changes.sort_by([(n, "ascending") for n in ["_ts", *changes.column_names]])
