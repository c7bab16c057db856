"""Aggregates that choose or list structures, while rows come and leave their windows."""

from __future__ import annotations

import io
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from eddyline import Engine

DDL = "CREATE STREAM s (ts TIMESTAMP, k STRING, a INT, b STRING) TIMESTAMP BY ts"
QUERY = (
    "SELECT k, max(struct(a, b)) AS most, min(struct(b, a)).a AS least, "
    "collect_list(struct(a, b AS c)) AS all_of, collect_set(struct(b)) AS some, "
    "last(struct(a, struct(b))) AS l, max_by(struct(b, a), ts) AS by_ts "
    "FROM s [ROWS 5] GROUP BY k"
)


def _key(*values: Any) -> tuple[Any, ...]:
    """NULL is less than any value."""
    return tuple((v is not None, v if v is not None else 0) for v in values)


def expected(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for k in sorted({r["k"] for r in rows}):
        mine = [r for r in rows if r["k"] == k]
        last = mine[-1]
        most = max(mine, key=lambda r: _key(r["a"], r["b"]))
        least = min(mine, key=lambda r: (r["b"] is not None, r["b"] or "", _key(r["a"])))
        texts = sorted({r["b"] for r in mine}, key=lambda b: (b is not None, b or ""))
        found.append(
            {
                "k": k,
                "most": {"a": most["a"], "b": most["b"]},
                "least": least["a"],
                "all_of": [{"a": r["a"], "c": r["b"]} for r in mine],
                "some": [{"b": b} for b in texts],
                "l": {"a": last["a"], "col2": {"b": last["b"]}},
                "by_ts": {"b": last["b"], "a": last["a"]},
            }
        )
    return found


@pytest.mark.parametrize("seed", range(5))
def test_answers_of_windows_of_rows(seed: int) -> None:
    random = Random(seed)
    engine = Engine()
    engine.sql(DDL)
    engine.query(QUERY, name="q")
    rows: list[dict[str, Any]] = []
    for number in range(30):
        row = {
            "ts": number,
            "k": random.choice("xy"),
            "a": random.choice([None, 1, 2, 3]),
            "b": random.choice([None, "", "p", "q"]),
        }
        rows.append(row)
        engine.process({"s": pa.table({n: [v] for n, v in row.items() if v is not None or n})})
        if random.random() < 0.2:
            saved = io.BytesIO()
            engine.save(saved)
            saved.seek(0)
            engine = Engine.load(saved)
        found = sorted(engine.queries["q"].snapshot().to_pylist(), key=lambda r: str(r["k"]))
        assert found == expected(rows[-5:])
