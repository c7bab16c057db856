"""Rows are written once, in segments; an engine of segments equals the one that continues."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline import Engine, StateError
from eddyline.engine.checkpoint import segments as segments_module
from eddyline.engine.checkpoint.segments import SavedRows, Segments
from eddyline.runtime.state import Rows
from eddyline.testing import engine_with

QUERIES = {
    "join": "SELECT a.v, b.w FROM a [RANGE 30 SECONDS], b [RANGE 20 SECONDS] WHERE a.k = b.k",
    "filtered": "SELECT a.v, b.w FROM a [RANGE 30 SECONDS], b [RANGE 20 SECONDS]"
    " WHERE a.k = b.k AND a.v > 20",
    "three": "SELECT a.v, b.w, c.v FROM a [RANGE 9 SECONDS], b [RANGE 8 SECONDS],"
    " a [RANGE 7 SECONDS] AS c WHERE a.k = b.k AND b.k = c.k",
    "rows": "SELECT a.v, b.w FROM a [ROWS 20], b [PARTITION BY k ROWS 2] WHERE a.k = b.k",
    "group": "SELECT k, COUNT(*) AS n FROM a [RANGE 9 SECONDS] GROUP BY k EMIT CHANGES",
    "without": "SELECT k, v FROM a [RANGE 9 SECONDS] WHERE NOT EXISTS"
    " (SELECT 1 FROM b [RANGE 5 SECONDS] WHERE b.k = a.k)",
}


class Blobs(dict[int, bytes]):
    """Segments in memory; counts the bytes written."""

    written = 0

    def write(self, name: int, rows: pa.Buffer) -> None:
        assert name not in self, "segments are written once"
        self[name] = rows.to_pybytes()
        self.written += rows.size

    def keep(self, names: set[int]) -> None:
        """Remove all others."""
        assert names <= self.keys()
        for name in self.keys() - names:
            del self[name]


def numbered(numbers: list[int] | range, owner: object) -> Rows:
    def part(start: int, end: int) -> pa.RecordBatch:
        texts = pa.array([f"row {n}" for n in numbers[start:end]], pa.string())
        return pa.RecordBatch.from_arrays([texts], ["0"])

    found = numbers if isinstance(numbers, range) else np.array(numbers, np.int64)
    return Rows(found, part, owner)


class Owner:
    """A store."""


steps = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 60), st.integers(1, 4), st.booleans()), max_size=12
)


@settings(max_examples=200, derandomize=True)
@given(steps=steps)
def test_segments_hold_the_rows_that_are_left(steps: list[tuple[int, int, int, bool]]) -> None:
    blobs, owner = Blobs(), Owner()
    segments = Segments(blobs.write)
    held: list[int] = []
    came = 0
    for new, dropped, thinned, restart in steps:
        held += range(came, came + new)
        came += new
        held = [n for n in held[dropped:] if n % 5 < thinned or thinned == 4]
        consecutive = not held or held[-1] - held[0] == len(held) - 1
        given_rows: Any = range(held[0], held[-1] + 1) if held and consecutive else held
        described = segments.save(numbered(given_rows, owner))
        blobs.keep(segments.names())
        names = segments.names()
        if restart:
            fresh = Segments(blobs.write)
            fresh.next_name, segments, owner = segments.next_name, fresh, Owner()
        rows = SavedRows(*described, blobs.__getitem__, segments).rows()
        texts = [t for _, b in rows.batches() for t in b.column(0).to_pylist()]
        assert texts == [f"row {n}" for n in held]
        assert list(rows.numbers) == held
        if restart:
            rows.claim(owner)
            assert segments.names() == names
        stored = sum(s[3] for s in described[0]["segments"])
        assert stored <= 2 * len(held) + 40


def new_engine(queries: dict[str, str], **options: Any) -> Engine:
    engine = engine_with(**options)
    for name, column in (("a", "v"), ("b", "w")):
        engine.sql(
            f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, {column} BIGINT) TIMESTAMP BY ts"
        )
    for name, sql in queries.items():
        engine.query(sql, name=name)
    return engine


def rows(start: int, count: int, column: str = "v") -> pa.Table:
    at = np.arange(start, start + count)
    return pa.table({"ts": 100_000 * at, "k": at * 7919 % 13, column: at * 31 % 50})


def saved(engine: Engine, segments: Segments) -> io.BytesIO:
    file = io.BytesIO()
    engine.save(file, segments)
    file.seek(0)
    return file


@pytest.mark.parametrize("feedback", ["off", "jit"])
@pytest.mark.parametrize("executor", ["tree", "eddy"])
def test_an_engine_of_segments_equals_the_one_that_continues(executor: str, feedback: str) -> None:
    some = np.random.default_rng(1)
    engine = new_engine(QUERIES, executor=executor, feedback=feedback, chunk_rows=16)
    blobs = Blobs()
    segments = Segments(blobs.write)
    at = 0
    for _ in range(12):
        file = saved(engine, segments)
        blobs.keep(segments.names())
        again = Segments(blobs.write)
        again.next_name = segments.next_name
        other = Engine.load(file, read=blobs.__getitem__, segments=again)
        count = int(some.integers(1, 120))
        batch = {"a": rows(at, count), "b": rows(at, count, "w")}
        at += count
        here, there = engine.process(batch), other.process(batch)
        for name in QUERIES:
            assert here[name].equals(there[name]), name
            assert engine.queries[name].snapshot().equals(other.queries[name].snapshot())
        if some.integers(2):
            engine, segments = other, again


def test_bytes_follow_the_new_rows_and_segments_are_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(segments_module, "MERGED_ROWS", 1_000)
    engine = new_engine({"join": QUERIES["join"].replace("30 SECONDS", "3000 SECONDS")})
    blobs = Blobs()
    segments = Segments(blobs.write)
    written = []
    for step in range(120):
        engine.process({"a": rows(500 * step, 500), "b": rows(500 * step, 500, "w")})
        before = blobs.written
        file = saved(engine, segments)
        blobs.keep(segments.names())
        written.append(blobs.written - before + len(file.getvalue()))
    assert len(engine.parts.inputs.stems["a"]) >= 30_000
    assert np.mean(written[96:]) < 1.2 * np.mean(written[48:72])
    assert max(written[48:]) < 4 * 500 * 2 * 60, "a row is written a few times, to merge segments"
    engine.process({"a": rows(200_000, 1), "b": rows(200_000, 1, "w")})
    saved(engine, segments)
    blobs.keep(segments.names())
    assert sum(map(len, blobs.values())) < 10_000, "all earlier rows have expired"


@pytest.mark.parametrize("fault", ["missing", "truncated"])
def test_a_missing_or_truncated_segment_is_named(fault: str) -> None:
    engine = new_engine({"join": QUERIES["join"]})
    engine.process({"a": rows(0, 500), "b": rows(0, 500, "w")})
    blobs = Blobs()
    file = saved(engine, Segments(blobs.write))
    name = min(blobs)

    def read(wanted: int) -> bytes:
        if wanted != name:
            return blobs[wanted]
        if fault == "missing":
            raise StateError(f"segment {name} is not there")
        return blobs[wanted][:-100]

    with pytest.raises(StateError, match=re.escape(f"segment {name} ")):
        Engine.load(file, read=read)
