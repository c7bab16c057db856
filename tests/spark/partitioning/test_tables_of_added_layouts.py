"""Layouts that are added to a running job begin with what its tables that change contain."""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import Phase, event, given, settings
from hypothesis import strategies as st

from eddyline import StateError
from eddyline.spark.layouts.added_layouts import AddedLayout
from eddyline.types import TIMESTAMP
from sharded import Sharded
from sharded_moves import Moves, first_partitions, with_times

SECOND = 1_000_000
DDL = """
CREATE STREAM a (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts LATENESS 2 SECONDS;
CREATE STREAM b (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts LATENESS 2 SECONDS;
CREATE TABLE t (k BIGINT, name STRING) WITH (updates = '{}');
CREATE TABLE u (v BIGINT, name STRING) WITH (updates = '{}');
CREATE VIEW named AS SELECT a.v, t.name FROM a [RANGE 3 SECONDS], t WHERE a.k = t.k;
"""
TABLES = {
    "t": pa.table({"k": [0, 1, 1], "name": ["zero", "one", "uno"]}),
    "u": pa.table({"v": [0, 1], "name": ["none", "one"]}),
}
#: Both are divided; each table is in one layout only.
FIRST = {
    "of_k": "SELECT a.v, b.v AS bv, t.name FROM a [RANGE 2 SECONDS], b [RANGE 2 SECONDS], t "
    "WHERE a.k = b.k AND b.k = t.k",
    "of_v": "SELECT a.k, u.name, b.k AS bk FROM a [RANGE 2 SECONDS], b [RANGE 2 SECONDS], u "
    "WHERE a.v = b.v AND b.v = u.v",
}
#: None fits the layouts of these.
ADDED = (
    "SELECT a.k, b.k AS bk, t.name, u.name AS of_v FROM a [RANGE 3 SECONDS], b [RANGE 4 SECONDS], "
    "t, u WHERE a.ts = b.ts AND a.k = t.k AND a.v = u.v",
    "SELECT a.v, a.k, t.name FROM a [RANGE 3 SECONDS], b [NOW], t WHERE a.v = b.v AND a.k = t.k",
    "SELECT n.name, b.k FROM named AS n, b [RANGE 2 SECONDS] WHERE n.v = b.v",
    "SELECT a.ts, u.name, COUNT(*) AS n FROM a [RANGE 4 SECONDS], u WHERE a.v = u.v "
    "GROUP BY a.ts, u.name UNION ALL SELECT ts, 'all', MAX(k) FROM a [RANGE 4 SECONDS] GROUP BY ts",
    "SELECT b.v, b.k, t.name FROM a [RANGE 2 SECONDS], b [RANGE 3 SECONDS], t, u "
    "WHERE a.v = b.k AND t.k = b.k AND t.name = u.name",
    "SELECT t.k, t.name FROM t, b [RANGE 2 SECONDS], a [RANGE 2 SECONDS] "
    "WHERE b.ts = a.ts AND t.k = b.v",
    "SELECT a.k, a.v FROM a [RANGE 2 SECONDS], b [NOW] "
    "WHERE a.ts = b.ts AND NOT EXISTS (SELECT * FROM t WHERE t.k = a.k)",
)
EMITS = ("", "", " EMIT CHANGES", " EMIT SNAPSHOT EVERY 1 SECOND")
#: Longer than all windows.
WINDOW_US = 5 * SECOND
KINDS = ("retroactive", "non-retroactive")
Change = tuple[float, str, int, str]


def stream(*rows: tuple[float, int, int]) -> pa.Table:
    """Rows (seconds, k, v)."""
    ts = pa.array([int(t * SECOND) for t, _, _ in rows], pa.int64()).cast(TIMESTAMP)
    ks, vs = (pa.array([row[i] for row in rows], pa.int64()) for i in (1, 2))
    return pa.table({"ts": ts, "k": ks, "v": vs})


def changes(column: str, *rows: Change) -> pa.Table:
    """Changes (seconds, operation, k or v, name) of a table."""
    ts = pa.array([int(t * SECOND) for t, *_ in rows], pa.int64()).cast(TIMESTAMP)
    operations, names = ([row[i] for row in rows] for i in (1, 3))
    keys = pa.array([row[2] for row in rows], pa.int64())
    return pa.table({"_ts": ts, "_op": operations, column: keys, "name": names})


def a_job(path: Path, kind: str = "retroactive", **options: Any) -> Sharded:
    made = Sharded(
        DDL.format(kind, kind), FIRST, TABLES, shards=2, directory=path / "checkpoint", **options
    )
    assert sorted(len(of.ids) for of in made.layouts) == [2, 2]
    return made


