"""The texts of the queries, and the engines and tables that they need."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

import eddyline

_HERE: Final = Path(__file__).parent
_SIDE_ROWS: Final = 10_000

#: All queries, in the order of their numbers.
NAMES: Final = tuple(f"q{number}" for number in range(24))
#: Those of which the published text cannot run, or would mean something else.
REWORDED: Final = tuple(name for name in NAMES if (_HERE / "instead" / f"{name}.sql").exists())
#: The streams, the views over them, the table and the function that the queries read.
DEFINITIONS: Final = (_HERE / "streams.sql").read_text()


def published(name: str) -> str:
    """The SELECT of a query as published, without the semicolon."""
    return _text("queries", name)


def text(name: str) -> str:
    """The SELECT of a query as it runs here: as published, or reworded."""
    return _text("instead" if name in REWORDED else "queries", name)


def side_input() -> pa.Table:
    """The table ``side_input``: 10,000 pairs of equal numbers."""
    numbers = np.arange(_SIDE_ROWS)
    return pa.table({"key": numbers, "value": numbers})


def engine_of(queries: Mapping[str, str]) -> eddyline.Engine:
    """An engine with the definitions and these SELECTs by name, before the first row."""
    engine = eddyline.Engine()
    engine.sql(DEFINITIONS)
    engine.table("side_input", side_input())
    for name, select in queries.items():
        engine.query(select, name=name)
    return engine


def _text(folder: str, name: str) -> str:
    return (_HERE / folder / f"{name}.sql").read_text().strip().removesuffix(";")
