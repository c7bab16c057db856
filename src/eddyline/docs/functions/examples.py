"""Runs the example of each function in an engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from eddyline import Engine
from eddyline.docs.values import shown

_FILE: Final = Path(__file__).with_name("examples.txt")
_STREAM: Final = (
    "CREATE STREAM s (ts TIMESTAMP, x BIGINT, y BIGINT, t STRING, big BOOLEAN) TIMESTAMP BY ts"
)
#: The rows that the head of the file describes.
_ROWS: Final[Mapping[str, list[Any]]] = {
    "ts": [1, 2, 3, 4],
    "x": [1, 2, 2, 5],
    "y": [2, 4, 5, 9],
    "t": ["a", "b", "b", "c"],
    "big": [False, False, False, True],
}


def expressions() -> dict[str, str]:
    """The examples by the names of the functions."""
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    pairs = [line.split(": ", 1) for line in lines if line and not line.startswith("#")]
    assert len({name for name, _ in pairs}) == len(pairs), "one example per function"
    return dict(pairs)


def results() -> dict[str, str]:
    """What the examples give, as text, by the names of the functions."""
    engine = Engine()
    engine.sql(_STREAM)
    queries = {
        name: engine.query(f"SELECT {expression} AS v FROM s [ROWS 4]")
        for name, expression in expressions().items()
    }
    engine.process({"s": pa.table(_ROWS)})
    return {name: shown(query.snapshot()["v"][0].as_py()) for name, query in queries.items()}
