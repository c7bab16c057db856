"""``Engine(mns='bloom')``: Bloom filters say which rows have no match."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.testing import engine_with
from eddyline.testing.feeding import process_all


def joined(**options: Any) -> Engine:
    """(a ⋈ b) ⋈ c; rows of c live for ten seconds."""
    engine = engine_with(executor="tree", feedback="jit", mns="bloom", optimize=False, **options)
    for name in "abc":
        engine.sql(f"CREATE STREAM {name} (ts TIMESTAMP, g BIGINT, k BIGINT) TIMESTAMP BY ts")
    engine.query(
        "SELECT l.k FROM (SELECT a.g, a.k FROM a [RANGE 1 HOUR] JOIN b [RANGE 1 HOUR]"
        " ON a.g = b.g) AS l JOIN c [RANGE 10 SECONDS] ON l.k = c.k",
        name="q",
    )
    return engine


def rows(keys: Iterable[int], second: int = 0) -> pa.Table:
    keys = list(keys)
    ts = pa.array([second * 1_000_000] * len(keys), pa.timestamp("us"))
    return pa.table({"ts": ts, "g": [0] * len(keys), "k": keys})


def made(engine: Engine) -> int:
    """Rows of a ⋈ b."""
    return int(next(o for o in engine.stats()["operators"] if "Join" in o["operator"])["rows_out"])


def filters(engine: Engine) -> dict[str, int]:
    (found,) = [f for o in engine.stats()["operators"] for f in o.get("bloom_filters", [])]
    return dict(found)


@pytest.mark.parametrize("chunk_rows", [1, 16_384])
def test_rows_wait_that_are_not_in_the_filter(chunk_rows: int) -> None:
    engine = joined(chunk_rows=chunk_rows)
    process_all(engine, {"c": rows(range(100))})
    process_all(engine, {"b": rows([0] * 5), "a": rows(range(50, 1_050), second=1)})
    assert 250 <= made(engine) < 250 + 5 * 30  # 50 of them have a match
    out = process_all(engine, {"c": rows(range(100, 1_050), second=2)})
    assert out["q"].num_rows == 5 * 950
    assert made(engine) == 5_000


def test_what_has_expired_is_forgotten_by_turns() -> None:
    engine = joined()
    process_all(engine, {"b": rows([0])})
    for second in range(0, 200, 2):
        process_all(engine, {"c": rows(range(second * 50, second * 50 + 50), second)})
        known = filters(engine)
        assert known["generations"] <= 2
        assert known["keys"] <= 2 * 6 * 50 + 50  # six batches are alive at a time
    process_all(engine, {"a": rows(range(8_000), second=200)})  # matches of these have long expired
    assert made(engine) < 80
    process_all(engine, {"a": rows(range(9_700, 9_950), second=200)})
    assert made(engine) >= 150  # every other fifty of them has come


def test_filters_grow_with_what_is_alive() -> None:
    engine = joined()
    process_all(engine, {"b": rows([0])})
    for part in range(20):
        process_all(engine, {"c": rows(range(part * 1_000, part * 1_000 + 1_000))})
    assert filters(engine)["generations"] > 2
    process_all(engine, {"a": rows(range(20_000, 40_000))})
    assert made(engine) < 400
    process_all(engine, {"a": rows(range(20_000))})
    assert made(engine) >= 20_000


def test_filters_are_saved(tmp_path: Any) -> None:
    engine = joined()
    process_all(engine, {"c": rows(range(100)), "b": rows([0])})
    engine.save(str(tmp_path / "saved"))
    engine = Engine.load(str(tmp_path / "saved"))
    assert engine.strategy.mns == "bloom"
    out = process_all(engine, {"a": rows(range(200), second=1)})
    assert out["q"].num_rows == 100
    assert made(engine) < 110


def test_other_words_are_refused() -> None:
    with pytest.raises(ValueError, match="mns 'blom'; did you mean 'bloom'"):
        engine_with(mns="blom")
