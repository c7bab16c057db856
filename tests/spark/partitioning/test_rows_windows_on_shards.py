"""Windows of rows over streams that are divided: each cell counts the rows of all cells."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from eddyline.engine.ingest.intake import Accepted, Intake
from eddyline.engine.ingest.row_reader import TypedRows
from eddyline.spark.partitioning.layouts import Layout
from eddyline.types import TIMESTAMP
from sharded import EAGER, Sharded

SECOND = 1_000_000
DDL = """
CREATE STREAM a (ts TIMESTAMP, k BIGINT, x BIGINT, t STRING) TIMESTAMP BY ts LATENESS 2 SECONDS;
CREATE STREAM b (ts TIMESTAMP, k BIGINT, x BIGINT, t STRING) TIMESTAMP BY ts LATENESS 2 SECONDS;
"""
#: Several are in one flow, alone they are trees; those of a set are in one layout.
QUERIES = {
    "projection": ("SELECT k, x FROM a [ROWS 3]",),
    "filters": tuple(f"SELECT k, x FROM a [ROWS {n}] WHERE x > {n}" for n in (1, 3, 7)),
    "rows and range": (
        "SELECT a.k, a.x, b.x AS y FROM a [ROWS 4], b [RANGE 3 SECONDS] WHERE a.k = b.k",
    ),
    "joins of two windows of rows": tuple(
        f"SELECT a.k, a.x, b.x AS y FROM a [ROWS {n}], b [ROWS {m}] WHERE a.k = b.k AND a.x > {o}"
        for n, m, o in ((2, 5, 0), (5, 2, 2), (7, 7, 1))
    ),
    "joins without predicates": tuple(
        f"SELECT a.k, a.x, b.x AS y FROM a [ROWS {n}], b [ROWS {n}] WHERE a.k = b.k" for n in (2, 6)
    ),
    "a stream with itself": (
        "SELECT a.k, a.x, e.x AS y FROM a [ROWS 5], a [ROWS 9] AS e WHERE a.k = e.k",
    ),
    "both windows over one stream": (
        "SELECT a.k, a.x, e.x AS y FROM a [ROWS 5], a [RANGE 2 SECONDS] AS e WHERE a.k = e.k",
        "SELECT x FROM a [RANGE 4 SECONDS] WHERE x > 2",
    ),
    "groups": (
        "SELECT k, COUNT(*) AS n, SUM(x) AS s FROM a [ROWS 6] GROUP BY k",
        "SELECT k, MAX(x) AS m FROM a [RANGE 2 SECONDS] GROUP BY k",
    ),
    "distinct": ("SELECT DISTINCT k FROM a [ROWS 4]",),
    "exists": (
        "SELECT k, x FROM a [ROWS 5] WHERE EXISTS (SELECT 1 FROM b [ROWS 3] WHERE b.k = a.k)",
    ),
    "not exists": (
        "SELECT k, x FROM a [RANGE 3 SECONDS] "
        "WHERE NOT EXISTS (SELECT 1 FROM b [ROWS 3] WHERE b.k = a.k AND b.x > a.x)",
    ),
    "outer join": (
        "SELECT a.k, a.x, b.x AS y FROM a [ROWS 4] LEFT JOIN b [RANGE 2 SECONDS] ON a.k = b.k",
    ),
    "union": ("SELECT x FROM a [ROWS 2] UNION ALL SELECT x FROM b [RANGE 1 SECOND]",),
    "expressions that fail": ("SELECT k, CAST(t AS BIGINT) AS n FROM a [ROWS 4] WHERE x > 0",),
    "what fails for NULL": ("SELECT k FROM a [ROWS 4] WHERE 10 DIV COALESCE(x, 0) > 1",),
    "without an equality": ("SELECT a.x, b.x AS y FROM a [ROWS 3], b [ROWS 3] WHERE a.x < b.x",),
}
EMITS = ("", " EMIT CHANGES", " EMIT SNAPSHOT EVERY 3 SECONDS")
#: All queries with all clauses; those that a short run leaves out are marked.
CASES = [
    pytest.param(
        queries,
        emit,
        id=f"{name}-{emit}",
        marks=() if (row + column) % len(EMITS) == 0 else pytest.mark.long,
    )
    for row, (name, queries) in enumerate(QUERIES.items())
    for column, emit in enumerate(EMITS)
]


class Stream:
    """Batches with ties, late rows and bad rows; now and then with rows of one key only."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._start = 1_000
        self._in_doubt = random.random() < 0.3  # the rows before decide which rows are bad

    def batch(self) -> dict[str, pa.Table]:
        self._start += self._random.choice([0, 1, 3])
        return {name: self._rows() for name in "ab" if self._random.random() < 0.9}

    def _rows(self) -> pa.Table:
        random = self._random
        keys = [random.randrange(5)] if random.random() < 0.4 else [None, *range(5)]
        rows = []
        for _ in range(random.choice([0, 1, 4, 12])):
            seconds = self._start + random.randrange(-2, 3) - (9 if random.random() < 0.1 else 0)
            ts = None if random.random() < 0.05 else seconds * SECOND
            text = random.choice(["1", "2", "x", None])
            rows.append((ts, random.choice(keys), random.choice([None, *range(9)]), text))
        columns = list(zip(*rows, strict=True)) or [()] * 4
        ts, keys_, values = (pa.array(c, pa.int64()) for c in columns[:3])
        times = ts if self._in_doubt else ts.cast(TIMESTAMP)
        return pa.table(
            {"ts": times, "k": keys_, "x": values, "t": pa.array(columns[3], pa.string())}
        )