def begun(path: Path, kind: str = "retroactive", **options: Any) -> Sharded:
    """With changes that have been applied, and some of each table that wait: at 7 seconds."""
    made = a_job(path, kind, **options)
    made.process(
        {
            "a": stream((1, 1, 1), (2, 0, 0)),
            "b": stream((1, 1, 1), (2.5, 1, 0)),
            "t": changes("k", (0.5, "-", 1, "uno"), (0.75, "+", 2, "two"), (7, "+", 4, "four")),
            "u": changes("v", (0.5, "+", 2, "two"), (7, "+", 3, "three"), (7.5, "-", 0, "none")),
        }
    )
    made.process(
        {
            "a": stream((4, 2, 2), (7, 4, 3)),
            "b": stream((4, 2, 2), (7.25, 1, 1)),
            "t": changes("k", (7, "-", 4, "four"), (7, "+", 3, "three")),
            "u": changes("v", (7, "-", 3, "three"), (7.25, "+", 9, "nine")),
        }
    )
    return made


def later(made: Sharded) -> None:
    """More rows: they meet all rows of the tables."""
    rows = [(t + 0.25 * i, i % 5, i % 4) for t in (6, 8, 10) for i in range(8)]
    for some in (rows[:8], rows[8:16], rows[16:]):
        change = changes("k", (some[0][0] + 1, "+", some[0][1], "more"), (9.5, "-", 0, "zero"))
        made.process({"a": stream(*some), "b": stream(*some), "t": change})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", range(len(ADDED)))
def test_tables_are_as_they_are_in_the_running_engine(
    tmp_path: Path, number: int, kind: str
) -> None:
    made = begun(tmp_path, kind)
    assert made.add("q", ADDED[number] + " EMIT CHANGES", WINDOW_US)
    assert made.running.layout_of("q") not in made.layouts[:2]
    later(made)
    made.advance(20 * SECOND)
    made.check()
    assert made.found.changes["q"]


def test_rules_are_as_they_are_in_the_running_engine(tmp_path: Path) -> None:
    made = begun(tmp_path)
    select = "SELECT t.name, a.v FROM a [RANGE 3 SECONDS], b [RANGE 1 SECOND] WHERE a.v = b.v"
    assert made.add("q", f"{select} AND a.k = t.k", WINDOW_US, rules="t")
    assert made.running.layout_of("q") not in made.layouts[:2]
    made.restart()
    later(made)
    made.advance(20 * SECOND)
    made.check()
    assert {row[3] for row in made.found.changes["q"]} >= {"one", "two", "three", "more"}


@pytest.mark.parametrize("is_durable", [False, True])
def test_a_batch_is_repeated_and_the_job_is_moved(tmp_path: Path, *, is_durable: bool) -> None:
    made = begun(tmp_path, is_durable=is_durable, partitions=2)
    made.process({}, repeated=True)
    assert made.add("q", ADDED[0], WINDOW_US)
    made.restart()
    files = tmp_path / "checkpoint" / "tables"
    assert len(list(files.iterdir())) == 1
    row = {"a": stream((7.5, 4, 3)), "u": changes("v", (7.5, "-", 2, "two"))}
    made.process(row, repeated=True)  # the first batch of the layout
    assert len(list(files.iterdir())) == 1
    made.process({}, repeated=True)
    made.lose_workers([*made.shards])
    made.rescale(1)
    later(made)
    assert not list(files.iterdir()), "its shards have begun"
    assert made.add("again", ADDED[1], WINDOW_US)
    made.process({})
    made.lose_workers([*made.shards])
    made.restart()
    for rows in ([(12.0, 2, 1), (13.0, 0, 2)], [(19.0, 1, 1)]):
        made.process({"a": stream(*rows), "b": stream(*rows)}, repeated=True)
    made.check()
    assert made.found.changes["q"] and made.found.changes["again"]


def test_the_record_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = begun(tmp_path)
    with pytest.raises(StateError, match="before the batch after which another one can begin"):
        made.running.add("q", ADDED[0], {"sink": "memory"})
    made.process({})
    with monkeypatch.context() as patched:
        patched.setattr(AddedLayout, "record", fail)
        with pytest.raises(StateError, match="the disk is full"):
            made.running.add("q", ADDED[0], {"sink": "memory"})
    files = tmp_path / "checkpoint" / "tables"
    assert len(list(files.iterdir())) == 1
    made.restart()
    assert not list(files.iterdir())
    assert made.add("q", ADDED[0], WINDOW_US)
    later(made)
    made.check()


