"""Random sets of join trees with common joins; queries are added and dropped between batches."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, Final

import pyarrow as pa

from eddyline.engine.engine import Engine
from eddyline.testing.engines import engine_with
from eddyline.testing.text import pretty
from eddyline.types import TIMESTAMP

_COLUMNS: Final = ("x", "y", "z")
_SECOND: Final = 1_000_000
_WINDOWS: Final = (2, 5, 10, 20)
_STREAMS: Final = 6


@dataclass(frozen=True)
class JoinInput:
    """A stream or a join in FROM.

    Attributes:
        sql: its text in FROM.
        columns: how each column is read, and its name in a result.
        streams: the numbers of its streams.
    """

    sql: str
    columns: tuple[tuple[str, str], ...]
    streams: frozenset[int]


@dataclass(frozen=True)
class TreeSetStep:
    """Changes before a batch, and the batch.

    Attributes:
        add, drop: numbers of queries. restart: the engine is saved and loaded.
    """

    add: tuple[int, ...]
    drop: tuple[int, ...]
    restart: bool
    batch: dict[str, pa.Table]


@dataclass(frozen=True)
class TreeSetCase:
    """Queries with common joins, and the steps of their script."""

    queries: tuple[str, ...]
    steps: tuple[TreeSetStep, ...]

    def play(self, **options: Any) -> dict[str, str]:
        """By query, its changes until all rows have expired, and its answer after each batch; one
        that is added again is another query.
        """
        engine = engine_with(executor="tree", **options)
        for i in range(_STREAMS):
            columns = ", ".join(f"{c} BIGINT" for c in _COLUMNS)
            engine.sql(f"CREATE STREAM s{i} (ts TIMESTAMP, {columns}) TIMESTAMP BY ts")
        received: dict[str, list[pa.Table]] = {}
        since: dict[str, int] = {}
        for number, step in enumerate(self.steps):
            for query in step.drop:
                engine.drop(f"q{query}")
            if step.restart:
                engine = _restarted(engine)
            for query in step.add:
                engine.query(self.queries[query], name=f"q{query}")
                since[f"q{query}"] = number
            changes = engine.process(step.batch)
            for name, query_now in engine.queries.items():
                received.setdefault(f"{name} since {since[name]}", []).append(changes[name])
                received.setdefault(f"{name} after {number}", []).append(query_now.snapshot())
        changes = engine.advance(max(engine.clock, 0) + (max(_WINDOWS) + 1) * _SECOND)
        for name in engine.queries:
            received[f"{name} since {since[name]}"].append(changes[name])
        return {name: pretty(_in_order(pa.concat_tables(t))) for name, t in received.items()}


def tree_set_case(seed: int) -> TreeSetCase:
    """The case of a seed: two to four queries over six streams; common joins have equal text.
    Queries are added before the first batch or later, some are dropped and added again.
    """
    random = Random(seed)
    windows = [random.choice(_WINDOWS) for _ in range(_STREAMS)]
    common = _common(random, windows)
    queries = tuple(_query(random, common, windows) for _ in range(random.choice([2, 2, 3, 4])))
    batches = _batches(random)
    current: set[int] = set()
    steps = []
    for number, batch in enumerate(batches):
        dropped = {q for q in current if random.random() < 0.15}
        absent = [q for q in range(len(queries)) if q not in current]
        add = tuple(q for q in absent if random.random() < (0.3 if number else 0.6))
        current = (current - dropped) | set(add)
        steps.append(TreeSetStep(add, tuple(dropped), random.random() < 0.2, batch))
    return TreeSetCase(queries, tuple(steps))


def _stream(number: int, windows: Sequence[int]) -> JoinInput:
    columns = tuple((f"s{number}.{c}", f"s{number}_{c}") for c in _COLUMNS)
    return JoinInput(f"s{number} [RANGE {windows[number]} SECONDS]", columns, frozenset([number]))


def _inner(join: JoinInput, alias: str) -> JoinInput:
    """A join as a sub-select."""
    columns = tuple((f"{alias}.{name}", name) for _, name in join.columns)
    return JoinInput(f"({join.sql}) AS {alias}", columns, join.streams)


def _join(random: Random, left: JoinInput, right: JoinInput) -> JoinInput:
    """The SELECT of a join of two parts."""
    if random.random() < 0.5:
        left, right = right, left
    terms = [
        f"{random.choice(left.columns)[0]} = {random.choice(right.columns)[0]}"
        for _ in range(random.choice([1, 1, 1, 2]))
    ]
    columns = left.columns + right.columns
    shown = ", ".join(f"{column} AS {name}" for column, name in columns)
    sql = f"SELECT {shown} FROM {left.sql}, {right.sql} WHERE {' AND '.join(terms)}"
    return JoinInput(sql, columns, left.streams | right.streams)


def _common(random: Random, windows: Sequence[int]) -> list[JoinInput]:
    """Joins that queries may have in common."""
    found = []
    for _ in range(random.choice([1, 2, 2])):
        a, b = random.sample(range(_STREAMS), 2)
        found.append(_join(random, _stream(a, windows), _stream(b, windows)))
    if random.random() < 0.6:
        part = random.choice(found)
        found.append(_with_stream(random, part, "m", windows))
    return found


def _with_stream(random: Random, join: JoinInput, alias: str, windows: Sequence[int]) -> JoinInput:
    other = random.choice([i for i in range(_STREAMS) if i not in join.streams])
    return _join(random, _inner(join, alias), _stream(other, windows))


def _query(random: Random, common: Sequence[JoinInput], windows: Sequence[int]) -> str:
    part = random.choice(common)
    others = [p for p in common if not p.streams & part.streams]
    if random.random() < 0.1:
        return part.sql
    if others and random.random() < 0.4:
        other = random.choice(others)
        sql = _join(random, _inner(part, "l"), _inner(other, "r")).sql
    else:
        sql = _with_stream(random, part, "l", windows).sql
    return f"SELECT COUNT(*) AS n FROM ({sql}) AS g" if random.random() < 0.15 else sql


def _batches(random: Random) -> list[dict[str, pa.Table]]:
    values = random.choice([2, 3, 3, 4])
    now, rows = 0, []
    for _ in range(random.choice([20, 40, 80, 160])):
        now += random.choice([0, 0, 0, 1, 1, 2, 5])
        keys = [random.choice([None, *list(range(values)) * 4]) for _ in _COLUMNS]
        rows.append((random.randrange(_STREAMS), now * _SECOND, *keys))
    # rows of one instant stay together: their order is that of the streams within a call
    clean = [i for i in range(1, len(rows)) if rows[i][1] != rows[i - 1][1]]
    cuts = sorted(random.sample(clean, min(len(clean), random.choice([1, 3, 8]))))
    return [
        {f"s{i}": _table([r[1:] for r in rows[a:b] if r[0] == i]) for i in range(_STREAMS)}
        for a, b in pairwise([0, *cuts, len(rows)])
    ]


def _table(rows: Sequence[tuple[int | None, ...]]) -> pa.Table:
    types = [TIMESTAMP, *[pa.int64()] * len(_COLUMNS)]
    arrays = [pa.array([r[i] for r in rows], t) for i, t in enumerate(types)]
    return pa.table(dict(zip(["ts", *_COLUMNS], arrays, strict=True)))


def _in_order(table: pa.Table) -> pa.Table:
    """Changes sorted by instant and values: trees may emit results of one instant in any order."""
    if "_ts" in table.column_names:
        instants = table["_ts"].to_pylist()
        assert instants == sorted(instants), "results are emitted in temporal order"
    keys = [name for name in ("_ts", *table.column_names) if name in table.column_names]
    return table.sort_by([(name, "ascending") for name in dict.fromkeys(keys)])


def _restarted(engine: Engine) -> Engine:
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "saved")
        engine.save(path)
        return Engine.load(path, feedback_form=engine.strategy.feedback_form)
