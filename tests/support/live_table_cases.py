"""Two streams and a table that changes, for tests of tables that change."""

from __future__ import annotations

from typing import Any

from eddyline import Engine
from eddyline.testing import engine_with
from eddyline.testing.script import Script

RETROACTIVE, NON_RETROACTIVE = "retroactive", "non-retroactive"
SECOND = 1_000_000

#: Every way of running that must not matter.
OPTIONS: dict[str, dict[str, Any]] = {
    "chunks of one": {"chunk_rows": 1},
    "large chunks": {},
    "as written": {"optimize": False},
    "direct": {"state": "direct", "chunk_rows": 3},
    "negative tuples": {"state": "negative-tuple", "chunk_rows": 3},
    "views": {"views": True, "chunk_rows": 2},
}
JOINED = "SELECT s.k, s.v, t.name FROM s [RANGE 10 SECONDS], t WHERE s.k = t.k"


def ddl(updates: str) -> str:
    return f"""
        CREATE STREAM s (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts;
        CREATE STREAM r (ts TIMESTAMP, k BIGINT, w BIGINT) TIMESTAMP BY ts;
        CREATE TABLE t (k BIGINT, name STRING) WITH (updates = '{updates}')
    """


def engine(updates: str, **options: Any) -> Engine:
    out = engine_with(**options)
    out.sql(ddl(updates))
    return out


def rename(script: Script) -> Script:
    """A row of the stream before, between and after the two halves of an update."""
    return script.process(
        s="""ts | k:int | v:int
             1s | 1     | 10
             3s | 1     | 30
             5s | 1     | 50""",
        t="""_ts | _op | k:int | name:str
             2s  | -   | 1     | one
             4s  | +   | 1     | uno""",
    )