def layout(job: Sharded) -> Layout:
    """That of all queries."""
    (of,) = job.layouts
    return of.layout


def play(job: Sharded, random: Random, *, restarts: bool = True, batches: int = 12) -> None:
    stream = Stream(random)
    for _ in range(batches):
        job.process(stream.batch(), repeated=restarts and random.random() < 0.1)
        if restarts and random.random() < 0.2:
            job.restart()
    job.advance(max(job.engine.clock, 0) + 20 * SECOND)
    job.check()


@pytest.mark.parametrize(("queries", "emit"), CASES)
def test_divided_windows_of_rows_are_those_of_one_engine(
    queries: tuple[str, ...], emit: str, tmp_path: Path
) -> None:
    with_results = set[str]()
    for seed in range(4):
        random = Random(seed)
        job = Sharded(
            DDL,
            {f"q{n}": sql + emit for n, sql in enumerate(queries)},
            {},
            shards=3 if seed else 4,
            directory=tmp_path / str(seed),
            limits=EAGER,
            options={
                "chunk_rows": random.choice([1, 3, 1_000]),
                "latency": random.choice([None, None, "1 MICROSECOND"]),
            },
        )
        assert layout(job).cells == (3 if seed else 4)
        assert layout(job).counted
        play(job, random)
        with_results |= {name for name, rows in job.found.changes.items() if rows}
    assert with_results == {f"q{n}" for n in range(len(queries))}


#: All of them are divided by k.
ADDED = (
    "SELECT a.k, b.x FROM a [ROWS 4], b [RANGE 3 SECONDS] WHERE a.k = b.k",
    "SELECT a.k, b.x FROM a [ROWS 4], b [ROWS 3] WHERE a.k = b.k",
    "SELECT k, COUNT(*) AS n FROM b [ROWS 6] GROUP BY k",
)


@pytest.mark.parametrize("window", ["ROWS 3", "RANGE 2 SECONDS"])
def test_added_queries_have_layouts_that_count(window: str, tmp_path: Path) -> None:
    """Those that fit no layout begin without rows, in one that counts their streams."""
    sql = f"SELECT a.k, b.x FROM a [{window}], b [RANGE 2 SECONDS] WHERE a.k = b.k"
    job = Sharded(DDL, {"q": sql}, {}, shards=3, directory=tmp_path / "control")
    random = Random(3)
    stream = Stream(random)
    for number in range(18):
        if number in (4, 7, 10):
            assert job.add(f"added{number}", ADDED[number // 3 - 1], None)
        if number == 15:
            job.drop("added4")
        if number % 6 == 5:
            job.restart()
        job.process(stream.batch(), repeated=number == 8)
    job.advance(max(job.engine.clock, 0) + 20 * SECOND)
    job.check()
    found = [sorted(of.layout.counted) for of in job.layouts]
    assert found == ([["a"], ["a", "b"]] if window == "ROWS 3" else [[], ["a"], ["a", "b"]])
    assert all(job.found.changes[f"added{number}"] for number in (4, 7, 10))


def test_uncounted_rows_of_other_cells_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept = Intake.accept

    def only_own(self: Intake, rows: TypedRows, *more: int) -> Accepted:
        if rows.own is not None:
            own = pa.array(rows.own)
            rows = TypedRows(
                None if rows.given is None else rows.given.filter(own),
                [column.filter(own) for column in rows.columns],
                rows.times.filter(own),
                reasons=None,
                own=rows.own[rows.own],
            )
        return accept(self, rows, *more)

    monkeypatch.setattr(Intake, "accept", only_own)
    job = Sharded(DDL, {"q": QUERIES["rows and range"][0]}, {}, shards=3, directory=tmp_path / "c")
    with pytest.raises(AssertionError, match="differ from those of one engine"):
        play(job, Random(1), restarts=False)
