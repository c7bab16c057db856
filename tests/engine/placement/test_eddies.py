"""When queries over subsets of the same streams share an eddy, and when no more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

from eddyline import Engine, StrategyOptions
from eddyline.engine.placement.eddies import IN_EDDY
from eddyline.runtime.eddy import eddy
from eddyline.runtime.join_inputs.lineage_input import LineageInput

DDL = ";".join(
    f"CREATE STREAM {s} (ts TIMESTAMP, k BIGINT, x BIGINT) TIMESTAMP BY ts" for s in "abcdef"
)


def text(streams: str, key: str = "k", window: str = "[RANGE 1 SECOND]") -> str:
    first = streams[0]
    terms = " AND ".join(f"{first}.{key} = {s}.{key}" for s in streams[1:])
    return f"SELECT {first}.x FROM {', '.join(f'{s} {window}' for s in streams)} WHERE {terms}"


def engine_with(queries: Iterable[str], **strategy: str) -> Engine:
    engine = Engine(strategy=StrategyOptions(**strategy))  # type: ignore[arg-type]
    engine.sql(DDL)
    for name in queries:
        engine.query(text(name), name=name)
    return engine


def in_eddy(engine: Engine) -> set[str]:
    """The queries that share an eddy."""
    return {n for n, q in engine.stats()["queries"].items() if q["why"] == IN_EDDY}


def test_three_sets_of_streams_share_one() -> None:
    engine = engine_with(["abc", "abd"])
    assert in_eddy(engine) == set()
    engine.query(text("ab"), name="ab")
    assert in_eddy(engine) == {"abc", "abd", "ab"}
    engine.query(text("cd"), name="cd")
    engine.query(text("ef"), name="ef")
    assert in_eddy(engine) == {"abc", "abd", "ab", "cd"}
    engine.drop("abc")
    assert in_eddy(engine) == {"abd", "ab", "cd"}
    engine.drop("abd")
    assert in_eddy(engine) == set()


def test_pairs_of_streams_cost_less_alone() -> None:
    assert in_eddy(engine_with(["ab", "ac", "ad", "bc", "bd", "cd"])) == set()


def test_pairs_that_many_queries_join() -> None:
    engine = engine_with(["ab", "ac", "ad", "bc", "bd", "cd"])
    for name in ["ab", "ac", "ad", "bc", "bd", "cd"]:
        engine.query(text(name), name=f"{name}2")
    assert in_eddy(engine) == set()
    engine.query(text("abcd"), name="abcd")
    assert len(in_eddy(engine)) == 13


@pytest.mark.parametrize(
    "other", [text("abd", "x"), text("abd", window="[ROWS 2]"), text("ab", window="[ROWS 3]")]
)
def test_what_has_no_index_in_common(other: str) -> None:
    engine = engine_with(["abc", "abe", "abf"])
    engine.query(other, name="other")
    assert in_eddy(engine) == {"abc", "abe", "abf"}


@pytest.mark.parametrize("strategy", [{"executor": "tree"}, {"selections": "pull"}])
def test_options_without_eddies(strategy: dict[str, str]) -> None:
    assert in_eddy(engine_with(["abc", "abe", "abf"], **strategy)) == set()


def test_indexes_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    indexed = Counter[LineageInput]()
    add_key = LineageInput.add_key

    def counted(rows: LineageInput, *key: Any) -> None:
        indexed[rows] += 1
        add_key(rows, *key)

    monkeypatch.setattr(LineageInput, "add_key", counted)
    engine_with(["abc", "abe", "abf"])
    assert list(indexed.values()) == [1] * 5, "one per stream"


def test_an_eddy_that_joins_in_vain_is_undone() -> None:
    engine = engine_with(["abc", "abe", "abf"])
    rows = pa.table({"ts": np.arange(200), "k": np.arange(200), "x": np.arange(200)})
    with patch.multiple(eddy, _PERIOD_ROWS=100, _MOST_PER_ROW=0.1, _MOST_PER_RESULT=0):
        for call in range(3):
            engine.process(dict.fromkeys("abcdef", rows), watermark=200 * call + 199)
            rows = rows.set_column(0, "ts", pa.array(rows["ts"].to_numpy() + 200))
    assert in_eddy(engine) == set()
    engine.query(text("ab"), name="ab")
    assert in_eddy(engine) == set()


def test_what_explain_and_the_load_say() -> None:
    engine = engine_with(["abc", "abd", "abe", "abf"])
    rows = pa.table({"ts": np.arange(200), "k": np.arange(200), "x": np.arange(200)})
    engine.process(dict.fromkeys("abcdef", rows), watermark=199)
    (shown,) = engine.sql("EXPLAIN ANALYZE abc")
    assert "runs in an eddy, with 3 other queries" in str(shown)
    stats = engine.stats()["queries"]
    assert {q["rows_seen"] for q in stats.values()} == {600}
    flows = [q.flow for q in engine.parts.queries.queries.values()]
    assert {f.flow.sharers for f in flows if f is not None} == {(4, 4, 1)}