def test_before_the_first_row(tmp_path: Path) -> None:
    made = a_job(tmp_path)
    assert made.add("q", ADDED[0], WINDOW_US)
    assert made.running.layout_of("q") not in made.layouts[:2]
    later(made)
    made.check()
    assert made.found.changes["q"]


def test_the_watermark_is_reset_before(tmp_path: Path) -> None:
    """Tables keep their rows, some of which are later than the first rows then."""
    made = begun(tmp_path)
    later(made)
    made.advance(20 * SECOND)  # no row waits
    made.reset("a")
    made.process({})
    assert made.add("q", ADDED[0], WINDOW_US)
    rows = [(1.0 + 0.5 * i, i % 5, i % 4) for i in range(16)]
    made.process({"a": stream(*rows), "b": stream(*rows)})
    made.advance(20 * SECOND)
    made.check()
    assert made.found.changes["q"]


def test_another_request_comes_between(tmp_path: Path) -> None:
    """What was handed over is of an earlier batch then."""
    made = begun(tmp_path)

    def cannot_begin(row: tuple[float, int, int], change: Change) -> None:
        with pytest.raises(StateError, match="before the batch after which another one can begin"):
            made.running.add("q", ADDED[0], {"sink": "memory"})
        made.process({"a": stream(row), "t": changes("k", change)})

    cannot_begin((7.5, 1, 1), (7.6, "+", 1, "first"))
    assert made.add("near", "SELECT k FROM a [NOW]", WINDOW_US)
    cannot_begin((8.0, 1, 1), (7.6, "-", 4, "four"))  # it has not been executed
    cannot_begin((8.5, 1, 1), (7.6, "+", 1, "second"))  # they are asked again
    assert made.add("q", ADDED[0], WINDOW_US)
    later(made)
    made.advance(20 * SECOND)
    made.check()
    assert {"first", "second"} <= {row[5] for row in made.found.changes["q"]}


def test_the_content_is_missing(tmp_path: Path) -> None:
    made = begun(tmp_path)
    assert made.add("q", ADDED[0], WINDOW_US)
    (file,) = (tmp_path / "checkpoint" / "tables").iterdir()
    file.unlink()
    with pytest.raises(StateError, match=r"lacks the file layout-.*, with which a layout begins"):
        made.process({})


def fail(layout: AddedLayout) -> str:
    raise StateError(f"{layout.tables}: the disk is full")


def random_rows(random: Random, now: float) -> dict[str, pa.Table]:
    """Rows and changes around an instant, some of one instant, some that wait for long."""

    def at() -> float:
        return max(0.0, now + random.choice([-1.5, -0.5, 0, 0, 0, 0.5, 1, 3]))

    def change() -> Change:
        name = random.choice(["one", "two", "zero"])
        return at(), random.choice("++-"), random.randint(0, 4), name

    found: dict[str, pa.Table] = {}
    for name in "ab":
        many = random.choice([0, 2, 5])
        rows = [(at(), random.randint(0, 4), random.randint(0, 4)) for _ in range(many)]
        found |= {name: stream(*rows)} if many else {}
    for name, column in (("t", "k"), ("u", "v")):
        many = random.choice([0, 0, 1, 3])
        found |= {name: changes(column, *(change() for _ in range(many)))} if many else {}
    return found


@settings(max_examples=settings().max_examples // 15, phases=[Phase.generate])
@given(st.integers(0, 2**48))
def test_random_queries_are_added(seed: int) -> None:
    random = Random(seed)
    start = first_partitions(random, 3)
    kind = random.choice(KINDS)
    with tempfile.TemporaryDirectory() as path:
        job = Sharded(
            with_times(DDL.format(kind, kind), random),
            dict(random.sample([*FIRST.items()], 2)),
            TABLES,
            shards=3,
            directory=Path(path) / "checkpoint",
            options={"chunk_rows": random.choice([1, 3, 1000])},
            **start,
        )
        moves = Moves(job, 3, random, is_durable=start["is_durable"], repeated=0.15)
        left = random.sample(ADDED, 3)
        now = 0.0
        for turn in range(10):
            if turn and left and random.random() < 0.4:
                assert job.add(f"q{turn}", left.pop() + random.choice(EMITS), WINDOW_US)
            moves.process(random_rows(random, now))
            moves.move()
            now += random.choice([0, 0.5, 1, 2])
        note(job, moves)
        job.advance(max(job.engine.clock, 0) + 20 * SECOND)
        job.check()


def note(job: Sharded, moves: Moves) -> None:
    event(f"{len(job.added)} layouts added")
    for seen in moves.seen:
        event(seen)
